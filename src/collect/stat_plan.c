/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Planning what to open, and making reports of what was counted. */
#include "collect/stat_plan.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "collect/metric_host.h"
#include "event/cpus.h"

#define INPUTS_MAX 512

/* The same counter under whatever name: it is opened once. */
static bool is_same(const struct event *a, const struct event *b)
{
	return a->type == b->type && a->config == b->config && a->config1 == b->config1 &&
	       a->config2 == b->config2 && a->exclude_user == b->exclude_user &&
	       a->exclude_kernel == b->exclude_kernel && a->exclude_hv == b->exclude_hv;
}

/* The event's index; it is appended unless it is there. Takes e over. */
static size_t add_event(struct stat_plan *f, struct event *e)
{
	for (size_t i = 0; i < f->nr_events; i++)
		if (is_same(&f->events[i], e)) {
			free(e->name);
			return i;
		}
	f->events = xreallocarray(f->events, f->nr_events + 1, sizeof(*f->events));
	f->events[f->nr_events] = *e;
	return f->nr_events++;
}

static int add_term(struct stat_plan *f, struct stat_plan_term *term, const char *name)
{
	struct event *found = NULL;
	size_t nr = 0;
	int err = catalog_find(f->catalog, name, &found, &nr);

	if (err)
		return err;
	term->name = name;
	term->events = xcalloc(nr ? nr : 1, sizeof(*term->events));
	for (size_t i = 0; i < nr; i++)
		term->events[term->nr++] = add_event(f, &found[i]);
	free(found);
	return 0;
}

static int add_terms(struct stat_plan *f)
{
	int err = 0;

	f->terms = xcalloc(f->plan.nr_events ? f->plan.nr_events : 1, sizeof(*f->terms));
	for (size_t i = 0; i < f->plan.nr_events && !err; i++)
		err = add_term(f, &f->terms[i], f->plan.events[i]);
	return err;
}

static void add_missing(void *arg, const char *name, const char *why)
{
	struct stat_plan *f = arg;
	char *safe = text_cleaned(why);

	log_warn("%s", safe);
	f->missing = xreallocarray(f->missing, f->nr_missing + 1, sizeof(*f->missing));
	f->missing[f->nr_missing++] = (struct stat_plan_missing){ xstrdup(name), safe };
}

static int add_list(struct stat_plan *f, const char *list)
{
	struct event *found = NULL;
	size_t nr = 0;
	int err = catalog_find_some(f->catalog, list, &found, &nr, add_missing, f);

	if (err) {
		events_free(found, nr);
		return err;
	}
	/* Under every name that was asked for, though two may be one event. */
	f->events = found;
	f->nr_events = f->nr_named = nr;
	return 0;
}

/* Events by name that have the modifiers of one of them: metrics are of one mode. */
struct named {
	const struct stat_plan *f;
	const struct event *like;
	bool per_task;
};

static bool is_named(const struct named *n, const struct event *e, const char *name)
{
	return e->exclude_user == n->like->exclude_user &&
	       e->exclude_kernel == n->like->exclude_kernel &&
	       e->exclude_hv == n->like->exclude_hv && stat_event_equal(e->base, name);
}

/* Of a CPU the task clock is the time that went by, whoever ran. */
static bool has_named(void *arg, const char *name)
{
	const struct named *n = arg;

	if (!n->per_task && stat_name_equal(name, "task-clock"))
		return false;
	for (size_t i = 0; i < n->f->nr_named; i++)
		if (is_named(n, &n->f->events[i], name))
			return true;
	return false;
}

static void add_named_terms(struct stat_plan *f, const struct named *n, size_t from)
{
	f->terms = xreallocarray(f->terms, f->plan.nr_events + 1, sizeof(*f->terms));
	for (size_t i = from; i < f->plan.nr_events; i++) {
		struct stat_plan_term *term = &f->terms[i];

		term->name = f->plan.events[i];
		term->nr = 0;
		term->events = xcalloc(f->nr_named, sizeof(*term->events));
		for (size_t j = 0; j < f->nr_named; j++)
			if (is_named(n, &f->events[j], term->name))
				term->events[term->nr++] = j;
	}
}

