/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who woke whom, of made-up waits: equal rows are one, interrupts blame nobody. */
#include "profile/woken.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "profile/wait.h"
#include "tests/unit/made.h"

#define LOCK PROF_WAIT(PROF_BLOCKED, TASK_S, 202)

/* Frames of the C library, leaf first, then the program's. */
static uint32_t library_stack(struct profile *p)
{
	uint32_t libc = profile_add_module(p, "/lib/x86_64-linux-gnu/libc.so.6");
	uint32_t app = profile_add_module(p, "/usr/bin/app"), frames[2];

	frames[0] = profile_frame(p, FRAME_USER, libc, 1);
	profile_name_frame(p, frames[0], profile_string(p, "pthread_cond_signal"), 0);
	frames[1] = profile_frame(p, FRAME_USER, app, 2);
	profile_name_frame(p, frames[1], profile_string(p, "queue_push"), 0);
	return profile_stack(p, frames, 2, UNWIND_END_CFI_ROOT, 0);
}

static void wake(struct profile *p, const char *waiter, uint64_t ns, const char *waker,
		 uint32_t ustack, const char *kernel)
{
	struct waker w = { .pid = 100, .tid = 7, .ustack = ustack };
	struct sample *s = made_wait(p, 5, waiter, LOCK, ns, "wait;main", "futex_wait");

	if (!waker)
		return;
	w.process = w.thread = profile_string(p, waker);
	w.kstack = made_stack(p, FRAME_KERNEL, kernel);
	s->waker = profile_add_waker(p, &w);
}

static void check_row(const struct profile *p, const struct woken_row *r, const char *waiter,
		      const char *waker, const char *function, uint64_t ns, uint64_t nr)
{
	assert_string_equal(profile_str(p, r->waiter), waiter);
	assert_string_equal(profile_str(p, r->waker), waker);
	assert_string_equal(profile_str(p, r->function), function);
	assert_int_equal(r->ns, ns);
	assert_int_equal(r->nr, nr);
}

static void rows_are_by_name_and_longest_first(void **state)
{
	struct profile *p = made_profile("wakeup");
	uint32_t push = library_stack(p);
	struct woken w;

	wake(p, "worker", 1000, "producer", push, "try_to_wake_up;futex_wake;do_futex");
	wake(p, "worker", 9000, NULL, 0, "");
	wake(p, "timer", 3000, "swapper", push, "hrtimer_wakeup;asm_sysvec_apic_timer_interrupt");
	wake(p, "worker", 5000, "producer", push, "try_to_wake_up;futex_wake;do_futex");
	wake(p, "worker", 2000, "kworker/0:1", 0, "try_to_wake_up;complete;blk_done");
	woken_init(&w, p, &(struct view){ .idle = IDLE_SHOW });
	assert_int_equal(w.nr, 3);
	assert_int_equal(w.ns, 20000);
	check_row(p, &w.v[0], "worker", "producer", "queue_push", 6000, 2);
	assert_false(w.v[0].irq);
	assert_true(w.v[1].irq);
	check_row(p, &w.v[1], "timer", "", "hrtimer_wakeup", 3000, 1);
	check_row(p, &w.v[2], "worker", "kworker/0:1", profile_str(p, w.v[2].function), 2000, 1);
	assert_string_not_equal(profile_str(p, w.v[2].function), "");
	assert_int_equal(w.none[WOKEN_UNKNOWN].ns, 9000);
	woken_release(&w);
	profile_free(p);
}

static void waits_without_a_waker_have_their_reason(void **state)
{
	struct profile *p = made_profile("wakeup");
	struct woken w;

	wake(p, "a", 1000, NULL, 0, "");
	p->samples[0].wait |= PROF_WAIT_OPEN;
	wake(p, "b", 2000, NULL, 0, "");
	p->samples[1].wait = PROF_WAIT(PROF_PREEMPTED, 0, -1);
	wake(p, "c", 4000, NULL, 0, "");
	woken_init(&w, p, &(struct view){ .idle = IDLE_SHOW });
	assert_int_equal(w.nr, 0);
	assert_int_equal(w.none[WOKEN_NOT_ENDED].ns, 1000);
	assert_int_equal(w.none[WOKEN_PREEMPTED].ns, 2000);
	assert_int_equal(w.none[WOKEN_UNKNOWN].ns, 4000);
	assert_int_equal(w.none[WOKEN_UNKNOWN].nr, 1);
	woken_release(&w);
	profile_free(p);
}

static void only_what_the_view_shows(void **state)
{
	struct profile *p = made_profile("wakeup");
	struct woken w;

	wake(p, "worker", 1000, "producer", library_stack(p), "futex_wake");
	woken_init(&w, p, &(struct view){ .idle = IDLE_SHOW, .classes = 1u << WAIT_IO });
	assert_int_equal(w.nr, 0);
	assert_int_equal(w.ns, 0);
	woken_release(&w);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_by_name_and_longest_first),
		cmocka_unit_test(waits_without_a_waker_have_their_reason),
		cmocka_unit_test(only_what_the_view_shows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
