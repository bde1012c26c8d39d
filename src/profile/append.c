/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables are copied row by row with all ids moved by what is there already. Nothing is interned:
 * views merge by name. Entry 0 of each table is "none" in both, so it stays 0.
 */
#include "profile/append.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "profile/stable_name.h"

struct append {
	struct profile *to;
	const struct profile *from;
	bool stable; /* names are to be */
	uint32_t *strings,
		*names; /* ids in to by those in from: as they are, and stable; 0 = new */
	uint32_t modules, frames, stack_frames, stacks, inlines, wakers;
};

static uint32_t string_of(struct append *a, uint32_t id)
{
	if (id && !a->strings[id])
		a->strings[id] = profile_string(a->to, profile_str(a->from, id));
	return a->strings[id];
}

static uint32_t name_of(struct append *a, uint32_t id)
{
	char *stable;

	if (!a->stable)
		return string_of(a, id);
	if (!id || a->names[id])
		return a->names[id];
	stable = stable_name(profile_str(a->from, id));
	a->names[id] = profile_string(a->to, stable);
	free(stable);
	return a->names[id];
}

/* From "none" to "none", else behind what was there. */
static uint32_t moved(uint32_t id, uint32_t by)
{
	return id ? id + by : 0;
}

static void add_modules(struct append *a)
{
	struct profile *to = a->to;
	struct module m;

	a->modules = to->nr_modules - 1;
	for (size_t i = 1; i < a->from->nr_modules; i++) {
		m = a->from->modules[i];
		m.path = string_of(a, m.path);
		to->modules = xgrow(to->modules, to->nr_modules, &to->cap_modules, sizeof(m));
		to->modules[to->nr_modules++] = m;
	}
}

static struct frame_function function_of(struct append *a, const struct frame_function *f)
{
	return (struct frame_function){ .name = name_of(a, f->name),
					.linkage = name_of(a, f->linkage),
					.file = string_of(a, f->file),
					.line = f->line };
}

/* Details of frames go by the same number: those before that had none get empty ones. */
static void add_detail(struct append *a, size_t frame, struct frame_detail d)
{
	struct profile *to = a->to;

	for (; to->nr_details <= frame; to->nr_details++) {
		to->details = xgrow(to->details, to->nr_details, &to->cap_details, sizeof(d));
		to->details[to->nr_details] = (struct frame_detail){};
	}
	d.first += a->inlines;
	d.file = string_of(a, d.file);
	to->details[frame] = d;
}

static void add_frames(struct append *a)
{
	const struct profile *from = a->from;
	struct profile *to = a->to;
	struct frame f;

	a->frames = to->nr_frames - 1;
	a->inlines = to->nr_inlines;
	for (size_t i = 1; i < from->nr_frames; i++) {
		f = from->frames[i];
		f.module = moved(f.module, a->modules);
		f.name = name_of(a, f.name);
		f.linkage = name_of(a, f.linkage);
		to->frames = xgrow(to->frames, to->nr_frames, &to->cap_frames, sizeof(f));
		if (i < from->nr_details)
			add_detail(a, to->nr_frames, from->details[i]);
		to->frames[to->nr_frames++] = f;
	}
	for (size_t i = 0; i < from->nr_inlines; i++) {
		to->inlines =
			xgrow(to->inlines, to->nr_inlines, &to->cap_inlines, sizeof(*to->inlines));
		to->inlines[to->nr_inlines++] = function_of(a, &from->inlines[i]);
	}
}

static void add_stacks(struct append *a)
{
	const struct profile *from = a->from;
	struct profile *to = a->to;
	struct stack s;

	a->stack_frames = to->nr_stack_frames;
	for (size_t i = 0; i < from->nr_stack_frames; i++) {
		to->stack_frames = xgrow(to->stack_frames, to->nr_stack_frames,
					 &to->cap_stack_frames, sizeof(*to->stack_frames));
		to->stack_frames[to->nr_stack_frames++] = moved(from->stack_frames[i], a->frames);
	}
	a->stacks = to->nr_stacks - 1;
	for (size_t i = 1; i < from->nr_stacks; i++) {
		s = from->stacks[i];
		s.first += a->stack_frames;
		to->stacks = xgrow(to->stacks, to->nr_stacks, &to->cap_stacks, sizeof(s));
		to->stacks[to->nr_stacks++] = s;
	}
}

