/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lines of source code by weight: a function that is shown once stands for all of its code, and
 * this says where in it most of the weight was.
 */
#ifndef BPFPROF_PROFILE_SOURCE_LINES_H
#define BPFPROF_PROFILE_SOURCE_LINES_H

#include <stddef.h>
#include <stdint.h>

struct source_line {
	uint32_t of;	     /* a node or a name, as the owner likes */
	uint32_t file, line; /* a string of the profile */
	uint64_t weight;
};

/* In any order, and the same several times. Zero-initialized. */
struct source_lines {
	struct source_line *rows;
	size_t nr, cap;
};

void source_lines_add(struct source_lines *l, const struct source_line *row);
void source_lines_release(struct source_lines *l);
/* Adds up what is the same; then rows are sorted by what they are of, heaviest first. */
void source_lines_merge(struct source_lines *l);
/* The heaviest of a merged table, NULL when nothing is known of it. O(log n). */
const struct source_line *source_lines_find(const struct source_lines *l, uint32_t of);

#endif
