/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the choice of a place and the search for short jumps share. */
#ifndef BPFPROF_UPROBE_PLACE_PARTS_H
#define BPFPROF_UPROBE_PLACE_PARTS_H

#include "symbol/fdes.h"
#include "uprobe/image.h"
#include "uprobe/insn.h"
#include "uprobe/place.h"
#include "uprobe/stubs.h"

struct places {
	const struct functions *functions;
	struct decoder *decoder;
	struct image image; /* with the ways in marked */
	bool complete;	    /* all ways in are */
	struct fdes fdes;
	struct stubs *stubs;
};

/* The instruction at an address of f; false when its bytes do not lie in f. */
bool place_decode(struct places *p, const struct uprobe_function *f, uint64_t address,
		  struct insn *insn);

/*
 * x86-64: whether a jump with an offset of one byte may go to (from, to], where from is the entry
 * of a function.
 */
bool place_has_short_jump(struct places *p, uint64_t from, uint64_t to);

/*
 * Of a function of Go that checks its stack, the instruction behind that: each call executes it
 * once, the entry perhaps more often; and how many the check is. 0: there is none.
 */
uint64_t place_behind_check(struct places *p, const struct uprobe_function *f,
			    unsigned int *skipped);

#endif
