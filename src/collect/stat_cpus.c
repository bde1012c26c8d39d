/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* --per-cpu: what the counters of each CPU say, without BPF. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "collect/stat_parts.h"
#include "event/cpus.h"

void stat_cpus_open(struct counting *c)
{
	const struct opt_ids *wanted = &c->opts->cpus;
	struct stat_cpus *to = &c->cpus;
	size_t nr_events = c->stat_plan.nr_events;
	struct cpus online = {};

	cpus_online(&online);
	to->v = xcalloc(online.nr + 1, sizeof(*to->v));
	for (size_t i = 0; i < online.nr; i++)
		if (!wanted->nr || opt_ids_has(wanted, online.v[i]))
			to->v[to->nr++] = online.v[i];
	cpus_release(&online);
	to->before = xcalloc(to->nr * nr_events + 1, sizeof(*to->before));
	to->counts = xcalloc(to->nr * nr_events + 1, sizeof(*to->counts));
}

void stat_cpus_read(struct counting *c)
{
	struct stat_cpus *cpus = &c->cpus;
	size_t nr = c->stat_plan.nr_events;
	struct counter_value *now = xcalloc(nr + 1, sizeof(*now));

	for (size_t i = 0; i < cpus->nr; i++) {
		counters_read(c->counters, (int)cpus->v[i], now);
		for (size_t j = 0; j < nr; j++)
			cpus->counts[i * nr + j] =
				counters_count(c->counters, j, now, &cpus->before[i * nr]);
		memcpy(&cpus->before[i * nr], now, nr * sizeof(*now));
	}
	free(now);
}

void stat_cpus_fill(const struct counting *c, struct stat_report *r, double seconds)
{
	const struct stat_cpus *cpus = &c->cpus;

	r->rows = xcalloc(cpus->nr + 1, sizeof(*r->rows));
	for (r->nr_rows = 0; r->nr_rows < cpus->nr; r->nr_rows++) {
		const struct count *counts = &cpus->counts[r->nr_rows * c->stat_plan.nr_events];
		struct stat_plan_runs runs = { counts, &seconds, 1 };
		struct stat_row *row = &r->rows[r->nr_rows];

		row->name = xasprintf("%u", cpus->v[r->nr_rows]);
		stat_plan_fill(&c->stat_plan, &runs, row);
	}
}

void stat_cpus_release(struct stat_cpus *cpus)
{
	free(cpus->v);
	free(cpus->before);
	free(cpus->counts);
}
