/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Frames of a runtime's threads, by the rows of context_rows.c. */
#include "profile/trim.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/kind.h"
#include "profile/pattern.h"
#include "profile/woken.h"

struct trim_known {
	bool looked_at, closure;
	bool std;      /* of the language's libraries */
	uint8_t noise; /* enum context_noise */
	const char *known_as;
};

/* --- threads --- */

struct numbered_thread {
	uint32_t pid, role, tid;
};

static int by_tid(const void *x, const void *y)
{
	return memcmp(x, y, sizeof(struct numbered_thread));
}

/* Comparing bytes has to give the order of numbers. */
static struct numbered_thread thread_of(const struct contexts *c, size_t i)
{
	const struct sample *s = &c->p->samples[i];

	return (struct numbered_thread){ __builtin_bswap32(s->pid),
					 __builtin_bswap32(contexts_at(c, i)->learned),
					 __builtin_bswap32(s->tid) };
}

/* Threads are numbered in the order of their ids: for workers that is mostly the runtime's. */
static uint32_t *number_threads(const struct contexts *c)
{
	size_t nr_samples = c->p->nr_samples, nr = 0;
	struct numbered_thread *all = xcalloc(nr_samples + 1, sizeof(*all));
	uint32_t *indexes = xcalloc(nr_samples + 1, sizeof(*indexes));
	uint32_t *number = xcalloc(nr_samples + 1, sizeof(*number));

	for (size_t i = 0; i < nr_samples; i++)
		all[i] = thread_of(c, i);
	qsort(all, nr_samples, sizeof(*all), by_tid);
	for (size_t i = 0; i < nr_samples; i++) {
		bool same;

		if (nr && !by_tid(&all[nr - 1], &all[i]))
			continue;
		same = nr && all[nr - 1].pid == all[i].pid && all[nr - 1].role == all[i].role;
		number[nr] = same ? number[nr - 1] + 1 : 0;
		all[nr++] = all[i];
	}
	for (size_t i = 0; i < nr_samples; i++) {
		struct numbered_thread like = thread_of(c, i);
		struct numbered_thread *at = bsearch(&like, all, nr, sizeof(*all), by_tid);

		indexes[i] = number[at - all];
	}
	free(number);
	free(all);
	return indexes;
}

char *trim_thread(const struct trim *t, size_t i)
{
	static const char letters[ROLE_NR] = { 't', 'w', 'p', 'b' };

	return xasprintf("%c%" PRIu32 "(%" PRIu32 ")",
			 letters[contexts_at(&t->contexts, i)->learned], t->indexes[i],
			 t->p->samples[i].tid);
}

/* --- frames --- */

static bool has_only_pollers(const struct profile *p)
{
	return kind_of_profile(p)->polls && !kind_of_profile(p)->waits;
}

void trim_init(struct trim *t, const struct profile *p, const struct view *v)
{
	*t = (struct trim){ .p = p, .v = v };
	if (v->runtime == RUNTIME_OFF || (v->runtime == RUNTIME_AUTO && has_only_pollers(p)))
		return; /* who polls is the runtime, and nothing else is on stacks of polls */
	contexts_init(&t->contexts, p);
	if (!t->contexts.v)
		return;
	t->known = xcalloc(p->nr_frames, sizeof(*t->known));
	if (v->group == GROUP_THREAD)
		t->indexes = number_threads(&t->contexts);
}

void trim_release(struct trim *t)
{
	contexts_release(&t->contexts);
	free(t->indexes);
	free(t->known);
	free(t->shown);
}

static bool shows(const struct trim *t, const struct context_of *of)
{
	if (!of->runtime || of->context == CONTEXT_NONE)
		return false;
	if (t->v->runtime == RUNTIME_AUTO)
		return context_is_automatic(of->runtime - 1);
	return t->v->runtime == RUNTIME_FIRST + of->runtime - 1u;
}

const struct context_of *trim_context(const struct trim *t, size_t i)
{
	const struct context_of *of = contexts_at(&t->contexts, i);

	return shows(t, of) ? of : NULL;
}

bool trim_runner(const struct trim *t, uint32_t stack, struct context_of *to)
{
	return contexts_of_stack(&t->contexts, stack, to) && shows(t, to);
}

static bool is_std(const char *normal)
{
	return !strncmp(normal, "std::", 5) || !strncmp(normal, "core::", 6) ||
	       !strncmp(normal, "alloc::", 7);
}

