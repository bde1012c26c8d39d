/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who has which share of a profile: functions, modules, files, lines, threads, processes. What they
 * have by themselves adds up, since each stack has one innermost function; totals overlap.
 */
#ifndef BPFPROF_PROFILE_SHARES_H
#define BPFPROF_PROFILE_SHARES_H

#include "profile/tree.h"

struct share {
	char *name;	    /* safe to show */
	const char *module; /* of functions: its path, as found; "" = none */
	uint64_t self, total;
	uint32_t id;	/* of functions the name in the tree, of owners the node; else 0 */
	uint32_t group; /* string: path of the module, or the source file; 0 = none */
};

struct shares {
	const struct profile *p;
	const struct tree *t;
	struct share *v; /* most self first, ties by total, then name */
	size_t nr, cap;
	bool has_total; /* else self is all there is */
};

/* What a row of each kind is: "FUNCTION". */
extern const char *const shares_heads[VIEW_NR_BY];

/* Of a tree from the root down, which must stay; for processes it is made with VIEW_BY_PROCESS. */
void shares_init(struct shares *s, const struct tree *t, enum view_by by);
/* Into another order. */
void shares_sort(struct shares *s, enum view_sort sort);
void shares_release(struct shares *s);

/* Of files and lines: how much is in code whose lines are not known. */
uint64_t shares_unknown(const struct shares *s);

/* What a weight is of all that the tree shows: "12.5%", of time "1.2 s  12.5%". To be freed. */
char *share_text(const struct tree *t, uint64_t weight);

#endif
