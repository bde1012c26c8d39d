/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The parts of stat's text that have files of their own. */
#ifndef BPFPROF_OUTPUT_STAT_TEXT_H
#define BPFPROF_OUTPUT_STAT_TEXT_H

#include <stdio.h>

#include "metric/stat.h"

/* Threads, processes or cgroups as a table that closes, heaviest first. */
void stat_put_rows(const struct stat_report *r, size_t width, FILE *out);

/* An interval in one line; the names of its columns now and then. */
void stat_put_line(const struct stat_report *r, FILE *out);

#endif
