/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The processes that run at a moment, by /proc: what they are called and who started them. For
 * selecting processes by name, and with those they have started already. Nothing is read that a
 * process could make us wait for.
 */
#ifndef BPFPROF_PROC_RUNNING_H
#define BPFPROF_PROC_RUNNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/opt.h"

struct running_process {
	uint32_t pid, parent;
	bool is_kernel; /* a kernel thread: it has no program */
	char name[16];	/* of its main thread */
	char *program;	/* base name of its file; "" = none, or not ours to see */
};

/* Sorted by pid. */
struct running {
	struct running_process *v;
	size_t nr, cap;
};

/* Reads ROOT/proc ("" for this machine's). What ends meanwhile is left out, and so are we. */
void running_read(struct running *r, const char *root);
void running_release(struct running *r);

/* NULL when it does not run. */
const struct running_process *running_find(const struct running *r, uint32_t pid);
/* By the name of its main thread, or of its program, with or without a version at its end. */
bool running_is_named(const struct running_process *p, const char *name);
/* Adds whatever the processes in pids have started, and what these have. Returns how many. */
size_t running_add_descendants(const struct running *r, struct opt_ids *pids);

#endif
