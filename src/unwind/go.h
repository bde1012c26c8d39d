/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rules for Go functions, from the sizes of frames in .gopclntab: what .debug_frame says of them is
 * made of the same numbers, is compressed, and goes with the symbols; the table is always there.
 *
 *	x86-64	CFA = SP + size + 8; where there is a frame, the frame pointer is at CFA - 16
 *	aarch64	CFA = SP + size; where there is one, the return address is at SP, the frame pointer
 *		8 below it; functions that C calls keep both where they put them
 *
 * A few functions written in assembly go over to another stack; docs/unwinding.md says how each is
 * left.
 */
#ifndef BPFPROF_UNWIND_GO_H
#define BPFPROF_UNWIND_GO_H

#include "elf/gopclntab.h"
#include "unwind/layout.h"
#include "unwind/rule.h"

#define GO_MAX_ROWS (16u << 20) /* equal ones included; large programs have 3 million */

struct go_rows {
	const struct layout *layout;
	struct gopclntab *table; /* NULL = no Go program */
	size_t i;		 /* of the next function */
	size_t nr;		 /* rows so far */
	struct gopclntab_function fn;
	struct gopclntab_values sizes;
	uint64_t at;	     /* up to here all is told */
	uint64_t away, back; /* code between them runs on another stack */
	uint32_t away_rule;  /* that holds there */
	bool keeps_fp;	     /* where it has a frame, the frame pointer is in it */
	uint64_t paired;     /* aarch64: frame pointer and return address are stored before this */
	uint32_t pair;	     /* and lie there, from SP; 0 = where Go puts them */
};

struct go_row {
	uint64_t from, to;
	uint32_t rule;
};

/* No rows come when it is no Go program. l must stay until go_rows_close(). */
void go_rows_open(struct go_rows *g, const struct layout *l);
/* Ascending and disjoint. False: there are no more, or GO_MAX_ROWS were given. */
bool go_rows_next(struct go_rows *g, struct rules *rules, struct go_row *row);
void go_rows_close(struct go_rows *g);

#endif
