/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who woke whom, of recordings of wakers: the table, and the same for programs. */
#ifndef BPFPROF_OUTPUT_WAKERS_H
#define BPFPROF_OUTPUT_WAKERS_H

#include <stdio.h>

#include "profile/profile.h"
#include "profile/view.h"

struct json_object;

/* Nothing of other recordings. */
void wakers_put(const struct profile *p, const struct view *v, FILE *out);
/* NULL of other recordings; else it belongs to the caller. */
struct json_object *wakers_json(const struct profile *p, const struct view *v);

#endif
