/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CSV (RFC 4180 with \n): what all writers share, and lines taken apart. */
#ifndef BPFPROF_BASE_CSV_H
#define BPFPROF_BASE_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define CSV_MAX_FIELDS 64

/* Text made safe, in quotes, those within doubled; nothing of an empty one or of NULL. */
void csv_put(const char *s, FILE *out);

struct csv_row {
	char *v[CSV_MAX_FIELDS];
	size_t nr;
};

/*
 * Takes a line without its end apart, in place: the fields are parts of it. False: its quotes do
 * not match, or it has more fields than that.
 */
bool csv_split(char *line, struct csv_row *row);

#endif
