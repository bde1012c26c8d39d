/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The order in which the events of a plan are opened: who is divided by, then row by row. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "metric/names.h"
#include "metric/plan_parts.h"
#include "metric/rows.h"

/* First of all: most rows divide by them; then the kernel's topdown group, which is one. */
static const char *const leaders[] = {
	"cpu_cycles",
	"cycles",
	"inst_retired",
	"instructions",
	"slots",
	"topdown_retiring",
	"topdown_bad_spec",
	"topdown_fe_bound",
	"topdown_be_bound",
	"topdown_heavy_ops",
	"topdown_br_mispredict",
	"topdown_fetch_lat",
	"topdown_mem_bound",
};
#define NR_LEADERS (sizeof(leaders) / sizeof(*leaders))

static void add_event(void *arg, const char *name)
{
	if (!metric_is_number(name))
		names_add(arg, name);
}

static bool is_leader(const char *name)
{
	for (size_t i = 0; i < NR_LEADERS; i++)
		if (!strcmp(leaders[i], name))
			return true;
	return false;
}

/* Events in order; those of rows that share some stand together, by the number of their cluster. */
struct order {
	struct names names;
	size_t *cluster;
	size_t clusters_cap;
};

static void order_insert(struct order *o, size_t at, const char *name, size_t cluster)
{
	size_t nr = o->names.nr;

	o->cluster = xgrow(o->cluster, nr, &o->clusters_cap, sizeof(*o->cluster));
	names_add(&o->names, name);
	for (size_t i = nr; i > at; i--) {
		char *moved = o->names.v[i];

		o->names.v[i] = o->names.v[i - 1];
		o->names.v[i - 1] = moved;
		o->cluster[i] = o->cluster[i - 1];
	}
	o->cluster[at] = cluster;
}

/* The cluster in which one of a row's events already is; 0: none. */
static size_t cluster_of(const struct order *o, const struct names *row)
{
	for (size_t i = 0; i < o->names.nr; i++)
		if (!is_leader(o->names.v[i]) && names_have(row, o->names.v[i]))
			return o->cluster[i];
	return 0;
}

static size_t end_of_cluster(const struct order *o, size_t cluster)
{
	size_t i = o->names.nr;

	while (i && o->cluster[i - 1] != cluster)
		i--;
	return i ? i : o->names.nr;
}

/*
 * Counters that are shared take turns, in the order of opening, so neighbours run together. New
 * events go to the end of a cluster: who once stood side by side stays there.
 */
static void order_row(struct order *o, const struct names *row, size_t new_cluster)
{
	size_t found = cluster_of(o, row), cluster = found ? found : new_cluster;

	for (size_t i = 0; i < row->nr; i++)
		if (!names_have(&o->names, row->v[i]))
			order_insert(o, end_of_cluster(o, cluster), row->v[i], cluster);
}

void plan_order(struct metric_plan *p, const struct core *core, bool has_slots)
{
	struct names wanted = { 0 }, row = { 0 };
	struct order order = { 0 };
	size_t i;

	for (i = 0; i < p->nr_metrics; i++)
		metric_row_names(p->metrics[i], core, add_event, &wanted);
	for (i = 0; i < wanted.nr; i++)
		p->slots_group |= !strncmp(wanted.v[i], "topdown_", 8);
	/* Of Atoms topdown-* are ordinary events. */
	p->slots_group = p->slots_group && has_slots;
	if (p->slots_group)
		names_add(&wanted, "slots");
	for (i = 0; i < NR_LEADERS; i++)
		if (names_have(&wanted, leaders[i]))
			order_insert(&order, order.names.nr, leaders[i], 0);
	for (i = 0; i < p->nr_metrics; i++) {
		metric_row_names(p->metrics[i], core, add_event, &row);
		order_row(&order, &row, i + 1);
		names_release(&row);
	}
	names_release(&wanted);
	free(order.cluster);
	p->events = (const char **)order.names.v;
	p->nr_events = order.names.nr;
}
