/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From names of sets to rows, and from rows to events. What a machine lacks costs the rows that
 * need it, and a note; never the run.
 */
#include "metric/metric.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "metric/rows.h"

#define SETS_MAX 16

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

/* Names without doubles, in the order in which they came. Owned, since formulas are parsed anew. */
struct names {
	char **v;
	size_t nr, cap;
};

static bool names_have(const struct names *n, const char *name)
{
	for (size_t i = 0; i < n->nr; i++)
		if (!strcmp(n->v[i], name))
			return true;
	return false;
}

static void names_add(void *arg, const char *name)
{
	struct names *n = arg;

	if (names_have(n, name))
		return;
	n->v = xgrow(n->v, n->nr, &n->cap, sizeof(*n->v));
	n->v[n->nr++] = xstrdup(name);
}

static void names_release(struct names *n)
{
	for (size_t i = 0; i < n->nr; i++)
		free(n->v[i]);
	free(n->v);
	*n = (struct names){ 0 };
}

static void names_print(const struct names *n, FILE *to)
{
	for (size_t i = 0; i < n->nr; i++)
		fprintf(to, "%s%s", i ? ", " : "", n->v[i]);
}

struct maker {
	struct metric_plan *plan;
	const struct metric_host *host;
	size_t metrics_cap, notes_cap;
	struct names taken, no_room; /* events so far, and rows left out; with host->max_events */
};

static bool host_has(const struct metric_host *host, const char *name)
{
	if (!strcmp(name, "slots_per_cycle"))
		return host->core->slots != 0;
	return metric_is_number(name) || host->has(host->arg, name);
}

/* Names of a row that the machine does not have. */
struct lacking {
	const struct metric_host *host;
	struct names *names;
	bool any;
};

static void add_lacking(void *arg, const char *name)
{
	struct lacking *l = arg;

	if (host_has(l->host, name))
		return;
	l->any = true;
	if (l->names)
		names_add(l->names, name);
}

static bool row_is_there(const struct metric *m, const struct metric_host *host,
			 struct names *lacking)
{
	struct lacking l = { .host = host, .names = lacking };

	metric_row_names(m, host->core, add_lacking, &l);
	return !l.any;
}

/* Which of the needs of a way there are not. */
static bool needs_are_there(const struct metric_method *way, const struct metric_host *host,
			    struct names *lacking)
{
	char *needs = xstrdup(way->needs ? way->needs : ""), *at = needs, *name;
	struct lacking l = { .host = host, .names = lacking };

	while ((name = strsep(&at, " ")))
		if (*name)
			add_lacking(&l, name);
	free(needs);
	return !l.any;
}

/* Calls f for each row of a way that fits the core; stops when it returns true. */
static bool rows_any(const struct metric_method *way, const struct metric_host *host,
		     bool (*f)(void *arg, const struct metric *m), void *arg)
{
	const struct metric *const *table, *m;

	for (table = metric_tables; *table; table++)
		for (m = *table; m->set; m++)
			if (metric_row_is_of(m, way->set, way->name) &&
			    metric_row_fits(m, host->core) && f(arg, m))
				return true;
	return false;
}

static bool is_usable(void *arg, const struct metric *m)
{
	return row_is_there(m, arg, NULL);
}

static bool way_fits(const struct metric_method *way, const char *set,
		     const struct metric_host *host)
{
	const struct core *core = host->core;

	return !strcmp(way->set, set) &&
	       (way->vendor == CORE_OTHER || way->vendor == core->vendor) &&
	       (!way->cores || way->cores & CORE_BIT(core->id)) &&
	       (way->run == METRIC_RUN_ANY || host->smt == (way->run == METRIC_RUN_SMT_WHOLE));
}

/* Does it mean nothing of what is being counted? */
static bool is_of_others_too(const struct metric_method *way, const struct metric_host *host)
{
	return way->run == METRIC_RUN_SMT_WHOLE && host->per_task;
}

/* The first way that works; *refused is the best one that did not, if that is another. */
static const struct metric_method *choose(const char *set, const struct metric_host *host,
					  const struct metric_method **refused)
{
	const struct metric_method *way;

	*refused = NULL;
	for (way = metric_methods; way->set; way++) {
		if (!way_fits(way, set, host))
			continue;
		if (!is_of_others_too(way, host) && needs_are_there(way, host, NULL) &&
		    rows_any(way, host, is_usable, (void *)host))
			return way;
		if (!*refused)
			*refused = way;
	}
	return NULL;
}

