/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How a process keeps the frames of its interpreter. The one thing that neither the interpreter nor
 * its version tells is where a thread finds its state: that is up to the C library, whose
 * thread-local storage the interpreter uses (PyGILState_GetThisThreadState()). So it is looked for:
 * in all threads of the process, the word at the same distance from the thread pointer is the
 * address of the thread's state.
 */
#ifndef BPFPROF_PYTHON_FIND_H
#define BPFPROF_PYTHON_FIND_H

#include "bpf/python.h"
#include "python/build.h"
#include "python/memory.h"
#include "python/offsets.h"

struct python_found {
	uint32_t version;
	uint32_t nr_ranges;
	struct python_layout frame;
	struct python_code_offsets code;
	struct python_range evaluator[PYTHON_MAX_RANGES]; /* addresses in the process */
};

/*
 * bias: address in the process less link address. libc may be NULL where the architecture does not
 * need it. 0; -EAGAIN: it has not begun yet; -ENOTSUP: a version, or a C library, that we do not
 * know; -ENOENT: the file holds no interpreter.
 */
int python_find(struct python_found *found, const struct memory *m, const struct elf_file *f,
		uint64_t bias, const struct elf_file *libc);

#endif
