/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Compresses what is written, piece by piece. The same bytes come out as the same file: no time. */
#ifndef BPFPROF_OUTPUT_GZIP_H
#define BPFPROF_OUTPUT_GZIP_H

#include <stdint.h>
#include <stdio.h>

#include <zlib.h>

struct gzip {
	z_stream z;
	FILE *out;
	uint8_t chunk[1 << 14];
};

/* Write errors stay in out's error flag. */
void gzip_init(struct gzip *g, FILE *out);
void gzip_put(struct gzip *g, const void *bytes, size_t len);
/* Writes what is left. */
void gzip_finish(struct gzip *g);

#endif
