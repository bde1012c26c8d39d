/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Driver gaps of made-up waits: when nobody can poll, and whose fault it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bpf/thin.h"
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

/* What ran then, in a task or in the driver. */
static void sample(struct profile *p, uint32_t tid, const char *stack, uint64_t at_ms)
{
	made_wait(p, tid, NAME, PROF_WAIT(PROF_ON_CPU, 0, -1), 0, stack, "");
	profile_add_long_wait(
		p, &(struct long_wait){ p->nr_samples - 1, 0, (at_ms - 10) * MS, at_ms * MS });
}

/* Their number and sum; how much of it is the fault of the function, and how much was run. */
static void check_all(struct profile *p, size_t nr, uint64_t ms, const char *fault,
		      uint64_t fault_ms, uint64_t ran_ms)
{
	struct contexts c;
	struct gaps g;
	uint64_t ns = 0;

	contexts_init(&c, p);
	assert_true(gaps_init(&g, &c, GAP_NS));
	assert_int_equal(g.nr, nr);
	assert_int_equal(g.ns, ms * MS);
	assert_int_equal(g.ran_ns, ran_ms * MS);
	for (size_t i = 0; i < g.nr_parts; i++) {
		uint32_t sample = g.parts[i].sample;
		uint32_t frames = sample == GAP_UNKNOWN ? 0 : p->samples[sample].ustack;
		const char *leaf =
			frames ? profile_frame_name(p, profile_stack_leaf(p, frames)) : "unknown";

		if (!strcmp(leaf, fault))
			ns += g.parts[i].ns;
	}
	assert_int_equal(ns, fault_ms * MS);
	gaps_release(&g);
	contexts_release(&c);
	profile_free(p);
}

static void check(struct profile *p, size_t nr, uint64_t ms, const char *fault, uint64_t ran_ms)
{
	check_all(p, nr, ms, fault, ms, ran_ms);
}

static void nobody_drives_while_a_task_blocks(void **state)
{
	struct profile *p = made();

	put(p, 101, DRIVE, EPOLL, 0, 100);
	put(p, 101, "hog;" TASK, SLEEP, 101, 201);
	put(p, 101, DRIVE, EPOLL, 202, 1000);
	put(p, 102, PARK, FUTEX, 0, 1000);
	check(p, 1, 101, "hog", 1);
}

static void another_worker_drives(void **state)
{
	struct profile *p = made();

	put(p, 101, "hog;" TASK, SLEEP, 0, 400);
	put(p, 102, DRIVE, EPOLL, 0, 300);
	put(p, 102, DRIVE, EPOLL, 310, 1000);
	check(p, 0, 0, "", 0);
}

/* From 200 to 230 the other one runs, and may poll. */
static void while_a_worker_runs_it_is_the_most(void **state)
{
	struct profile *p = made();

	put(p, 101, DRIVE, EPOLL, 0, 100);
	put(p, 101, "hog;" TASK, SLEEP, 100, 400);
	put(p, 101, DRIVE, EPOLL, 400, 1000);
	put(p, 102, PARK, FUTEX, 0, 200);
	put(p, 102, PARK, FUTEX, 230, 1000);
	check(p, 2, 300, "hog", 30);
}

/* A worker that computes does not poll, and samples say what it computes. */
static void a_worker_that_computes_is_a_gap(void **state)
{
	struct profile *p = made();

	put(p, 101, DRIVE, EPOLL, 0, 100);
	sample(p, 101, "burn;" TASK, 110);
	sample(p, 101, "burn;" TASK, 120);
	sample(p, 101, "other;" TASK, 130);
	sample(p, 101, "burn;" TASK, 140);
	put(p, 101, DRIVE, EPOLL, 140, 1000);
	put(p, 102, PARK, FUTEX, 0, 1000);
	check_all(p, 1, 40, "burn", 30, 40);
}

/* From 150 on it is not known what it runs. */
static void what_is_not_sampled_is_not_named(void **state)
{
	struct profile *p = made();

	put(p, 101, DRIVE, EPOLL, 0, 100);
	put(p, 101, "hog;" TASK, SLEEP, 100, 150);
	put(p, 101, DRIVE, EPOLL, 170, 1000);
	check_all(p, 2, 70, "unknown", 20, 20);
}

