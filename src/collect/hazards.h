/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Kernels on which a probe at a function of a program does harm, a row each, and what kernels do to
 * the instruction under it.
 */
#ifndef BPFPROF_COLLECT_HAZARDS_H
#define BPFPROF_COLLECT_HAZARDS_H

#include <stdbool.h>

/* What is known of a kernel. */
struct hazards_host {
	unsigned int version; /* 6018 = 6.18 */
	bool x86;
	bool preemptible;     /* threads in the kernel give way to others, or that is not known */
	bool can_forbid;      /* programs can forbid it (bpf/kernel.bpf.h) */
	bool has_uprobe_call; /* the kernel makes calls of probes on long nops */
};
struct hazards_host hazards_host_read(void);

/*
 * 0, or -EOPNOTSUPP after one sentence on why this kernel is refused; force: a warning instead.
 */
int hazards_check(const struct hazards_host *host, bool force);

/* PLACE_KERNEL_* of uprobe/place.h. */
unsigned int hazards_place_flags(const struct hazards_host *host);

#endif
