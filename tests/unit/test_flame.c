/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The flame graph files as bytes: well-formed, escaped, complete, pruned. That they also work in a
 * browser is for tests/e2e/t503-flame-in-chromium.sh.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <json.h>

#include "base/mem.h"
#include "base/text.h"
#include "output/flame.h"
#include "output/output.h"
#include "profile/profile.h"

typedef int (*writer_fn)(const struct profile *p, const struct view *v, FILE *out);
static const writer_fn writers[] = { svg_write, html_write };

static char *written(writer_fn fn, const struct profile *p)
{
	const struct view view = { 0 };
	char *text = NULL;
	size_t sz;
	FILE *out = open_memstream(&text, &sz);

	assert_non_null(out);
	assert_int_equal(fn(p, &view, out), 0);
	fclose(out);
	assert_int_equal(strlen(text), sz);
	return text;
}

static size_t count_of(const char *text, const char *part)
{
	size_t nr = 0;

	while ((text = strstr(text, part))) {
		text += strlen(part);
		nr++;
	}
	return nr;
}

/* One sample per call: a stack of one frame below a thread. */
static void add(struct profile *p, enum frame_kind kind, uint32_t module, const char *name,
		const char *thread, uint64_t count)
{
	uint32_t s = profile_string(p, name), frame = profile_frame(p, kind, module, s);
	struct sample sample = { .pid = 1, .tid = 1, .count = count };

	profile_name_frame(p, frame, s, 0);
	sample.process = sample.thread = profile_string(p, thread);
	sample.ustack = profile_stack(p, &frame, 1, UNWIND_END_ROOT, 0);
	profile_add_sample(p, &sample);
}

/* --- reading the files back --- */

static struct json_object *data_of(const char *text)
{
	static const char begin[] = "<script type=\"application/json\" id=\"flame-data\">";
	const char *from = strstr(text, begin), *to;
	struct json_object *data;
	char *json;

	assert_non_null(from);
	from += strlen(begin);
	to = strstr(from, "</script>");
	assert_non_null(to);
	json = xstrndup(from, to - from);
	data = json_tokener_parse(json);
	assert_non_null(data);
	free(json);
	return data;
}

static struct json_object *member(struct json_object *data, const char *name)
{
	struct json_object *value = NULL;

	assert_true(json_object_object_get_ex(data, name, &value));
	return value;
}

static uint64_t *numbers(struct json_object *data, const char *column, size_t *nr)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *s = json_object_get_string(member(data, column));
	uint64_t *out = xcalloc(strlen(s), sizeof(*out));
	unsigned int shift = 0;

	for (*nr = 0; *s; s++) {
		uint64_t digit = strchr(letters, *s) - letters;

		out[*nr] |= (digit & 31) << shift;
		shift = digit < 32 ? 0 : shift + 5;
		*nr += digit < 32;
	}
	return out;
}

static bool has_name(struct json_object *data, const char *name)
{
	struct json_object *names = member(data, "names");

	for (size_t i = 0; i < json_object_array_length(names); i++)
		if (!strcmp(json_object_get_string(json_object_array_get_idx(names, i)), name))
			return true;
	return false;
}

/* --- XML, as far as these files go: tags nest, values are quoted, no stray '<' and '&' --- */

static const char *skip_reference(const char *s)
{
	static const char *const known[] = { "&lt;", "&gt;", "&amp;", "&quot;", "&#39;" };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strncmp(s, known[i], strlen(known[i])))
			return s + strlen(known[i]);
	fail_msg("stray '&' at: %.40s", s);
	return s;
}

/* From behind a tag's name to behind its '>'. */
static const char *skip_attributes(const char *s, bool *empty)
{
	char quote = 0;

	for (; quote || *s != '>'; s++) {
		if (!*s || *s == '<' || (*s == '&' && !quote))
			fail_msg("broken tag at: %.40s", s);
		if (*s == '&')
			s = skip_reference(s) - 1;
		else if (*s == quote)
			quote = 0;
		else if (!quote && (*s == '"' || *s == '\''))
			quote = *s;
	}
	*empty = s[-1] == '/';
	return s + 1;
}

