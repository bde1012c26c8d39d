/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files that the debug information of a profiled file leads to, and that were not there: what
 * several debug files share (dwz), which has names of inlined calls, and halves of split units
 * (.dwo), which have inlined calls altogether. meta.debug_missing has a line for each profiled
 * file: its path, the shared file, the first half, and how many halves, with tabs in between.
 */
#ifndef BPFPROF_PROFILE_MISSING_H
#define BPFPROF_PROFILE_MISSING_H

#include <stdint.h>

#include "profile/profile.h"

/* What an inlined call is called whose name is in a file that is missing. */
#define PROFILE_INLINED "[inlined]"

struct missing {
	char *path;  /* of the profiled file */
	char *alt;   /* "" = none */
	char *dwo;   /* the same */
	uint32_t nr; /* halves of units; dwo is one of them */
};

/* Notes one; strings may have any bytes. There is room for some dozens, more are left out. */
void missing_note(struct profile *p, const struct missing *m);

/* The next one from a place in the list on, 0 = the first; false: there are no more. */
bool missing_next(const struct profile *p, size_t *at, struct missing *m);
void missing_release(struct missing *m);

#endif
