/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* base/text: what may reach a terminal, the folded grammar, and human forms. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

#define BAD	"\xef\xbf\xbd" /* U+FFFD */
#define ROWS(t) (sizeof(t) / sizeof(*(t)))

struct pair {
	const char *in, *out;
};

static const struct pair cleaned[] = {
	{ "", "" },
	{ "plain name", "plain name" },
	{ "Grüße, 世界 🙂", "Grüße, 世界 🙂" },
	{ "\x1b[31mred\x1b[0m", "?[31mred?[0m" },
	{ "\x1b]0;title\x07", "?]0;title?" },
	{ "a\nb\rc\td", "a?b?c?d" },
	{ "del\x7f", "del?" },
	{ "c1 \xc2\x9b"
	  "31m nel \xc2\x85",
	  "c1 ?31m nel ?" },
	{ "line\xe2\x80\xa8par\xe2\x80\xa9", "line?par?" },
	{ "rlo\xe2\x80\xae lri\xe2\x81\xa6 lrm\xe2\x80\x8e alm\xd8\x9c", "rlo? lri? lrm? alm?" },
	{ "no char \xef\xbf\xbe \xf0\x9f\xbf\xbf", "no char ? ?" },
	{ "raw \x9b"
	  "31m",
	  "raw " BAD "31m" },
	{ "overlong \xc0\xaf", "overlong " BAD BAD },
	{ "overlong \xe0\x80\xaf", "overlong " BAD BAD BAD },
	{ "surrogate \xed\xa0\x80", "surrogate " BAD BAD BAD },
	{ "too high \xf4\x90\x80\x80", "too high " BAD BAD BAD BAD },
	{ "cut \xe4\xb8", "cut " BAD BAD },
	{ "\xff\xfe", BAD BAD },
	{ "</script>\"'&#;]]>", "</script>\"'&#;]]>" },
};

static char *clean(const char *s, size_t len)
{
	char *out = NULL;
	size_t sz;
	FILE *f = open_memstream(&out, &sz);

	text_clean(f, s, len);
	fclose(f);
	return out;
}

static void clean_makes_names_printable(void **state)
{
	size_t i;
	char *s;

	for (i = 0; i < ROWS(cleaned); i++) {
		s = clean(cleaned[i].in, strlen(cleaned[i].in));
		assert_string_equal(s, cleaned[i].out);
		free(s);
	}
	s = clean("a\0b", 3);
	assert_string_equal(s, "a?b");
	free(s);
}

/* All strings of up to three bytes of the classes that matter: never a control byte, always valid.
 */
static void clean_output_is_clean(void **state)
{
	static const char bytes[] = "\x00\x1b\x41\x7f\x80\x9b\xbf\xc2\xe0\xe2\xed\xf0\xf4\xff";
	size_t n = sizeof(bytes) - 1, i;
	char *once, *twice;

	for (i = 0; i < n * n * n; i++) {
		char s[] = { bytes[i % n], bytes[i / n % n], bytes[i / n / n] };

		once = clean(s, sizeof(s));
		twice = clean(once, strlen(once));
		assert_string_equal(once, twice);
		free(once);
		free(twice);
	}
}

static const struct pair frames[] = {
	{ "", "?" },
	{ "main", "main" },
	{ "operator;", "operator:" },
	{ "worker 3", "worker_3" },
	{ "worker 3 100", "worker 3_100" },
	{ "ratio 3.5", "ratio_3.5" },
	{ "ratio 3.", "ratio_3." },
	{ "version .5", "version .5" },
	{ "v 1.2.3", "v 1.2.3" },
	{ " 7", "_7" },
	{ "42", "42" },
	{ "std::map<int, 4>", "std::map<int, 4>" },
	{ "tab\t5", "tab?5" },
	{ "a\nall;b 12", "a?all:b_12" },
};

static void frame_keeps_the_folded_grammar(void **state)
{
	size_t i;
	char *s;

	for (i = 0; i < ROWS(frames); i++) {
		s = text_frame(frames[i].in, strlen(frames[i].in), 0);
		assert_string_equal(s, frames[i].out);
		free(s);
	}
	s = text_frame("tokio runtime w 1", 17, 1);
	assert_string_equal(s, "tokio_runtime_w_1");
	free(s);
}

static void width_counts_characters(void **state)
{
	assert_int_equal(text_width(""), 0);
	assert_int_equal(text_width("abc"), 3);
	assert_int_equal(text_width("é世🙂"), 5);
	assert_int_equal(text_width("e\u0301"), 1);
	assert_int_equal(text_width("\xff-"), 2);
}

static const struct {
	const char *in;
	size_t width;
	int pad;
	const char *out;
} fits[] = {
	{ "abc", 5, 1, "abc  " },     { "abc", 5, 0, "abc" },	     { "abc", 3, 1, "abc" },
	{ "abcdef", 4, 1, "abc…" },   { "世界地図", 5, 1, "世界…" }, { "abc", 1, 1, "…" },
	{ "世界地図", 4, 1, "世… " }, { "世界", 4, 1, "世界" },	     { "abc", 0, 1, "" },
	{ "", 2, 1, "  " },
};

