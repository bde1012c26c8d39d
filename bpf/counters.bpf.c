/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ledger in the kernel: a row of counters per CPU in one mmap-able array, read by user space
 * without a syscall. Perf programs cannot nest on a CPU (the kernel's bpf_prog_active), so plain
 * adds are exact.
 */
#include "counters.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile struct prof_config prof_cfg = {};
struct prof_thin prof_thin;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct prof_counters);
} counters SEC(".maps");

__hidden struct prof_counters *counters_row(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&counters, &cpu);
}

__hidden void counters_add_n(__u32 counter, __u64 n)
{
	struct prof_counters *row = counters_row();

	if (row)
		__sync_fetch_and_add(&row->value[counter % PROF_COUNTER_SLOTS], n);
}

__hidden void counters_add(__u32 counter)
{
	counters_add_n(counter, 1);
}
