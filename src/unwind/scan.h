/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rules for functions that no unwind data describes, read off their instructions. x86-64 only:
 * assembly seldom keeps a frame pointer there, and its leaves hide their callers.
 *
 * From the entry, where the return address lies at the stack pointer, all paths are followed:
 *
 *	push %rbx	CFA = SP + 8
 *	sub $32, %rsp	CFA = SP + 16
 *	...		CFA = SP + 48
 *
 * Frame pointers are known when the code sets them up, and who clears one that is not saved has no
 * caller. Code that no path reaches, and paths on which the stack pointer is set to something
 * unknown, have no rule.
 */
#ifndef BPFPROF_UNWIND_SCAN_H
#define BPFPROF_UNWIND_SCAN_H

#include "unwind/layout.h"
#include "unwind/rule.h"

#define SCAN_MAX_FUNCTION (64u << 10) /* bytes */
#define SCAN_MAX_STATES	  255u	      /* different ones, in one function */
#define SCAN_MAX_PATHS	  4096u	      /* not yet followed */

struct walker;

struct scan_row {
	uint64_t from;
	uint32_t rule;
};

/* Functions of a file, and the rows of one of them. */
struct scan {
	const struct layout *layout;
	struct range *functions; /* ascending, disjoint */
	size_t nr_functions;
	bool has_functions; /* looked for; that is done once somebody asks */
	struct walker *walker;
	struct scan_row *rows;
	size_t nr_rows, cap_rows;
};

void scan_init(struct scan *s, const struct layout *l);
void scan_release(struct scan *s);

/* The first function that begins in [from, to), or NULL. */
const struct range *scan_find(struct scan *s, uint64_t from, uint64_t to);

/* Sets the rows of a function; the last one ends with it. Bounded by its size. */
void scan_function(struct scan *s, const struct range *function, struct rules *rules);

#endif
