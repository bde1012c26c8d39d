/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions that .eh_frame or .debug_frame describe, in the order of their addresses. The
 * search table that linkers make (.eh_frame_hdr) has that order already; without one, entries are
 * read through and sorted.
 */
#ifndef BPFPROF_UNWIND_FRAMES_H
#define BPFPROF_UNWIND_FRAMES_H

#include "unwind/cfi.h"
#include "unwind/layout.h"

#define FRAMES_MAX_BYTES (24u << 20) /* of one section; the largest programs have half of it */
#define FRAMES_MAX	 1500000u    /* functions; the largest programs have a million */

struct frame;

struct frames {
	const struct layout *layout;
	struct cfi cfi;
	uint8_t *bytes; /* of the section */
	uint64_t base;	/* of the starts in list */
	struct frame *list;
	size_t nr, cap, i;
	uint64_t budget; /* bytes of functions left to read: each byte belongs to one */
};

/* Both leave f empty when there is no such section. The layout must stay until frames_release(). */
void frames_open_eh(struct frames *f, const struct layout *l);
void frames_open_debug(struct frames *f, const struct layout *l);
void frames_release(struct frames *f);

/* The next function, cut where its segment ends. False when there is none left. */
bool frames_next(struct frames *f, struct cfi_fde *fde);

#endif
