/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Samples of one thread, and stacks scaled to its running time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profile/threads.h"
#include "tests/unit/made.h"

#define RUNNING PROF_WAIT(PROF_RUNNING, 0, -1)
#define ON_CPU	PROF_WAIT(PROF_ON_CPU, 0, -1)
#define BLOCKED PROF_WAIT(PROF_BLOCKED, TASK_S, 0)

static void check_weights(const struct profile *p, const uint64_t *expected)
{
	struct thread_groups g;
	uint64_t *weights;

	thread_groups_init(&g, p);
	weights = thread_weights(p, &g);
	for (size_t i = 0; i < p->nr_samples; i++)
		assert_int_equal(weights[i], expected[i]);
	free(weights);
	thread_groups_release(&g);
}

static void stacks_add_up_to_the_time_that_a_thread_ran(void **state)
{
	struct profile *p = made_profile("wall");

	made_wait(p, 1, "a", ON_CPU, 10, "x", "");
	made_wait(p, 1, "a", BLOCKED, 77, "y", "");
	made_wait(p, 1, "a", RUNNING, 100, "", "");
	made_wait(p, 1, "a", ON_CPU, 10, "y", "");
	made_wait(p, 1, "a", ON_CPU, 10, "z", "");
	/* No stack; no time; time of zero. */
	made_wait(p, 2, "b", RUNNING, 5, "", "");
	made_wait(p, 3, "c", ON_CPU, 6, "x", "");
	made_wait(p, 4, "d", ON_CPU, 6, "x", "");
	made_wait(p, 4, "d", RUNNING, 0, "", "");
	check_weights(p, (uint64_t[]){ 33, 77, 0, 33, 34, 5, 6, 0, 0 });
	profile_free(p);
}

static void large_weights_do_not_overflow(void **state)
{
	struct profile *p = made_profile("wall");

	made_wait(p, 1, "a", ON_CPU, UINT64_MAX / 2, "x", "");
	made_wait(p, 1, "a", ON_CPU, UINT64_MAX / 2, "y", "");
	made_wait(p, 1, "a", RUNNING, 3, "", "");
	check_weights(p, (uint64_t[]){ 1, 2, 0 });
	profile_free(p);
}

/* A thread that changed its name is one; one that shares its id with another process is not. */
static void threads_are_known_by_id(void **state)
{
	struct profile *p = made_profile("wall");

	made_wait(p, 1, "before", ON_CPU, 10, "x", "");
	made_wait(p, 1, "after", RUNNING, 50, "", "");
	made_wait(p, 1, "other", ON_CPU, 10, "x", "")->pid = 7;
	check_weights(p, (uint64_t[]){ 50, 0, 10 });
	profile_free(p);
}

static void merged_threads_are_known_by_name(void **state)
{
	struct profile *p = made_profile("wall");
	struct thread_groups g;
	uint32_t name = profile_string(p, "w");

	/* Merging began in the middle: stacks of thread 1 are under its id, and under none. */
	made_wait(p, 1, "w", ON_CPU, 10, "x", "");
	made_wait(p, 0, "w", ON_CPU, 10, "x", "");
	made_wait(p, 1, "w", RUNNING, 30, "", "");
	made_wait(p, 2, "w", RUNNING, 10, "", "");
	made_wait(p, 5, "v", RUNNING, 8, "", "");
	check_weights(p, (uint64_t[]){ 20, 20, 0, 0, 8 });
	profile_add_thread(p, &(struct thread_time){ 100, 1, name, name, 100 });
	profile_add_thread(p, &(struct thread_time){ 100, 2, name, name, 200 });
	profile_add_thread(p, &(struct thread_time){ 100, 9, name, profile_string(p, "u"), 7 });
	profile_add_merged(p, &(struct merged_time){ 100, 5, name, name, 1000 });
	thread_groups_init(&g, p);
	assert_int_equal(g.nr, 3);
	assert_int_equal(g.v[0].tid, 0);
	assert_int_equal(g.v[0].wall_ns, 1300);
	assert_int_equal(g.v[0].nr_threads, 7);
	assert_int_equal(g.of_sample[0], 0);
	assert_int_equal(g.of_sample[4], 1);
	assert_int_equal(g.v[2].tid, 9);
	assert_int_equal(g.v[2].wall_ns, 7);
	thread_groups_release(&g);
	profile_free(p);
}

static void nobody_is_fine(void **state)
{
	struct profile *p = made_profile("wall");

	check_weights(p, NULL);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_add_up_to_the_time_that_a_thread_ran),
		cmocka_unit_test(large_weights_do_not_overflow),
		cmocka_unit_test(threads_are_known_by_id),
		cmocka_unit_test(merged_threads_are_known_by_name),
		cmocka_unit_test(nobody_is_fine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
