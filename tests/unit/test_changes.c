/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Two recordings: what is merged by name, what is called a change, and what is noise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "made.h"
#include "output/changes.h"
#include "base/student.h"
#include "profile/append.h"
#include "profile/changes.h"
#include "profile/stable_name.h"

#define NR_REPEATS 50

/* Names leaf first. */
static void add(struct profile *p, const char *names, uint64_t count)
{
	struct sample s = { .pid = 1, .tid = 1, .count = count, .weight = count };

	s.process = s.thread = profile_string(p, "app");
	s.ustack = made_stack(p, FRAME_USER, names);
	profile_add_sample(p, &s);
}

static struct profile *made(const char *leaf, uint64_t of_leaf, uint64_t of_other)
{
	struct profile *p = made_profile("oncpu");

	p->meta.is_time = 0;
	add(p, leaf, of_leaf);
	add(p, "other;main", of_other);
	return p;
}

static const struct change *row_of(const struct changes *c, const char *name)
{
	for (size_t i = 0; i < c->nr; i++)
		if (!strcmp(c->tree->names.bytes + c->v[i].name, name))
			return &c->v[i];
	return NULL;
}

static const struct changes_opts usual = { .alpha = 0.001, .fail_above_pct = 5 };
static const struct view view = { .percent_limit = 0.5 };

static int compare(struct changes *c, struct profile *a, struct profile *b,
		   const struct changes_opts *opts)
{
	return changes_make(c, (struct profile *[]){ a, b }, (char *[]){ "a", "b" },
			    (size_t[]){ 1, 1 }, &view, opts);
}

