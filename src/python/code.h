/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a code object of a running process is called, and which line an instruction of it is of. */
#ifndef BPFPROF_PYTHON_CODE_H
#define BPFPROF_PYTHON_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "python/memory.h"
#include "python/offsets.h"

#define PYTHON_MAX_NAME 512
#define PYTHON_MAX_FILE 4096
struct python_code {
	char name[PYTHON_MAX_NAME]; /* qualified where there is such a name: "Class.method" */
	char file[PYTHON_MAX_FILE];
	uint32_t line; /* 0 = not known */
};

/* Of a word of a stack (bpf/python.h). False: no code object lies there any more. */
bool python_code_read(struct python_code *c, const struct python_code_offsets *o,
		      const struct memory *m, uint64_t word);

#endif
