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

struct counter_map counters SEC(".maps");

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