static void names_of_builds_are_one(void **state)
{
	static const char *const names[][2] = {
		{ "f", "f" },
		{ "f.isra.3", "f" },
		{ "f.constprop.0.isra.1", "f" },
		{ "f.cold", "f" },
		{ "f.part.0.cold.12", "f" },
		{ "f.llvm.1234567890", "f" },
		{ "f(int) [clone .isra.0] [clone .cold]", "f(int)" },
		{ "core::fmt::write::h0123456789abcdef", "core::fmt::write" },
		{ "a::hb::h0123456789abcde", "a::hb::h0123456789abcde" }, /* 15 digits */
		{ "[app+0x1f3a]", "[app+0x]" },
		{ "x0x12", "x0x12" },
		{ "f2", "f2" },
		{ "v1.2", "v1.2" },
		{ ".cold", ".cold" },
		{ "operator[]", "operator[]" },
		{ "", "" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char *stable = stable_name(names[i][0]);

		assert_string_equal(stable, names[i][1]);
		free(stable);
	}
}

/* 300 of 1,000 before; 600 of 1,000 after, under another compiler's name. */
static void functions_merge_by_name(void **state)
{
	struct profile *a = made("hot.isra.0;main", 300, 700), *b = made("hot;main", 600, 400);
	const struct change *row;
	struct changes c;

	assert_int_equal(compare(&c, a, b, &usual), 0);
	assert_int_equal(c.nr, 3);
	row = row_of(&c, "hot");
	assert_int_equal(row->self[0], 300);
	assert_int_equal(row->self[1], 600);
	/* 3/7 of all other code, then 6/4. */
	assert_true(fabs(row->change_pct - 250) < 1e-9);
	assert_true(row->real && row->failed);
	row = row_of(&c, "other");
	assert_true(row->real && !row->failed);
	row = row_of(&c, "main");
	assert_int_equal(row->total[0], 1000);
	assert_int_equal(row->total[1], 1000);
	assert_false(row->judged);
	assert_int_equal(c.nr_failed, 1);
	assert_int_equal(changes_all(&c, 1), 1000);
	changes_release(&c);
	profile_free(a);
	profile_free(b);
}

/* Two-sided normal: 330 against 300 of 1,000 is z = 1.44; p = 0.149 by any table. */
static void a_difference_has_its_probability(void **state)
{
	struct profile *a = made("hot;main", 300, 700), *b = made("hot;main", 330, 670);
	struct changes c;

	assert_int_equal(compare(&c, a, b, &usual), 0);
	assert_true(fabs(row_of(&c, "hot")->p - 0.1487) < 5e-4);
	assert_int_equal(c.nr_real, 0);
	changes_release(&c);
	profile_free(a);
	profile_free(b);
	assert_true(fabs(student_within(2.228, 10) - 0.95) < 1e-4);
	assert_true(fabs(student_within(1.96, INFINITY) - 0.95) < 1e-4);
}

static void shares_or_what_was_recorded(void **state)
{
	struct profile *a = made("hot;main", 3000, 7000), *b = made("hot;main", 6000, 14000);
	struct changes_opts absolute = usual;
	struct changes c;

	assert_int_equal(compare(&c, a, b, &usual), 0);
	assert_int_equal(c.nr_real, 0);
	assert_true(fabs(changes_scale(&c) - 2) < 1e-9);
	changes_release(&c);
	absolute.absolute = true;
	assert_int_equal(compare(&c, a, b, &absolute), 0);
	assert_int_equal(c.nr_failed, 2);
	assert_true(fabs(row_of(&c, "hot")->change_pct - 100) < 1e-9);
	assert_true(fabs(changes_scale(&c) - 1) < 1e-9);
	changes_release(&c);
	profile_free(a);
	profile_free(b);
}

static void new_and_gone(void **state)
{
	struct profile *a = made("old;main", 300, 700), *b = made("young;main", 300, 700);
	struct changes c;

	assert_int_equal(compare(&c, a, b, &usual), 0);
	assert_true(isinf(row_of(&c, "young")->change_pct) && row_of(&c, "young")->failed);
	assert_true(row_of(&c, "old")->real && !row_of(&c, "old")->failed);
	assert_string_equal(changes_text(row_of(&c, "old")), "gone");
	changes_release(&c);
	profile_free(a);
	profile_free(b);
}

static uint32_t node_named(const struct tree *t, const char *name)
{
	for (uint32_t i = 1; i < t->nr; i++)
		if (!strcmp(tree_name(t, &t->nodes[i]), name))
			return i;
	fail_msg("there is no %s", name);
	return 0;
}

/* Shares of 30 and 60 %: the function is twice as much, what calls it is still all of it. */
static void shades_follow_the_total(void **state)
{
	struct profile *a = made("hot;main", 3000, 7000), *b = made("hot;main", 6000, 4000);
	struct changes c;

	assert_int_equal(compare(&c, a, b, &usual), 0);
	assert_int_equal(changes_shade(&c, node_named(c.tree, "hot")), 3);
	assert_int_equal(changes_shade(&c, node_named(c.tree, "main")), 0);
	changes_release(&c);
	assert_int_equal(compare(&c, b, a, &usual), 0);
	assert_int_equal(changes_shade(&c, node_named(c.tree, "hot")), -3);
	changes_release(&c);
	profile_free(a);
	profile_free(b);
}

/* A picture has many frames: what stands out of one by chance, is chance's in a hundred of them. */
static void shades_agree_with_the_verdict(void **state)
{
	struct profile *a = made_profile("oncpu"), *b = made_profile("oncpu");
	struct changes c;
	char name[16];

	a->meta.is_time = b->meta.is_time = 0;
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "f%d;main", i);
		add(a, name, i == 7 ? 90 : 100);
		add(b, name, i == 7 ? 135 : 100); /* 2.9 standard deviations */
	}
	assert_int_equal(compare(&c, a, b, &usual), 0);
	assert_int_equal(c.nr_real, 0);
	for (uint32_t i = 1; i < c.tree->nr; i++)
		assert_int_equal(changes_shade(&c, i), 0);
	changes_release(&c);
	add(b, "f9;main", 300);
	assert_int_equal(compare(&c, a, b, &usual), 0);
	assert_int_equal(c.nr_real, 1);
	assert_int_equal(changes_shade(&c, node_named(c.tree, "f9")), 3);
	assert_int_equal(changes_shade(&c, node_named(c.tree, "f7")), 0);
	changes_release(&c);
	profile_free(a);
	profile_free(b);
}

static void what_does_not_compare_is_refused(void **state)
{
	struct profile *a = made("hot;main", 1, 1), *b = made_profile("offcpu");
	struct changes_opts absolute = usual;
	struct changes c;

	assert_int_not_equal(compare(&c, a, b, &usual), 0);
	profile_free(b);
	b = made("hot;main", 1, 1);
	b->meta.rate_hz = a->meta.rate_hz + 1;
	assert_int_equal(compare(&c, a, b, &usual), 0);
	changes_release(&c);
	absolute.absolute = true;
	assert_int_not_equal(compare(&c, a, b, &absolute), 0);
	profile_free(a);
	profile_free(b);
}

