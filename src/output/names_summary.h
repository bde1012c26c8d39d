/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The lines of the summary that say how much has a name, and what would give it to the rest. */
#ifndef BPFPROF_OUTPUT_NAMES_SUMMARY_H
#define BPFPROF_OUTPUT_NAMES_SUMMARY_H

#include <stdio.h>

#include "profile/profile.h"

/* of: what shares are of, "the time". */
void names_put_summary(const struct profile *p, const char *of, FILE *out);

#endif
