/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The series that were given out: sets of labels, of which there is a limited number. */
#ifndef BPFPROF_WHO_SERIES_H
#define BPFPROF_WHO_SERIES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/labels.h"

struct series_row;

struct series {
	struct series_row *rows;
	uint32_t max, now; /* windows that were sent */
};

/* Is it one of them, or is there room for it? Those that were not used for an hour make room. */
bool series_take(struct series *s, const struct labels *l);
uint64_t series_count(const struct series *s);
void series_release(struct series *s);

#endif
