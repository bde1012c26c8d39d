/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Contended locks: nothing of recordings that are of something else. */
#ifndef BPFPROF_OUTPUT_LOCKS_H
#define BPFPROF_OUTPUT_LOCKS_H

#include <stdio.h>

#include "profile/view.h"

struct json_object;
struct profile;

/* For people: deadlocks, then the table. */
void locks_put(const struct profile *p, const struct view *v, FILE *out);
/* For programs: of all locks. NULL: it is no recording of locks. */
struct json_object *locks_json(const struct profile *p, const struct view *v);

#endif
