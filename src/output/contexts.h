/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a runtime's threads did, in the summary and in JSON. */
#ifndef BPFPROF_OUTPUT_CONTEXTS_H
#define BPFPROF_OUTPUT_CONTEXTS_H

#include <stdio.h>

#include "profile/profile.h"
#include "profile/view.h"

struct json_object;

/* Nothing where the view shows no runtime. */
void contexts_put(const struct profile *p, const struct view *v, FILE *out);

/* NULL where there is none. */
struct json_object *contexts_json(const struct profile *p, const struct view *v);

#endif
