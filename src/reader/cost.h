/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What children of ours took: the kernel says so when they have ended. */
#ifndef BPFPROF_READER_COST_H
#define BPFPROF_READER_COST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct reader_cost {
	uint64_t cpu_ns;
	uint64_t bytes; /* the most that one of them had, besides what it shared with us */
};

/* Of several that followed each other. */
void reader_cost_add(struct reader_cost *sum, const struct reader_cost *more);

/* Our memory now; so what a child shares with its parent, when it has just been forked. */
uint64_t cost_memory(void);

/* What we took ourselves so far, who have just begun with first_bytes. */
void cost_self(uint64_t first_bytes, struct reader_cost *c);

/*
 * waitpid() for a child, which adds what it and its own children took to c; first_bytes is what it
 * began with.
 */
pid_t cost_wait(pid_t pid, int flags, uint64_t first_bytes, struct reader_cost *c);

/* Does it run, or wait for a CPU? Then it has not hung. */
bool cost_is_runnable(pid_t pid);

/* Did a signal stop it? Then no other one than SIGKILL and SIGCONT acts, its deadline neither. */
bool cost_is_stopped(pid_t pid);
/* Also when nobody has waited for it. */
bool cost_has_ended(pid_t pid);

#endif
