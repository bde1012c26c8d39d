/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the fields are that we read, by version of CPython. Until 3.12 they are what a build of
 * that version has that follows the source (no --with-pydebug); since 3.13 the runtime says itself
 * where most of them are (struct _Py_DebugOffsets in Include/internal/pycore_*.h).
 */
#ifndef BPFPROF_PYTHON_OFFSETS_H
#define BPFPROF_PYTHON_OFFSETS_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/python.h"
#include "python/memory.h"

/* How code objects say which line an instruction is of. */
enum python_lines {
	LINES_LNOTAB,	 /* until 3.9: co_lnotab */
	LINES_LINETABLE, /* 3.10: PEP 626 */
	LINES_LOCATIONS, /* from 3.11 on: PEP 657 */
};

/* What code objects, and the strings they refer to, are read by. */
struct python_code_offsets {
	uint64_t type; /* address of PyCode_Type, which says that it is one */
	uint16_t first_line, file, name, qualname, lines; /* qualname 0 = there is none */
	uint16_t ascii;	  /* where the characters of a str of ASCII are, … */
	uint16_t compact; /* … and of others */
	uint8_t how;	  /* enum python_lines */
	uint8_t pad;
};

struct python_offsets {
	struct python_layout frame; /* all but state and state_in */
	struct python_code_offsets code;
	uint16_t interpreters; /* in the runtime: the first one */
	uint16_t threads;      /* in an interpreter: the newest thread */
	uint16_t next, thread; /* in a thread: the one made before, and its pthread_self() */
	uint16_t key;	       /* in the runtime: of thread-local storage, 4 bytes */
};

#define PYTHON_THREAD_INTERP 16 /* in a thread: its interpreter, in all versions */

/*
 * By version and, since 3.13, the runtime at an address of a process. False: not known, or it has
 * not begun.
 */
bool python_offsets_get(struct python_offsets *o, uint32_t version, const struct memory *m,
			uint64_t runtime);

#endif
