/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What who prints: processes with their labels. Pure functions of a report; writers print to out
 * and return 0. Labels are safe to print.
 */
#ifndef BPFPROF_OUTPUT_NAMED_H
#define BPFPROF_OUTPUT_NAMED_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/labels.h"

struct named_row {
	uint32_t pid, dropped_by; /* line of the rules, 0 = it is kept */
	struct labels all, series;
};

struct named_report {
	const char *rules; /* the file, NULL = none */
	struct named_row *rows;
	size_t nr, cap;
	uint64_t nr_series;
};

int named_write_text(const struct named_report *r, FILE *out);
int named_write_json(const struct named_report *r, FILE *out);

#endif
