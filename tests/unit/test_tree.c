/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Call trees: what is left out, which way they grow, and how they are printed. */
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "made.h"
#include "output/output.h"
#include "profile/paths.h"
#include "profile/tree.h"

/* Names leaf first. */
static void add(struct profile *p, const char *thread, const char *names, uint64_t count)
{
	struct sample s = { .pid = 1, .tid = 1, .count = count, .weight = count };

	s.process = s.thread = profile_string(p, thread);
	s.ustack = made_stack(p, FRAME_USER, names);
	profile_add_sample(p, &s);
}

/* 100 samples: f calls itself, also by way of g. */
static struct profile *made(void)
{
	struct profile *p = made_profile("oncpu");

	p->meta.is_time = 0;
	add(p, "app", "leaf;f;f;main", 40);
	add(p, "app", "f;g;f;main", 20);
	add(p, "app", "leaf;g;main", 30);
	add(p, "app", "main", 5);
	add(p, "helper", "leaf;start", 5);
	return p;
}

typedef int (*writer_fn)(const struct profile *p, const struct view *v, FILE *out);

static void check(writer_fn fn, const struct view *v, const char *expected)
{
	struct profile *p = made();
	char *text = NULL;
	size_t sz;
	FILE *out = open_memstream(&text, &sz);

	assert_int_equal(fn(p, v, out), 0);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
	profile_free(p);
}

static regex_t compiled(const char *pattern)
{
	regex_t re;

	assert_int_equal(regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB), 0);
	return re;
}

static void a_tree_steps_in_where_ways_part(void **state)
{
	check(call_tree_write, &(struct view){ .percent_limit = 0.5 },
	      "\n"
	      "TOTAL   SELF  FUNCTION\n"
	      "95.0%   0.0%  + app\n"
	      "95.0%   5.0%    main\n"
	      "60.0%   0.0%    + f\n"
	      "40.0%   0.0%      + f\n"
	      "40.0%  40.0%        leaf\n"
	      "20.0%   0.0%      + g\n"
	      "20.0%  20.0%        f\n"
	      "30.0%   0.0%    + g\n"
	      "30.0%  30.0%      leaf\n"
	      " 5.0%   0.0%  + helper\n"
	      " 5.0%   0.0%    start\n"
	      " 5.0%   5.0%    leaf\n");
}

static void what_is_light_is_summed_up(void **state)
{
	check(call_tree_write, &(struct view){ .percent_limit = 35 },
	      "\n"
	      "TOTAL   SELF  FUNCTION\n"
	      "95.0%   0.0%  + app\n"
	      "95.0%   5.0%    main\n"
	      "60.0%   0.0%    + f\n"
	      "40.0%   0.0%      + f\n"
	      "40.0%  40.0%        leaf\n"
	      "20.0%             + … 1 more\n"
	      "30.0%           + … 1 more\n"
	      " 5.0%         + … 1 more\n");
	check(call_tree_write, &(struct view){ .rows = 1 },
	      "\n"
	      "TOTAL  SELF  FUNCTION\n"
	      "95.0%  0.0%  + app\n"
	      "… more lines: give a larger --rows\n");
}

static void upwards_a_function_has_its_callers_below(void **state)
{
	check(call_tree_write, &(struct view){ .bottom_up = true, .percent_limit = 21 },
	      "\n"
	      "TOTAL  FUNCTION\n"
	      "75.0%  + leaf\n"
	      "40.0%    + f\n"
	      "40.0%      f\n"
	      "40.0%      main\n"
	      "40.0%      app\n"
	      "30.0%    + g\n"
	      "30.0%      main\n"
	      "30.0%      app\n"
	      " 5.0%    + … 1 more\n"
	      "25.0%  + … 2 more\n");
	check(folded_write, &(struct view){ .bottom_up = true },
	      "leaf;f;f;main;app 40\n"
	      "leaf;g;main;app 30\n"
	      "f;g;f;main;app 20\n"
	      "leaf;start;helper 5\n"
	      "main;app 5\n");
}