/*
 * What follows from the events by name. Beside sets, whose events are of all modes, those without
 * modifiers; else those of the first event with which there is a metric.
 */
static void derive(struct stat_plan *f, struct metric_host host, bool sets)
{
	size_t nr_metrics = f->plan.nr_metrics, nr_events = f->plan.nr_events;
	struct event plain = {};
	struct named named = { f, &plain, host.per_task };

	host.has = has_named;
	host.arg = &named;
	metric_plan_derive(&f->plan, &host);
	for (size_t i = 0; i < f->nr_named && !sets && f->plan.nr_metrics == nr_metrics; i++) {
		named.like = &f->events[i];
		metric_plan_derive(&f->plan, &host);
	}
	add_named_terms(f, &named, nr_events);
}

int stat_plan_make(struct stat_plan *f, const struct catalog *catalog, const char *sets,
		   const char *events, bool per_task, size_t max_events,
		   const struct metric_peaks *peaks)
{
	struct metric_catalog c = { catalog, per_task };
	struct metric_host host = metric_host(&c);
	int err = 0;

	memset(f, 0, sizeof(*f));
	f->catalog = catalog;
	f->peaks = host.peaks = peaks;
	if (events)
		err = add_list(f, events);
	if (max_events)
		host.max_events = f->nr_events < max_events ? max_events - f->nr_events : 1;
	if (!err && sets)
		err = metric_plan_make(&f->plan, sets, &host);
	err = err ? err : add_terms(f);
	if (!err)
		derive(f, host, sets);
	return err;
}

void stat_plan_release(struct stat_plan *f)
{
	for (size_t i = 0; f->terms && i < f->plan.nr_events; i++)
		free(f->terms[i].events);
	free(f->terms);
	for (size_t i = 0; i < f->nr_missing; i++) {
		free(f->missing[i].name);
		free(f->missing[i].why);
	}
	free(f->missing);
	events_free(f->events, f->nr_events);
	metric_plan_release(&f->plan);
	memset(f, 0, sizeof(*f));
}

/* What formulas are computed from: the counts of one run, or the sums of all. */
struct inputs {
	const struct stat_plan *f;
	const struct count *counts; /* by event */
	struct count *merged;	    /* by term */
};

/* Both as one. Time in which one of them was not counted shows in the duty. */
static void add_count(struct count *sum, const struct count *c)
{
	if (!count_is_there(sum)) {
		struct count before = *sum;

		*sum = *c;
		c = &before;
	}
	sum->enabled_ns += c->enabled_ns;
	sum->running_ns += c->running_ns;
	if (count_is_there(c)) {
		sum->value += c->value;
		sum->raw += c->raw;
	}
	if (count_is_there(sum) && sum->running_ns < sum->enabled_ns)
		sum->state = COUNT_SCALED;
}

/*
 * On hybrid machines what all kinds of cores counted. Where nothing ran nothing is missing; where
 * one could not count, there is no sum.
 */
static const struct count *sum_term(const struct inputs *in, size_t term)
{
	const struct stat_plan_term *t = &in->f->terms[term];
	struct count *sum = &in->merged[term];

	*sum = in->counts[t->events[0]];
	for (size_t i = 1; i < t->nr; i++) {
		const struct count *c = &in->counts[t->events[i]];

		if (!count_is_there(sum) && sum->state != COUNT_NOT_COUNTED)
			break;
		if (!count_is_there(c) && c->state != COUNT_NOT_COUNTED)
			*sum = *c;
		else
			add_count(sum, c);
	}
	return sum;
}

