/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where the time of each thread went, and what of it nothing accounts for. */
#ifndef BPFPROF_PROFILE_BUDGET_H
#define BPFPROF_PROFILE_BUDGET_H

#include "profile/profile.h"
#include "profile/waits.h"

struct budget_row {
	uint32_t pid, tid; /* tid 0: merged threads; of sums 0 */
	uint32_t process, thread;
	uint32_t nr_threads;
	bool has_user; /* a stack of it has frames of user space: no thread of the kernel has */
	uint64_t wall_ns;
	uint64_t ns[WAITS_NR]; /* by class */
};

/* A process's threads are rows [first, first + nr) of threads. Longest first, in both. */
struct budget_process {
	struct budget_row sum;
	size_t first, nr;
};

struct budget {
	struct budget_row *threads;
	struct budget_process *processes;
	size_t nr_threads, nr_processes, cap_processes;
	struct budget_row all;
	struct waits waits; /* by sample, and their sums */
};

void budget_init(struct budget *b, const struct profile *p);
void budget_release(struct budget *b);

/* Woken or preempted, and no CPU yet. */
uint64_t budget_runnable(const struct budget_row *row);
/* Whether time of the class is blocked: neither running, nor runnable, nor throttled. */
bool budget_is_blocked(uint32_t class);
/* All of it but the residual. */
uint64_t budget_known(const struct budget_row *row);
/* Below zero where more was counted than there was time. */
int64_t budget_residual(const struct budget_row *row);

#endif