static void focus_keeps_whole_stacks(void **state)
{
	regex_t g = compiled("^g$"), f = compiled("^f$"), app = compiled("^app");

	check(folded_write, &(struct view){ .focus = &g },
	      "app;main;g;leaf 30\n"
	      "app;main;f;g;f 20\n");
	check(folded_write, &(struct view){ .focus = &g, .ignore = &f }, "app;main;g;leaf 30\n");
	check(folded_write, &(struct view){ .ignore = &app }, "helper;start;leaf 5\n");
	check(call_tree_write, &(struct view){ .focus = &g, .percent_limit = 50 },
	      "\n"
	      " TOTAL   SELF  FUNCTION\n"
	      "100.0%   0.0%  + app\n"
	      "100.0%   0.0%    main\n"
	      " 60.0%   0.0%    + g\n"
	      " 60.0%  60.0%      leaf\n"
	      " 40.0%           + … 1 more\n"
	      "shares are of the 50.0% that --focus and --ignore leave\n");
	regfree(&g);
	regfree(&f);
	regfree(&app);
}

/* Of recursions the outermost call; what calls itself directly is one call. */
static void callers_and_callees_add_up(void **state)
{
	regex_t f = compiled("^f$"), none = compiled("^none$"), all = compiled(".");

	check(peek_write, &(struct view){ .peek = &f },
	      "\n"
	      "SHARE             FUNCTION\n"
	      "60.0%  called by  main\n"
	      "60.0%             f\n"
	      " 0.0%  itself     f\n"
	      "40.0%  calls      leaf\n"
	      "20.0%  calls      g\n");
	check(peek_write, &(struct view){ .peek = &none }, "no function matches\n");
	check(peek_write, &(struct view){ .peek = &all, .rows = 1 },
	      "\n"
	      "SHARE             FUNCTION\n"
	      "95.0%  called by  app\n"
	      "95.0%             main\n"
	      " 5.0%  itself     main\n"
	      "60.0%  calls      f\n"
	      "30.0%  calls      g\n"
	      "… 4 more functions match\n");
	regfree(&f);
	regfree(&none);
	regfree(&all);
}

/* As where programs start all the time: samples that differ in what the view does not show. */
static void equal_paths_share_their_steps(void **state)
{
	struct view v = { 0 };
	struct profile *p = made();
	struct tree_paths paths;
	struct tree *t = tree_paths_new(p, &v, &paths);
	size_t nr_steps = paths.nr_steps, nr_samples = p->nr_samples;

	assert_int_equal(nr_steps, 5 + 5 + 4 + 2 + 3);
	tree_paths_free(t, &paths);
	/* Of an even number: what is turned for each of them is as it was. */
	for (uint32_t pid = 2; pid <= 100; pid++)
		for (size_t i = 0; i < nr_samples; i++) {
			struct sample s = p->samples[i];

			s.pid = s.tid = pid;
			profile_add_sample(p, &s);
		}
	t = tree_paths_new(p, &v, &paths);
	assert_int_equal(paths.nr_paths, 100 * nr_samples);
	assert_int_equal(paths.nr_steps, nr_steps);
	tree_paths_free(t, &paths);
	for (int up = 0; up < 2; up++) {
		v.bottom_up = up;
		t = tree_new_turned(p, &v);
		assert_int_equal(t->nodes[0].total, 10000);
		assert_int_equal(t->nr, up ? 18 : 13);
		tree_free(t);
	}
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tree_steps_in_where_ways_part),
		cmocka_unit_test(what_is_light_is_summed_up),
		cmocka_unit_test(upwards_a_function_has_its_callers_below),
		cmocka_unit_test(focus_keeps_whole_stacks),
		cmocka_unit_test(callers_and_callees_add_up),
		cmocka_unit_test(equal_paths_share_their_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
