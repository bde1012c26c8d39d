/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What views show of the stacks of a runtime's threads: the program's part of it, with names that
 * the program's authors know. The context is known before anything is left out.
 */
#ifndef BPFPROF_PROFILE_TRIM_H
#define BPFPROF_PROFILE_TRIM_H

#include "profile/context.h"
#include "profile/view.h"

/* A frame that is shown. */
struct trimmed {
	uint32_t frame;
	bool poll;	     /* code of an async function, see view_short_function() */
	const char *instead; /* a name in place of its own, NULL = that */
};

struct trim {
	const struct profile *p;
	const struct view *v;
	struct contexts contexts;
	uint32_t *indexes; /* per sample: of its thread among those of its role; NULL = not shown */
	struct trim_known *known; /* per frame */
	struct trimmed *shown;
	size_t cap;
};

void trim_init(struct trim *t, const struct profile *p, const struct view *v);
void trim_release(struct trim *t);

/* What the view shows of sample i as a runtime's; NULL: nothing, it is shown like any other. */
const struct context_of *trim_context(const struct trim *t, size_t i);

/* The frames of a user stack in that context, leaf first; valid until the next call. */
const struct trimmed *trim_stack(struct trim *t, const struct context_of *of, uint32_t stack,
				 size_t *nr);

/* The same of who ran, by his stack. False: it is shown like any other. */
bool trim_runner(const struct trim *t, uint32_t stack, struct context_of *to);

/*
 * The innermost of these frames that is more than a way to wait, in a task one of the program's
 * own; NULL: there is none.
 */
const struct trimmed *trim_function(struct trim *t, const struct context_of *of, uint32_t stack);

/* The outermost one, by which tasks are known; NULL: it is in no task, or its name is not known. */
const struct trimmed *trim_task(struct trim *t, const struct context_of *of, uint32_t stack);

/* Whether a function that the compiler put into a frame is left out as well. */
bool trim_hides(const struct trim *t, uint32_t frame, uint32_t i);

/* Whether the context and the kind say all that the kernel's half would. */
bool trim_hides_kernel(const struct trim *t, const struct context_of *of);

/* "w2(8483)": the thread of sample i, with a letter of its role. To be freed. */
char *trim_thread(const struct trim *t, size_t i);

#endif