static void nothing_compares_with_nothing(void **state)
{
	struct profile *a = made_profile("oncpu"), *b = made_profile("oncpu");
	struct changes c;

	a->meta.is_time = b->meta.is_time = 0;
	assert_int_equal(compare(&c, a, b, &usual), 0);
	assert_int_equal(c.nr + c.nr_real, 0);
	changes_release(&c);
	profile_free(a);
	profile_free(b);
}

/* --- programs that vary, and one that got slower --- */

static uint64_t random_state;

static double uniform(void)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (random_state >> 11) * 0x1p-53;
}

/* Eight functions; the shares of a run are off by up to wobble from run to run. */
static struct profile *run_of(double slower, double wobble, size_t nr_samples)
{
	static const double shares[8] = { 0.3, 0.2, 0.15, 0.12, 0.1, 0.08, 0.04, 0.01 };
	double weights[8], all = 0, at;
	uint64_t counts[8] = {};
	struct profile *p = made_profile("oncpu");
	char name[16];

	p->meta.is_time = 0;
	for (int i = 0; i < 8; i++) {
		weights[i] = shares[i] * (1 + wobble * (2 * uniform() - 1));
		weights[i] *= i ? 1 : slower;
		all += weights[i];
	}
	for (size_t n = 0; n < nr_samples; n++) {
		int i = 0;

		for (at = uniform() * all; i < 7 && at >= weights[i]; i++)
			at -= weights[i];
		counts[i]++;
	}
	for (int i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "f%d;main", i);
		add(p, name, counts[i]);
	}
	return p;
}

static size_t regressions(double slower, double wobble, size_t nr, size_t nr_samples)
{
	struct profile *profiles[10] = {};
	char *names[10] = {};
	struct changes c;
	size_t failed;

	for (size_t i = 0; i < 2 * nr; i++) {
		profiles[i] = run_of(i < nr ? 1 : slower, wobble, nr_samples);
		names[i] = "x";
	}
	assert_int_equal(changes_make(&c, profiles, names, (size_t[]){ nr, nr }, &view, &usual), 0);
	failed = c.nr_failed;
	assert_true(!failed || slower == 1 || row_of(&c, "f0")->failed);
	changes_release(&c);
	for (size_t i = 0; i < 2 * nr; i++)
		profile_free(profiles[i]);
	return failed;
}

/* The same program is not slower, one by 10 % is: also where runs differ by 2 % by themselves. */
static void ten_percent_are_seen_and_noise_is_not(void **state)
{
	static const struct {
		double wobble;
		size_t nr, nr_samples;
	} cases[] = { { 0, 1, 50000 }, { 0, 3, 30000 }, { 0.02, 5, 20000 } };

	random_state = 1;
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		size_t same = 0, slower = 0;

		for (int i = 0; i < NR_REPEATS; i++) {
			same += regressions(1, cases[k].wobble, cases[k].nr, cases[k].nr_samples) >
				0;
			slower += regressions(1.1, cases[k].wobble, cases[k].nr,
					      cases[k].nr_samples) > 0;
		}
		print_message("wobble %.2f: %zu of %d alike, %zu slower\n", cases[k].wobble, same,
			      NR_REPEATS, slower);
		assert_int_equal(same, 0);
		assert_int_equal(slower, NR_REPEATS);
	}
}

/* --- slices of one recording --- */

/* So many samples in each of ten slices of a second, of "hot" those of the list. */
static struct profile *sliced(const uint64_t hot[10], uint64_t in_each)
{
	uint64_t all_hot = 0;
	struct profile *p;

	for (int i = 0; i < 10; i++)
		all_hot += hot[i];
	p = made("hot;main", all_hot, 10 * in_each - all_hot);
	for (uint32_t i = 0; i < 10; i++) {
		profile_add_slice(p, (i + 1) * 1000000000ull);
		profile_add_sliced(p, &(struct sliced){ 0, i, hot[i] });
		profile_add_sliced(p, &(struct sliced){ 1, i, in_each - hot[i] });
	}
	return p;
}

