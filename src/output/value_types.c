/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names that readers of pprof know, where there are such; see docs/decisions.md. */
#include "output/value_types.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/round.h"
#include "profile/kind.h"

#define NS "nanoseconds"

/* Of allocations, as Go's heap profiles have them. */
static const struct {
	const char *event;
	struct value_type type;
} memory_types[] = {
	{ "live-bytes", { "inuse_space", "bytes" } },
	{ "live-objects", { "inuse_objects", "count" } },
	{ "bytes", { "alloc_space", "bytes" } },
	{ "objects", { "alloc_objects", "count" } },
};

static bool has_type(const struct value_types *t, const char *type)
{
	for (size_t i = 0; i < t->nr; i++)
		if (!strcmp(t->v[i].type, type))
			return true;
	return false;
}

/* A word, and none that is there: events may differ in what a word cannot hold. */
static void add_type(struct value_types *t, const char *type, const char *unit)
{
	struct value_type *to = &t->v[t->nr];
	size_t len = 0;

	for (; type[len] && len < sizeof(to->type) - 8; len++)
		to->type[len] = isascii(type[len]) && isalnum(type[len]) ? type[len] : '_';
	to->type[len] = '\0';
	for (size_t i = 2; has_type(t, to->type); i++)
		snprintf(to->type + len, sizeof(to->type) - len, "_%zu", i);
	to->unit = unit;
	t->nr++;
}

static void add_event(struct value_types *t, const struct profile *p, const char *event)
{
	for (size_t i = 0; kind_of_profile(p)->memory && i < 4; i++)
		if (!strcmp(event, memory_types[i].event)) {
			add_type(t, memory_types[i].type.type, memory_types[i].type.unit);
			return;
		}
	if (profile_is_clock(event))
		add_type(t, "cpu", NS);
	else
		add_type(t, *event ? event : "events", "count");
}

static void add_weight(struct value_types *t, const struct profile *p)
{
	const struct kind *kind = kind_of_profile(p);

	if (kind->locks)
		add_type(t, "delay", NS);
	else if (p->meta.is_time)
		add_type(t, kind->running ? "wall" : "off_cpu", NS);
	else if (p->meta.timed)
		add_type(t, kind->klocks ? "delay" : "latency", NS);
	else if (kind->grows)
		add_type(t, "growth", "bytes");
	else if (!kind->calls && !kind->faults)
		add_event(t, p, profile_str(p, p->meta.event));
}

static void add_number(struct value_types *t, const struct profile *p)
{
	const struct kind *kind = kind_of_profile(p);
	char noun[32];

	snprintf(noun, sizeof(noun), "%ss", profile_noun(p));
	add_type(t,
		 kind->locks || kind->klocks ? "contentions"
		 : kind->running	     ? "samples"
					     : noun,
		 "count");
}

/* Where the kernel chose the periods, what they were on average. */
static uint64_t mean_period(const struct profile *p, uint32_t event)
{
	uint64_t samples = 0, weight = 0;

	for (size_t i = 0; i < p->nr_samples; i++) {
		const struct sample *s = &p->samples[i];

		if (profile_is_mixed(p) && PROF_WAIT_EVENT(s->wait) != event)
			continue;
		samples += s->count;
		weight += s->weight;
	}
	return samples ? round_u64((double)weight / samples) : 0;
}

static uint64_t period_of(const struct value_types *t, const struct profile *p, uint32_t event)
{
	const struct sampled_event *e = event < p->nr_events ? &p->events[event] : NULL;
	uint64_t rate_hz = e ? e->rate_hz : p->meta.rate_hz;

	if (p->meta.is_time || kind_of_profile(p)->calls || kind_of_profile(p)->faults)
		return 1;
	if (e && e->period)
		return e->period;
	if (!strcmp(t->every.unit, NS) && rate_hz)
		return 1000000000 / rate_hz;
	return mean_period(p, event);
}

void value_types_init(struct value_types *t, const struct profile *p, const struct view *v)
{
	uint32_t event = view_event(v, p);

	*t = (struct value_types){ .by_event = profile_is_mixed(p) };
	if (t->by_event) {
		for (size_t i = 0; i < p->nr_events; i++)
			add_event(t, p, profile_str(p, p->events[i].name));
		t->shown = event;
	} else {
		event = 0;
		add_number(t, p);
		add_weight(t, p);
		t->shown = t->nr - 1;
	}
	t->every = t->v[t->shown];
	t->period = period_of(t, p, event);
}

void value_types_get(const struct value_types *t, const struct path *path, uint32_t event,
		     uint64_t *values)
{
	if (t->by_event) {
		values[event] = path->count;
		return;
	}
	values[0] = path->samples;
	if (t->nr > 1)
		values[1] = path->weight;
}
