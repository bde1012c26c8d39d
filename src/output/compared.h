/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the writers of comparisons say in the same words. */
#ifndef BPFPROF_OUTPUT_COMPARED_H
#define BPFPROF_OUTPUT_COMPARED_H

#include <stddef.h>

#include "metric/compare.h"

/* "+5.4 %", "from 0", "n/a". To a ring of static buffers. */
const char *compared_change(const struct compare_row *row);

/* What a row came to, as a sentence without an end: "time grew by 5.4 %, beyond time>5%". */
void compared_sentence(const struct comparison *c, const struct compare_row *row, char *to,
		       size_t sz);

/* Is there a row that both have, but not by repeats? */
bool compared_lacks_noise(const struct comparison *c);

#endif