static const struct count *find(void *arg, const char *event)
{
	const struct inputs *in = arg;

	for (size_t i = 0; i < in->f->plan.nr_events; i++)
		if (in->f->terms[i].nr && !strcmp(in->f->terms[i].name, event))
			return sum_term(in, i);
	return NULL;
}

/* Those of the runs as one for which it was asked; with != NULL only where that has a value. */
static struct count sum_runs(const struct stat_plan *f, const struct stat_plan_runs *runs,
			     size_t event, const struct stat_number *with)
{
	struct count sum = runs->counts[event];
	bool any = false;

	for (size_t i = 0; i < runs->nr_runs; i++) {
		const struct count *c = &runs->counts[i * f->nr_events + event];

		if (with && isnan(with->runs[i]))
			continue;
		if (any)
			add_count(&sum, c);
		else
			sum = *c;
		any = true;
	}
	return sum;
}

static void fill_event(const struct stat_plan *f, const struct stat_plan_runs *runs, size_t event,
		       struct stat_event *to)
{
	const struct event *e = &f->events[event];

	to->name = xstrdup(e->name);
	to->unit = xstrdup(e->unit ? e->unit : "");
	to->meaning = xstrdup(e->meaning ? e->meaning : "");
	to->why = xstrdup("");
	to->count = sum_runs(f, runs, event, NULL);
	to->number.runs = xcalloc(runs->nr_runs, sizeof(double));
	to->number.nr_runs = runs->nr_runs;
	for (size_t i = 0; i < runs->nr_runs; i++) {
		const struct count *c = &runs->counts[i * f->nr_events + event];

		to->number.runs[i] = count_is_there(c) ? c->value * e->scale : NAN;
	}
	stat_number_finish(&to->number);
}

static void fill_missing(const struct stat_plan_missing *m, struct stat_event *to)
{
	*to = (struct stat_event){ .name = xstrdup(m->name),
				   .unit = xstrdup(""),
				   .meaning = xstrdup(""),
				   .why = xstrdup(m->why),
				   .count.state = COUNT_NOT_AVAILABLE };
	stat_number_finish(&to->number);
}

static char *copy(const char *s)
{
	return xstrdup(s ? s : "");
}

static void fill_metric(const struct metric_value *v, const struct metric_inputs *in,
			struct stat_metric *to)
{
	const struct metric *m = v->metric;
	char inputs[INPUTS_MAX] = "";

	metric_formula_text(m, in, inputs, sizeof(inputs));
	to->set = copy(m->set);
	to->name = copy(m->name);
	to->label = copy(m->label);
	to->unit = copy(m->unit);
	to->formula = copy(m->formula);
	to->advice = copy(m->advice);
	to->source = copy(m->source);
	to->ok = m->ok;
	to->high = m->high;
	to->raw = v->raw;
	to->verdict = v->verdict;
	to->why = copy(v->why);
	to->inputs = copy(inputs);
}

/* What metrics of some counts are. */
struct evaluation {
	const struct stat_plan *f;
	struct inputs in;
	struct metric_inputs inputs;
	struct metric_value *values; /* by metric of the plan */
	struct count *sums;	     /* by event */
};

static void evaluate(struct evaluation *e, const struct count *counts, double seconds)
{
	e->in.counts = counts;
	e->inputs.seconds = seconds;
	metric_plan_eval(&e->f->plan, &e->inputs, e->values);
}

/* All runs together; with != NULL those in which that metric has a value. */
static void evaluate_sums(struct evaluation *e, const struct stat_plan_runs *runs,
			  const struct stat_number *with)
{
	double seconds = 0;

	for (size_t i = 0; i < runs->nr_runs; i++)
		if (!with || !isnan(with->runs[i]))
			seconds += runs->seconds[i];
	for (size_t i = 0; i < e->f->nr_events; i++)
		e->sums[i] = sum_runs(e->f, runs, i, with);
	evaluate(e, e->sums, seconds);
}

