/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which calls block a runtime's tasks, in the summary: whose calls, and for how long. */
#ifndef BPFPROF_OUTPUT_BLOCKERS_H
#define BPFPROF_OUTPUT_BLOCKERS_H

#include <stdbool.h>
#include <stdio.h>

#include "profile/trim.h"

/* Nothing, and false, where they are less than a thousandth of watched_ns. */
bool blockers_put(const struct profile *p, const struct view *v, uint64_t watched_ns, FILE *out);

/* What people call the function of a frame that is shown, NULL: unknown. To be freed. */
char *blockers_function(struct trim *t, const struct trimmed *f);

#endif
