/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The part of taking stacks that is verified by itself. */
#include "stacks.bpf.h"

__noinline int stacks_hash(__u32 id)
{
	struct scratch *s = scratch_get(id);
	__u64 hash = prof_cfg.seed;
	__u32 nr;

	if (!s)
		return 0;
	nr = s->kernel.nr;
	for (__u32 i = 0; i < PROF_MAX_KFRAMES && i < nr; i++)
		hash = hash_mix(hash, s->kernel.frames[i]);
	s->kernel.hash = hash;
	return 0;
}
