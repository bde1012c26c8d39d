/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the programs of a recording cost in the kernel. */
#ifndef BPFPROF_PROFILE_BPF_COST_H
#define BPFPROF_PROFILE_BPF_COST_H

#include <stdint.h>

#include "bpf/prof.h"

/* Nanoseconds that they took, by the runs that measured themselves, of which there is one in 64. */
uint64_t counters_bpf_ns(const uint64_t counters[PROF_NR_COUNTERS]);

#endif
