/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory for unwind tables that the kernel reads: segments of 4 MiB, made when they are needed and
 * given back when they are empty, and ranges of words within them.
 *
 * What is freed may still be read by a program that runs at that moment. So it rests for a while
 * before it is handed out again.
 */
#ifndef BPFPROF_UNWIND_SEGMENTS_H
#define BPFPROF_UNWIND_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/table.h"

/*
 * Makes a segment, zeroed and known to the kernel, and maps it at an address. 0 or negative errno;
 * -EINPROGRESS: it is on its way, ask again.
 */
typedef int (*segment_make)(void *arg, uint32_t index, void *at);
/* Gives it back; what lies at its address does not matter any more. */
typedef void (*segment_drop)(void *arg, uint32_t index, void *at);

struct segment_range {
	uint32_t word, nr;
};
struct segment_resting {
	struct segment_range range;
	uint64_t since_ns;
};
struct segment {
	bool made;
	struct segment_range *gaps; /* ascending, not touching, words within the segment */
	size_t nr_gaps, cap_gaps;
};

struct segments {
	segment_make make;
	segment_drop drop;
	void *arg;
	uint32_t *words;    /* of all segments in a row, made or not */
	uint32_t nr_places; /* segments that there are addresses for */
	uint32_t max;	    /* segments */
	uint32_t nr;
	struct segment list[TABLE_MAX_SEGMENTS];
	struct segment_resting *resting;
	size_t nr_resting, cap_resting;
};

/* At most max_bytes, but at least one segment. 0 or negative errno: no addresses left. */
int segments_init(struct segments *s, segment_make make, segment_drop drop, void *arg,
		  uint64_t max_bytes);
void segments_release(struct segments *s);
/* From now on; those that are there stay, also where they are more. */
void segments_limit(struct segments *s, uint64_t max_bytes);

/*
 * Begins to make the segments that ranges of nr words in sum will need, as far as there is no room:
 * they are on their way while the tables are built.
 */
void segments_expect(struct segments *s, uint64_t nr);

/*
 * A range of nr words, in one segment, or from the start of one when it is larger. 0 or negative
 * errno: -ENOSPC when that is more than the maximum, -EINPROGRESS when there will be room soon.
 */
int segments_take(struct segments *s, uint32_t nr, uint32_t *word);

/* Gives a range back, to rest. */
void segments_give(struct segments *s, uint32_t word, uint32_t nr, uint64_t now_ns);

/* Ends the rest of what was given back long enough ago, and drops segments that are empty. */
void segments_settle(struct segments *s, uint64_t now_ns);

#endif