static void add_note(struct maker *mk, char *note)
{
	struct metric_plan *p = mk->plan;

	p->notes = xgrow(p->notes, p->nr_notes, &mk->notes_cap, sizeof(*p->notes));
	p->notes[p->nr_notes++] = note;
}

static bool plan_has(const struct metric_plan *plan, const struct metric *m)
{
	for (size_t i = 0; i < plan->nr_metrics; i++)
		if (!strcmp(plan->metrics[i]->name, m->name))
			return true;
	return false;
}

/* What a set left out: names of rows, and of the events that they lack. */
struct left_out {
	struct maker *mk;
	const struct metric_method *way;
	struct names rows, lacking;
};

/* An alternative that is there? */
struct namesake {
	const struct metric_host *host;
	const char *name;
	const struct metric *found;
};

static bool is_namesake(void *arg, const struct metric *m)
{
	struct namesake *n = arg;

	if (strcmp(m->name, n->name) || !row_is_there(m, n->host, NULL))
		return false;
	n->found = m;
	return true;
}

static void add_event(void *arg, const char *name)
{
	if (!metric_is_number(name))
		names_add(arg, name);
}

/* Takes the events of a row if they fit. Rows come in the order in which people read them. */
static bool has_room(struct maker *mk, const struct metric *m)
{
	struct names *taken = &mk->taken;
	size_t before = taken->nr, slots = 0;

	if (!mk->host->max_events)
		return true;
	metric_row_names(m, mk->host->core, add_event, taken);
	for (size_t i = 0; i < taken->nr && !slots; i++) /* these bring their leader */
		slots = !strncmp(taken->v[i], "topdown_", 8) && !names_have(taken, "slots");
	if (taken->nr + slots <= mk->host->max_events)
		return true;
	while (taken->nr > before)
		free(taken->v[--taken->nr]);
	names_add(&mk->no_room, m->name);
	return false;
}

/* One row: it, or an alternative, or a line in the note. */
static bool add_row(void *arg, const struct metric *m)
{
	struct left_out *out = arg;
	struct maker *mk = out->mk;
	struct metric_plan *p = mk->plan;
	struct namesake same = { .host = mk->host, .name = m->name };

	if (rows_any(out->way, mk->host, is_namesake, &same)) {
		if (plan_has(p, same.found) || !has_room(mk, same.found))
			return false;
		p->metrics =
			xgrow(p->metrics, p->nr_metrics, &mk->metrics_cap, sizeof(*p->metrics));
		p->metrics[p->nr_metrics++] = same.found;
	} else if (!names_have(&out->rows, m->name)) {
		names_add(&out->rows, m->name);
		row_is_there(m, mk->host, &out->lacking);
	}
	return false;
}

static void print_lacking(const struct names *lacking, FILE *to)
{
	const char *before = "this machine shows no ";

	for (size_t i = 0; i < lacking->nr; i++) {
		if (metric_is_number(lacking->v[i]))
			continue;
		fprintf(to, "%s%s", before, lacking->v[i]);
		before = ", ";
	}
	/* Of numbers only this one can be missing. */
	if (lacking->nr && *before != ',')
		fprintf(to, "the slots per cycle of this core are not known");
}

/* "topdown: cycle-based, by …; not slot-based, …: this machine shows no …". */
static void note_way(struct maker *mk, const struct metric_method *way,
		     const struct metric_method *refused)
{
	struct names lacking = { 0 };
	char *note = NULL;
	size_t sz;
	FILE *to;

	if (!way->title)
		return;
	to = open_memstream(&note, &sz);
	fprintf(to, "%s: %s", way->set, way->title);
	if (refused && refused->title) {
		needs_are_there(refused, mk->host, &lacking);
		fprintf(to, "; not %s: ", refused->title);
		if (lacking.nr)
			print_lacking(&lacking, to);
		else if (is_of_others_too(refused, mk->host))
			fprintf(to, "with SMT on it holds only for the whole system");
		else
			fprintf(to, "this machine has not all of its events");
	}
	fclose(to);
	names_release(&lacking);
	add_note(mk, note);
}

static void note_left_out(struct left_out *out)
{
	char *note = NULL;
	size_t sz;
	FILE *to;

	if (!out->rows.nr)
		return;
	to = open_memstream(&note, &sz);
	fprintf(to, "%s: left out: ", out->way->set);
	names_print(&out->rows, to);
	fprintf(to, ": ");
	print_lacking(&out->lacking, to);
	fclose(to);
	add_note(out->mk, note);
}

static void note_no_room(struct maker *mk)
{
	char *note = NULL;
	size_t sz;
	FILE *to;

	if (mk->no_room.nr) {
		to = open_memstream(&note, &sz);
		fprintf(to, "no more than %zu events at a time here, so left out: ",
			mk->host->max_events);
		names_print(&mk->no_room, to);
		fclose(to);
		add_note(mk, note);
	}
	names_release(&mk->taken);
	names_release(&mk->no_room);
}

