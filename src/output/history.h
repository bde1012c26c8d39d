/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What history prints: pure functions of a history that was judged. */
#ifndef BPFPROF_OUTPUT_HISTORY_H
#define BPFPROF_OUTPUT_HISTORY_H

#include <stdio.h>

#include "metric/history.h"

/* A table of numbers, the most unusual first, then where they changed for good. */
int history_write_text(const struct history *h, FILE *out);
int history_write_json(const struct history *h, FILE *out);

#endif
