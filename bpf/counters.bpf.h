/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What every BPF file shares: the frozen configuration and this CPU's row of counters. */
#ifndef BPFPROF_BPF_COUNTERS_BPF_H
#define BPFPROF_BPF_COUNTERS_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include "prof.h"

extern const volatile struct prof_config prof_cfg;

/* NULL only when the CPU's number lies above the rows that were sized at start. */
__hidden struct prof_counters *counters_row(void);

/* Adds one to a counter of this CPU, whatever else counts here at the moment. */
__hidden void counters_add(__u32 counter);

#endif
