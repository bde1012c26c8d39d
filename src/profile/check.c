/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One check per table: whatever one refers to is there. */
#include "profile/check.h"

#include "bpf/calls.h"
#include "profile/kind.h"

bool profile_has_string(const struct profile *p, uint64_t id)
{
	return id < p->strings.len;
}

static bool check_frames(const struct profile *p)
{
	for (size_t i = 0; i < p->nr_frames; i++) {
		const struct frame *f = &p->frames[i];

		if (f->module >= p->nr_modules || !profile_has_string(p, f->name) ||
		    !profile_has_string(p, f->linkage) || f->kind >= FRAME_NR_KINDS)
			return false;
	}
	for (size_t i = 0; i < p->nr_stack_frames; i++)
		if (p->stack_frames[i] >= p->nr_frames)
			return false;
	return p->nr_frames > 0;
}

static bool check_details(const struct profile *p)
{
	for (size_t i = 0; i < p->nr_details; i++) {
		const struct frame_detail *d = &p->details[i];

		if (d->nr >= FRAME_MAX_FUNCTIONS || d->first > p->nr_inlines ||
		    d->nr > p->nr_inlines - d->first || !profile_has_string(p, d->file))
			return false;
	}
	for (size_t i = 0; i < p->nr_inlines; i++) {
		const struct frame_function *f = &p->inlines[i];

		if (!profile_has_string(p, f->name) || !profile_has_string(p, f->linkage) ||
		    !profile_has_string(p, f->file))
			return false;
	}
	return p->nr_details <= p->nr_frames;
}

static bool check_stacks(const struct profile *p)
{
	for (size_t i = 0; i < p->nr_stacks; i++) {
		const struct stack *s = &p->stacks[i];

		if (s->nr > PROF_MAX_FRAMES || s->first > p->nr_stack_frames ||
		    s->nr > p->nr_stack_frames - s->first)
			return false;
	}
	return p->nr_stacks > 0;
}

static bool check_events(const struct profile *p)
{
	for (size_t i = 0; i < p->nr_events; i++)
		if (!profile_has_string(p, p->events[i].name) ||
		    !profile_has_string(p, p->events[i].note))
			return false;
	return p->nr_events <= (kind_of_profile(p)->calls ? CALL_MAX_EVENTS : PROF_MAX_EVENTS);
}

#define MAX_NS	  (1ull << 62)
#define MAX_CALLS (1ull << 53) /* what a double holds exactly */

static bool check_calls(const struct profile *p)
{
	size_t nr_events = p->nr_events ? p->nr_events : 1;

	for (size_t i = 0; i < p->nr_call_rows; i++) {
		const struct call_row *row = &p->call_rows[i];

		if (row->event >= nr_events || !profile_has_string(p, row->values) ||
		    !profile_has_string(p, row->process) || row->calls > MAX_CALLS ||
		    row->sum_ns > MAX_NS || row->max_ns > MAX_NS)
			return false;
	}
	for (size_t i = 0; i < p->nr_call_buckets; i++) {
		const struct call_bucket *b = &p->call_buckets[i];

		if (b->row >= p->nr_call_rows || b->index >= PROF_HIST_BUCKETS ||
		    b->count > MAX_CALLS)
			return false;
	}
	return true;
}

static bool check_columns(const struct profile *p)
{
	for (size_t i = 0; i < p->nr_columns; i++)
		if (!profile_has_string(p, p->columns[i].name) ||
		    !profile_has_string(p, p->columns[i].note))
			return false;
	return p->nr_columns <= PROFILE_MAX_COLUMNS &&
	       p->nr_counted == p->nr_samples * 2 * p->nr_columns;
}

static bool check_branches(const struct profile *p)
{
	for (size_t i = 0; i < p->nr_branches; i++)
		if (p->branches[i].from >= p->nr_frames || p->branches[i].to >= p->nr_frames)
			return false;
	return true;
}

static bool check_samples(const struct profile *p)
{
	size_t nr_events = p->nr_events ? p->nr_events : 1;

	for (size_t i = 0; i < p->nr_samples; i++) {
		const struct sample *s = &p->samples[i];

		if (!profile_has_string(p, s->process) || !profile_has_string(p, s->thread) ||
		    s->ustack >= p->nr_stacks || s->kstack >= p->nr_stacks ||
		    s->waker >= p->nr_wakers || PROF_WAIT_EVENT(s->wait) >= nr_events)
			return false;
	}
	return true;
}

