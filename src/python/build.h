/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the file of an interpreter (libpython, or a program that has it inside) says of it: its
 * version, where its runtime's state is, and which code is the evaluator, in whose place a stack
 * gets the frames of Python.
 */
#ifndef BPFPROF_PYTHON_BUILD_H
#define BPFPROF_PYTHON_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/elf_file.h"

/* 3.11 is 0x030b. */
#define PYTHON_VERSION(major, minor) ((major) << 8 | (minor))

#define PYTHON_MAX_RANGES 4
struct python_build {
	uint32_t version;
	uint64_t runtime, code_type; /* link addresses of _PyRuntime and PyCode_Type */
	struct python_range {
		uint64_t start, end; /* link addresses, [start, end) */
	} evaluator[PYTHON_MAX_RANGES];
	size_t nr_ranges;
};

/* 0; -ENOTSUP of a version that we do not know; -ENOENT: there is none. */
int python_build_read(struct python_build *b, const struct elf_file *f);

/* What pthread_self() of a C library takes from the thread pointer; false: not known. */
bool python_self_offset(const struct elf_file *libc, int32_t *offset);

#endif