static void add_set(struct maker *mk, const char *set)
{
	const struct metric_method *refused, *way = choose(set, mk->host, &refused);
	struct left_out out = { .mk = mk, .way = way };

	if (!way) {
		add_note(mk, xasprintf("%s: nothing to show: this %s shows no events for it", set,
				       mk->host->core->name));
		return;
	}
	note_way(mk, way, refused);
	rows_any(way, mk->host, add_row, &out);
	note_left_out(&out);
	names_release(&out.rows);
	names_release(&out.lacking);
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

/* The leaders that are wanted, then the rest row by row. */
static void collect_events(struct maker *mk)
{
	struct metric_plan *p = mk->plan;
	struct names wanted = { 0 }, row = { 0 };
	struct order order = { 0 };
	size_t i;

	for (i = 0; i < p->nr_metrics; i++)
		metric_row_names(p->metrics[i], mk->host->core, add_event, &wanted);
	for (i = 0; i < wanted.nr; i++)
		p->slots_group |= !strncmp(wanted.v[i], "topdown_", 8);
	/* Of Atoms topdown-* are ordinary events. */
	p->slots_group = p->slots_group && host_has(mk->host, "slots");
	if (p->slots_group)
		names_add(&wanted, "slots");
	for (i = 0; i < NR_LEADERS; i++)
		if (names_have(&wanted, leaders[i]))
			order_insert(&order, order.names.nr, leaders[i], 0);
	for (i = 0; i < p->nr_metrics; i++) {
		metric_row_names(p->metrics[i], mk->host->core, add_event, &row);
		order_row(&order, &row, i + 1);
		names_release(&row);
	}
	names_release(&wanted);
	free(order.cluster);
	p->events = (const char **)order.names.v;
	p->nr_events = order.names.nr;
}

static size_t nr_sets(void)
{
	size_t nr = 0;

	while (metric_sets[nr].name)
		nr++;
	return nr;
}

static int unknown_set(const char *name)
{
	const char *names[SETS_MAX], *near;
	struct names all = { 0 };
	size_t nr = nr_sets(), i, sz;
	char *list = NULL;
	FILE *to = open_memstream(&list, &sz);

	for (i = 0; i < nr; i++) {
		names[i] = metric_sets[i].name;
		names_add(&all, names[i]);
	}
	names_print(&all, to);
	fclose(to);
	near = text_nearest(name, names, nr);
	if (near)
		log_err(0, "no set of metrics is called \"%s\": did you mean %s?", name, near);
	else
		log_err(0, "no set of metrics is called \"%s\": there are %s and all", name, list);
	names_release(&all);
	free(list);
	return -EINVAL;
}

/* Marks what a name means. */
static int mark_set(bool *marked, size_t *order, size_t *nr, const char *name)
{
	size_t all = nr_sets(), i;
	bool every = !strcmp(name, "all"), found = false;

	for (i = 0; i < all; i++) {
		if (!every && strcmp(metric_sets[i].name, name))
			continue;
		found = true;
		if (!marked[i])
			order[(*nr)++] = i;
		marked[i] = true;
	}
	return found ? 0 : unknown_set(name);
}

static int parse_sets(const char *sets, size_t *order, size_t *nr)
{
	char *copy = xstrdup(sets), *at = copy, *name;
	bool marked[SETS_MAX] = { false };
	int err = 0;

	while (!err && (name = strsep(&at, ",")))
		err = mark_set(marked, order, nr, name);
	free(copy);
	return err;
}

int metric_plan_make(struct metric_plan *plan, const char *sets, const struct metric_host *host)
{
	struct maker mk = { .plan = plan, .host = host };
	size_t order[SETS_MAX], nr = 0;
	int err;

	*plan = (struct metric_plan){ 0 };
	err = parse_sets(sets, order, &nr);
	if (err)
		return err;
	for (size_t i = 0; i < nr; i++)
		add_set(&mk, metric_sets[order[i]].name);
	note_no_room(&mk);
	collect_events(&mk);
	return 0;
}

void metric_plan_release(struct metric_plan *plan)
{
	size_t i;

	for (i = 0; i < plan->nr_events; i++)
		free((char *)plan->events[i]);
	for (i = 0; i < plan->nr_notes; i++)
		free(plan->notes[i]);
	free(plan->events);
	free(plan->notes);
	free(plan->metrics);
	*plan = (struct metric_plan){ 0 };
}
