/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the programs at allocations are told, and what they leave behind. */
#include <errno.h>

#include <bpf/bpf.h>

#include "collect/alloc.h"
#include "event/refusal.h"

int alloc_put_draws(int fd, uint64_t every)
{
	uint64_t draws[ALLOC_DRAWS];

	alloc_draws(every, draws);
	for (uint32_t i = 0; i < ALLOC_DRAWS; i++)
		if (bpf_map_update_elem(fd, &i, &draws[i], BPF_ANY))
			return refusal_tell(-errno, "cannot tell the kernel how to sample");
	return 0;
}

void alloc_for_each_live(int fd, void (*fn)(void *arg, const struct alloc_live *a), void *arg)
{
	struct alloc_key key, *last = NULL;
	struct alloc_live live;

	while (!bpf_map_get_next_key(fd, last, &key)) {
		last = &key;
		if (!bpf_map_lookup_elem(fd, &key, &live))
			fn(arg, &live);
	}
}
