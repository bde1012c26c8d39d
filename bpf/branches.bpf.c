/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of branches, claimed like counts: whoever writes the hash first has the row. */
#include "branches.bpf.h"
#include "stacks.bpf.h"
#include "branch_table.bpf.h"

#define MAX_PROBES 8

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct branch_records);
} branch_records SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct prof_branch);
} branches SEC(".maps");

/*
 * kernel < 6.8: global functions are verified though nobody calls them, and without branch records
 * there is no such map.
 */
__hidden struct branch_records *branches_buffer(void)
{
	__u32 zero = 0;

	if (!prof_cfg.branch_slots)
		return NULL;
	return bpf_map_lookup_elem(&branch_records, &zero);
}

/* An end of a branch, as a stack of one frame. */
static __always_inline __u32 place(struct scratch *s, __u32 id, __u64 address)
{
	bool kernel = address >> 60 == 0xf;
	struct scratch_stack *st = scratch_half(s, kernel ? PROF_STACK_KERNEL : PROF_STACK_USER);
	__u64 frame = kernel ? address : (address & prof_cfg.pc_mask) | PROF_FRAME_EXACT;

	st->nr = 1;
	st->kind = kernel ? PROF_STACK_KERNEL : PROF_STACK_USER;
	st->end = UNWIND_END_ENTRY;
	st->guessed = 0;
	st->frames[0] = frame;
	st->hash = hash_mix(prof_cfg.seed, frame);
	return arena_stack(id, st->kind);
}

__noinline int branches_end(__u32 id, __u64 address)
{
	struct scratch *s = scratch_get(id);

	return s ? place(s, id, address) : 0;
}

/* The row of a pair of ends. NULL: the table is full. */
static __always_inline struct prof_branch *row_of(__u32 from, __u32 to)
{
	__u64 hash = hash_mix(prof_cfg.seed, from | (__u64)to << 32), step, found;

	hash += !hash;
	step = hash >> 40 | 1;
	for (int i = 0; i < MAX_PROBES; i++) {
		__u32 slot = (hash + i * step) & (prof_cfg.branch_slots - 1);
		struct prof_branch *row = bpf_map_lookup_elem(&branches, &slot);

		if (!row)
			return NULL;
		found = *(volatile __u64 *)&row->hash;
		if (!found)
			found = __sync_val_compare_and_swap(&row->hash, 0, hash);
		if (!found) {
			row->from = from;
			row->to = to;
			return row;
		}
		if (found == hash)
			return row;
	}
	return NULL;
}

__noinline int branches_one(__u32 id, __u32 i)
{
	struct branch_records *b = branches_buffer();
	struct prof_branch *row;
	__u32 from, to;

	if (!b)
		return 0;
	i &= BRANCH_MAX_RECORDS - 1;
	from = branches_end(id, b->v[i].from);
	to = branches_end(id, b->v[i].to);
	row = from && to ? row_of(from, to) : NULL;
	if (!row) {
		counters_add(PROF_BRANCHES_LOST);
		return 0;
	}
	branch_add(row, b->v[i].word);
	counters_add(PROF_BRANCHES);
	return 0;
}

__noinline int branches_all(__u32 id)
{
	struct branch_records *b = branches_buffer();

	if (!b)
		return 0;
	for (__u32 i = 0; i < BRANCH_MAX_RECORDS && i < b->nr; i++)
		branches_one(id, i);
	return 0;
}
