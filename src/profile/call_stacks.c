/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Samples of timed calls, sorted by their stacks and added up. */
#include "profile/call_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/kind.h"
#include "profile/tree_parts.h"

#define NO_THREAD 1 /* a path begins with the thread's name, which is no part of a stack */

/* A sample, and its stack among the names. */
struct item {
	const struct sample *sample;
	const uint32_t *names;
	size_t nr;
};

static int by_stack(const void *x, const void *y)
{
	const struct item *a = x, *b = y;
	uint32_t event_a = PROF_WAIT_EVENT(a->sample->wait);
	uint32_t event_b = PROF_WAIT_EVENT(b->sample->wait);

	if (event_a != event_b)
		return event_a < event_b ? -1 : 1;
	if (a->nr != b->nr)
		return a->nr < b->nr ? -1 : 1;
	return a->nr ? memcmp(a->names, b->names, a->nr * sizeof(*a->names)) : 0;
}

static uint64_t period_of(const struct profile *p, uint32_t event)
{
	uint64_t period = event < p->nr_events ? p->events[event].period : 1;

	return period ? period : 1;
}

/* The longest is looked for among those of the last bucket only. */
static void add_sample(struct prof_hist *h, size_t *last, const struct sample *s, uint64_t period)
{
	size_t bucket = PROF_WAIT_BUCKET(s->wait);
	uint64_t count = s->count * period, mean = count ? s->weight / count : 0;

	if (bucket >= PROF_HIST_BUCKETS || !count)
		return;
	h->count[bucket] += count;
	h->sum_ns += s->weight;
	if (bucket < *last)
		return;
	if (bucket > *last || mean > h->max_ns)
		h->max_ns = mean;
	*last = bucket;
}

static void add_row(struct call_stacks *c, const struct profile *p, const struct item *items,
		    size_t nr)
{
	uint32_t event = PROF_WAIT_EVENT(items->sample->wait);
	struct call_stack row = { .names = items->names, .nr_names = items->nr };
	struct prof_hist h = {};
	size_t last = 0;

	for (size_t i = 0; i < nr; i++)
		add_sample(&h, &last, items[i].sample, period_of(p, event));
	row.function = event < p->nr_events ? profile_str(p, p->events[event].name) : "";
	row.stats = runqlat_stats(&h);
	row.per_s = p->meta.duration_ns ? row.stats.count * 1e9 / p->meta.duration_ns : 0;
	if (!row.stats.count)
		return;
	c->rows = xgrow(c->rows, c->nr, &c->cap, sizeof(*c->rows));
	c->rows[c->nr++] = row;
}

/* Names of all paths that the view keeps, and the items of what says how long calls took. */
static size_t make_items(struct call_stacks *c, const struct tree_paths *paths, struct item *items)
{
	const struct profile *p = c->tree.profile;
	size_t nr = 0;

	c->names = xcalloc(paths->nr_steps ? paths->nr_steps : 1, sizeof(*c->names));
	for (size_t i = 0; i < paths->nr_steps; i++)
		c->names[i] = paths->steps[i].name;
	for (size_t i = 0; i < paths->nr_paths; i++) {
		const struct path *path = &paths->paths[i];
		const struct sample *s =
			path->sample == PATH_LOST ? NULL : &p->samples[path->sample];

		if (s && PROF_WAIT_KIND(s->wait) == PROF_EVENT && path->nr > NO_THREAD)
			items[nr++] = (struct item){ s, &c->names[path->first + NO_THREAD],
						     path->nr - NO_THREAD };
	}
	return nr;
}

static int by_time(const void *x, const void *y)
{
	const struct call_stack *a = x, *b = y;

	if (a->stats.total_ns != b->stats.total_ns)
		return a->stats.total_ns > b->stats.total_ns ? -1 : 1;
	if (a->names != b->names)
		return a->names < b->names ? -1 : 1;
	return a->function < b->function ? -1 : 1; /* as they were asked for */
}

static void add_rows(struct call_stacks *c, const struct item *items, size_t nr)
{
	size_t from = 0;

	for (size_t i = 1; i <= nr; i++) {
		if (i < nr && !by_stack(&items[from], &items[i]))
			continue;
		add_row(c, c->tree.profile, &items[from], i - from);
		from = i;
	}
}

void call_stacks_init(struct call_stacks *c, const struct profile *p, const struct view *v)
{
	struct tree_paths paths = {};
	struct view shown = *v;
	struct item *items;
	size_t nr;

	*c = (struct call_stacks){ .tree.profile = p };
	strings_init(&c->tree.names);
	if (!p->meta.timed || !kind_of_profile(p)->calls || kind_of_profile(p)->waits)
		return;
	shown.user_only |= kind_of_profile(p)->syscalls; /* who calls; the kernel's way in is one */
	tree_paths_of(&c->tree, &shown, &paths);
	items = xcalloc(p->nr_samples ? p->nr_samples : 1, sizeof(*items));
	nr = make_items(c, &paths, items);
	if (nr) {
		qsort(items, nr, sizeof(*items), by_stack);
		add_rows(c, items, nr);
	}
	if (c->nr)
		qsort(c->rows, c->nr, sizeof(*c->rows), by_time);
	free(items);
	free(paths.steps);
	free(paths.paths);
}

void call_stacks_release(struct call_stacks *c)
{
	strings_release(&c->tree.names);
	free(c->rows);
	free(c->names);
	*c = (struct call_stacks){};
}

const char *call_stacks_name(const struct call_stacks *c, const struct call_stack *row, size_t i)
{
	return c->tree.names.bytes + row->names[i];
}
