/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shapes: which words of a stack the walk of it went by. All threads that wait alike share one.
 * Part of memo.bpf.c, which alone includes it: the map is here.
 */
#ifndef BPFPROF_BPF_SHAPES_BPF_H
#define BPFPROF_BPF_SHAPES_BPF_H

#include "arena.bpf.h"

/* Which words a walk went by: above sp, or above the context. Claimed by hash, 0 = free. */
struct shape {
	__u64 hash;
	__u32 ready; /* the rest is there */
	__u16 span;  /* words up to the last one */
	__u8 nr, traits;
	__u16 at[READ_SLOTS]; /* aarch64, kernel: the first record; the others are followed */
};
_Static_assert(sizeof(struct shape) == 272, "16 bytes and the words");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct shape);
} shapes SEC(".maps");

/* kernel < 6.8: functions are verified even if nothing calls them, and the map may not be there. */
static __always_inline const struct shape *shape_at(__u32 slot)
{
	__u32 index = slot - 1;
	const struct shape *shape;

	shape = prof_cfg.remember ? bpf_map_lookup_elem(&shapes, &index) : NULL;
	return shape && shape->ready ? shape : NULL;
}

#define SHAPE_WORDS 15 /* hashed by one call of a separately verified function */

__noinline int memo_hash_reads(__u32 id, __u32 first, __u32 nr)
{
	struct scratch *s = scratch_get(id);

	if (!s)
		return 0;
	for (__u32 i = 0; i < SHAPE_WORDS && first + i < nr; i++)
		s->memo_hash = hash_mix(s->memo_hash, s->reads[(first + i) & (READ_SLOTS - 1)]);
	return 0;
}

/* Into scratch->memo_hash. Separately verified, or its loop would multiply with what follows. */
__noinline int memo_hash_shape(__u32 id, __u32 nr, __u32 traits)
{
	struct scratch *s = scratch_get(id);

	if (!s)
		return 0;
	s->memo_hash = hash_mix(prof_cfg.seed, nr | traits << 16);
	for (__u32 i = 0; i < READ_WORDS && i < nr; i += SHAPE_WORDS)
		memo_hash_reads(id, i, nr);
	s->memo_hash += !s->memo_hash;
	return 0;
}

/*
 * The slot + 1 of the shape of nr words in scratch->reads. 0: there is no room. Separately
 * verified.
 */
__noinline int memo_shape(__u32 id, __u32 nr, __u32 traits)
{
	struct scratch *s = scratch_get(id);
	struct shape *shape;
	__u32 slot;
	bool mine;

	if (!s || !prof_cfg.remember)
		return 0;
	memo_hash_shape(id, nr, traits);
	shape = arena_find(&shapes, prof_cfg.shape_slots, s->memo_hash, &slot, &mine);
	if (!shape)
		return 0;
	if (mine) {
		shape->nr = nr;
		shape->traits = traits;
		shape->span = s->read_span;
		__builtin_memcpy(shape->at, s->reads, sizeof(shape->at));
		__sync_lock_test_and_set(&shape->ready, 1);
	}
	return slot;
}

#endif
