/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What --audit found wrong, by kinds: which half of the stack, and how the one that was remembered
 * differs from the one that was walked.
 */
#ifndef BPFPROF_PROFILE_AUDIT_H
#define BPFPROF_PROFILE_AUDIT_H

#include "profile/profile.h"

enum audit_kind {
	AUDIT_FUNCTIONS, /* other functions */
	AUDIT_DEPTH,	 /* one is the inner part of the other */
	AUDIT_PLACES,	 /* the same functions, at other places, or the walks ended otherwise */
	AUDIT_GENERATED, /* they part at generated code */
	AUDIT_NR_KINDS
};
#define AUDIT_MAX_ROWS (2 * AUDIT_NR_KINDS)

struct audit_row {
	enum audit_kind kind;
	uint64_t times;			  /* of all of this kind */
	const struct disagreement *first; /* the example: names the half too */
};

/*
 * Drops what is no disagreement: kernel halves that differ only in who takes the stack. The kernel
 * calls a program from another place while kernel.bpf_stats_enabled is set. For when names are
 * known.
 */
void audit_settle(struct profile *p);

/* Returns how many rows there are; user halves come first. */
size_t audit_rows(const struct profile *p, struct audit_row rows[AUDIT_MAX_ROWS]);

/* Frames, from the leaf on, that both stacks of an example have. */
uint32_t audit_common(const struct profile *p, const struct disagreement *d);

extern const char *const audit_kind_keys[AUDIT_NR_KINDS];
extern const char *const audit_kind_texts[AUDIT_NR_KINDS];

#endif
