/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The counters, by CPU and number: index = cpu * PMU_MAX_EVENTS + i. User space sizes the map and
 * puts the descriptors in. The kernel lets a program read the counters of its own CPU only, at the
 * price of one instruction of the hardware for each that counts.
 */
#include "pmu.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, PMU_MAX_EVENTS);
	__type(key, __u32);
	__type(value, __u32);
} pmu_counters SEC(".maps");

__hidden long pmu_read(__u32 cpu, __u32 i, struct prof_event_count *now)
{
	return bpf_perf_event_read_value(&pmu_counters, cpu * PMU_MAX_EVENTS + i,
					 (struct bpf_perf_event_value *)now, sizeof(*now));
}
