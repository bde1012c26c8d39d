/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* When something was counted: with prof_cfg.moment_slots. */
#ifndef BPFPROF_BPF_MOMENTS_BPF_H
#define BPFPROF_BPF_MOMENTS_BPF_H

#include "counters.bpf.h"

/* That weight was added to a count, by its slot + 1; it ended so many ns ago. */
__hidden void moments_add(__u32 count, __u64 weight, __u64 ago);

#endif