static const struct trim_known *known_of(struct trim *t, uint32_t frame)
{
	struct trim_known *k = &t->known[frame];
	char *normal;

	if (k->looked_at)
		return k;
	normal = pattern_normal(profile_frame_name(t->p, frame));
	*k = (struct trim_known){ .looked_at = true,
				  .closure = view_is_closure(normal),
				  .std = is_std(normal),
				  .noise = context_noise_of(normal),
				  .known_as = context_known_as(normal) };
	free(normal);
	return k;
}

static bool is_hidden(const struct trim *t, uint32_t noise)
{
	return noise == NOISE_LIBRARY ? t->v->frames == FRAMES_APP : noise != NOISE_NOT;
}

bool trim_hides(const struct trim *t, uint32_t frame, uint32_t i)
{
	struct frame_function f = profile_frame_function(t->p, frame, i);
	char *normal;
	bool hides;

	if (t->v->frames == FRAMES_ALL || i + 1 == profile_frame_functions(t->p, frame))
		return false;
	normal = pattern_normal(profile_str(t->p, f.name));
	hides = is_hidden(t, context_noise_of(normal));
	free(normal);
	return hides;
}

static bool is_program(enum context context)
{
	return context == CONTEXT_TASK || context == CONTEXT_POOL_JOB ||
	       context == CONTEXT_MAIN_FUTURE;
}

bool trim_hides_kernel(const struct trim *t, const struct context_of *of)
{
	return t->v->frames != FRAMES_ALL && !t->v->kernel_only;
}

/* Which of the frames, root first, into the places from the end of shown on; returns how many. */
static size_t pick(struct trim *t, const uint32_t *frames, uint32_t nr, bool program)
{
	bool poll = program;
	size_t at = nr;

	for (uint32_t i = nr; i > 0; i--) {
		const struct trim_known *k = known_of(t, frames[i - 1]);

		if (program ? is_hidden(t, k->noise) : k->noise == NOISE_THREAD)
			continue;
		poll = poll && k->closure;
		t->shown[--at] =
			(struct trimmed){ frames[i - 1], poll, program ? k->known_as : NULL };
		if (t->shown[at].instead)
			break;
	}
	return nr - at;
}

const struct trimmed *trim_stack(struct trim *t, const struct context_of *of, uint32_t stack,
				 size_t *nr)
{
	bool program = is_program(of->context), all = t->v->frames == FRAMES_ALL;
	uint32_t nr_all;
	const uint32_t *frames = profile_stack_frames(t->p, stack, &nr_all);
	uint32_t own = nr_all;

	if (program && !all && of->own)
		own = of->own;
	else if (of->context == CONTEXT_RUNTIME && !all && of->own < nr_all)
		own = of->own + 1; /* and the function that says so */
	if (own > t->cap) {
		t->cap = 2 * own;
		t->shown = xreallocarray(t->shown, t->cap, sizeof(*t->shown));
	}
	for (uint32_t i = 0; i < own; i++)
		t->shown[i] = (struct trimmed){ .frame = frames[i] };
	*nr = own;
	if (all)
		return t->shown;
	*nr = pick(t, frames, own, program);
	if (!*nr && own) { /* nothing but what would be left out: then that */
		t->shown[own - 1] = (struct trimmed){ .frame = frames[own - 1] };
		*nr = 1;
	}
	return t->shown + own - *nr;
}

/* Code that a task's program calls, and did not bring: of another file, or of Rust itself. */
static bool is_called(struct trim *t, const struct trimmed *task, const struct trimmed *f)
{
	return profile_frame_module(t->p, f->frame) != profile_frame_module(t->p, task->frame) ||
	       known_of(t, f->frame)->std;
}

const struct trimmed *trim_function(struct trim *t, const struct context_of *of, uint32_t stack)
{
	size_t nr, i = 0;
	const struct trimmed *shown = trim_stack(t, of, stack, &nr);

	while (i + 1 < nr && (shown[i].instead || woken_is_plumbing(t->p, shown[i].frame) ||
			      (is_program(of->context) && is_called(t, &shown[nr - 1], &shown[i]))))
		i++;
	return nr ? &shown[i] : NULL;
}

const struct trimmed *trim_task(struct trim *t, const struct context_of *of, uint32_t stack)
{
	size_t nr;
	const struct trimmed *shown;

	if (!is_program(of->context))
		return NULL;
	shown = trim_stack(t, of, stack, &nr);
	return nr && !shown[nr - 1].instead ? &shown[nr - 1] : NULL;
}
