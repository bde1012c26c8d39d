/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How long threads lived, with numbers that are used again, and with bounded memory. */
#include "collect/lifetimes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/made.h"

#define S	1000000000ull
#define BEGIN	(10 * S)
#define BLOCKED PROF_WAIT(PROF_BLOCKED, TASK_S, 0)
#define ON_CPU	PROF_WAIT(PROF_ON_CPU, 0, -1)

/* made_wait() makes samples of process 100. */
#define PID 100

static uint64_t wall_of(const struct profile *p, uint32_t tid)
{
	for (size_t i = 0; i < p->nr_threads; i++)
		if (p->threads[i].tid == tid)
			return p->threads[i].wall_ns;
	return 0;
}

static void each_thread_has_its_part_of_the_recording(void **state)
{
	struct lifetimes *l = lifetimes_new(BEGIN);
	struct profile *p = made_profile("wall");

	for (uint32_t tid = 1; tid <= 4; tid++)
		made_wait(p, tid, "t", BLOCKED, 1, "f", "");
	lifetimes_end(l, PID, 2, BEGIN + S);
	lifetimes_begin(l, PID, 3, BEGIN + S);
	lifetimes_begin(l, PID, 4, BEGIN - S);
	lifetimes_end(l, PID, 4, BEGIN + 2 * S);
	lifetimes_write(l, p, BEGIN + 5 * S);
	assert_int_equal(p->nr_threads, 4);
	assert_int_equal(wall_of(p, 1), 5 * S);
	assert_int_equal(wall_of(p, 2), S);
	assert_int_equal(wall_of(p, 3), 4 * S);
	assert_int_equal(wall_of(p, 4), 2 * S);
	profile_free(p);
	lifetimes_free(l);
}

/* In whatever order counts are found, in however many stacks. */
static void a_thread_has_the_name_it_had_longest(void **state)
{
	struct lifetimes *l = lifetimes_new(BEGIN);
	struct profile *p = made_profile("wall");

	made_wait(p, 1, "program", BLOCKED, 4, "f", "");
	made_wait(p, 1, "worker", BLOCKED, 2, "f", "");
	made_wait(p, 1, "worker", BLOCKED, 3, "g", "");
	made_wait(p, 1, "program", ON_CPU, 9, "f", "");
	made_wait(p, 2, "program", ON_CPU, 9, "f", "");
	lifetimes_write(l, p, BEGIN + 5 * S);
	assert_int_equal(p->nr_threads, 2);
	assert_string_equal(profile_str(p, p->threads[0].thread), "worker");
	assert_string_equal(profile_str(p, p->threads[1].thread), "program");
	profile_free(p);
	lifetimes_free(l);
}

/* The counts of both are one, so their time is, too. */
static void one_number_after_the_other_adds_up(void **state)
{
	struct lifetimes *l = lifetimes_new(BEGIN);
	struct profile *p = made_profile("wall");

	made_wait(p, 1, "t", BLOCKED, 1, "f", "");
	lifetimes_end(l, PID, 1, BEGIN + S);
	lifetimes_begin(l, PID, 1, BEGIN + 2 * S);
	lifetimes_end(l, PID, 1, BEGIN + 4 * S);
	/* One that was born when threads were merged has the number now. */
	lifetimes_end(l, PID, 1, BEGIN + 9 * S);
	lifetimes_write(l, p, BEGIN + 10 * S);
	assert_int_equal(wall_of(p, 1), 3 * S);
	profile_free(p);
	lifetimes_free(l);
}

/* The kernel tells how long they lived: nothing is told of them twice. */
static void merged_threads_are_left_to_the_kernel(void **state)
{
	struct lifetimes *l = lifetimes_new(BEGIN);
	struct profile *p = made_profile("wall");
	uint32_t name = profile_string(p, "t");

	made_wait(p, 1, "t", ON_CPU, 1, "f", "");
	made_wait(p, 2, "t", ON_CPU, 1, "f", "");
	made_wait(p, 2, "t", BLOCKED, 1, "f", "");
	made_wait(p, 0, "t", BLOCKED, 1, "f", "");
	profile_add_merged(p, &(struct merged_time){ PID, 1, name, name, S });
	lifetimes_write(l, p, BEGIN + S);
	assert_int_equal(p->nr_threads, 1);
	assert_int_equal(wall_of(p, 2), S);
	profile_free(p);
	lifetimes_free(l);
}

static void threads_without_counts_are_forgotten(void **state)
{
	struct prof_count counts[2] = { { .pid = PID, .tid = 7, .samples = 1 } };
	struct lifetimes *l = lifetimes_new(BEGIN);
	struct profile *p = made_profile("wall");
	uint64_t now = BEGIN;

	made_wait(p, 7, "t", BLOCKED, 1, "f", "");
	lifetimes_begin(l, PID, 7, now);
	lifetimes_end(l, PID, 7, now + S);
	for (uint32_t i = 0; i < 1000000; i++, now += S / 10000) {
		lifetimes_begin(l, 8, 1000 + i, now);
		lifetimes_end(l, 8, 1000 + i, now + 1000);
		lifetimes_drop(l, counts, 2, now);
	}
	assert_in_range(lifetimes_nr(l), 1, 200000);
	lifetimes_write(l, p, now);
	assert_int_equal(wall_of(p, 7), S);
	profile_free(p);
	lifetimes_free(l);
}

/* Whoever is left when others are forgotten is found as before, and who comes then, too. */
static void who_stays_is_found_among_those_that_go(void **state)
{
	struct lifetimes *l = lifetimes_new(BEGIN);
	uint64_t now = BEGIN;
	uint32_t tid = 0;

	for (; tid < 100000; tid++, now += S / 1000) {
		lifetimes_begin(l, PID, tid + 1, now);
		if (tid % 7)
			lifetimes_end(l, PID, tid + 1, now + S);
		lifetimes_drop(l, NULL, 0, now);
	}
	assert_in_range(lifetimes_nr(l), 100000 / 7, 65536);
	for (uint32_t i = 0; i < tid; i += 7)
		assert_int_equal(lifetimes_between(l, PID, i + 1, BEGIN, now),
				 now - BEGIN - i * (S / 1000));
	assert_int_equal(lifetimes_between(l, PID, tid - 1, BEGIN, now + 9 * S), S);
	lifetimes_free(l);
}

static void one_that_begins_anew_has_lived_since_then(void **state)
{
	struct lifetimes *l = lifetimes_new(BEGIN);
	struct profile *p = made_profile("wall");

	made_wait(p, 1, "t", BLOCKED, 1, "f", "");
	made_wait(p, 2, "t", BLOCKED, 1, "f", "");
	lifetimes_begin(l, PID, 2, BEGIN + S);
	lifetimes_begin_anew(l, PID, 1, BEGIN + 2 * S);
	lifetimes_begin_anew(l, PID, 2, BEGIN + 2 * S);
	lifetimes_end(l, PID, 2, BEGIN + 3 * S);
	lifetimes_write(l, p, BEGIN + 5 * S);
	assert_int_equal(wall_of(p, 1), 3 * S);
	assert_int_equal(wall_of(p, 2), S);
	profile_free(p);
	lifetimes_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_thread_has_its_part_of_the_recording),
		cmocka_unit_test(a_thread_has_the_name_it_had_longest),
		cmocka_unit_test(one_number_after_the_other_adds_up),
		cmocka_unit_test(merged_threads_are_left_to_the_kernel),
		cmocka_unit_test(threads_without_counts_are_forgotten),
		cmocka_unit_test(who_stays_is_found_among_those_that_go),
		cmocka_unit_test(one_that_begins_anew_has_lived_since_then),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
