/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Driver gaps of made-up waits: when nobody can poll, and whose fault it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profile/gaps.h"
#include "tests/unit/made.h"

#define MS   1000000ull
#define NAME "tokio-rt-worker"
#define MT   "tokio::runtime::scheduler::multi_thread::worker::"
#define ROOT "tokio::runtime::task::raw::poll;start_thread;clone3"
#define DRIVE                                                                                      \
	"epoll_wait;tokio::runtime::io::driver::Driver::turn;" MT "Context::park_internal;" ROOT
#define PARK  "syscall;" MT "Context::park_internal;" ROOT
#define TASK  "tokio::runtime::task::raw::poll;" MT "Context::run_task;" ROOT
#define FUTEX 202
#define EPOLL 232
#define SLEEP 230

static void put(struct profile *p, uint32_t tid, const char *stack, int syscall, uint64_t begin_ms,
		uint64_t end_ms)
{
	made_wait(p, tid, NAME, PROF_WAIT(PROF_BLOCKED, TASK_S, syscall), (end_ms - begin_ms) * MS,
		  stack, "");
	profile_add_long_wait(
		p, &(struct long_wait){ p->nr_samples - 1, 0, begin_ms * MS, end_ms * MS });
}

static struct profile *made(void)
{
	struct profile *p = made_profile("offcpu");

	p->meta.duration_ns = 1000 * MS;
	p->meta.long_wait_ns = 5 * MS;
	return p;
}

/* Their number and sum; the fault is that of the function. */
static void check(struct profile *p, size_t nr, uint64_t ms, const char *fault)
{
	struct contexts c;
	struct gaps g;

	contexts_init(&c, p);
	assert_true(gaps_init(&g, &c, GAP_NS));
	assert_int_equal(g.nr, nr);
	assert_int_equal(g.ns, ms * MS);
	for (size_t i = 0; i < g.nr; i++) {
		uint32_t frames = p->samples[g.v[i].sample].ustack;
		const char *leaf = profile_frame_name(p, profile_stack_leaf(p, frames));

		assert_string_equal(leaf, fault);
	}
	gaps_release(&g);
	contexts_release(&c);
	profile_free(p);
}

static void nobody_drives_while_a_task_blocks(void **state)
{
	struct profile *p = made();

	put(p, 101, DRIVE, EPOLL, 0, 100);
	put(p, 101, "hog;" TASK, SLEEP, 101, 201);
	put(p, 101, DRIVE, EPOLL, 202, 1000);
	put(p, 102, PARK, FUTEX, 0, 1000);
	check(p, 1, 100, "hog");
}

static void another_worker_drives(void **state)
{
	struct profile *p = made();

	put(p, 101, "hog;" TASK, SLEEP, 0, 400);
	put(p, 102, DRIVE, EPOLL, 0, 300);
	put(p, 102, DRIVE, EPOLL, 310, 1000);
	check(p, 0, 0, NULL);
}

/* From 200 to 230 the other one runs, and could have polled. */
static void a_worker_that_runs_ends_a_gap(void **state)
{
	struct profile *p = made();

	put(p, 101, "hog;" TASK, SLEEP, 100, 400);
	put(p, 101, DRIVE, EPOLL, 401, 1000);
	put(p, 102, PARK, FUTEX, 0, 200);
	put(p, 102, PARK, FUTEX, 230, 1000);
	check(p, 2, 270, "hog");
}

static void short_gaps_are_none(void **state)
{
	struct profile *p = made();

	put(p, 101, "hog;" TASK, SLEEP, 100, 119);
	put(p, 101, DRIVE, EPOLL, 120, 1000);
	put(p, 102, PARK, FUTEX, 0, 1000);
	check(p, 0, 0, NULL);
}

static void who_blocked_last_is_at_fault(void **state)
{
	struct profile *p = made();

	put(p, 101, "early;" TASK, SLEEP, 100, 300);
	put(p, 101, DRIVE, EPOLL, 301, 1000);
	put(p, 102, DRIVE, EPOLL, 0, 150);
	put(p, 102, "late;" TASK, SLEEP, 151, 290);
	put(p, 102, PARK, FUTEX, 291, 1000);
	check(p, 1, 139, "late");
}

/* Of another name, and of no runtime's driver: a thread that a task began. */
static void other_threads_do_not_count(void **state)
{
	struct profile *p = made();

	put(p, 101, "hog;" TASK, SLEEP, 100, 200);
	put(p, 101, DRIVE, EPOLL, 201, 1000);
	made_wait(p, 103, "helper", PROF_WAIT(PROF_BLOCKED, TASK_S, SLEEP), 5 * MS,
		  "sleep;start_thread;clone3", "");
	profile_add_long_wait(p, &(struct long_wait){ p->nr_samples - 1, 0, 150 * MS, 155 * MS });
	check(p, 1, 100, "hog");
}

/* A recording that did not look for them says nothing of them. */
static void without_times_there_is_nothing_to_say(void **state)
{
	struct profile *p = made();
	struct contexts c;
	struct gaps g;

	made_wait(p, 101, NAME, PROF_WAIT(PROF_BLOCKED, TASK_S, SLEEP), 100 * MS, "hog;" TASK, "");
	contexts_init(&c, p);
	assert_false(gaps_init(&g, &c, GAP_NS));
	gaps_release(&g);
	contexts_release(&c);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_drives_while_a_task_blocks),
		cmocka_unit_test(another_worker_drives),
		cmocka_unit_test(a_worker_that_runs_ends_a_gap),
		cmocka_unit_test(short_gaps_are_none),
		cmocka_unit_test(who_blocked_last_is_at_fault),
		cmocka_unit_test(other_threads_do_not_count),
		cmocka_unit_test(without_times_there_is_nothing_to_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