static const char *skip_past(const char *s, const char *end)
{
	s = strstr(s, end);
	assert_non_null(s);
	return s + strlen(end);
}

static void assert_well_formed(const char *s)
{
	char open[16][32];
	size_t nr = 0;

	while (*s) {
		size_t len = strcspn(s + 1, " />\n");
		bool empty;

		if (*s == '&') {
			s = skip_reference(s);
		} else if (!strncmp(s, "<![CDATA[", 9)) {
			s = skip_past(s, "]]>");
		} else if (!strncmp(s, "<?", 2)) {
			s = skip_past(s, "?>");
		} else if (!strncmp(s, "</", 2)) {
			assert_true(nr > 0);
			nr--;
			assert_memory_equal(s + 2, open[nr], strlen(open[nr]));
			s = skip_past(s, ">");
		} else if (*s == '<') {
			assert_true(nr < 16 && len > 0 && len < sizeof(open[0]));
			snprintf(open[nr], sizeof(open[nr]), "%.*s", (int)len, s + 1);
			s = skip_attributes(s + 1 + len, &empty);
			nr += !empty;
		} else {
			s++;
		}
	}
	assert_int_equal(nr, 0);
}

/* --- the tests --- */

static const char *const fragments[] = {
	"</script>", "<script>alert(1)</script>", "]]>",	"<!--",		 "-->",
	"<![CDATA[", "\"><img src=x onerror=a>",  "' onload='", "&lt;&amp;&#60", "\\u003c/script>",
	"\\\"}",     "\xe2\x80\xa8</title>",	  "</style>",	"${1}`x`",	 "\x01\xff\xc0\xaf",
	"日本</g>",
};
#define NR_FRAGMENTS (sizeof(fragments) / sizeof(fragments[0]))

/* 64 hostile names: each fragment alone, in front, behind, and twice with its neighbour. */
static char *hostile(size_t i)
{
	const char *a = fragments[i % NR_FRAGMENTS], *b = fragments[(i + 1) % NR_FRAGMENTS];

	switch (i / NR_FRAGMENTS) {
	case 0:
		return xstrdup(a);
	case 1:
		return xasprintf("%sname", a);
	case 2:
		return xasprintf("name %s", a);
	default:
		return xasprintf("%s%s%s", a, b, a);
	}
}

#define NR_HOSTILE (4 * NR_FRAGMENTS)

static struct profile *hostile_profile(void)
{
	struct profile *p = profile_new();

	for (size_t i = 0; i < NR_HOSTILE; i++) {
		char *name = hostile(i);

		add(p, i % 5, profile_add_module(p, name), name, name, 10);
		p->meta.target = p->meta.host = p->meta.event = profile_string(p, name);
		p->meta.kernel = p->meta.command = p->meta.target;
		free(name);
	}
	return p;
}

static void test_svg_is_well_formed(void **state)
{
	struct profile *p = hostile_profile(), *none = profile_new();
	char *text = written(svg_write, p), *empty = written(svg_write, none);

	assert_well_formed(text);
	assert_well_formed(empty);
	free(text);
	free(empty);
	profile_free(p);
	profile_free(none);
}

/* What the files consist of is ours: no name adds an element, ends one, or opens a comment. */
static void test_hostile_names_add_no_markup(void **state)
{
	static const struct {
		const char *mark;
		size_t in_svg, in_html;
	} marks[] = {
		{ "<script", 2, 2 }, { "</script", 2, 2 },   { "<style", 1, 1 },
		{ "</style", 1, 1 }, { "<![CDATA[", 2, 2 },  { "]]>", 2, 2 },
		{ "<!--", 0, 0 },    { "<img", 0, 0 },	     { "\xe2\x80\xa8", 0, 0 },
		{ "</body>", 0, 1 }, { "onerror=a>", 0, 0 }, { "</svg>", 1, 0 },
	};
	struct profile *p = hostile_profile();
	char *svg = written(svg_write, p), *html = written(html_write, p);

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		assert_int_equal(count_of(svg, marks[i].mark), marks[i].in_svg);
		assert_int_equal(count_of(html, marks[i].mark), marks[i].in_html);
	}
	free(svg);
	free(html);
	profile_free(p);
}

