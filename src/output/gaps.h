/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Driver gaps of a runtime, in the summary and in JSON: how long, and whose fault. */
#ifndef BPFPROF_OUTPUT_GAPS_H
#define BPFPROF_OUTPUT_GAPS_H

#include <stdbool.h>
#include <stdio.h>

#include "profile/profile.h"
#include "profile/view.h"

struct json_object;

/* Nothing where they were not recorded. apart: an empty line before it. */
void gaps_put(const struct profile *p, const struct view *v, bool apart, FILE *out);

/* NULL where they were not recorded. */
struct json_object *gaps_json(const struct profile *p, const struct view *v);

#endif
