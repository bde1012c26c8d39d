/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Columns of a table that have to fit a width. First they get their least widths; where these are
 * too much, the gaps shrink from 2 to 1, then columns go, those of the highest rank first, and
 * those of rank 0 never. What room is left goes to columns that want more, the lowest rank first.
 */
#ifndef BPFPROF_BASE_FIT_H
#define BPFPROF_BASE_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct fit_column {
	unsigned int rank;  /* those of one rank go together */
	size_t least, full; /* the width that it needs, and the one that it wants */
	size_t width;	    /* the one that it gets */
	bool gone;	    /* if so beforehand, it has none and is not counted */
};

/* Returns how many columns had to go, and the gap between the others in *gap. */
size_t fit_columns(struct fit_column *columns, size_t nr, size_t indent, size_t width, size_t *gap);

/*
 * Prints a cell cut to its width; of a function that is "[module+0x1234]" the number is kept.
 * Returns the columns that it took.
 */
size_t fit_put(FILE *out, const char *safe, size_t width, bool is_function);

#endif