/* A waker's own waker has a smaller id, so following them ends. */
static bool check_wakers(const struct profile *p)
{
	for (size_t i = 0; i < p->nr_wakers; i++) {
		const struct waker *w = &p->wakers[i];

		if (!profile_has_string(p, w->process) || !profile_has_string(p, w->thread) ||
		    w->ustack >= p->nr_stacks || w->kstack >= p->nr_stacks ||
		    (w->next && w->next >= i))
			return false;
	}
	return p->nr_wakers > 0 && (!p->nr_locks || p->nr_locks == p->nr_wakers);
}

static bool check_slices(const struct profile *p)
{
	for (size_t i = 0; i < p->nr_sliced; i++)
		if (p->sliced[i].sample >= p->nr_samples || p->sliced[i].slice >= p->nr_slices)
			return false;
	return true;
}

static bool check_linked(const struct profile *p)
{
	for (size_t i = 0; i < p->nr_linked; i++)
		if (p->linked[i].module >= p->nr_modules)
			return false;
	return true;
}

/* In order, or they are not found. */
static bool check_begins(const struct profile *p)
{
	for (size_t i = 0; i < p->nr_begins; i++) {
		const struct begin *b = &p->begins[i];

		if (b->module >= p->nr_modules || !profile_has_string(p, b->name) ||
		    (i && (b->module < b[-1].module ||
			   (b->module == b[-1].module && b->name <= b[-1].name))))
			return false;
	}
	return true;
}

static bool check_moments(const struct profile *p)
{
	const struct moment *m;

	for (size_t i = 0; i < p->nr_moments; i++) {
		m = &p->moments[i];
		if (m->sample >= p->nr_samples || !m->nr || m->first < (m - !!i)->first ||
		    (uint64_t)m->first + m->nr > PROFILE_MAX_MOMENT_SLICES)
			return false;
	}
	return !p->nr_moments || p->meta.moment_ns;
}

static bool check_long_waits(const struct profile *p)
{
	const struct long_wait *w;

	for (size_t i = 0; i < p->nr_long_waits; i++) {
		w = &p->long_waits[i];
		if (w->sample >= p->nr_samples || w->begin_ns > w->end_ns || w->end_ns >> 60)
			return false;
	}
	return !p->nr_long_waits || p->meta.long_wait_ns;
}

/* Sums stay where arithmetic is exact. */
static bool check_lengths(const struct profile *p)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < p->nr_wait_buckets; i++) {
		const struct wait_bucket *b = &p->wait_buckets[i];

		if (b->sample >= p->nr_longest || b->index >= PROF_WAIT_BUCKETS ||
		    (i && b->sample < b[-1].sample) || b->count > MAX_CALLS - nr)
			return false;
		nr += b->count;
	}
	for (size_t i = 0; i < p->nr_longest; i++)
		if (p->longest[i] > MAX_NS)
			return false;
	return !p->nr_longest || p->nr_longest == p->nr_samples;
}

static bool check_threads(const struct profile *p)
{
	for (size_t i = 0; i < p->nr_threads; i++)
		if (!profile_has_string(p, p->threads[i].process) ||
		    !profile_has_string(p, p->threads[i].thread))
			return false;
	for (size_t i = 0; i < p->nr_merged; i++)
		if (!profile_has_string(p, p->merged[i].process) ||
		    !profile_has_string(p, p->merged[i].thread))
			return false;
	return true;
}

static bool check_titles(const struct profile *p)
{
	for (size_t i = 0; i < p->nr_titles; i++)
		if (!profile_has_string(p, p->titles[i].text))
			return false;
	return true;
}

static bool check_disagreements(const struct profile *p)
{
	for (size_t i = 0; i < p->nr_disagreements; i++) {
		const struct disagreement *d = &p->disagreements[i];

		if (!profile_has_string(p, d->process) || !profile_has_string(p, d->thread) ||
		    d->remembered >= p->nr_stacks || d->walked >= p->nr_stacks)
			return false;
	}
	return true;
}

static bool check_modules(const struct profile *p)
{
	for (size_t i = 0; i < p->nr_modules; i++)
		if (!profile_has_string(p, p->modules[i].path) ||
		    p->modules[i].build_id_len > sizeof(p->modules[i].build_id) ||
		    p->modules[i].kind > MODULE_GENERATED)
			return false;
	return p->nr_modules > 0;
}

bool profile_is_sound(const struct profile *p)
{
	return check_modules(p) && check_frames(p) && check_details(p) && check_stacks(p) &&
	       check_events(p) && check_calls(p) && check_samples(p) && check_columns(p) &&
	       check_branches(p) && check_wakers(p) && check_threads(p) && check_titles(p) &&
	       check_slices(p) && check_moments(p) && check_long_waits(p) && check_linked(p) &&
	       check_begins(p) && check_lengths(p) && check_disagreements(p);
}
