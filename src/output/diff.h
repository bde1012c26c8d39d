/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the writers of comparisons say in the same words. */
#ifndef BPFPROF_OUTPUT_DIFF_H
#define BPFPROF_OUTPUT_DIFF_H

#include <stddef.h>

#include "metric/diff.h"

/* What a row came to, as a sentence without an end: "time grew by 5.4 %, beyond time>5%". */
void diff_sentence(const struct diff *c, const struct diff_row *row, char *to, size_t sz);

#endif
