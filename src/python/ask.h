/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Interpreters are read by children (reader/reader.h): the tasks, and the questions. Nothing that
 * is answered is believed before it is checked.
 */
#ifndef BPFPROF_PYTHON_ASK_H
#define BPFPROF_PYTHON_ASK_H

#include "python/code.h"
#include "python/find.h"
#include "reader/reader.h"

/* The tasks, in a child. */
int python_do_find(struct reader_work *w);
int python_do_codes(struct reader_work *w);

/* Where an interpreter is mapped: code at an offset in its file lies at an address. */
struct python_place {
	uint64_t offset, address;
};

/*
 * As python_find(), of the process whose memory mem is, by the open files of the interpreter and of
 * the C library (-1 = none); or why it could not be asked.
 */
int python_ask_find(struct reader *r, struct python_found *found, int mem,
		    const struct python_place *place, int file, int libc);

/*
 * What words of stacks are called, at most PYTHON_MAX_CODES: each() is called for those that are
 * known, with their number. 0 or negative errno.
 */
#define PYTHON_MAX_CODES 1024
int python_ask_codes(struct reader *r, int mem, const struct python_code_offsets *o,
		     const uint64_t *words, size_t nr,
		     void (*each)(void *arg, size_t i, const struct python_code *c), void *arg);

#endif
