/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables at all widths: what is cut, what goes, and that names and colours do no harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "output/grid.h"

#define FUNCTION "std::vector<std::pair<int, long>>::emplace_back(int&&, long&&)"
#define HOSTILE	 "evil\n\x1b[2J\t\xff\u202e;name"

static const struct grid_column columns[] = {
	{ "SELF", .rank = 1 },
	{ "a-long-heading", .rank = 2, .min = 6 },
	{ "ONE", .rank = 3 },
	{ "TWO", .rank = 3 },
	{ "FUNCTION", GRID_FUNCTION, .min = 24 },
	{ "MODULE", GRID_TEXT, .rank = 4, .min = 8 },
};

static void begin(struct grid *g, FILE *out, size_t width)
{
	grid_init(g, out, columns, sizeof(columns) / sizeof(*columns));
	g->width = width;
	g->first = true;
}

static char *of_width(size_t width, const char *function, const char *module)
{
	char *text = NULL;
	struct grid g;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	begin(&g, out, width);
	grid_row(&g, STYLE_PLAIN, text_count(1234567), "0.5", "1", "22", function, module, NULL);
	grid_row(&g, STYLE_IDLE, "-", NULL);
	grid_cell(&g, "%.2f%%", 12.5);
	grid_end(&g);
	fclose(out);
	return text;
}

static void check(size_t width, const char *function, const char *module, const char *want)
{
	char *text = of_width(width, function, module);

	assert_string_equal(text, want);
	free(text);
}

static void numbers_are_right_and_texts_left(void **state)
{
	check(200, "f", "m",
	      "     SELF  a-long-heading  ONE  TWO  FUNCTION  MODULE\n"
	      "1,234,567             0.5    1   22  f         m\n"
	      "        -          12.50%\n");
}

/* The function is cut, down to its least width; then headings, gaps and columns by their rank. */
static void what_does_not_fit_goes_by_rank(void **state)
{
	check(120, FUNCTION, "libstdc++.so.6",
	      "     SELF  a-long-heading  ONE  TWO  "
	      "FUNCTION                                                        MODULE\n"
	      "1,234,567             0.5    1   22  " FUNCTION "  libstdc++.so.6\n"
	      "        -          12.50%\n");
	check(80, FUNCTION, "libstdc++.so.6",
	      "     SELF  a-lon…  ONE  TWO  FUNCTION                                   MODULE\n"
	      "1,234,567     0.5    1   22  std::vector<std::pair<int, long>>::empla…  libstdc…\n"
	      "        -  12.50%\n");
	check(60, FUNCTION, "libstdc++.so.6",
	      "     SELF a-lon… ONE TWO FUNCTION                   MODULE\n"
	      "1,234,567    0.5   1  22 std::vector<std::pair<int… libstdc…\n"
	      "        - 12.50%\n");
	check(50, FUNCTION, "libstdc++.so.6",
	      "     SELF a-lon… ONE TWO FUNCTION\n"
	      "1,234,567    0.5   1  22 std::vector<std::pair<in…\n"
	      "        - 12.50%\n"
	      "… 1 more column (--json has all)\n");
	check(24, FUNCTION, "libstdc++.so.6",
	      "FUNCTION\n"
	      "std::vector<std::pair<i…\n"
	      "\n"
	      "… 5 more columns (--json has all)\n");
}

/* A table that stands below a heading of its own. */
static void bare_rows_have_no_headings(void **state)
{
	char *text = NULL;
	struct grid g;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	begin(&g, out, 80);
	g.first = false;
	g.bare = true;
	g.indent = 2;
	grid_row(&g, STYLE_PLAIN, "1", "22", "", "", "f", NULL);
	grid_row(&g, STYLE_PLAIN, "333", "4", "", "", "g", NULL);
	grid_end(&g);
	fclose(out);
	assert_string_equal(text, "    1  22  f\n  333   4  g\n");
	free(text);
}

/* Whatever the width: no line is longer, none ends in a blank, and the function is there. */
static void every_width_holds(void **state)
{
	static const char *const functions[] = { FUNCTION, "値を計算する関数の名前は長くてもいい",
						 "[libjemalloc.so.2-long-name+0x1234]", "f", "é" };

	for (size_t width = 24; width <= 200; width++) {
		for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
			char *text = of_width(width, functions[i], HOSTILE), *rest = text, *line;

			assert_non_null(strstr(text, "FUNCTION"));
			while ((line = strsep(&rest, "\n"))) {
				if (strncmp(line, "… ", strlen("… ")))
					assert_in_range(text_width(line), 0, width);
				assert_false(*line && line[strlen(line) - 1] == ' ');
			}
			free(text);
		}
	}
}

static void hostile_names_are_harmless(void **state)
{
	check(200, HOSTILE, "%n%s",
	      "     SELF  a-long-heading  ONE  TWO  FUNCTION           MODULE\n"
	      "1,234,567             0.5    1   22  evil??[2J?\xef\xbf\xbd?;name  %n%s\n"
	      "        -          12.50%\n");
}

