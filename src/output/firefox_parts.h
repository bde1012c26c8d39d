/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the two halves of the Firefox Profiler's format share. */
#ifndef BPFPROF_OUTPUT_FIREFOX_PARTS_H
#define BPFPROF_OUTPUT_FIREFOX_PARTS_H

#include <stdio.h>

#include "output/dictionary.h"

/* A frame below its callers. */
struct node {
	uint32_t prefix1; /* the caller's number + 1, 0 = none */
	uint32_t frame;	  /* a line of the dictionary: one function of a place */
};

struct firefox {
	struct dictionary d;
	FILE *out;
	struct node *nodes;
	size_t nr_nodes, cap_nodes;
	struct index node_index;
	uint32_t *place_of;	       /* by line */
	uint32_t *func_of, *line_of;   /* by line; by function and file a line of it */
	uint32_t *source_of, *sources; /* by string + 1; strings */
	uint32_t *stack_of, *order;    /* by sample; samples by thread */
	uint32_t *resources;	       /* by mapping, their names */
	size_t nr_funcs, nr_sources;
};

void firefox_tables_init(struct firefox *w, const struct profile *p, const struct view *v);
void firefox_tables_release(struct firefox *w);

/* Of a line, where it is; of a mapping, its file. */
const struct dictionary_place *firefox_place(const struct firefox *w, size_t line);
const char *firefox_path(const struct firefox *w, size_t mapping);

#endif
