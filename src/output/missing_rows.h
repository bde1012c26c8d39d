/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which files of debug information were missing, and what is missing in the profile for it. */
#ifndef BPFPROF_OUTPUT_MISSING_ROWS_H
#define BPFPROF_OUTPUT_MISSING_ROWS_H

#include <stdbool.h>
#include <stdio.h>

#include <json-c/json.h>

#include "profile/profile.h"

/* lacks_inlined: some inlined calls have no name. */
void missing_rows_put(const struct profile *p, bool lacks_inlined, FILE *out);
/* The same for programs: a list. */
struct json_object *missing_rows_json(const struct profile *p, bool lacks_inlined);

#endif