static void add_wakers(struct append *a)
{
	const struct profile *from = a->from;
	bool locks = a->to->nr_locks || (from->nr_locks && a->to->nr_wakers == 1);
	struct waker w;
	struct lock l;

	a->wakers = a->to->nr_wakers - 1;
	for (size_t i = 1; i < from->nr_wakers; i++) {
		w = from->wakers[i];
		w.process = string_of(a, w.process);
		w.thread = string_of(a, w.thread);
		w.ustack = moved(w.ustack, a->stacks);
		w.kstack = moved(w.kstack, a->stacks);
		w.next = moved(w.next, a->wakers);
		l = from->nr_locks ? from->locks[i] : (struct lock){};
		if (locks)
			profile_add_holder(a->to, &w, &l);
		else
			profile_add_waker(a->to, &w);
	}
}

static void add_samples(struct append *a)
{
	struct sample s;

	for (size_t i = 0; i < a->from->nr_samples; i++) {
		s = a->from->samples[i];
		s.process = string_of(a, s.process);
		s.thread = string_of(a, s.thread);
		s.ustack = moved(s.ustack, a->stacks);
		s.kstack = moved(s.kstack, a->stacks);
		s.waker = moved(s.waker, a->wakers);
		profile_add_sample(a->to, &s);
	}
}

/* What is behind one that has none, or before it, has none either. */
static void add_lengths(struct append *a, size_t first_sample)
{
	const struct profile *from = a->from;
	struct profile *to = a->to;
	struct wait_bucket b;

	if (to->nr_longest != first_sample || from->nr_longest != from->nr_samples) {
		to->nr_longest = to->nr_wait_buckets = 0;
		return;
	}
	for (size_t i = 0; i < from->nr_longest; i++)
		profile_add_longest(to, from->longest[i]);
	for (size_t i = 0; i < from->nr_wait_buckets; i++) {
		b = from->wait_buckets[i];
		b.sample += first_sample;
		profile_add_wait_bucket(to, &b);
	}
}

static void add_slices(struct append *a, size_t first_sample)
{
	size_t first = a->to->nr_slices;
	struct sliced s;

	for (size_t i = 0; i < a->from->nr_slices; i++)
		profile_add_slice(a->to, a->from->slices[i]);
	for (size_t i = 0; i < a->from->nr_sliced; i++) {
		s = a->from->sliced[i];
		s.sample += first_sample;
		s.slice += first;
		profile_add_sliced(a->to, &s);
	}
}

static void take_over(struct append *a)
{
	const struct profile_meta *from = &a->from->meta;
	struct profile_meta *to = &a->to->meta;
	struct sampled_event e;

	*to = (struct profile_meta){ .command = string_of(a, from->command),
				     .event = string_of(a, from->event),
				     .target = string_of(a, from->target),
				     .arch = string_of(a, from->arch),
				     .is_time = from->is_time,
				     .by_weight = from->by_weight,
				     .timed = from->timed,
				     .rate_hz = from->rate_hz };
	for (size_t i = 0; i < a->from->nr_events; i++) {
		e = a->from->events[i];
		e.name = string_of(a, e.name);
		e.note = string_of(a, e.note);
		profile_add_event(a->to, &e);
	}
}

/* Ids have 32 bits. */
static bool fits(const struct profile *to, const struct profile *from)
{
	return (uint64_t)to->strings.len + from->strings.len < INT32_MAX &&
	       (uint64_t)to->nr_stack_frames + from->nr_stack_frames < INT32_MAX &&
	       (uint64_t)to->nr_samples + from->nr_samples < INT32_MAX;
}

int profile_append(struct profile *to, const struct profile *from, bool stable)
{
	struct append a = { .to = to, .from = from, .stable = stable };

	if (!fits(to, from))
		return -EFBIG;
	a.strings = xcalloc(from->strings.len, sizeof(*a.strings));
	a.names = xcalloc(from->strings.len, sizeof(*a.names));
	if (!to->meta.command)
		take_over(&a);
	add_modules(&a);
	add_frames(&a);
	add_stacks(&a);
	add_wakers(&a);
	add_samples(&a);
	add_lengths(&a, to->nr_samples - from->nr_samples);
	add_slices(&a, to->nr_samples - from->nr_samples);
	free(a.strings);
	free(a.names);
	return 0;
}
