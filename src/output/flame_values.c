/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What widths of a flame graph can stand for, beside what the picture shows: other events of the
 * recording, waits of one class, and how many samples, waits or calls. One tree has them all, with
 * a number of each node's own for each value. What was lost is known in the first value only.
 */
#include "output/flame.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "profile/kind.h"
#include "profile/waits.h"

#define IDLE   WAITS_NR /* beside the classes */
#define NR_ALL (WAITS_NR + 1)

static struct flame_value *add_value(struct flame *f, char *name, const char *unit)
{
	struct flame_value *v;

	f->values = xgrow(f->values, f->nr_values, &f->cap_values, sizeof(*f->values));
	v = &f->values[f->nr_values++];
	*v = (struct flame_value){ .name = name,
				   .unit = text_cleaned(unit),
				   .self = xcalloc(f->t->nr, sizeof(*v->self)) };
	return v;
}

/* --- events --- */

/* What an event's values are counted in. p is of all events. */
static const char *unit_of_event(const struct profile *p, uint32_t event)
{
	struct profile one = *p;

	one.events += event;
	one.nr_events = 1;
	one.meta.event = one.events->name;
	return profile_unit(&one);
}

static void add_event(struct flame *f, const struct profile *p, uint32_t event)
{
	struct flame_value *v = add_value(f, text_cleaned(profile_str(p, p->events[event].name)),
					  unit_of_event(p, event));

	for (size_t i = 0; i < p->nr_samples; i++)
		if (PROF_WAIT_EVENT(p->samples[i].wait) == event)
			v->self[f->t->leaves[i].node] += f->t->leaves[i].weight;
	v->self[0] = 0; /* what the view leaves out */
}

/* The tree is of all events: the one that is shown gives it its weights, in its order. */
void flame_values_of_events(struct flame *f, const struct profile *p, uint32_t shown)
{
	struct flame_value *v;
	uint64_t found = 0;

	add_event(f, p, shown);
	for (uint32_t e = 0; e < p->nr_events; e++)
		if (e != shown)
			add_event(f, p, e);
	v = &f->values[0];
	tree_weigh(f->t, v->self);
	tree_sort(f->t);
	for (size_t i = 0; i < p->nr_samples; i++)
		if (PROF_WAIT_EVENT(p->samples[i].wait) == shown)
			found += p->meta.by_weight ? p->samples[i].weight : p->samples[i].count;
	f->t->left_out = found - f->t->nodes[0].total;
}

/* --- waits --- */

static bool has_any(const struct flame_value *v, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (v->self[i])
			return true;
	return false;
}

static void drop_last(struct flame *f)
{
	struct flame_value *v = &f->values[--f->nr_values];

	free(v->name);
	free(v->unit);
	free(v->self);
}

static void add_class(struct flame *f, const struct waits *w, uint32_t class)
{
	const char *name = class == IDLE ? "idle" : waits_name(class);
	struct flame_value *v = add_value(f, xstrdup(name), "ns");

	v->class = class + 1;
	for (size_t i = 0; i < f->p->nr_samples; i++) {
		uint32_t of = w->fate[i] == WAITS_IDLE ? (uint32_t)IDLE : w->class_of[i];

		if (of == class)
			v->self[f->t->leaves[i].node] += f->t->leaves[i].weight;
	}
	v->self[0] = 0;
	if (!has_any(v, f->t->nr))
		drop_last(f);
}

/* --- numbers, and what they stand for --- */

/* With weights of samples, or with how many they are. */
static void add_number(struct flame *f, bool weights, char *name, const char *unit)
{
	struct flame_value *v = add_value(f, name, unit);

	f->counted = f->nr_values - 1;
	f->counts = !weights;
	for (size_t i = 0; i < f->p->nr_samples; i++) {
		const struct sample *s = &f->p->samples[i];
		bool running = f->p->meta.is_time && PROF_WAIT_KIND(s->wait) == PROF_RUNNING;

		if (!running) /* which is no number of anything */
			v->self[f->t->leaves[i].node] += weights ? s->weight : s->count;
	}
	v->self[0] = 0;
}

/* Do samples stand for other shares than there are samples? */
static bool weights_differ(const struct profile *p)
{
	for (size_t i = 1; i < p->nr_samples; i++)
		if ((double)p->samples[i].weight * p->samples[0].count !=
		    (double)p->samples[0].weight * p->samples[i].count)
			return true;
	return false;
}

static void add_other(struct flame *f)
{
	const struct profile *p = f->p;
	char *noun = xasprintf("%ss", profile_noun(p)), *event;

	if (!weights_differ(p) || kind_of_profile(p)->faults) {
		free(noun);
		return;
	}
	if (p->meta.is_time || p->meta.by_weight || p->meta.timed) {
		add_number(f, false, noun, noun);
		return;
	}
	event = text_cleaned(profile_str(p, p->meta.event));
	add_number(f, true, event, profile_is_clock(event) ? "ns" : event);
	free(noun);
}

/* What is counted has the name of its unit, but for a clock: its unit is no name. */
static char *name_of_shown(const struct flame *f)
{
	const struct profile_meta *m = &f->p->meta;
	const char *event = profile_str(f->p, m->event);

	if (m->is_time)
		return xstrdup("all time");
	return m->by_weight && profile_is_clock(event) ? text_cleaned(event) : xstrdup(f->unit);
}

void flame_values_init(struct flame *f, const struct view *v)
{
	struct flame_value *shown;
	struct waits w;

	shown = add_value(f, name_of_shown(f), f->unit);
	for (size_t i = 0; i < f->t->nr; i++)
		shown->self[i] = f->t->nodes[i].self;
	if (f->p->meta.is_time) {
		waits_init(&w, f->p, v);
		for (uint32_t class = 0; class < NR_ALL; class ++)
			add_class(f, &w, class);
		waits_release(&w);
	}
	if (!v->gaps) /* gaps are no number of waits */
		add_other(f);
}

void flame_values_release(struct flame *f)
{
	while (f->nr_values)
		drop_last(f);
	free(f->values);
}