static void evaluate_runs(struct evaluation *e, const struct stat_plan_runs *runs,
			  struct stat_metric *metrics)
{
	for (size_t run = 0; run < runs->nr_runs; run++) {
		evaluate(e, &runs->counts[run * e->f->nr_events], runs->seconds[run]);
		for (size_t i = 0; i < e->f->plan.nr_metrics; i++)
			metrics[i].number.runs[run] = e->values[i].value;
	}
}

/*
 * Each run alone gives the numbers, all of them together the verdict; a short run may lack the
 * count of an event whose turn did not come, and then it is left out of both.
 */
static void fill_metrics(const struct stat_plan *f, const struct stat_plan_runs *runs,
			 struct stat_row *row)
{
	size_t nr = f->plan.nr_metrics;
	struct evaluation e = {
		.f = f,
		.in = { f, NULL, xcalloc(f->plan.nr_events, sizeof(struct count)) },
		.values = xcalloc(nr, sizeof(struct metric_value)),
		.sums = xcalloc(f->nr_events, sizeof(struct count)),
	};

	e.inputs = (struct metric_inputs){
		.core = catalog_core(f->catalog), .peaks = f->peaks, .find = find, .arg = &e.in
	};
	row->metrics = xcalloc(nr, sizeof(*row->metrics));
	row->nr_metrics = nr;
	for (size_t i = 0; i < nr; i++) {
		row->metrics[i].number.runs = xcalloc(runs->nr_runs, sizeof(double));
		row->metrics[i].number.nr_runs = runs->nr_runs;
	}
	evaluate_runs(&e, runs, row->metrics);
	for (size_t i = 0; i < nr; i++) {
		struct stat_number *n = &row->metrics[i].number;
		size_t have = stat_number_nr(n);

		if (!i || (have && have < n->nr_runs))
			evaluate_sums(&e, runs, have && have < n->nr_runs ? n : NULL);
		fill_metric(&e.values[i], &e.inputs, &row->metrics[i]);
		stat_number_finish(n);
		if (have && have < n->nr_runs && i + 1 < nr)
			evaluate_sums(&e, runs, NULL);
	}
	free(e.in.merged);
	free(e.sums);
	free(e.values);
}

void stat_plan_fill(const struct stat_plan *f, const struct stat_plan_runs *runs,
		    struct stat_row *row)
{
	row->events = xcalloc(f->nr_events + f->nr_missing + 1, sizeof(*row->events));
	for (size_t i = 0; i < f->nr_events; i++)
		fill_event(f, runs, i, &row->events[row->nr_events++]);
	for (size_t i = 0; i < f->nr_missing; i++)
		fill_missing(&f->missing[i], &row->events[row->nr_events++]);
	if (f->plan.nr_metrics)
		fill_metrics(f, runs, row);
}

void stat_plan_note(struct stat_report *r, const char *note)
{
	r->notes = xreallocarray(r->notes, r->nr_notes + 1, sizeof(*r->notes));
	r->notes[r->nr_notes++] = xstrdup(note);
}

void stat_plan_describe(const struct stat_plan *f, struct stat_report *r)
{
	const struct core *core = catalog_core(f->catalog);
	struct cpus online = {};
	struct utsname u = {};

	uname(&u);
	r->host = xstrdup(u.nodename);
	r->kernel = xstrdup(u.release);
	r->arch = xstrdup(u.machine);
	r->cpu = xstrdup(core->cpu[0] ? core->cpu : core->name);
	r->core_ident = xstrdup(core->ident);
	r->version = xstrdup(BPFPROF_VERSION);
	if (!cpus_online(&online))
		r->nr_cpus = online.nr;
	cpus_release(&online);
	/* Without hardware counters there is one reason for all: it is told once. */
	for (size_t i = 0; i < f->plan.nr_notes && catalog_core_pmu(f->catalog); i++)
		stat_plan_note(r, f->plan.notes[i]);
}
