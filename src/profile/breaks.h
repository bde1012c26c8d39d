/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where stacks break: the samples whose stack does not reach the root of its thread, by the module
 * of the outermost frame that was found, which is where the walk stopped, and by what stopped it.
 */
#ifndef BPFPROF_PROFILE_BREAKS_H
#define BPFPROF_PROFILE_BREAKS_H

#include "profile/profile.h"

struct break_row {
	uint32_t module;  /* 0: no file, kind says what instead */
	uint32_t process; /* its name, where there is no module: there it tells rows apart */
	uint32_t frame;	  /* where the walk stopped: in the heaviest function; 0 = no frames */
	uint8_t kind;	  /* enum frame_kind; FRAME_NONE: a stack without frames */
	uint8_t end;	  /* enum unwind_end */
	uint64_t samples, weight;
	char *remedy; /* one sentence, see remedy.h */
};

/* Rows by weight, heaviest first, ties by name. */
struct breaks {
	struct break_row *rows;
	size_t nr, cap;
	uint64_t samples, weight; /* of all rows */
	uint64_t all;		  /* weight of the profile's stacks */
};

void breaks_init(struct breaks *b, const struct profile *p);
void breaks_release(struct breaks *b);

/* The module's path; "[jit]", "[unknown]", or "[none]" for a stack without frames. */
const char *break_module(const struct profile *p, const struct break_row *row);

#endif
