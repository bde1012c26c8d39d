/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where the time of workers went, also of those that block_in_place() makes of others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bpf/prof.h"
#include "output/contexts.h"
#include "profile/context_sums.h"
#include "tests/unit/made.h"

#define FUTEX	  PROF_WAIT(PROF_BLOCKED, TASK_S, 202)
#define NANOSLEEP PROF_WAIT(PROF_BLOCKED, TASK_S, 230)
#define RUNS	  PROF_WAIT(PROF_RUNNING, 0, 0)
#define SECOND	  1000000000ULL

#define ROOT "std::sys::backtrace::__rust_begin_short_backtrace;start_thread;clone3"
#define POOL "tokio::runtime::task::raw::poll;tokio::runtime::blocking::pool::Inner::run;" ROOT
#define MT   "tokio::runtime::scheduler::multi_thread::worker::"
#define TASK "tokio::runtime::task::raw::poll;" MT "Context::run_task;" MT "run;" POOL
#define PARK "syscall;" MT "Context::park_internal;" MT "run;" POOL

/* What the summary says of it; to be freed. */
static char *said(const struct profile *p)
{
	char *text = NULL;
	size_t sz;
	FILE *f = open_memstream(&text, &sz);

	contexts_put(p, &(struct view){}, f);
	fclose(f);
	return text;
}

/* Four threads, each of which is in jobs for 9 of 10 s and a worker in what is left. */
static struct profile *made_of_the_pool(void)
{
	struct profile *p = made_profile("offcpu");

	for (uint32_t tid = 101; tid <= 104; tid++) {
		made_wait(p, tid, "tokio-rt-worker", NANOSLEEP, 9 * SECOND,
			  "clock_nanosleep;app::job;" POOL, "");
		made_wait(p, tid, "tokio-rt-worker", NANOSLEEP, SECOND / 2,
			  "clock_nanosleep;app::handler;" TASK, "");
		made_wait(p, tid, "tokio-rt-worker", FUTEX, SECOND / 4, PARK, "");
	}
	return p;
}

static void work_that_moves_is_not_lost(void **state)
{
	struct profile *p = made_of_the_pool();
	struct context_sums s;
	char *text;

	assert_true(context_sums_init(&s, p, &(struct view){}));
	assert_int_equal(s.tables[SORT_WORKERS].nr_threads, 0);
	assert_int_equal(s.tables[SORT_MOVED].nr_threads, 4);
	assert_int_equal(s.tables[SORT_MOVED].ns, 3 * SECOND);
	assert_int_equal(s.tables[SORT_MOVED].residual_ns, 0);
	assert_int_equal(s.tables[SORT_MOVED].by[CONTEXT_TASK].ns, 2 * SECOND);
	assert_int_equal(s.tables[SORT_MOVED].by[CONTEXT_IDLE_PARK].ns, SECOND);
	assert_int_equal(s.tables[SORT_MOVED].by[CONTEXT_POOL_JOB].ns, 0);
	text = said(p);
	assert_non_null(strstr(text, "4 threads of the pool were workers for a while: 3 s, 0.3 at "
				     "a time\n"));
	assert_non_null(strstr(text, "BLOCKED IN TASKS   2 s  66.7%  sleep 2 s\n"));
	assert_null(strstr(text, "running"));
	free(text);
	profile_free(p);
}

static void workers_that_stay_are_one_table(void **state)
{
	struct profile *p = made_profile("offcpu");
	char *text;

	made_wait(p, 101, "tokio-rt-worker", NANOSLEEP, 4 * SECOND,
		  "clock_nanosleep;app::handler;" TASK, "");
	made_wait(p, 101, "tokio-rt-worker", FUTEX, 5 * SECOND, PARK, "");
	text = said(p);
	assert_non_null(strstr(text, "1 worker (tokio-rt-worker) x 10 s = 10 s"));
	assert_non_null(strstr(text, "running            1 s  10.0%  what the others leave\n"));
	assert_null(strstr(text, "for a while"));
	free(text);
	profile_free(p);
}

/* Of a recording that leaves waits out, nobody knows how much of the rest is running. */
static void what_is_left_out_is_not_called_running(void **state)
{
	static const int left_out[] = { PROF_FILTER_SHORT, PROF_FILTER_LONG, PROF_FILTER_STATE,
					PROF_FILTER_WAIT };

	for (size_t i = 0; i < ARRAY_SIZE(left_out); i++) {
		struct profile *p = made_profile("offcpu");
		struct context_sums s;
		char *text;

		for (uint32_t tid = 101; tid <= 104; tid++)
			made_wait(p, tid, "tokio-rt-worker", NANOSLEEP, SECOND,
				  "clock_nanosleep;app::handler;" TASK, "");
		p->counters[left_out[i]] = 7;
		assert_true(context_sums_init(&s, p, &(struct view){}));
		assert_int_equal(s.tables[SORT_WORKERS].running_ns, 36 * SECOND);
		assert_int_equal(s.tables[SORT_WORKERS].residual_ns, 0);
		text = said(p);
		assert_non_null(strstr(text, "running or left out  36 s  90.0%  what the others "
					     "leave\n"));
		free(text);
		profile_free(p);
	}
}

static void running_that_is_measured_stays(void **state)
{
	struct profile *p = made_profile("wall");
	char *text;

	made_wait(p, 101, "tokio-rt-worker", NANOSLEEP, 4 * SECOND,
		  "clock_nanosleep;app::handler;" TASK, "");
	made_wait(p, 101, "tokio-rt-worker", RUNS, 6 * SECOND, "app::handler;" TASK, "");
	p->counters[PROF_FILTER_STATE] = 7;
	text = said(p);
	assert_non_null(strstr(text, "running            6 s  60.0%\n"));
	free(text);
	profile_free(p);
}

/* As Builder::thread_name_fn() names them; a single one keeps its number. */
static void numbered_names_are_one(void **state)
{
	static const char *const threads[] = { "api-0", "api-1", "api-10", "db2" };
	struct profile *p = made_profile("offcpu");
	char *text;

	for (uint32_t i = 0; i < ARRAY_SIZE(threads); i++)
		made_wait(p, 101 + i, threads[i], FUTEX, SECOND, PARK, "");
	text = said(p);
	assert_non_null(strstr(text, "4 workers (api- 3, db2 1) x 10 s = 40 s"));
	free(text);
	profile_free(p);
}

/* Which are what tells contexts without names; whether there were any, lock does not know. */
static void lock_has_no_waits_for_events(void **state)
{
	struct profile *p = made_profile("lock");
	char *text;

	p->meta.runtimes = profile_string(p, "tokio 1.54.1 in /srv/app");
	made_wait(p, 101, "tokio-rt-worker", FUTEX, SECOND, "syscall;clone3", "");
	text = said(p);
	assert_non_null(strstr(text, "and lock records no waits for events:\n  contexts are"));
	assert_null(strstr(text, "none of its threads"));
	free(text);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_that_moves_is_not_lost),
		cmocka_unit_test(workers_that_stay_are_one_table),
		cmocka_unit_test(what_is_left_out_is_not_called_running),
		cmocka_unit_test(numbered_names_are_one),
		cmocka_unit_test(lock_has_no_waits_for_events),
		cmocka_unit_test(running_that_is_measured_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
