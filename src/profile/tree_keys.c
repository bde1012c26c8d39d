/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What paths begin with where views are by what runtimes say of threads. */
#include "profile/tree_parts.h"

const struct context_of *path_context(const struct context_of *of)
{
	return of && (of->context == CONTEXT_OTHER || of->context == CONTEXT_NOT_SAMPLED) ? NULL
											  : of;
}

/* The outermost function of a task. */
static void push_task(struct path_builder *b, const struct sample *s, const struct context_of *of)
{
	size_t nr = 0;
	const struct trimmed *shown = NULL;

	if (of && (of->context == CONTEXT_TASK || of->context == CONTEXT_POOL_JOB ||
		   of->context == CONTEXT_MAIN_FUTURE))
		shown = trim_stack(&b->trim, of, s->ustack, &nr);
	if (nr && !shown[nr - 1].instead)
		path_push_frame(b, shown[nr - 1].frame,
				shown[nr - 1].poll ? AS_POLLED : AS_RUNTIMES);
	else
		path_push_bracketed(b, context_names[of ? of->context : CONTEXT_NONE]);
}

bool path_push_key(struct path_builder *b, size_t i, const struct context_of *of)
{
	const struct sample *s = &b->p->samples[i];
	bool idle = b->p->meta.is_time && b->waits.fate[i] == WAITS_IDLE;
	enum context context = of ? of->context : CONTEXT_NONE;

	switch (b->v->by) {
	case VIEW_BY_CLASS:
		if (!idle) /* else that is the first frame */
			path_push_bracketed(b, waits_name(b->waits.class_of[i]));
		return true;
	case VIEW_BY_CONTEXT:
		path_push_bracketed(b, context_names[context]);
		return true;
	case VIEW_BY_KIND:
		path_push_bracketed(b, context_is_idle(context) ? "idle"
				       : of && *of->kind	? of->kind
								: context_names[context]);
		return true;
	case VIEW_BY_ROLE:
		path_push_bracketed(b, of && of->role ? context_roles[of->role] : "none");
		return true;
	case VIEW_BY_TASK:
		push_task(b, s, of);
		return true;
	default:
		return false;
	}
}

void path_push_context(struct path_builder *b, const struct context_of *of)
{
	if (of && b->v->by != VIEW_BY_CONTEXT && b->v->by != VIEW_BY_TASK)
		path_push_bracketed(b, context_is_idle(of->context) ? "idle"
								    : context_frames[of->context]);
	if (of && context_is_idle(of->context) && b->v->by != VIEW_BY_CONTEXT)
		path_push_bracketed(b, context_frames[of->context]);
}
