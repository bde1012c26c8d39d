/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Windows become one: sums to the last unit, equal rows once, what no sample has left out. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "profile/gather.h"
#include "profile/profile.h"
#include "profile/save_parts.h"

#define MS 1000000ull

static uint32_t stack_of(struct profile *p, uint32_t module, uint64_t offset, const char *name)
{
	uint32_t frame = profile_frame(p, FRAME_USER, module, offset);

	if (name)
		profile_name_frame(p, frame, profile_string(p, name), 0);
	return profile_stack(p, &frame, 1, UNWIND_END_CFI_ROOT, 0);
}

/* A thread of each process in pids, and a stack that nobody has. */
static struct profile *window(uint64_t start_ns, const uint32_t *pids, size_t nr, const char *name)
{
	struct profile *p = profile_new();
	uint32_t module = profile_add_module(p, "/bin/x"), stack;

	p->meta.command = profile_string(p, "agent");
	p->meta.is_time = 1;
	p->meta.start_ns = start_ns;
	p->meta.duration_ns = 10000 * MS;
	p->meta.cpu_ns = 7;
	p->meta.rss_bytes = start_ns;
	profile_add_module(p, "/lib/unused");
	stack_of(p, module, 0x999, "unused");
	stack = stack_of(p, module, 0x10, name);
	for (size_t i = 0; i < nr; i++) {
		profile_add_sample(p, &(struct sample){ .count = 3,
							.weight = 1000 + i,
							.pid = pids[i],
							.tid = pids[i],
							.process = profile_string(p, "x"),
							.thread = profile_string(p, "x"),
							.ustack = stack,
							.wait = PROF_WAIT(PROF_BLOCKED, 1, 0) });
		profile_add_thread(p,
				   &(struct thread_time){ pids[i], pids[i], profile_string(p, "x"),
							  profile_string(p, "x"),
							  pids[i] < 100 ? 10000 * MS : 300 * MS });
	}
	p->counters[PROF_SEEN] = p->counters[PROF_RECORDED] = 3 * nr;
	return p;
}

static struct profile *gathered(uint64_t short_ns, struct profile *a, struct profile *b)
{
	struct gather *g = gather_new(short_ns);

	gather_slices(g);
	assert_int_equal(gather_add(g, a, NULL), 0);
	if (b)
		assert_int_equal(gather_add(g, b, NULL), 0);
	return gather_take(g);
}

/* Names are told by their place among the strings of a profile, and each profile has its own. */
static void test_every_fact_that_is_a_name(void **state)
{
	static const uint32_t pids[] = { 1 };
	struct profile *a = window(5000, pids, 1, "f"), *p;
	char text[32];

	for (size_t i = 0; i < save_nr_facts; i++) {
		snprintf(text, sizeof(text), "name %zu", i);
		if (save_facts[i].is_string)
			save_set_fact(a, &save_facts[i], profile_string(a, text));
	}
	p = gathered(0, a, NULL);
	for (size_t i = 0; i < save_nr_facts; i++) {
		snprintf(text, sizeof(text), "name %zu", i);
		if (save_facts[i].is_string)
			assert_string_equal(profile_str(p, save_fact(p, &save_facts[i])), text);
	}
	profile_free(a);
	profile_free(p);
}

static void test_sums(void **state)
{
	static const uint32_t first[] = { 1, 2 }, second[] = { 2, 3 };
	struct profile *a = window(5000, first, 2, "f"), *b = window(4000, second, 2, "f");
	struct profile *p = gathered(0, a, b);
	uint64_t weight = 0, sliced = 0;

	assert_int_equal(p->nr_samples, 3);
	for (size_t i = 0; i < p->nr_samples; i++)
		weight += p->samples[i].weight;
	assert_int_equal(weight, 4002);
	assert_int_equal(p->samples[1].weight, 2001);
	assert_int_equal(p->samples[1].count, 6);
	assert_int_equal(p->counters[PROF_RECORDED], 12);
	assert_int_equal(p->meta.duration_ns, 20000 * MS);
	assert_int_equal(p->meta.cpu_ns, 14);
	assert_int_equal(p->meta.start_ns, 4000);
	assert_int_equal(p->meta.rss_bytes, 5000);
	assert_int_equal(p->threads[1].wall_ns, 20000 * MS);
	assert_int_equal(p->nr_slices, 2);
	assert_int_equal(p->nr_sliced, 4);
	for (size_t i = 0; i < p->nr_sliced; i++)
		sliced += p->sliced[i].weight;
	assert_int_equal(sliced, weight);
	profile_free(p);
	profile_free(a);
	profile_free(b);
}

