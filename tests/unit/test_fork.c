/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copies of ourselves that answer, and those that go on when they have. */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "reader/fork.h"

#define LONG_NS 60000000000ull

/* Of both: after() waits for a byte, and says by another one with which priority it was done. */
struct work {
	int go[2], done[2];
};

static ssize_t run(void *arg, void *answer, size_t max)
{
	assert_true(max > 6);
	memcpy(answer, "answer", 6);
	return 6;
}

static void after(void *arg)
{
	const struct work *w = arg;
	char c;

	if (read(w->go[0], &c, 1) != 1)
		_exit(1);
	c = getpriority(PRIO_PROCESS, 0);
	if (write(w->done[1], &c, 1) != 1)
		_exit(1);
}

static struct work work_new(void)
{
	struct work w;

	assert_int_equal(pipe(w.go), 0);
	assert_int_equal(pipe(w.done), 0);
	return w;
}

static void let_go(const struct work *w)
{
	assert_int_equal(write(w->go[1], "x", 1), 1);
}

/* What after() wrote, -1 = it did not get there. */
static int done(struct work *w)
{
	char c;
	ssize_t nr;

	close(w->done[1]);
	nr = read(w->done[0], &c, 1);
	close(w->done[0]);
	close(w->go[0]);
	close(w->go[1]);
	return nr == 1 ? c : -1;
}

static void ask(struct work *w, struct reader_late *late)
{
	const struct reader_copy c = { .run = run,
				       .arg = w,
				       .folder = -1,
				       .timeout_ns = LONG_NS,
				       .after = after,
				       .late = late };
	struct reader_left left = {};
	struct reader_cost cost = {};
	struct reader_answer a;

	assert_int_equal(reader_copy_run(&c, &left, &a, &cost), 0);
	assert_int_equal(a.sz, 6);
	assert_memory_equal(a.bytes, "answer", 6);
	assert_true(cost.cpu_ns > 0);
	assert_int_equal(left.nr, 0);
	free(a.bytes);
}

/* Nobody has let it go on when the answer is there. */
static void test_answer_is_there_before_the_rest(void **state)
{
	struct reader_late late = {};
	struct work w = work_new();

	ask(&w, &late);
	assert_int_equal(late.nr, 1);
	while (getpriority(PRIO_PROCESS, late.v[0].pid) != 19)
		usleep(1000);
	let_go(&w);
	reader_late_end(&late, LONG_NS);
	assert_int_equal(late.nr, 0);
	assert_true(done(&w) >= 0);
}

static ssize_t count_held(void *arg, void *answer, size_t max)
{
	const int *fds = arg;
	char held = 0;

	for (int i = 0; i < 2; i++)
		held |= (fcntl(fds[i], F_GETFD) >= 0) << i;
	assert_true(max > 1);
	memcpy(answer, &held, 1);
	return 1;
}

/* As long as anybody has one, the kernel counts on. Other files are those of the copy, too. */
static void test_copy_holds_no_event(void **state)
{
	struct perf_event_attr attr = { .size = sizeof(attr),
					.type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_DUMMY,
					.exclude_kernel = 1 };
	int fds[2] = { syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC),
		       dup(0) };
	const struct reader_copy c = {
		.run = count_held, .arg = fds, .folder = -1, .timeout_ns = LONG_NS
	};
	struct reader_left left = {};
	struct reader_cost cost = {};
	struct reader_answer a;

	if (fds[0] < 0)
		skip();
	assert_int_equal(reader_copy_run(&c, &left, &a, &cost), 0);
	assert_int_equal(a.sz, 1);
	assert_int_equal(*(const char *)a.bytes, 2);
	free(a.bytes);
	close(fds[0]);
	close(fds[1]);
}

static void test_who_does_not_end_is_killed(void **state)
{
	struct reader_late late = {};
	struct work w = work_new();

	ask(&w, &late);
	reader_late_end(&late, 1);
	assert_int_equal(late.nr, 0);
	let_go(&w);
	assert_int_equal(done(&w), -1);
}

/* There is room for so many; one more is waited for, and so is one without room. */
static void test_more_are_waited_for(void **state)
{
	struct work w[READER_MAX_LATE + 2];
	struct reader_late late = {};

	for (int i = 0; i < READER_MAX_LATE + 2; i++)
		w[i] = work_new();
	for (int i = 0; i < READER_MAX_LATE; i++)
		ask(&w[i], &late);
	assert_int_equal(late.nr, READER_MAX_LATE);
	let_go(&w[READER_MAX_LATE]);
	ask(&w[READER_MAX_LATE], &late);
	assert_int_equal(late.nr, READER_MAX_LATE);
	let_go(&w[READER_MAX_LATE + 1]);
	ask(&w[READER_MAX_LATE + 1], NULL);
	assert_int_equal(done(&w[READER_MAX_LATE]), getpriority(PRIO_PROCESS, 0));
	assert_int_equal(done(&w[READER_MAX_LATE + 1]), getpriority(PRIO_PROCESS, 0));
	for (int i = 0; i < READER_MAX_LATE; i++)
		let_go(&w[i]);
	reader_late_end(&late, LONG_NS);
	for (int i = 0; i < READER_MAX_LATE; i++)
		assert_true(done(&w[i]) >= 0);
}

static void stop(void *arg)
{
	raise(SIGSTOP);
}

/* By somebody, who need not be us: no time that it has helps. */
static void test_who_was_stopped_has_died(void **state)
{
	const struct reader_copy c = {
		.prepare = stop, .run = run, .folder = -1, .timeout_ns = LONG_NS
	};
	struct reader_left left = {};
	struct reader_cost cost = {};
	struct reader_answer a;

	alarm(20);
	assert_int_equal(reader_copy_run(&c, &left, &a, &cost), -EPIPE);
	alarm(0);
	assert_int_equal(left.nr, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answer_is_there_before_the_rest),
		cmocka_unit_test(test_copy_holds_no_event),
		cmocka_unit_test(test_who_does_not_end_is_killed),
		cmocka_unit_test(test_more_are_waited_for),
		cmocka_unit_test(test_who_was_stopped_has_died),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
