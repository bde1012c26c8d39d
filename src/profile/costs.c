/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Samples are added up by frame, and frames are sorted by function. */
#include "profile/costs.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "profile/waits.h"

const struct cost *costs_of_frame(const struct costs *c, uint32_t frame)
{
	return &c->frames[frame * c->nr_events];
}

static void add_cost(struct cost *to, const struct cost *from)
{
	to->value += from->value;
	to->samples += from->samples;
}

/* --- samples --- */

/* Stacks of waits begin with the scheduler; if nothing else is known, it waited itself. */
static uint32_t waiting_frame(const struct profile *p, const struct sample *s)
{
	uint32_t nr, first;
	const uint32_t *frames;

	if (s->ustack && p->stacks[s->ustack].nr)
		return profile_stack_leaf(p, s->ustack);
	first = wait_plumbing(p, s->kstack);
	frames = profile_stack_frames(p, s->kstack, &nr);
	return !nr ? 0 : frames[first < nr ? first : nr - 1];
}

static uint32_t leaf_of(const struct profile *p, const struct sample *s)
{
	if (p->meta.is_time && PROF_WAIT_KIND(s->wait) != PROF_ON_CPU)
		return waiting_frame(p, s);
	return profile_stack_leaf(p, p->stacks[s->kstack].nr ? s->kstack : s->ustack);
}

static void add_sample(struct costs *c, const struct sample *s, uint64_t value, bool shown)
{
	uint32_t event = c->nr_events > 1 ? PROF_WAIT_EVENT(s->wait) : 0;
	const struct cost cost = { value, s->count };
	uint32_t frame = leaf_of(c->profile, s);

	if (event >= c->nr_events)
		return;
	add_cost(&c->totals[event], &cost);
	if (frame && shown)
		add_cost(&c->frames[frame * c->nr_events + event], &cost);
}

static void add_samples(struct costs *c, const struct view *v)
{
	const struct profile *p = c->profile;
	struct waits waits;

	if (!p->meta.is_time) {
		for (size_t i = 0; i < p->nr_samples; i++) {
			const struct sample *s = &p->samples[i];

			add_sample(c, s, p->meta.by_weight ? s->weight : s->count, true);
		}
		return;
	}
	waits_init(&waits, p, v);
	for (size_t i = 0; i < p->nr_samples; i++)
		if (waits.fate[i] != WAITS_LEFT_OUT)
			add_sample(c, &p->samples[i], waits.ns[i], waits.fate[i] == WAITS_SHOWN);
	waits_release(&waits);
}

/* --- functions --- */

static bool has_cost(const struct costs *c, uint32_t frame)
{
	for (size_t i = 0; i < c->nr_events; i++)
		if (costs_of_frame(c, frame)[i].value)
			return true;
	return false;
}