/* The frames of both windows are one; those that nobody has are gone, with their modules. */
static void test_rows(void **state)
{
	static const uint32_t pids[] = { 1 };
	struct profile *a = window(1, pids, 1, "f"), *b = window(2, pids, 1, "f");
	struct profile *p = gathered(0, a, b);

	assert_int_equal(p->nr_modules, 2);
	assert_int_equal(p->nr_frames, 2);
	assert_int_equal(p->nr_stacks, 2);
	assert_string_equal(profile_frame_name(p, 1), "f");
	profile_free(p);
	profile_free(b);
	/* Two names of one place are two frames: it may be two programs. */
	b = window(2, pids, 1, "g");
	p = gathered(0, a, b);
	assert_int_equal(p->nr_frames, 3);
	assert_int_equal(p->nr_samples, 2);
	profile_free(p);
	profile_free(a);
	profile_free(b);
}

static void test_short_threads(void **state)
{
	static const uint32_t pids[] = { 1, 2, 100, 101, 102 };
	struct profile *a = window(1, pids, 5, "f"), *p = gathered(1000 * MS, a, NULL);
	uint64_t weight = 0;

	assert_int_equal(p->nr_samples, 3);
	for (size_t i = 0; i < p->nr_samples; i++)
		weight += p->samples[i].weight;
	assert_int_equal(weight, 5010);
	assert_int_equal(p->samples[2].pid, 0);
	assert_int_equal(p->samples[2].tid, 0);
	assert_int_equal(p->samples[2].weight, 3009);
	assert_int_equal(p->nr_threads, 3);
	assert_int_equal(p->threads[2].wall_ns, 900 * MS);
	profile_free(p);
	profile_free(a);
}

static void test_nameless(void **state)
{
	static const uint32_t pids[] = { 1 };
	struct profile *a = window(1, pids, 1, NULL), *p;
	struct gather *g = gather_new(0);

	assert_int_equal(gather_add(g, a, "[later]"), 0);
	p = gather_take(g);
	assert_string_equal(profile_frame_name(p, 1), "[later]");
	profile_free(p);
	profile_free(a);
	assert_null(gather_take(gather_new(0)));
}

static void test_other_kind(void **state)
{
	static const uint32_t pids[] = { 1 };
	struct profile *a = window(1, pids, 1, "f"), *b = window(1, pids, 1, "f"), *p;
	struct gather *g = gather_new(0);

	b->meta.command = profile_string(b, "oncpu");
	assert_int_equal(gather_add(g, a, NULL), 0);
	assert_true(gather_add(g, b, NULL) < 0);
	p = gather_take(g);
	assert_int_equal(p->counters[PROF_RECORDED], 3);
	profile_free(p);
	profile_free(a);
	profile_free(b);
}

/* Samples that became one have the same number. */
static void test_map(void **state)
{
	const uint32_t pids[] = { 5, 100, 101, 102 };
	struct profile *a = window(1000, pids, 4, "f"), *p;
	struct gather *g = gather_new(1000 * MS);
	uint32_t ids[4] = { 9, 9, 9, 9 };

	gather_map(g, ids);
	assert_int_equal(gather_add(g, a, NULL), 0);
	assert_int_equal(gather_add(g, a, NULL), 0); /* of this one nobody asks */
	p = gather_take(g);
	assert_int_equal(p->nr_samples, 2); /* the short ones are one */
	assert_int_equal(ids[0], 0);
	for (size_t i = 1; i < 4; i++)
		assert_int_equal(ids[i], 1);
	profile_free(a);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_short_threads),
		cmocka_unit_test(test_nameless),
		cmocka_unit_test(test_map),
		cmocka_unit_test(test_other_kind),
		cmocka_unit_test(test_every_fact_that_is_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
