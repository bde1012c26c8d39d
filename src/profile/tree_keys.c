/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What paths begin with where views are by what runtimes say of threads. */
#include "profile/tree_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "profile/kind.h"
#include "profile/waker.h"

const struct context_of *path_context(const struct context_of *of)
{
	return of && (of->context == CONTEXT_OTHER || of->context == CONTEXT_NOT_SAMPLED) ? NULL
											  : of;
}

/* What a task is called, NULL = it is none. To be freed. */
static char *task_name(struct path_builder *b, const struct context_of *of, uint32_t stack)
{
	const struct trimmed *t = of ? trim_task(&b->trim, of, stack) : NULL;
	uint32_t first;

	if (!t)
		return NULL;
	view_functions(b->v, b->p, t->frame, &first);
	return view_short_function(b->v, b->p, t->frame, first, t->poll);
}

/* Who held the lock or woke the thread: a task, else a thread. To be freed. */
static char *waker_name(struct path_builder *b, const struct waker *w)
{
	struct waker_frames f = waker_frames(b->p, w);
	struct context_of of;
	char *name = NULL;

	if (!f.irq && trim_runner(&b->trim, w->ustack, &of)) {
		name = task_name(b, &of, w->ustack);
		if (!name)
			return xasprintf("[%s]", context_names[of.context]);
	}
	if (!name)
		name = f.instead ? xstrdup(f.instead) : text_cleaned(profile_str(b->p, w->thread));
	return name;
}

/* Of a lock that keeps no holder, who wakes the next one has had it. */
static bool is_held(const struct profile *p, const struct context_of *of, uint32_t waker)
{
	return waker < p->nr_locks &&
	       (p->locks[waker].role != LOCK_WAKES || !strcmp(of->kind, "lock"));
}

/* The outermost function of a task, and who let it wait. */
static void push_task(struct path_builder *b, const struct sample *s, const struct context_of *of)
{
	char *task = task_name(b, of, s->ustack), *waker, *text;

	if (!task) {
		path_push_bracketed(b, context_names[of ? of->context : CONTEXT_NONE]);
		return;
	}
	if (b->wakers && s->waker) {
		waker = waker_name(b, &b->p->wakers[s->waker]);
		text = xasprintf("%s, %s by %s", task,
				 is_held(b->p, of, s->waker) ? "held" : "woken", waker);
		free(waker);
		free(task);
		task = text;
	}
	path_push_note(b, task);
	free(task);
}

bool path_push_runner(struct path_builder *b, const struct waker *w)
{
	const struct trimmed *shown;
	struct context_of of;
	size_t nr;

	if (!trim_runner(&b->trim, w->ustack, &of))
		return false;
	shown = trim_stack(&b->trim, &of, w->ustack, &nr);
	for (size_t i = 0; i < nr; i++)
		path_push_frame_upwards(b, shown[i].frame,
					shown[i].poll ? AS_POLLED_RUNNERS : AS_RUNNERS);
	path_push_bracketed(b, context_frames[of.context]);
	return true;
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