static int by_function(const void *x, const void *y, void *arg)
{
	uint32_t ia = *(const uint32_t *)x, ib = *(const uint32_t *)y;
	const struct profile *p = arg;
	const struct frame *a = profile_frame_at(p, ia), *b = profile_frame_at(p, ib);
	uint32_t in_a = profile_frame_module(p, ia), in_b = profile_frame_module(p, ib);

	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	if (in_a != in_b)
		return in_a < in_b ? -1 : 1;
	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static void push_frame(struct costs *c, uint32_t frame)
{
	c->order = xgrow(c->order, c->nr_order, &c->cap_order, sizeof(*c->order));
	c->order[c->nr_order++] = frame;
}

static void push_function(struct costs *c, struct cost_function f)
{
	f.nr = c->nr_order - f.first;
	f.sums = xcalloc(c->nr_events, sizeof(*f.sums));
	for (size_t i = 0; i < f.nr; i++)
		for (size_t e = 0; e < c->nr_events; e++)
			add_cost(&f.sums[e], &costs_of_frame(c, c->order[f.first + i])[e]);
	c->functions = xgrow(c->functions, c->nr, &c->cap, sizeof(*c->functions));
	c->functions[c->nr++] = f;
}

static int by_value(const void *x, const void *y, void *arg)
{
	const struct cost_function *a = x, *b = y;
	const struct costs *c = arg;

	for (size_t i = 0; i < c->nr_events; i++) {
		size_t e = (c->event + i) % c->nr_events;

		if (a->sums[e].value != b->sums[e].value)
			return a->sums[e].value > b->sums[e].value ? -1 : 1;
	}
	return strcmp(profile_str(c->profile, a->name), profile_str(c->profile, b->name));
}

static void make_functions(struct costs *c)
{
	const struct profile *p = c->profile;
	uint32_t *frames;
	size_t nr;

	for (size_t i = 1; i < p->nr_frames; i++)
		if (has_cost(c, i))
			push_frame(c, i);
	if (!c->nr_order)
		return;
	qsort_r(c->order, c->nr_order, sizeof(*c->order), by_function, (void *)p);
	frames = c->order;
	nr = c->nr_own = c->nr_order;
	for (size_t i = 0, end; i < nr; i = end) {
		struct cost_function f = { .name = profile_frame_at(p, frames[i])->name,
					   .module = profile_frame_module(p, frames[i]),
					   .first = i };

		for (end = i + 1; end < nr; end++)
			if (profile_frame_at(p, frames[end])->name != f.name ||
			    profile_frame_module(p, frames[end]) != f.module)
				break;
		c->nr_order = end;
		push_function(c, f);
	}
	qsort_r(c->functions, c->nr, sizeof(*c->functions), by_value, c);
}

void costs_init(struct costs *c, const struct profile *p, const struct view *v)
{
	*c = (struct costs){ .profile = p, .nr_events = profile_is_mixed(p) ? p->nr_events : 1 };
	c->event = c->nr_events > 1 ? view_event(v, p) : 0;
	c->frames = xcalloc(p->nr_frames * c->nr_events, sizeof(*c->frames));
	c->totals = xcalloc(c->nr_events, sizeof(*c->totals));
	add_samples(c, v);
	make_functions(c);
}

void costs_release(struct costs *c)
{
	for (size_t i = 0; i < c->nr; i++)
		free(c->functions[i].sums);
	free(c->functions);
	free(c->order);
	free(c->totals);
	free(c->frames);
}

/* --- names --- */

static bool is_named(const struct profile *p, uint32_t frame, uint32_t i, const char *name)
{
	struct frame_function f = profile_frame_function(p, frame, i);

	return !strcmp(profile_str(p, f.name), name) ||
	       (f.linkage && !strcmp(profile_str(p, f.linkage), name));
}

static bool has_inlined(const struct profile *p, uint32_t frame, const char *name, uint32_t *shown)
{
	for (uint32_t i = 0; i + 1 < profile_frame_functions(p, frame); i++) {
		if (!is_named(p, frame, i, name))
			continue;
		*shown = profile_frame_function(p, frame, i).name;
		return true;
	}
	return false;
}

static int by_place(const void *x, const void *y, void *arg)
{
	const struct frame *a = profile_frame_at(arg, *(const uint32_t *)x),
			   *b = profile_frame_at(arg, *(const uint32_t *)y);

	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* All code that the compiler made of it elsewhere, as one more function. */
static bool add_inlined(struct costs *c, const char *name)
{
	struct cost_function f = { .first = c->nr_order, .inlined = true };
	size_t nr = c->nr_order;

	for (size_t i = 0; i < c->nr_own; i++)
		if (has_inlined(c->profile, c->order[i], name, &f.name))
			push_frame(c, c->order[i]);
	if (c->nr_order == nr)
		return false;
	qsort_r(c->order + nr, c->nr_order - nr, sizeof(*c->order), by_place, (void *)c->profile);
	push_function(c, f);
	return true;
}

/* Nothing but parameters: "<int>", "(int&&)", "[abi:cxx11]". */
static bool ends_name(const char *s)
{
	int depth = 0;

	while (*s == '<' || depth) {
		if (!*s)
			return false;
		depth += (*s == '<') - (*s == '>');
		s++;
	}
	return !*s || *s == '(' || *s == '[';
}

/* "quicksort" of "demo::quicksort", "push_back" of "std::vector<int>::push_back(int&&)". */
static bool is_last_part(const char *name, const char *part)
{
	size_t len = strlen(part);

	for (const char *at = name; len && (at = strstr(at, part)); at++)
		if (at > name && strchr(":./", at[-1]) && ends_name(at + len))
			return true;
	return false;
}

/* Those of the one name that ends in this part, one for each module; none when names differ. */
static size_t find_by_last_part(const struct costs *c, const char *part, size_t *found)
{
	const char *name, *first = NULL;
	size_t nr = 0;

	for (size_t i = 0; i < c->nr; i++) {
		name = profile_str(c->profile, c->functions[i].name);
		if (c->functions[i].inlined || !is_last_part(name, part))
			continue;
		if (first && strcmp(first, name))
			return 0;
		first = name;
		found[nr++] = i;
	}
	return nr;
}

size_t *costs_find(struct costs *c, const char *name, size_t *nr)
{
	size_t *found = xcalloc(c->nr + 1, sizeof(*found)), known = c->nr;

	*nr = 0;
	for (size_t i = 0; i < known; i++) {
		const struct cost_function *f = &c->functions[i];
		uint32_t frame = c->order[f->first];

		if (!f->inlined && is_named(c->profile, frame,
					    profile_frame_functions(c->profile, frame) - 1, name))
			found[(*nr)++] = i;
	}
	if (!*nr && add_inlined(c, name))
		found[(*nr)++] = known;
	if (!*nr)
		*nr = find_by_last_part(c, name, found);
	return found;
}

bool costs_has(const struct costs *c, const char *name)
{
	const struct profile *p = c->profile;

	for (size_t frame = 1; frame < p->nr_frames; frame++)
		for (uint32_t i = 0; i < profile_frame_functions(p, frame); i++)
			if (is_named(p, frame, i, name))
				return true;
	return false;
}

size_t costs_near(const struct costs *c, const char *name, const char *near[COSTS_MAX_NEAR])
{
	const char **names = xcalloc(c->nr + 1, sizeof(*names)), *like;
	size_t nr = 0;

	for (size_t i = 0; i < c->nr; i++) {
		names[i] = profile_str(c->profile, c->functions[i].name);
		if (nr < COSTS_MAX_NEAR && strcasestr(names[i], name))
			near[nr++] = names[i];
	}
	like = nr ? NULL : text_nearest(name, names, c->nr);
	if (like)
		near[nr++] = like;
	free(names);
	return nr;
}
