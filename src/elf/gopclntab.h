/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * .gopclntab, what the runtime of Go knows about the code of a program, stripped or not: functions
 * by address with their names; and by address in a function the source line, the calls that were
 * inlined and the size of the frame. Go 1.18 and newer.
 *
 * Bytes come from outside: a function whose table makes no sense costs itself and nothing else.
 */
#ifndef BPFPROF_ELF_GOPCLNTAB_H
#define BPFPROF_ELF_GOPCLNTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/elf_file.h"

struct gopclntab;

/* What the runtime's unwinder must know of a function (abi.FuncFlag). */
#define GO_TOP_FRAME 1 /* nobody has called it */
#define GO_WRITES_SP 2 /* goes over to another stack */
#define GO_IS_ASM    4

struct gopclntab_function {
	const char *name;    /* as long as the table */
	uint64_t start, end; /* link addresses; padding behind it is part of it */
	uint64_t row;	     /* where the table speaks of it */
	uint8_t flags;
};

/* A function, or a call that was inlined into one. */
struct gopclntab_call {
	const char *name, *file; /* as long as the table; file NULL = not known */
	uint32_t line;		 /* 0 = not known */
};

/* Numbers that change along a function: [from, to) has value. */
struct gopclntab_values {
	const uint8_t *at, *limit;
	uint64_t from, to, end; /* link addresses */
	int64_t value;
	uint32_t quantum;
};

/*
 * NULL when the file has no such table, or does not tell where its code begins. f must stay until
 * gopclntab_close(). O(size of the table), at most 128 MB with 4 million functions.
 */
struct gopclntab *gopclntab_open(const struct elf_file *f);
void gopclntab_close(struct gopclntab *t);

size_t gopclntab_count(const struct gopclntab *t);
/* Function number i by address. False: there is none, or it makes no sense. */
bool gopclntab_get(const struct gopclntab *t, size_t i, struct gopclntab_function *fn);
/* The function that holds an address. O(log). */
bool gopclntab_find(const struct gopclntab *t, uint64_t vaddr, struct gopclntab_function *fn);

/*
 * The functions at an address, innermost first; the last is no inlined one. At most max; returns
 * how many, 0 when the table says nothing. A return address wants to be looked up one byte lower. A
 * table made to cost time has no lines and inlined calls any more after some seconds of that.
 */
size_t gopclntab_calls(struct gopclntab *t, uint64_t vaddr, struct gopclntab_call *calls,
		       size_t max);

/* Bytes of the frame, without the return address that a call pushes: false when there are none. */
bool gopclntab_frame_sizes(const struct gopclntab *t, const struct gopclntab_function *fn,
			   struct gopclntab_values *v);
/* The next stretch, ascending; false behind the last one. */
bool gopclntab_next(struct gopclntab_values *v);

/*
 * Calls each for all functions, by address, while it returns true. False: there is no such table,
 * or part of it makes no sense; each may have been called before.
 */
bool gopclntab_for_each(const struct elf_file *f,
			bool (*each)(void *arg, const char *name, uint64_t address, uint64_t size),
			void *arg);

#endif
