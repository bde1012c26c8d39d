/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The functions of a profile in its JSON document. For json.c. */
#ifndef BPFPROF_OUTPUT_JSON_FUNCTIONS_H
#define BPFPROF_OUTPUT_JSON_FUNCTIONS_H

#include <json.h>

#include "profile/profile.h"
#include "profile/view.h"

/* "unit" and "functions"; and "columns" when there are any. */
void json_put_functions(struct json_object *o, const struct profile *p, const struct view *v);

#endif
