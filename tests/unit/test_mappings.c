/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect/mappings: who does not let its mappings be read costs itself, in bounded time. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "collect/mappings.h"
#include "collect/reading.h"
#include "proc/proc.h"

#define NR_CHILDREN 3
#define SILENT	    1 /* of them */

static pid_t children[NR_CHILDREN];

/* As the kernel does when that process keeps the lock. */
static int read_until_silent(struct reader_work *w)
{
	const uint32_t *pids = w->question;
	size_t nr = w->question_sz / sizeof(*pids);

	for (size_t i = 0; i < nr; i++) {
		if (pids[i] != (uint32_t)children[SILENT])
			continue;
		w->question_sz = i * sizeof(*pids);
		mappings_do_read(w);
		for (;;)
			pause();
	}
	return mappings_do_read(w);
}

static int dies(struct reader_work *w)
{
	(void)w;
	raise(SIGKILL);
	return 0;
}

static const struct reader_task silent_tasks[READER_NR] = { [READER_MAPS] = { true,
									      read_until_silent } };
static const struct reader_task dying_tasks[READER_NR] = { [READER_MAPS] = { true, dies } };

static void start_children(void)
{
	for (size_t i = 0; i < NR_CHILDREN; i++) {
		children[i] = fork();
		if (!children[i])
			for (;;)
				pause();
	}
}

static void end_children(void)
{
	for (size_t i = 0; i < NR_CHILDREN; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
}

static void open_with(struct reading *r, struct proc_table *t, const struct reader_task *tasks)
{
	*r = (struct reading){ .reader = reader_new(tasks, READER_NR) };
	assert_non_null(r->reader);
	r->mapper = (struct proc_mapper){ mappings_read, r };
	proc_init(t, true, true);
	t->mapper = &r->mapper;
}

static size_t nr_maps(struct proc_table *t, pid_t pid)
{
	struct process *p = proc_find(t, pid);

	return p ? p->image->nr_maps : 0;
}

static void test_others_keep_their_mappings(void **state)
{
	struct reading r;
	struct proc_table t;
	uint64_t begin;

	(void)state;
	start_children();
	open_with(&r, &t, silent_tasks);
	proc_snapshot_all(&t, now_ns());
	assert_true(nr_maps(&t, getpid()) > 2);
	assert_true(nr_maps(&t, children[0]) == nr_maps(&t, getpid()));
	assert_true(nr_maps(&t, children[2]) == nr_maps(&t, getpid()));
	assert_int_equal(nr_maps(&t, children[SILENT]), 0);
	assert_true(reading_is_silent(&r, children[SILENT]));
	assert_false(reading_is_silent(&r, children[0]));
	/* It is not asked again. */
	begin = now_ns();
	assert_int_equal(proc_snapshot(&t, children[SILENT], now_ns()), -ETIMEDOUT);
	assert_true(now_ns() - begin < 100000000);
	assert_int_equal(proc_snapshot(&t, children[2], now_ns()), 0);
	proc_release(&t);
	reader_free(r.reader);
	end_children();
}

static void test_mappings_were_there_before(void **state)
{
	struct reading r;
	struct proc_table t, plain;
	struct process *p;

	(void)state;
	open_with(&r, &t, silent_tasks);
	proc_init(&plain, true, true);
	assert_int_equal(proc_snapshot(&t, getpid(), 7), 0);
	assert_int_equal(proc_snapshot(&plain, getpid(), 7), 0);
	p = proc_find(&t, getpid());
	assert_true(p->image->nr_maps && p->image->maps[0].from_ns == 0);
	assert_int_equal(p->image->nr_maps, nr_maps(&plain, getpid()));
	proc_release(&t);
	proc_release(&plain);
	reader_free(r.reader);
}

static void test_readers_that_die(void **state)
{
	struct reading r;
	struct proc_table t;

	(void)state;
	open_with(&r, &t, dying_tasks);
	proc_snapshot_all(&t, now_ns());
	assert_int_equal(proc_snapshot(&t, getpid(), now_ns()), -EPIPE);
	assert_int_equal(nr_maps(&t, getpid()), 0);
	assert_int_equal(r.nr_silent, 0);
	proc_release(&t);
	reader_free(r.reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_others_keep_their_mappings),
		cmocka_unit_test(test_mappings_were_there_before),
		cmocka_unit_test(test_readers_that_die),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