static void wide_characters_take_two_columns(void **state)
{
	check(200, "値を計算", "m",
	      "     SELF  a-long-heading  ONE  TWO  FUNCTION  MODULE\n"
	      "1,234,567             0.5    1   22  値を計算  m\n"
	      "        -          12.50%\n");
}

/* The number tells two of one module apart. */
static void a_place_without_a_name_keeps_its_number(void **state)
{
	check(60, "[libjemalloc.so.2-long-name+0x1234]", "",
	      "     SELF  a-lon…  ONE  TWO  FUNCTION\n"
	      "1,234,567     0.5    1   22  [libjemalloc.so.2-long…+0x1234]\n"
	      "        -  12.50%\n");
}

static void nothing_is_printed_for_nothing(void **state)
{
	char *text = NULL;
	struct grid g;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	begin(&g, out, 80);
	grid_end(&g);
	fclose(out);
	assert_string_equal(text, "");
	free(text);
}

/* Who searches a file wants all of it. */
static void without_a_terminal_all_may_be_printed(void **state)
{
	char *text = NULL;
	struct grid g;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	begin(&g, out, 30);
	grid_whole(&g);
	grid_row(&g, STYLE_PLAIN, "1", "2", "3", "4", FUNCTION, "a-module-of-a-long-name", NULL);
	grid_end(&g);
	fclose(out);
	assert_non_null(strstr(text, "  " FUNCTION "  a-module-of-a-long-name\n"));
	free(text);
}

/* As standard output, or as a file beside it. */
static char *coloured(enum style_choice choice, bool standard)
{
	FILE *was = stdout, *out;
	char *text = NULL;
	struct grid g;
	size_t len;

	style_choose(choice);
	out = open_memstream(&text, &len);
	if (standard)
		stdout = out;
	begin(&g, out, 200);
	grid_row(&g, STYLE_IDLE, "1", "2", "3", "4", "f", "m", NULL);
	grid_row(&g, STYLE_PLAIN, "1", "2", "3", "4", "g", "m", NULL);
	grid_row(&g, STYLE_BAD, "1", "2", "3", "4", "h", "m", NULL);
	grid_end(&g);
	stdout = was;
	fclose(out);
	style_choose(STYLE_AUTO);
	return text;
}

static void colours_are_for_standard_output(void **state)
{
	char *plain = coloured(STYLE_NEVER, true), *text = coloured(STYLE_ALWAYS, true);

	setenv("NO_COLOR", "1", 1);
	assert_null(strchr(plain, '\x1b'));
	assert_string_equal(text, "\x1b[1mSELF  a-long-heading  ONE  TWO  FUNCTION  MODULE\x1b[0m\n"
				  "\x1b[2m   1               2    3    4  f         m\x1b[0m\n"
				  "   1               2    3    4  g         m\n"
				  "\x1b[31m   1               2    3    4  h         m\x1b[0m\n");
	free(text);
	text = coloured(STYLE_ALWAYS, false);
	assert_string_equal(text, plain);
	free(text);
	text = coloured(STYLE_AUTO, true);
	assert_string_equal(text, plain);
	free(text);
	free(plain);
}

static char *with_texts(size_t width)
{
	static const struct grid_column noted[] = {
		{ .head = "WHAT", .kind = GRID_TEXT },
		{ .head = "N" },
		{ .head = "WHY", .kind = GRID_REST },
	};
	char *text = NULL;
	struct grid g;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	grid_init(&g, out, noted, 3);
	g.width = width;
	g.bare = true;
	g.indent = 1;
	grid_text(&g, 0, 0, "one\x1b[2J");
	grid_row(&g, STYLE_PLAIN, "a", "1", "since it is so", NULL);
	grid_text(&g, 2, 4, "-> do it");
	grid_row(&g, STYLE_PLAIN, "bb", NULL);
	grid_text(&g, 0, 0, "two");
	grid_row(&g, STYLE_PLAIN, "c", "22", "why not", NULL);
	grid_end(&g);
	fclose(out);
	return text;
}

/* What has no room in its line stands below it, wrapped. */
static void texts_stand_between_rows(void **state)
{
	char *text = with_texts(40);

	assert_string_equal(text, "one?[2J\n"
				  " a    1  since it is so\n"
				  "  -> do it\n"
				  " bb\n"
				  "two\n"
				  " c   22  why not\n");
	free(text);
	text = with_texts(18);
	assert_string_equal(text, "one?[2J\n"
				  " a    1\n"
				  "      since it is\n"
				  "        so\n"
				  "  -> do it\n"
				  " bb\n"
				  "two\n"
				  " c   22  why not\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_right_and_texts_left),
		cmocka_unit_test(texts_stand_between_rows),
		cmocka_unit_test(what_does_not_fit_goes_by_rank),
		cmocka_unit_test(bare_rows_have_no_headings),
		cmocka_unit_test(every_width_holds),
		cmocka_unit_test(hostile_names_are_harmless),
		cmocka_unit_test(wide_characters_take_two_columns),
		cmocka_unit_test(a_place_without_a_name_keeps_its_number),
		cmocka_unit_test(nothing_is_printed_for_nothing),
		cmocka_unit_test(without_a_terminal_all_may_be_printed),
		cmocka_unit_test(colours_are_for_standard_output),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
