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

struct reader_copy {
	/* Runs in the copy first, with all our rights: opens what run() will read. Or NULL. */
	void (*prepare)(void *arg);
	/* Runs in the copy, and writes up to max bytes. How many, or negative errno. */
	ssize_t (*run)(void *arg, void *answer, size_t max);
	void *arg;
	int folder; /* that it may write into, -1 = none */
	uint64_t timeout_ns;
	uint64_t idle_ns; /* it has hung when it waits for so long, 0 = it may wait */
};

/*
 * 0 and what was written, or what run() returned; -ETIMEDOUT when it took too long or hung, -EPIPE
 * when it died. What it took is added to cost.
 */
int reader_copy_run(const struct reader_copy *c, struct reader_answer *a, struct reader_cost *cost);

#endif
