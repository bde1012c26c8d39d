/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Machines and counts for tests of metrics: what a host has is a list of names. */
#ifndef BPFPROF_TESTS_METRICS_H
#define BPFPROF_TESTS_METRICS_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metric/metric.h"

#define SECOND 1000000000ull

/* Ends with a name NULL. state other than counted: value does not matter. */
struct given {
	const char *name;
	double value;
	double duty_pct; /* 0 = all the time */
	enum count_state state;
	uint64_t running_ns; /* 0 = a second */
};

#define G(name_, value_)                                                                           \
	{                                                                                          \
		.name = name_, .value = value_                                                     \
	}
#define MISSING(name_, state_)                                                                     \
	{                                                                                          \
		.name = name_, .state = COUNT_##state_                                             \
	}

struct machine {
	struct core core;
	const char *events; /* between spaces; NULL: has what is given; "*": has everything */
	const struct given *given;
	bool smt, per_task;
	double seconds; /* 0 = 1 */
	const struct metric_peaks *peaks;
};

static inline bool machine_has(void *arg, const char *event)
{
	const struct machine *m = arg;
	const struct given *g;
	char padded[128];

	if (m->events && !strcmp(m->events, "*"))
		return true;
	if (m->events) {
		snprintf(padded, sizeof(padded), " %s ", event);
		return strstr(m->events, padded) != NULL;
	}
	for (g = m->given; g->name; g++)
		if (!strcmp(g->name, event))
			return true;
	return false;
}

static inline struct count given_count(const struct given *g)
{
	uint64_t running = g->running_ns ? g->running_ns : SECOND;
	double duty = g->duty_pct ? g->duty_pct / 100 : 1;

	if (g->state != COUNT_COUNTED)
		return (struct count){ .state = g->state };
	/* Scaled, it is the value again. */
	return count_make((uint64_t)(g->value * duty + 0.5), (uint64_t)(running / duty + 0.5),
			  running, true);
}

static inline const struct count *machine_find(void *arg, const char *event)
{
	/* Held until so many others were asked for. */
	static struct count counts[64];
	static unsigned int i;
	const struct machine *m = arg;
	const struct given *g;

	for (g = m->given; g && g->name; g++) {
		if (strcmp(g->name, event))
			continue;
		i = (i + 1) % 64;
		counts[i] = given_count(g);
		return &counts[i];
	}
	return NULL;
}

static inline struct metric_host machine_host(struct machine *m)
{
	return (struct metric_host){ .core = &m->core,
				     .peaks = m->peaks,
				     .has = machine_has,
				     .arg = m,
				     .smt = m->smt,
				     .per_task = m->per_task };
}

static inline struct metric_inputs machine_inputs(struct machine *m)
{
	return (struct metric_inputs){ .core = &m->core,
				       .peaks = m->peaks,
				       .seconds = m->seconds ? m->seconds : 1,
				       .find = machine_find,
				       .arg = m };
}

static inline struct metric_plan plan_of(struct machine *m, const char *sets)
{
	struct metric_host host = machine_host(m);
	struct metric_plan plan;

	assert_int_equal(metric_plan_make(&plan, sets, &host), 0);
	return plan;
}

static inline size_t event_at(const struct metric_plan *plan, const char *name)
{
	size_t i;

	for (i = 0; i < plan->nr_events; i++)
		if (!strcmp(plan->events[i], name))
			break;
	return i;
}

static inline bool has_event(const struct metric_plan *plan, const char *name)
{
	return event_at(plan, name) < plan->nr_events;
}

static inline const struct metric *row_of(const struct metric_plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->nr_metrics; i++)
		if (!strcmp(plan->metrics[i]->name, name))
			return plan->metrics[i];
	return NULL;
}

static inline bool has_note(const struct metric_plan *plan, const char *text)
{
	for (size_t i = 0; i < plan->nr_notes; i++)
		if (strstr(plan->notes[i], text))
			return true;
	return false;
}

/* One row of a set on a machine; metric NULL: the plan does not have it. */
static inline struct metric_value machine_value(struct machine *m, const char *sets,
						const char *name)
{
	struct metric_host host = machine_host(m);
	struct metric_inputs in = machine_inputs(m);
	struct metric_value *values, found = { .value = NAN };
	struct metric_plan plan;

	assert_int_equal(metric_plan_make(&plan, sets, &host), 0);
	values = calloc(plan.nr_metrics + 1, sizeof(*values));
	metric_plan_eval(&plan, &in, values);
	for (size_t i = 0; i < plan.nr_metrics; i++)
		if (!strcmp(values[i].metric->name, name))
			found = values[i];
	free(values);
	metric_plan_release(&plan);
	return found;
}

#define NEOVERSE(which, nr_slots)                                                                  \
	{                                                                                          \
		.id = CORE_NEOVERSE_##which, .vendor = CORE_ARM, .name = "Neoverse " #which,       \
		.slots = nr_slots                                                                  \
	}
#define X86(which, of, nr_slots)                                                                   \
	{                                                                                          \
		.id = CORE_##which, .vendor = CORE_##of, .name = #which, .slots = nr_slots         \
	}

#endif
