/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The last seconds of a recording that goes on. Somebody looks at it now and then; each look adds
 * what the kernel's counts grew by since the one before, and looks that are older than the window
 * are taken out again:
 *
 *	──┬─────────┬─────────┬─────────┬─────────┬─────────┬── time
 *	  └ taken out         └─────── window ────┴─────────┘ this look
 *
 * A wait is counted when it ends, and all of it at once. So what a thread is doing during a look
 * counts too, as far as it lies in it; when it has ended, what was counted so before is taken off
 * what its count grew by. Over all looks nothing is counted twice, and nothing is left out.
 *
 * What a thread runs is counted when it leaves its CPU, under the name and number that it has by
 * then: what looks had of it under others is taken off there.
 *
 * Counts are read a little before threads are seen. Of a thread that began something new in
 * between, they are read again: what it did before belongs to this look, however long it was.
 *
 * It reads nothing but counts and what it is told: no kernel is needed.
 */
#ifndef BPFPROF_COLLECT_WINDOW_H
#define BPFPROF_COLLECT_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/prof.h"
#include "collect/endings.h"
#include "collect/tally.h"

#define WINDOW_MAX_LOOKS       64 /* in a window; the oldest goes when there would be more */
#define WINDOW_UNTIL_FORGOTTEN UINT64_MAX /* a length: no look is taken out before */

/* What a sum grew by in a look. */
struct window_part {
	uint64_t samples, weight;
	uint32_t id; /* of window.sums */
	bool open;   /* of something that had not ended */
};

struct window_look {
	uint64_t begin_ns, end_ns;
	struct window_part *parts;
	size_t nr, cap;
};

struct window_open;

struct window {
	/*
	 * By thread, stacks (the kernel's slots) and what it did: sums over the window. There is a
	 * row for each that ever was, so what bounds the kernel's table bounds them; where counts
	 * are freed, window_shrink() does.
	 */
	struct tally sums;
	const struct prof_count *counts; /* the kernel's; borrowed */
	size_t nr_slots;
	struct window_slot {
		uint64_t samples, weight; /* as of the last look */
		uint32_t id1;		  /* its sum + 1, 0 = none yet */
		uint32_t pad;
	} * slots;
	uint32_t *used; /* slots that were in use at the last look */
	size_t nr_used, cap_used;
	struct window_early {
		uint64_t ns;   /* by sum: what looks had that has ended, and counts have again */
		uint64_t look; /* number of the last one that found it ended */
	} * early;
	size_t cap_early;
	size_t many;		   /* more sums are looked through */
	struct endings endings;	   /* of the last look, or until forgotten: of all; by sum */
	struct window_open *opens; /* by thread: what it did during the last look */
	struct window_look looks[WINDOW_MAX_LOOKS]; /* a ring */
	size_t first, nr;
	uint64_t nr_looks; /* so far */
	uint64_t length_ns, last_ns;
};

/* Counts of nr_slots, which stay where they are, from begin_ns on. */
void window_init(struct window *w, const struct prof_count *counts, size_t nr_slots,
		 uint64_t length_ns, uint64_t begin_ns);
void window_release(struct window *w);
/* From here on it also has how long waits were that have ended; hists: of the slots, or NULL. */
void window_take_lengths(struct window *w, const union prof_wait_hist *hists);

/* A look: first the counts, now; then each thread; then it is over. */
void window_begin(struct window *w, uint64_t now_ns);
void window_see(struct window *w, const struct prof_look *row);
void window_end(struct window *w);

/* The last look has seen a thread with that number, in the kernel's programs if nowhere else. */
bool window_saw(const struct window *w, uint32_t tid);
/* It is somebody else's from here on, who adds to what it was at the last look. */
void window_forget_slot(struct window *w, size_t slot);
/*
 * After a look: drops sums of which nothing is in the window, once they are many. Their numbers
 * change, those of window.endings with them.
 */
void window_shrink(struct window *w);

/* What was seen so far is in no window. */
void window_forget(struct window *w);

/* The number of the look that the window begins with, counted from 0. */
uint64_t window_first(const struct window *w);
/* When the window began, and ended. */
uint64_t window_begin_ns(const struct window *w);
uint64_t window_end_ns(const struct window *w);

#endif
