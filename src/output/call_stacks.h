/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Timed calls by stack: a row each. */
#ifndef BPFPROF_OUTPUT_CALL_STACKS_H
#define BPFPROF_OUTPUT_CALL_STACKS_H

#include <stdio.h>

#include <json.h>

#include "profile/view.h"

/* For people, below the table of functions. Nothing of a profile without. */
void call_stacks_put(const struct profile *p, const struct view *v, FILE *out);

/* The rows as a list, NULL of a profile without. */
struct json_object *call_stacks_json(const struct profile *p, const struct view *v);

int call_stacks_write_csv(const struct profile *p, const struct view *v, FILE *out);

#endif
