/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which tables have to go, so that there is room for another one. Room is a range without a gap,
 * within a segment, or whole segments in a row when it is larger. Nothing goes in vain: lists of
 * mappings stay where they are, and so do tables that are in use.
 */
#ifndef BPFPROF_UNWIND_ROOM_H
#define BPFPROF_UNWIND_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/segments.h"

struct room_range {
	uint32_t word, nr;
	uint32_t age; /* the oldest go first; 0 = it stays */
	bool goes;    /* out */
};

/*
 * Marks those that go of what lies in the segments (all else there is free, or will be). False:
 * there is no such room.
 */
bool room_find(const struct segments *s, struct room_range *ranges, size_t nr, uint32_t words);

#endif
