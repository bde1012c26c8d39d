/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables of one line each: whose time it was, and what is left out. */
#include "profile/overview.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile/copy.h"
#include "tests/unit/made.h"

#define S	1000000000ull
#define LOCK	PROF_WAIT(PROF_BLOCKED, TASK_S, 202)
#define RUNNING PROF_WAIT(PROF_RUNNING, 0, -1)
#define ON_CPU	PROF_WAIT(PROF_ON_CPU, 0, -1)
#define READY	PROF_WAIT(PROF_PREEMPTED, 0, -1)

/* Ten seconds: thread 1 runs 8 s and is preempted for 2, thread 2 waits for a lock. */
static struct profile *made(void)
{
	struct profile *p = made_profile("top");

	made_wait(p, 1, "busy", ON_CPU, 1, "hot;main", "")->count = 60;
	made_wait(p, 1, "busy", ON_CPU, 1, "warm;main", "")->count = 20;
	made_wait(p, 1, "busy", RUNNING, 8 * S, "", "");
	made_wait(p, 1, "busy", READY, 2 * S, "hot;main", "schedule;__schedule");
	made_wait(p, 2, "idler", LOCK, 10 * S, "lock;main", "futex_wait;do_futex");
	made_wait(p, 3, "other", ON_CPU, 1, "cold;main", "")->pid = 200;
	p->samples[5].count = 20;
	return p;
}

static double cell(const struct overview *o, const char *name, size_t column)
{
	for (size_t i = 0; i < o->nr; i++)
		if (!strcmp(o->rows[i].name, name))
			return o->rows[i].v[column];
	return -1;
}

static void functions_are_those_of_running_code(void **state)
{
	struct profile *p = made();
	struct overview_sums sums = { .profile = p };
	struct overview o;

	overview_init(&o, &sums, OVERVIEW_FUNCTIONS, &(struct overview_opts){ .sort = -1 });
	assert_int_equal(o.nr, 4);
	assert_string_equal(o.rows[0].name, "hot");
	assert_true(cell(&o, "hot", 0) == 60);
	assert_true(cell(&o, "main", 1) == 100);
	assert_true(cell(&o, "cold", 2) == 20);
	overview_release(&o);
	overview_init(&o, &sums, OVERVIEW_FUNCTIONS,
		      &(struct overview_opts){ .pid = 100, .sort = -1 });
	assert_int_equal(o.nr, 3);
	assert_true(cell(&o, "hot", 0) == 75);
	overview_release(&o);
	overview_sums_release(&sums);
	profile_free(p);
}

static void threads_have_all_of_their_time(void **state)
{
	struct profile *p = made();
	struct overview_sums sums = { .profile = p };
	struct overview o;

	overview_init(&o, &sums, OVERVIEW_THREADS, &(struct overview_opts){ .sort = -1 });
	assert_int_equal(o.nr, 3);
	assert_string_equal(o.rows[0].name, "busy");
	assert_true(o.rows[0].v[1] == 80 && o.rows[0].v[2] == 20);
	assert_int_equal(o.rows[0].tid, 1);
	assert_false(o.rows[0].idle);
	assert_true(cell(&o, "idler", 3) == 100);
	overview_release(&o);
	overview_init(&o, &sums, OVERVIEW_PROCESSES,
		      &(struct overview_opts){ .pid = 100, .sort = -1 });
	assert_int_equal(o.nr, 1);
	assert_true(o.rows[0].v[1] == 80 && o.rows[0].v[3] == 2);
	assert_string_equal(o.rows[0].text, "lock");
	overview_release(&o);
	overview_sums_release(&sums);
	profile_free(p);
}

/* It was sampled as bash, and is another program by now. */
static void first_threads_are_called_as_processes(void **state)
{
	struct profile *p = made();
	struct overview_sums sums = { .profile = p };
	struct sample *s = made_wait(p, 300, "bash", RUNNING, S, "", "");
	struct overview o;

	s->pid = 300;
	s->process = profile_string(p, "five_shares");
	overview_init(&o, &sums, OVERVIEW_PROCESSES, &(struct overview_opts){ .sort = -1 });
	assert_true(cell(&o, "five_shares", 0) == 300);
	overview_release(&o);
	overview_init(&o, &sums, OVERVIEW_THREADS, &(struct overview_opts){ .sort = -1 });
	assert_true(cell(&o, "five_shares", 0) == 300);
	assert_true(cell(&o, "bash", 0) == -1);
	overview_release(&o);
	overview_sums_release(&sums);
	profile_free(p);
}

