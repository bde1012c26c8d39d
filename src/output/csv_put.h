/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What writers of CSV (RFC 4180 with \n) share. */
#ifndef BPFPROF_OUTPUT_CSV_PUT_H
#define BPFPROF_OUTPUT_CSV_PUT_H

#include <stdio.h>

/* Text made safe, in quotes, those within doubled; nothing of an empty one or of NULL. */
void csv_put(const char *s, FILE *out);

#endif
