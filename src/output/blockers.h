/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which calls block a runtime's tasks, in the summary: whose calls, and for how long. */
#ifndef BPFPROF_OUTPUT_BLOCKERS_H
#define BPFPROF_OUTPUT_BLOCKERS_H

#include <stdbool.h>
#include <stdio.h>

#include "profile/trim.h"

/* Nothing, and false, where they are less than a thousandth of watched_ns. */
bool blockers_put(const struct profile *p, const struct view *v, uint64_t watched_ns, FILE *out);

/*
 * Whose call it is: the innermost function of the program, and the one by which its task is known,
 * since a helper that everybody calls says nothing alone. Frames; frame 0: unknown, or the same.
 */
struct blocker_place {
	struct trimmed function, task;
};
struct blocker_place blockers_place(struct trim *t, const struct context_of *of, uint32_t stack);

/*
 * What people call one of the two, and both: "app::save", or "db::save in web::order" without the
 * modules that they share. To be freed.
 */
char *blockers_function(struct trim *t, const struct trimmed *f);
char *blockers_name(struct trim *t, const struct blocker_place *place);

#endif