static void test_hostile_names_read_back(void **state)
{
	struct profile *p = hostile_profile();

	for (size_t w = 0; w < 2; w++) {
		char *text = written(writers[w], p);
		struct json_object *data = data_of(text);

		for (size_t i = 0; i < NR_HOSTILE; i++) {
			char *name = hostile(i), *shown = text_frame(name, strlen(name), 0);

			assert_true(has_name(data, shown));
			free(name);
			free(shown);
		}
		json_object_put(data);
		free(text);
	}
	profile_free(p);
}

static void test_self_sums_up_to_total(void **state)
{
	struct profile *p = hostile_profile();
	uint64_t big = 5000000000, sum = 0, *self, *up;
	size_t nr, nr_up, depth = 0;
	struct json_object *data;
	char *text;

	add(p, FRAME_USER, 0, "often", "thread", big);
	p->counters[PROF_LOST_STACKS] = 7;
	text = written(html_write, p);
	data = data_of(text);
	self = numbers(data, "self", &nr);
	up = numbers(data, "up", &nr_up);
	assert_int_equal(nr, nr_up);
	for (size_t i = 0; i < nr; i++) {
		sum += self[i];
		assert_true(i ? up[i] <= depth : up[i] == 0);
		depth = i ? depth + 1 - up[i] : 0;
	}
	assert_true(sum == NR_HOSTILE * 10 + big + 7);
	free(self);
	free(up);
	free(text);
	json_object_put(data);
	profile_free(p);
}

/* 1180 px for 100,000 samples: 25 of them are 0.295 px wide, 26 are 0.307. */
static void test_picture_leaves_out_what_cannot_be_seen(void **state)
{
	struct profile *p = profile_new();
	struct json_object *data;
	char *svg;

	add(p, FRAME_USER, 0, "most_of_it", "main", 99949);
	add(p, FRAME_USER, 0, "too_narrow", "t25", 25);
	add(p, FRAME_USER, 0, "just_seen", "t26", 26);
	svg = written(svg_write, p);
	assert_int_equal(count_of(svg, "<title>most_of_it: 99,949 samples, 99.95%</title>"), 1);
	assert_int_equal(count_of(svg, "<title>just_seen: "), 1);
	assert_int_equal(count_of(svg, "<title>too_narrow: "), 0);
	assert_int_equal(count_of(svg, ">most_of_it</text>"), 1);
	assert_int_equal(count_of(svg, ">just_seen</text>"), 0);
	data = data_of(svg);
	assert_true(has_name(data, "too_narrow"));
	json_object_put(data);
	free(svg);
	profile_free(p);
}

static void test_title_and_note(void **state)
{
	struct profile *p = profile_new();
	char *svg;

	add(p, FRAME_USER, 0, "f", "t", 1234);
	p->meta.command = profile_string(p, "oncpu");
	p->meta.target = profile_string(p, "process 1 (a<b)");
	p->meta.event = profile_string(p, "cycles");
	p->meta.rate_hz = 99;
	p->meta.duration_ns = 10000000000;
	p->counters[PROF_LOST_STACKS] = 5;
	svg = written(svg_write, p);
	assert_int_equal(count_of(svg, "<title>oncpu: process 1 (a&lt;b)</title>"), 1);
	assert_int_equal(count_of(svg, ">cycles at 99 Hz · 10 s · 1,234 samples, 5 lost</text>"),
			 1);
	free(svg);
	profile_free(p);
}

