/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What every BPF file shares: the frozen configuration and this CPU's row of counters. */
#ifndef BPFPROF_BPF_COUNTERS_BPF_H
#define BPFPROF_BPF_COUNTERS_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include "prof.h"
#include "thin.h"

extern const volatile struct prof_config prof_cfg;

extern struct prof_thin prof_thin;

struct counter_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct prof_counters);
};
extern struct counter_map counters SEC(".maps");

/* NULL only when the CPU's number lies above the rows that were sized at start. */
static __always_inline struct prof_counters *counters_row(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&counters, &cpu);
}

/*
 * All ones when n is 0, else 0. verifier: two values to choose from would make it look at
 * everything that follows twice.
 */
static __always_inline __u64 mask_if_zero(__u64 n)
{
	__s64 mask = (__s64)(n - 1) >> 63;

	asm volatile("" : "+r"(mask)); /* or clang makes a branch of it */
	return mask;
}

#define TIME_EVERY 64 /* one run in so many measures its own time */

/* Counts a run. Its start if it is one that measures itself, else 0. */
static __always_inline __u64 run_begins(struct prof_counters *row)
{
	return row->value[PROF_RUNS]++ % TIME_EVERY == 0 ? bpf_ktime_get_ns() : 0;
}

static __always_inline void run_ends(struct prof_counters *row, __u64 start)
{
	if (!start)
		return;
	row->value[PROF_TIMED_RUNS]++;
	row->value[PROF_TIMED_NS] += bpf_ktime_get_ns() - start;
}

/* The same of programs at wake-ups beside those at switches: they take another time. */
static __always_inline __u64 wake_begins(struct prof_counters *row)
{
	return row->value[PROF_WAKES]++ % TIME_EVERY == 0 ? bpf_ktime_get_ns() : 0;
}

static __always_inline void wake_ends(struct prof_counters *row, __u64 start)
{
	if (!start)
		return;
	row->value[PROF_TIMED_WAKES]++;
	row->value[PROF_WAKES_NS] += bpf_ktime_get_ns() - start;
}

/* Adds one, or n, to a counter of this CPU, whatever else counts here at the moment. */
__hidden void counters_add_n(__u32 counter, __u64 n);
__hidden void counters_add(__u32 counter);

#endif
