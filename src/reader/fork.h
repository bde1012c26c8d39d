/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Work on files of profiled processes in a copy of ourselves, which ends with it: for work that
 * needs much of what we have in memory, and other files than those of the question. The copy has no
 * capability, starts nothing, signals and calls nobody, and may write into one folder only, where
 * the kernel can forbid that (Landlock, 5.13); it can read what we can read.
 */
#ifndef BPFPROF_READER_FORK_H
#define BPFPROF_READER_FORK_H

#include <stddef.h>
#include <stdint.h>

#include "reader/reader.h"

#define READER_MAX_LEFT 8
#define READER_MAX_LATE 2

struct reader_late;

struct reader_copy {
	/* Runs in the copy first, with all our rights: opens what run() will read. Or NULL. */
	void (*prepare)(void *arg);
	/* Runs in the copy, and writes up to max bytes. How many, or negative errno. */
	ssize_t (*run)(void *arg, void *answer, size_t max);
	void *arg;
	int folder; /* that it may write into, -1 = none */
	uint64_t timeout_ns;
	uint64_t idle_ns;	 /* it has hung when it waits for so long, 0 = it may wait */
	bool (*stop)(void *arg); /* asked again and again: whether nobody waits for it; or NULL */
	void *stop_arg;
	/*
	 * Runs in the copy when its answer is there, with what run() left behind; or NULL. With
	 * late, nobody waits for it before reader_late_end(), and it has the lowest priority; when
	 * as many as there may be do so, and without late, it is waited for.
	 */
	void (*after)(void *arg);
	struct reader_late *late;
};

/*
 * Copies that were to end and hang on: the program that is their file system has taken a request of
 * theirs and does not answer it, and until then the kernel lets nobody go. They are left to it.
 */
struct reader_left {
	struct reader_left_one {
		int pid, pidfd;
	} v[READER_MAX_LEFT];
	size_t nr;
};

/* Copies that have answered and go on with after(). */
struct reader_late {
	struct reader_left_one v[READER_MAX_LATE];
	size_t nr;
};

/*
 * Waits for them so long, or until a signal comes, with our own priority if they may get it. Who is
 * not done then is killed, and what after() did not finish is not there.
 */
void reader_late_end(struct reader_late *l, uint64_t ns);

/* How many there are now. */
size_t reader_left_count(struct reader_left *l);
/* Nobody will count them any more. */
void reader_left_release(struct reader_left *l);

/*
 * 0 and what was written, or what run() returned; -ETIMEDOUT when it took too long or hung, -EINTR
 * when it was stopped, -EPIPE when it died, -ENOMEM when that was for want of memory,
 * -EBUSY when as many as there may be are left. What it
 * took is added to cost, unless it is left.
 */
int reader_copy_run(const struct reader_copy *c, struct reader_left *left, struct reader_answer *a,
		    struct reader_cost *cost);

#endif