static void waits_are_by_class(void **state)
{
	struct profile *p = made();
	struct overview_sums sums = { .profile = p };
	struct overview o;

	overview_init(&o, &sums, OVERVIEW_WAITS, &(struct overview_opts){ .sort = -1 });
	assert_string_equal(o.rows[0].name, "lock");
	assert_true(o.rows[0].v[1] == 1);
	assert_true(cell(&o, "preempted", 2) == 0.1);
	assert_true(cell(&o, "on-cpu", 2) == 0);
	overview_release(&o);
	/* The sums were changed by nobody. */
	overview_init(&o, &sums, OVERVIEW_THREADS, &(struct overview_opts){ .sort = -1 });
	assert_true(o.rows[0].v[1] == 80);
	overview_release(&o);
	overview_init(&o, &sums, OVERVIEW_WAITS, &(struct overview_opts){ .pid = 100, .sort = -1 });
	assert_string_equal(o.rows[0].name, "lock");
	assert_true(o.rows[0].v[1] == 1);
	overview_release(&o);
	overview_sums_release(&sums);
	profile_free(p);
}

static void filters_and_orders(void **state)
{
	struct profile *p = made();
	struct overview_opts opts = { .sort = 4 };
	struct overview_sums sums = { .profile = p };
	struct overview o;
	regex_t filter;

	assert_int_equal(regcomp(&filter, "^(hot|cold)$", REG_EXTENDED | REG_NOSUB), 0);
	opts.filter = &filter;
	overview_init(&o, &sums, OVERVIEW_FUNCTIONS, &opts);
	assert_int_equal(o.nr, 2);
	assert_int_equal(o.nr_hidden, 2);
	assert_string_equal(o.rows[0].name, "cold");
	assert_string_equal(o.rows[1].name, "hot");
	overview_release(&o);
	regfree(&filter);
	overview_sums_release(&sums);
	profile_free(p);
}

/* An empty one is as good as any. */
static void nothing_has_no_rows(void **state)
{
	struct profile *p = made_profile("top");
	struct overview_sums sums = { .profile = p };
	struct overview o;

	p->meta.duration_ns = 0;
	for (int page = 0; page < OVERVIEW_NR; page++) {
		overview_init(&o, &sums, page, &(struct overview_opts){ .sort = -1 });
		assert_int_equal(o.nr, 0);
		overview_release(&o);
	}
	overview_sums_release(&sums);
	profile_free(p);
}

static void a_part_has_a_ledger_that_closes(void **state)
{
	struct profile *p = made(), one;

	p->counters[PROF_LOST_FRAMES] = 9;
	one = overview_all(p, 100);
	assert_int_equal(one.nr_samples, 5);
	assert_int_equal(one.counters[PROF_RECORDED], 60 + 20 + 1 + 1);
	assert_int_equal(one.counters[PROF_SEEN], one.counters[PROF_RECORDED]);
	assert_int_equal(one.counters[PROF_LOST_FRAMES], 0);
	overview_part_release(&one);
	profile_free(p);
}

/* Frames without a name get one in the copy, and no address of the kernel leaves. */
static void a_copy_stays_as_it_was(void **state)
{
	struct profile *p = made(), *copy;
	uint32_t frame = profile_frame(p, FRAME_KERNEL, 0, 0xffffffff81000000);

	copy = profile_copy(p, "[later]");
	assert_string_equal(profile_frame_name(copy, frame), "[later]");
	assert_int_equal(profile_frame_at(copy, frame)->offset, 0);
	assert_int_equal(profile_frame_at(p, frame)->offset, 0xffffffff81000000);
	assert_int_equal(copy->nr_samples, p->nr_samples);
	profile_free(p);
	assert_string_equal(profile_str(copy, copy->samples[0].thread), "busy");
	profile_free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_those_of_running_code),
		cmocka_unit_test(threads_have_all_of_their_time),
		cmocka_unit_test(first_threads_are_called_as_processes),
		cmocka_unit_test(waits_are_by_class),
		cmocka_unit_test(filters_and_orders),
		cmocka_unit_test(nothing_has_no_rows),
		cmocka_unit_test(a_part_has_a_ledger_that_closes),
		cmocka_unit_test(a_copy_stays_as_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