/*
 * 300 of 1,000 samples and 340 are a change if each tenth of a recording has its share of them. If
 * there are tenths with 10 and with 60 of 100, or a half with few and a half with many, they are
 * none.
 */
static void what_varies_within_a_recording_is_noise(void **state)
{
	static const uint64_t even[2][10] = {
		{ 300, 310, 290, 305, 295, 300, 310, 290, 305, 295 },
		{ 345, 335, 340, 350, 330, 345, 335, 340, 350, 330 },
	};
	static const uint64_t bursts[2][10] = {
		{ 100, 600, 100, 100, 600, 100, 600, 100, 100, 600 },
		{ 100, 600, 600, 100, 600, 100, 600, 100, 100, 600 },
	};
	static const uint64_t halves[2][10] = {
		{ 200, 210, 190, 200, 200, 400, 410, 390, 400, 400 },
		{ 240, 250, 230, 240, 240, 440, 450, 430, 440, 440 },
	};
	const struct {
		const uint64_t (*hot)[10];
		bool real;
		double least, most; /* dispersion */
	} cases[] = { { even, true, 1, 1 },
		      { bursts, false, 100, 400 },
		      { halves, false, 60, 400 } };

	for (size_t k = 0; k < 3; k++) {
		struct profile *a = sliced(cases[k].hot[0], 1000),
			       *b = sliced(cases[k].hot[1], 1000);
		struct changes_opts absolute = usual;
		struct changes c;

		assert_int_equal(compare(&c, a, b, &usual), 0);
		assert_true(c.slices_known && !c.noise_known);
		assert_int_equal(row_of(&c, "hot")->real, cases[k].real);
		assert_true(c.slice_dispersion >= cases[k].least &&
			    c.slice_dispersion <= cases[k].most);
		changes_release(&c);
		absolute.absolute = true;
		assert_int_equal(compare(&c, a, b, &absolute), 0);
		assert_int_equal(row_of(&c, "hot")->real, cases[k].real);
		changes_release(&c);
		profile_free(a);
		profile_free(b);
	}
}

/* --- writers --- */

typedef int (*writer_fn)(const struct changes *c, const struct view *v, FILE *out);

static char *written(writer_fn fn)
{
	struct profile *a = made("hot.isra.0;main", 300, 700), *b = made("<hot>;main", 600, 1400);
	char *text = NULL;
	struct changes c;
	size_t sz;
	FILE *out = open_memstream(&text, &sz);

	add(a, "gone;x;main", 1000);
	assert_int_equal(compare(&c, a, b, &usual), 0);
	assert_int_equal(fn(&c, &view, out), 0);
	fclose(out);
	changes_release(&c);
	profile_free(a);
	profile_free(b);
	return text;
}

static void folded_stacks_have_two_numbers(void **state)
{
	char *text = written(changes_write_folded);

	assert_string_equal(text, "app;main;other 700 1400\n"
				  "app;main;x;gone 1000 0\n"
				  "app;main;<hot> 0 600\n"
				  "app;main;hot 300 0\n");
	free(text);
}

static void markup_is_escaped(void **state)
{
	static const writer_fn writers[] = { changes_write_junit, changes_write_html,
					     changes_write_svg };

	for (size_t i = 0; i < 3; i++) {
		char *text = written(writers[i]);

		assert_null(strstr(text, "<hot>"));
		assert_non_null(strstr(text, i == 1 ? "\\u003chot\\u003e" : "&lt;hot&gt;"));
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_builds_are_one),
		cmocka_unit_test(functions_merge_by_name),
		cmocka_unit_test(a_difference_has_its_probability),
		cmocka_unit_test(shares_or_what_was_recorded),
		cmocka_unit_test(new_and_gone),
		cmocka_unit_test(shades_follow_the_total),
		cmocka_unit_test(shades_agree_with_the_verdict),
		cmocka_unit_test(what_does_not_compare_is_refused),
		cmocka_unit_test(nothing_compares_with_nothing),
		cmocka_unit_test(ten_percent_are_seen_and_noise_is_not),
		cmocka_unit_test(what_varies_within_a_recording_is_noise),
		cmocka_unit_test(folded_stacks_have_two_numbers),
		cmocka_unit_test(markup_is_escaped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
