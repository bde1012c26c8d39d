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
 *
 * Functions are those that have symbols. Between them others begin where a call leads, and where
 * one has ended: at the first instruction that none of its paths has come to.
 */
#ifndef BPFPROF_UNWIND_SCAN_H
#define BPFPROF_UNWIND_SCAN_H

#include "unwind/layout.h"
#include "unwind/rule.h"

#define SCAN_MAX_FUNCTION (64u << 10) /* bytes */
#define SCAN_MAX_GUESSED  (1u << 20)  /* bytes of a file */
#define SCAN_MAX_STATES	  255u	      /* different ones, in one function */
#define SCAN_MAX_PATHS	  4096u	      /* not yet followed */

struct walker;

struct scan_row {
	uint64_t from;
	uint32_t rule;
};

struct scan_function {
	uint64_t start, end; /* guessed: it ends there at the latest */
	bool is_guessed;
};

/* Functions of a file, and the rows of one of them. */
struct scan {
	const struct layout *layout;
	struct range *functions; /* ascending, disjoint */
	size_t nr_functions;
	bool has_functions; /* looked for; that is done once somebody asks */
	uint64_t guessed;   /* bytes without symbols that were looked at */
	uint8_t *part;	    /* code without symbols: [part_from, part_to) */
	uint64_t part_from, part_to;
	uint64_t *calls; /* where calls in there lead to, ascending */
	size_t nr_calls, cap_calls;
	struct walker *walker;
	struct scan_row *rows;
	size_t nr_rows, cap_rows;
};

void scan_init(struct scan *s, const struct layout *l);
void scan_release(struct scan *s);

/* The first function that begins in [from, to), of which nothing else is known. False: none. */
bool scan_next(struct scan *s, uint64_t from, uint64_t to, struct scan_function *f);

/*
 * Sets the rows of a function, and its end if that was guessed; the last row ends there. Bounded by
 * its size.
 */
void scan_function(struct scan *s, struct scan_function *f, struct rules *rules);

#endif