/* At 130 it is in the driver, though it does not wait. */
static void a_sample_in_the_driver_ends_a_gap(void **state)
{
	struct profile *p = made();

	put(p, 101, DRIVE, EPOLL, 0, 100);
	sample(p, 101, "burn;" TASK, 110);
	sample(p, 101, DRIVE, 130);
	sample(p, 101, "burn;" TASK, 140);
	put(p, 101, DRIVE, EPOLL, 145, 1000);
	check(p, 1, 30, "burn", 30);
}

/* Behind the first wait the worker may have polled: there are two. */
static void each_wait_is_a_gap(void **state)
{
	struct profile *p = made();

	put(p, 101, DRIVE, EPOLL, 0, 100);
	put(p, 101, "hog;" TASK, SLEEP, 100, 140);
	put(p, 101, "hog;" TASK, SLEEP, 141, 181);
	put(p, 101, "hog;" TASK, SLEEP, 181, 192);
	put(p, 101, DRIVE, EPOLL, 192, 1000);
	check(p, 2, 92, "hog", 1);
}

/* What ends and never waits again does not run until the end. */
static void what_ended_does_not_run(void **state)
{
	struct profile *p = made();

	put(p, 101, DRIVE, EPOLL, 0, 100);
	put(p, 102, PARK, FUTEX, 0, 100);
	sample(p, 101, "burn;" TASK, 110);
	check(p, 0, 0, "", 0);
}

static void short_gaps_are_none(void **state)
{
	struct profile *p = made();

	put(p, 101, DRIVE, EPOLL, 0, 100);
	put(p, 101, "hog;" TASK, SLEEP, 100, 118);
	put(p, 101, DRIVE, EPOLL, 119, 1000);
	put(p, 102, PARK, FUTEX, 0, 1000);
	check(p, 0, 0, "", 0);
}

/* Who blocked before would have found another one in the driver. */
static void who_drove_last_is_at_fault(void **state)
{
	struct profile *p = made();

	put(p, 101, "early;" TASK, SLEEP, 100, 290);
	put(p, 101, DRIVE, EPOLL, 290, 1000);
	put(p, 102, DRIVE, EPOLL, 0, 150);
	put(p, 102, "late;" TASK, SLEEP, 150, 290);
	put(p, 102, PARK, FUTEX, 290, 1000);
	check(p, 1, 140, "late", 0);
}

/* Of another name, and of no runtime's driver: a thread that a task began. */
static void other_threads_do_not_count(void **state)
{
	struct profile *p = made();

	put(p, 101, "hog;" TASK, SLEEP, 100, 200);
	put(p, 101, DRIVE, EPOLL, 200, 1000);
	made_wait(p, 103, "helper", PROF_WAIT(PROF_BLOCKED, TASK_S, SLEEP), 5 * MS,
		  "sleep;start_thread;clone3", "");
	profile_add_long_wait(p, &(struct long_wait){ p->nr_samples - 1, 0, 150 * MS, 155 * MS });
	check(p, 1, 100, "hog", 0);
}

/* Many waits together are for events, though a task waited for a page. */
static void waits_together_are_no_page_fault(void **state)
{
	struct profile *p = made();

	put(p, 101, DRIVE, EPOLL, 0, 100);
	put(p, 101, "fault;" TASK, -1, 100, 130);
	made_wait(p, 101, NAME, PROF_GAP(PROF_BLOCKED), 870 * MS, "", "");
	profile_add_long_wait(p, &(struct long_wait){ p->nr_samples - 1, 0, 130 * MS, 1000 * MS });
	check(p, 1, 30, "fault", 0);
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
		cmocka_unit_test(while_a_worker_runs_it_is_the_most),
		cmocka_unit_test(a_worker_that_computes_is_a_gap),
		cmocka_unit_test(what_is_not_sampled_is_not_named),
		cmocka_unit_test(a_sample_in_the_driver_ends_a_gap),
		cmocka_unit_test(each_wait_is_a_gap),
		cmocka_unit_test(what_ended_does_not_run),
		cmocka_unit_test(short_gaps_are_none),
		cmocka_unit_test(who_drove_last_is_at_fault),
		cmocka_unit_test(other_threads_do_not_count),
		cmocka_unit_test(waits_together_are_no_page_fault),
		cmocka_unit_test(without_times_there_is_nothing_to_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
