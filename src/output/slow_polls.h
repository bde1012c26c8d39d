/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where the time of slow polls went, in the summary and in JSON. Nothing of other recordings. */
#ifndef BPFPROF_OUTPUT_SLOW_POLLS_H
#define BPFPROF_OUTPUT_SLOW_POLLS_H

#include <stdio.h>

#include "profile/profile.h"

struct json_object;

/* Of the first line: how many there were. */
void slow_polls_put_sum(const struct profile *p, FILE *out);
void slow_polls_put(const struct profile *p, FILE *out);

/* NULL: it is no such recording. */
struct json_object *slow_polls_json(const struct profile *p);

#endif