static void fit_cuts_and_pads(void **state)
{
	char *out = NULL;
	size_t i, sz;
	FILE *f;

	for (i = 0; i < ROWS(fits); i++) {
		f = open_memstream(&out, &sz);
		text_fit(f, fits[i].in, fits[i].width, fits[i].pad);
		fclose(f);
		assert_string_equal(out, fits[i].out);
		free(out);
	}
}

static const struct pair nearest[] = {
	{ "pdi", "pid" },
	{ "onpcu", "oncpu" },
	{ "oncup", "oncpu" },
	{ "dur", "duration" },
	{ "durration", "duration" },
	{ "frequency", NULL },
	{ "pids", "pid" },
	{ "x", NULL },
	{ "", NULL },
	{ "something-else", NULL },
	{ "frq", "freq" },
};

static void nearest_finds_typing_mistakes(void **state)
{
	static const char *const words[] = { "pid", "tid", "oncpu", "offcpu", "duration", "freq" };
	char *word = xmalloc(100000);
	const char *found;
	size_t i;

	for (i = 0; i < ROWS(nearest); i++) {
		found = text_nearest(nearest[i].in, words, ROWS(words));
		if (nearest[i].out)
			assert_non_null(found);
		assert_string_equal(found ? found : "none",
				    nearest[i].out ? nearest[i].out : "none");
	}
	memset(word, 'p', 99999);
	word[99999] = '\0';
	assert_null(text_nearest(word, words, ROWS(words)));
	free(word);
	assert_null(text_nearest("pid", NULL, 0));
}

static const struct {
	const char *(*form)(unsigned long long);
	unsigned long long n;
	const char *out;
} forms[] = {
	{ text_ns, 0, "0 ns" },
	{ text_ns, 999, "999 ns" },
	{ text_ns, 1000, "1 us" },
	{ text_ns, 999499, "999 us" },
	{ text_ns, 999600, "1 ms" },
	{ text_ns, 230000000, "230 ms" },
	{ text_ns, 1500000000, "1.5 s" },
	{ text_ns, 90000000000, "90 s" },
	{ text_ns, 150000000000, "2.5 min" },
	{ text_ns, 7200000000000, "2 h" },
	{ text_bytes, 1023, "1023 B" },
	{ text_bytes, 1024, "1 KB" },
	{ text_bytes, 12897485, "12.3 MB" },
	{ text_bytes, 1ull << 30, "1 GB" },
	{ text_bytes, ~0ull, "16777216 TB" },
	{ text_count, 0, "0" },
	{ text_count, 999, "999" },
	{ text_count, 1000, "1,000" },
	{ text_count, 1234567, "1,234,567" },
	{ text_count, ~0ull, "18,446,744,073,709,551,615" },
};

static void numbers_have_human_forms(void **state)
{
	const char *a, *b;
	size_t i;

	for (i = 0; i < ROWS(forms); i++)
		assert_string_equal(forms[i].form(forms[i].n), forms[i].out);
	/* Two in one printf do not share a buffer. */
	a = text_count(1);
	b = text_count(2);
	assert_string_equal(a, "1");
	assert_string_equal(b, "2");
}

static void check_meant(const char *prefix, const char *near, const char *want)
{
	char *text = text_meant(prefix, near);

	assert_string_equal(text, want);
	free(text);
}

static void what_was_meant_is_part_of_a_sentence(void **state)
{
	check_meant("", "lock", "; did you mean 'lock'?");
	check_meant("--", "pid", "; did you mean '--pid'?");
	check_meant("", "a\x1b[2J", "; did you mean 'a?[2J'?");
	check_meant("--", NULL, "");
}

static void percentages_hide_nothing(void **state)
{
	assert_string_equal(text_pct(0), "0.0%");
	assert_string_equal(text_pct(0.0001), "<0.1%");
	assert_string_equal(text_pct(0.0999), "<0.1%");
	assert_string_equal(text_pct(0.1), "0.1%");
	assert_string_equal(text_pct(12.34), "12.3%");
	assert_string_equal(text_pct(99.9), "99.9%");
	assert_string_equal(text_pct(99.9999), "99.9%");
	assert_string_equal(text_pct(100), "100.0%");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clean_makes_names_printable),
		cmocka_unit_test(clean_output_is_clean),
		cmocka_unit_test(frame_keeps_the_folded_grammar),
		cmocka_unit_test(width_counts_characters),
		cmocka_unit_test(fit_cuts_and_pads),
		cmocka_unit_test(nearest_finds_typing_mistakes),
		cmocka_unit_test(what_was_meant_is_part_of_a_sentence),
		cmocka_unit_test(numbers_have_human_forms),
		cmocka_unit_test(percentages_hide_nothing),
	};

	return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
