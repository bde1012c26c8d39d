/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The yardstick: the least that a profiler of the usual kind does per sample, two bpf_get_stackid
 * and one addition in a hash map. No filters, no names. At a switch it is a program that does
 * nothing: what is shown for it, the measuring and the way into a program cost.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct key {
	__u32 pid;
	int user, kernel;
};

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 16384);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, 127 * sizeof(__u64));
} ref_stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 40960);
	__type(key, struct key);
	__type(value, __u64);
} ref_counts SEC(".maps");

SEC("perf_event")
int ref_sample(struct bpf_perf_event_data *ctx)
{
	struct key key = { .pid = bpf_get_current_pid_tgid() >> 32 };
	__u64 one = 1, *count;

	key.user = bpf_get_stackid(ctx, &ref_stacks, BPF_F_USER_STACK);
	key.kernel = bpf_get_stackid(ctx, &ref_stacks, 0);
	count = bpf_map_lookup_elem(&ref_counts, &key);
	if (count)
		__sync_fetch_and_add(count, 1);
	else
		bpf_map_update_elem(&ref_counts, &key, &one, BPF_NOEXIST);
	return 0;
}

SEC("?tp_btf/sched_switch")
int ref_switch(void *ctx)
{
	return 0;
}
