/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "audit.bpf.h"
#include "comm.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, PROF_DISAGREEMENTS);
	__type(key, __u32);
	__type(value, struct prof_disagreement);
} disagreements SEC(".maps");

/* kernel < 6.8: functions are verified even if nothing calls them, and the map may not be there. */
__noinline int audit_disagrees(__u32 kind, __u32 remembered, __u32 walked)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct prof_disagreement *d;
	__u64 hash;
	__u32 slot;
	bool mine;

	if (!prof_cfg.audit)
		return 0;
	hash = hash_mix(prof_cfg.seed + kind, remembered | (__u64)walked << 32);
	d = arena_find(&disagreements, PROF_DISAGREEMENTS, hash + !hash, &slot, &mine);
	if (!d)
		return 0;
	__sync_fetch_and_add(&d->times, 1);
	if (!mine)
		return 0;
	d->pid = task->tgid;
	d->tid = task->pid;
	d->kind = kind;
	d->remembered = remembered;
	d->walked = walked;
	comm_copy(d->comm, task->comm);
	__sync_lock_test_and_set(&d->ready, 1);
	return 0;
}
