/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The source line of an instruction, by the table that a code object has. */
#ifndef BPFPROF_PYTHON_LINES_H
#define BPFPROF_PYTHON_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "python/offsets.h"

/*
 * first: the line where the code begins; index: of the instruction, in units of two bytes. 0: it is
 * of no line. The table may say anything.
 */
uint32_t python_line(enum python_lines how, uint32_t first, const uint8_t *table, size_t sz,
		     uint32_t index);

#endif
