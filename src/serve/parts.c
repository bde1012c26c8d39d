/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "serve/parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/append.h"
#include "profile/kind.h"
#include "profile/waits.h"

bool part_is_in(const struct profile *window, enum part part)
{
	const struct kind *kind = kind_of_profile(window);

	return part == PART_WAITS ? kind->waits : !kind->waits || kind->running;
}

/* A profile of its own, which borrows all but its samples. Only of a window with both parts. */
static struct profile take_samples(const struct profile *window, enum part part)
{
	const struct view v = {};
	struct profile one = *window;
	struct waits w;

	waits_init(&w, window, &v);
	one.samples = xcalloc(window->nr_samples, sizeof(*one.samples));
	one.nr_samples = 0;
	one.nr_longest = one.nr_wait_buckets = one.nr_slices = one.nr_sliced = 0;
	for (size_t i = 0; i < window->nr_samples; i++) {
		struct sample s = window->samples[i];

		if ((w.class_of[i] == WAITS_ON_CPU) != (part == PART_RUNNING) ||
		    (part == PART_RUNNING && !w.ns[i]))
			continue;
		s.weight = w.ns[i];
		if (part == PART_RUNNING)
			s.wait = 0;
		one.samples[one.nr_samples++] = s;
	}
	waits_release(&w);
	return one;
}

static uint32_t copied(struct profile *to, const struct profile *from, uint32_t string)
{
	return string ? profile_string(to, profile_str(from, string)) : 0;
}

/* What the first window says holds for all of them. */
static void describe(struct profile *to, const struct profile *window, enum part part, bool both)
{
	struct profile_meta *m = &to->meta;

	m->host = copied(to, window, window->meta.host);
	m->kernel = copied(to, window, window->meta.kernel);
	m->version = copied(to, window, window->meta.version);
	m->start_ns = window->meta.start_ns;
	m->nr_cpus = window->meta.nr_cpus;
	m->rate_hz = window->meta.rate_hz;
	if (!both)
		return;
	m->command = profile_string(to, part == PART_RUNNING ? "oncpu" : "offcpu");
	m->is_time = part == PART_WAITS;
	m->by_weight = 1;
	if (part == PART_RUNNING)
		m->event = profile_string(to, "cpu-clock");
}

int part_add(struct profile *to, const struct profile *window, enum part part)
{
	bool both = kind_of_profile(window)->running, first = !to->meta.command;
	struct profile one = both ? take_samples(window, part) : *window;
	int err = profile_append(to, &one, false);

	if (both)
		free(one.samples);
	if (err)
		return err;
	if (first)
		describe(to, window, part, both);
	to->meta.duration_ns += window->meta.duration_ns;
	for (size_t i = 0; i < PROF_NR_COUNTERS && !both; i++)
		to->counters[i] += window->counters[i];
	return 0;
}
