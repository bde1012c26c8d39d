/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From names of sets to rows, and from rows to events. What a machine lacks costs the rows that
 * need it, and a note; never the run.
 */
#include "metric/metric.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "metric/names.h"
#include "metric/plan_parts.h"
#include "metric/rows.h"

struct maker {
	struct metric_plan *plan;
	const struct metric_host *host;
	size_t metrics_cap, notes_cap;
	struct names taken, no_room; /* events so far, and rows left out; with host->max_events */
	unsigned int level;	     /* of the tree of topdown, 0 = as its set has it */
	bool knows_level; /* this core has rows of it, whether they can be counted or not */
};

static bool host_has(const struct metric_host *host, const char *name)
{
	if (!strcmp(name, "slots_per_cycle"))
		return host->core->slots != 0;
	if (metric_is_peak(name))
		return host->peaks != NULL;
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
	bool lacks_peaks;   /* rows of peaks that nobody told */
	unsigned int level; /* only rows of the tree, down to it; 0 = all of the set */
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

static void find_peak(void *arg, const char *name)
{
	*(bool *)arg |= metric_is_peak(name);
}

/* Peaks are not of the events that a machine shows: one note for all rows says that they lack. */
static bool lacks_peaks(const struct metric *m, const struct metric_host *host)
{
	bool needs = false;

	metric_row_names(m, host->core, find_peak, &needs);
	return needs && !host->peaks;
}

/* One row: it, or an alternative, or a line in the note. */
static bool add_row(void *arg, const struct metric *m)
{
	struct left_out *out = arg;
	struct maker *mk = out->mk;
	struct metric_plan *p = mk->plan;
	struct namesake same = { .host = mk->host, .name = m->name };

	if (out->level && (!m->level || m->level > out->level))
		return false;
	mk->knows_level |= m->level == mk->level;
	if (lacks_peaks(m, mk->host)) {
		out->lacks_peaks = true;
	} else if (rows_any(out->way, mk->host, is_namesake, &same)) {
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

static void add_rows(struct maker *mk, const struct metric_method *way, unsigned int level)
{
	struct left_out out = { .mk = mk, .way = way, .level = level };

	rows_any(way, mk->host, add_row, &out);
	note_left_out(&out);
	if (out.lacks_peaks)
		add_note(mk, xasprintf("%s: peak and bandwidth of this machine are not known: no "
				       "ridge point and no verdict (--measure-peaks measures "
				       "them, --peak-gflops and --peak-gbps tell them)",
				       way->set));
	names_release(&out.rows);
	names_release(&out.lacking);
}

static void add_set(struct maker *mk, const char *set)
{
	const struct metric_method *refused, *way = choose(set, mk->host, &refused);

	if (!way) {
		add_note(mk, xasprintf("%s: nothing to show: this %s shows no events for it", set,
				       mk->host->core->name));
		return;
	}
	note_way(mk, way, refused);
	add_rows(mk, way, strcmp(set, "topdown") ? 0 : mk->level);
}

static bool is_among(size_t i, const size_t *order, size_t nr)
{
	while (nr && order[nr - 1] != i)
		nr--;
	return nr;
}

/* Parts of the tree stand in other sets too; of those that were not asked for, only these. */
static void add_levels(struct maker *mk, const size_t *order, size_t nr)
{
	const struct metric_method *refused, *way;

	for (size_t i = 0; metric_sets[i].name; i++) {
		if (is_among(i, order, nr))
			continue;
		way = choose(metric_sets[i].name, mk->host, &refused);
		if (way || refused) /* whose rows are left out, with the reason */
			add_rows(mk, way ? way : refused, mk->level);
	}
}

/* Where the tree ends before the level that was asked for. */
static void note_level(struct maker *mk)
{
	const struct metric_plan *p = mk->plan;
	unsigned int last = 0;

	for (size_t i = 0; i < p->nr_metrics; i++)
		last = p->metrics[i]->level > last ? p->metrics[i]->level : last;
	if (!last || last >= mk->level)
		return;
	add_note(mk, mk->knows_level
			     ? xasprintf("topdown: nothing of level %u can be counted (what is "
					 "left out says why): the tree ends at level %u",
					 mk->level, last)
			     : xasprintf("topdown: no part of level %u is known of this %s: the "
					 "tree ends at level %u",
					 mk->level, mk->host->core->name, last));
}

/* Which of two rows by the same formula goes: parts of topdown are asked for by its names. */
static size_t worse_of(const struct metric_plan *p, size_t i, size_t j)
{
	return !strcmp(p->metrics[j]->set, "topdown") ? i : j;
}

/* Sets may have the same number under two names: it is shown once. */
static void drop_doubles(struct metric_plan *p)
{
	for (size_t i = 0; i < p->nr_metrics; i++)
		for (size_t j = i + 1; j < p->nr_metrics; j++) {
			size_t out = worse_of(p, i, j);

			if (strcmp(p->metrics[i]->formula, p->metrics[j]->formula))
				continue;
			p->nr_metrics--;
			memmove(&p->metrics[out], &p->metrics[out + 1],
				(p->nr_metrics - out) * sizeof(*p->metrics));
			j = i; /* who stands there now is compared with all behind it */
		}
}

int metric_plan_make(struct metric_plan *plan, const char *sets, const struct metric_host *host)
{
	struct maker mk = { .plan = plan, .host = host };
	size_t order[PLAN_SETS_MAX], nr = 0;
	int err;

	*plan = (struct metric_plan){ 0 };
	err = plan_sets(sets, order, &nr, &mk.level);
	if (err)
		return err;
	for (size_t i = 0; i < nr; i++)
		add_set(&mk, metric_sets[order[i]].name);
	if (mk.level) {
		add_levels(&mk, order, nr);
		note_level(&mk);
	}
	note_no_room(&mk);
	drop_doubles(plan);
	plan_order(plan, host->core, host_has(host, "slots"));
	return 0;
}

/* In what order rows are looked for: a name is taken from the plainest set that has it. */
static const char *const derived_sets[] = {
	"ipc", "cpu", "branch", "cache", "tlb", "topdown", "backend-memory", "mix", "roofline",
};

static bool has_formula(const struct metric_plan *plan, const struct metric *m)
{
	for (size_t i = 0; i < plan->nr_metrics; i++)
		if (!strcmp(plan->metrics[i]->formula, m->formula))
			return true;
	return false;
}

static void add_derived_event(void *arg, const char *name)
{
	struct metric_plan *p = arg;

	for (size_t i = 0; i < p->nr_events; i++)
		if (!strcmp(p->events[i], name))
			return;
	if (metric_is_number(name))
		return;
	p->events = xreallocarray(p->events, p->nr_events + 1, sizeof(*p->events));
	p->events[p->nr_events++] = xstrdup(name);
}

static bool add_derived(void *arg, const struct metric *m)
{
	struct maker *mk = arg;
	struct metric_plan *p = mk->plan;

	if (!row_is_there(m, mk->host, NULL) || plan_has(p, m) || has_formula(p, m))
		return false;
	p->metrics = xreallocarray(p->metrics, p->nr_metrics + 1, sizeof(*p->metrics));
	p->metrics[p->nr_metrics++] = m;
	metric_row_names(m, mk->host->core, add_derived_event, p);
	return false;
}

void metric_plan_derive(struct metric_plan *plan, const struct metric_host *host)
{
	struct maker mk = { .plan = plan, .host = host };
	const struct metric_method *way;

	for (size_t i = 0; i < sizeof(derived_sets) / sizeof(*derived_sets); i++)
		for (way = metric_methods; way->set; way++)
			if (way_fits(way, derived_sets[i], host) && !is_of_others_too(way, host) &&
			    needs_are_there(way, host, NULL))
				rows_any(way, host, add_derived, &mk);
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
