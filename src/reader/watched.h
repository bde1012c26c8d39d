/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A child that is waited for: whether it has hung, was stopped, or gets no CPU. For reader.c only.
 */
#ifndef BPFPROF_READER_WATCHED_H
#define BPFPROF_READER_WATCHED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct watched {
	pid_t pid;			 /* 0 = not known yet */
	uint64_t idle_since_ns, used_ns; /* since when it has done nothing; its CPU time then */
	uint64_t looked_ns;		 /* when it was looked at last */
	uint64_t wanted_ns, cpu_ns;	 /* how long it wanted a CPU; how long it had one */
};

/* Every few milliseconds, from the first moment on. */
void watched_look(struct watched *w);

/* It has not run for so long, and does not want to. */
bool watched_has_hung(struct watched *w, uint64_t idle_ns);

/* Most of that time it wanted a CPU, and had none: that there is no answer is nobody's fault. */
bool watched_has_starved(const struct watched *w, uint64_t timeout_ns);

#endif