/* Of user code only; who sees the picture alone knows where names lack most. */
static void test_note_says_where_names_lack(void **state)
{
	struct profile *p = profile_new();
	char *text;

	add(p, FRAME_USER, profile_add_module(p, "/srv/a<b"), "[a<b+0x10]", "t", 30);
	add(p, FRAME_USER, profile_add_module(p, "/srv/c"), "[c+0x10]", "t", 10);
	add(p, FRAME_USER, profile_add_module(p, "/srv/d"), "known", "t", 160);
	for (uint32_t i = 0; i < p->nr_samples; i++)
		p->samples[i].weight = p->samples[i].count;
	text = written(svg_write, p);
	assert_int_equal(count_of(text, ">200 samples, 20% without names (a&lt;b and others)<"), 1);
	free(text);
	text = written(html_write, p);
	assert_int_equal(count_of(text, "20% without names (a"), 1);
	free(text);
	profile_free(p);
}

/* Every colour class has a light and a dark fill, the light one as in the picture. */
static void test_colours_are_those_of_the_style_sheet(void **state)
{
	struct profile *p = profile_new();
	struct json_object *data, *colours;
	char *svg, name[32];

	for (int i = 0; i < 400; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		add(p, i % 5, profile_add_module(p, name), name, "t", 10);
	}
	svg = written(svg_write, p);
	data = data_of(svg);
	colours = member(data, "colours");
	for (size_t i = 0; i < json_object_array_length(colours); i++) {
		const char *c = json_object_get_string(json_object_array_get_idx(colours, i));
		char *rule = xasprintf(".%s { fill: #", c), *rect = xasprintf("\"%s\" fill=\"#", c);
		const char *used = strstr(svg, rect), *light = strstr(svg, rule);

		assert_non_null(used);
		assert_int_equal(count_of(svg, rule), 2);
		assert_memory_equal(used + strlen(rect), light + strlen(rule), 6);
		free(rule);
		free(rect);
	}
	json_object_put(data);
	free(svg);
	profile_free(p);
}

static void test_labels_are_cut_to_columns(void **state)
{
	static const struct {
		const char *name;
		size_t columns;
		const char *label;
	} rows[] = {
		{ "a\"b'c", 5, "a&quot;b&#39;c" },
		{ "abcdef", 6, "abcdef" },
		{ "abcdef", 5, "abcd…" },
		{ "<&>", 3, "&lt;&amp;&gt;" },
		{ "<&>x", 3, "&lt;&amp;…" },
		{ "äöüß", 4, "äöüß" },
		{ "日本語", 6, "日本語" },
		{ "日本語", 5, "日本…" },
		{ "日本語", 4, "日…" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *label = NULL;
		size_t sz;
		FILE *out = open_memstream(&label, &sz);

		flame_put_text_cut(out, rows[i].name, rows[i].columns);
		fclose(out);
		assert_string_equal(label, rows[i].label);
		free(label);
	}
}

static void test_same_profile_same_bytes(void **state)
{
	for (size_t w = 0; w < 2; w++) {
		struct profile *a = hostile_profile(), *b = hostile_profile();
		char *x = written(writers[w], a), *y = written(writers[w], b);

		assert_string_equal(x, y);
		free(x);
		free(y);
		profile_free(a);
		profile_free(b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_svg_is_well_formed),
		cmocka_unit_test(test_hostile_names_add_no_markup),
		cmocka_unit_test(test_hostile_names_read_back),
		cmocka_unit_test(test_self_sums_up_to_total),
		cmocka_unit_test(test_picture_leaves_out_what_cannot_be_seen),
		cmocka_unit_test(test_title_and_note),
		cmocka_unit_test(test_note_says_where_names_lack),
		cmocka_unit_test(test_colours_are_those_of_the_style_sheet),
		cmocka_unit_test(test_labels_are_cut_to_columns),
		cmocka_unit_test(test_same_profile_same_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
