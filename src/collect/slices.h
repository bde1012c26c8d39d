/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * When what was counted: a recording is cut into slices of time, and of each count it is kept how
 * much of it came in which slice. The kernel does nothing for it: at the end of a slice its counts
 * are looked at, and what they grew by is the slice's.
 *
 * A recording of any length has SLICES_MAX at most, and SLICES_MAX_PARTS parts: when there would be
 * more, two slices become one. Of so many counts that this does not help there are none.
 */
#ifndef BPFPROF_COLLECT_SLICES_H
#define BPFPROF_COLLECT_SLICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/prof.h"

#define SLICES_MAX	 32
#define SLICES_MAX_PARTS (1u << 19) /* 16 MB */
#define SLICES_NO_ID	 UINT32_MAX

/* What a count had grown by. */
struct slice_part {
	uint32_t id;	/* of the count, once it is known by one that lasts; else SLICES_NO_ID */
	uint32_t slice; /* its number */
	uint32_t next;	/* the one before it of the same slot, + 1; 0 = none */
	uint32_t pad;
	uint64_t weight;
};

struct slices {
	const struct prof_count *counts; /* the kernel's, by slot; borrowed */
	size_t nr_slots;
	uint64_t begin_ns, length_ns, next_ns;
	uint64_t ends_ns[SLICES_MAX]; /* since the begin, of those that are over */
	size_t nr;		      /* of them */
	struct slice_slot {
		uint64_t seen; /* of its count, in slices that are over */
		uint32_t last; /* its part of the latest slice, + 1 */
		uint32_t pad;
	} * slots; /* none until the first slice is over */
	struct slice_part *parts;
	size_t nr_parts, cap_parts, max_parts;
};

/* duration_ns: of the recording, 0 = not known. */
void slices_begin(struct slices *s, const struct prof_count *counts, size_t nr_slots,
		  uint64_t begin_ns, uint64_t duration_ns);

/* Ends the slice, if it is time. */
void slices_turn(struct slices *s, uint64_t now_ns);

/* The count of that slot is taken over for good, under that id, and the slot is free again. */
void slices_take(struct slices *s, size_t slot, uint32_t id);

/* So many slots from that one on become free: counts that were not taken over are dropped. */
void slices_empty(struct slices *s, size_t first, size_t nr);

/* The last slice ends. One part is left of each id and slice, in the order of both. */
void slices_end(struct slices *s, uint64_t now_ns);

void slices_release(struct slices *s);

/* What tells how much a count is: the sum of weights, or where there are none how often. */
static inline uint64_t slices_weight(const struct prof_count *n)
{
	return n->weight ? n->weight : n->samples;
}

#endif
