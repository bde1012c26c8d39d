/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows from the views that reports have: shares, budgets, classes of waits. */
#include "profile/overview.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "profile/budget.h"
#include "profile/shares.h"

const char *const overview_names[OVERVIEW_NR] = {
	[OVERVIEW_FUNCTIONS] = "functions",
	[OVERVIEW_PROCESSES] = "processes",
	[OVERVIEW_THREADS] = "threads",
	[OVERVIEW_WAITS] = "waits",
};

static const struct overview_column functions[] = {
	{ "SELF", OVERVIEW_PCT, 1 },	   { "TOTAL", OVERVIEW_PCT, 2 },
	{ "SAMPLES", OVERVIEW_NUMBER, 4 }, { "MODULE", OVERVIEW_TEXT, 3 },
	{ "FUNCTION", OVERVIEW_NAME, 0 },
};

enum { WHO_ID, WHO_CPU, WHO_RUNNABLE, WHO_MORE };

static const struct overview_column processes[] = {
	{ "PID", OVERVIEW_NUMBER, 2 },	    { "ON-CPU", OVERVIEW_PCT, 1 },
	{ "RUNNABLE", OVERVIEW_PCT, 3 },    { "THREADS", OVERVIEW_NUMBER, 4 },
	{ "MOST WAITS", OVERVIEW_TEXT, 5 }, { "PROCESS", OVERVIEW_NAME, 0 },
};

/* Classes in the order in which they say most. */
static const uint8_t shown_classes[] = { WAIT_LOCK,	 WAIT_IO,	 WAIT_NET,
					 WAIT_PIPE,	 WAIT_POLL,	 WAIT_SLEEP,
					 WAIT_PAGEFAULT, WAIT_THROTTLED, WAIT_OTHER };

static const struct overview_column threads[] = {
	{ "TID", OVERVIEW_NUMBER, 3 },	   { "ON-CPU", OVERVIEW_PCT, 1 },
	{ "RUNNABLE", OVERVIEW_PCT, 2 },   { "LOCK", OVERVIEW_PCT, 4 },
	{ "IO", OVERVIEW_PCT, 5 },	   { "NET", OVERVIEW_PCT, 6 },
	{ "PIPE", OVERVIEW_PCT, 7 },	   { "POLL", OVERVIEW_PCT, 8 },
	{ "SLEEP", OVERVIEW_PCT, 9 },	   { "FAULT", OVERVIEW_PCT, 10 },
	{ "THROTTLED", OVERVIEW_PCT, 11 }, { "OTHER", OVERVIEW_PCT, 12 },
	{ "PROCESS", OVERVIEW_TEXT, 13 },  { "THREAD", OVERVIEW_NAME, 0 },
};

static const struct overview_column waits[] = {
	{ "SHARE", OVERVIEW_PCT, 1 },
	{ "THREADS", OVERVIEW_RATE, 2 },
	{ "WAITS/s", OVERVIEW_RATE, 3 },
	{ "MEAN", OVERVIEW_TIME, 4 },
	{ "STATE OR WAIT FOR", OVERVIEW_NAME, 0 },
};

#define COLUMNS(of, by)                                                                            \
	{                                                                                          \
		of, sizeof(of) / sizeof(*(of)), by                                                 \
	}
static const struct {
	const struct overview_column *columns;
	size_t nr;
	int sort;
} pages[OVERVIEW_NR] = {
	[OVERVIEW_FUNCTIONS] = COLUMNS(functions, 0),
	[OVERVIEW_PROCESSES] = COLUMNS(processes, WHO_CPU),
	[OVERVIEW_THREADS] = COLUMNS(threads, WHO_CPU),
	[OVERVIEW_WAITS] = COLUMNS(waits, 0),
};

const struct overview_column *overview_columns(enum overview_page page, size_t *nr)
{
	*nr = pages[page].nr;
	return pages[page].columns;
}

int overview_usual_sort(enum overview_page page)
{
	return pages[page].sort;
}

/* A row, unless the filter leaves it out. Takes the name over. */
static struct overview_row *add(struct overview *o, const struct overview_opts *opts, char *name)
{
	if (opts->filter && regexec(opts->filter, name, 0, NULL, 0)) {
		o->nr_hidden++;
		free(name);
		return NULL;
	}
	o->rows = xgrow(o->rows, o->nr, &o->cap, sizeof(*o->rows));
	o->rows[o->nr] = (struct overview_row){ .name = name };
	return &o->rows[o->nr++];
}

static bool is_of(const struct sample *s, uint32_t pid)
{
	return !pid || s->pid == pid;
}

/* The same profile with some of its samples. */
static struct profile with_samples(const struct profile *p, uint32_t pid, bool running)
{
	struct profile one = *p;

	one.samples = xcalloc(p->nr_samples, sizeof(*one.samples));
	one.threads = xcalloc(p->nr_threads, sizeof(*one.threads));
	one.nr_samples = one.nr_threads = 0;
	for (size_t i = 0; i < p->nr_threads; i++)
		if (!pid || p->threads[i].pid == pid)
			one.threads[one.nr_threads++] = p->threads[i];
	for (size_t i = 0; i < p->nr_samples; i++) {
		struct sample s = p->samples[i];

		if (!is_of(&s, pid) || (running && PROF_WAIT_KIND(s.wait) != PROF_ON_CPU))
			continue;
		if (running)
			s.wait = 0;
		one.samples[one.nr_samples++] = s;
	}
	if (pid)
		memset(one.counters, 0, sizeof(one.counters)); /* of all, lost ones too */
	return one;
}

struct profile overview_running(const struct profile *p, uint32_t pid)
{
	struct profile one = with_samples(p, pid, true);

	one.meta.is_time = 0;
	one.meta.by_weight = 0;
	one.meta.command = 0;
	/* What was lost of waits is no code that ran. */
	memset(one.counters, 0, sizeof(one.counters));
	return one;
}

void overview_part_release(struct profile *one)
{
	free(one->samples);
	free(one->threads);
}

/* Its ledger is what it has: what was lost or left out is nobody's. */
struct profile overview_all(const struct profile *p, uint32_t pid)
{
	struct profile one = with_samples(p, pid, false);

	for (size_t i = 0; pid && i < one.nr_samples; i++)
		if (sample_is_recorded(&one.samples[i]))
			one.counters[PROF_RECORDED] += one.samples[i].count;
	if (pid)
		one.counters[PROF_SEEN] = one.counters[PROF_RECORDED];
	return one;
}

static double pct_of(double part, double all)
{
	return all > 0 ? 100 * part / all : 0;
}

static void add_functions(struct overview *o, struct overview_sums *sums,
			  const struct overview_opts *opts)
{
	struct profile one = overview_running(sums->profile, opts->pid);
	struct tree *t = tree_new(&one, &(struct view){});
	double all = t->nodes[0].total;
	struct shares s;

	shares_init(&s, t, VIEW_BY_FUNCTION);
	for (size_t i = 0; i < s.nr; i++) {
		const struct share *share = &s.v[i];
		struct overview_row *row = add(o, opts, xstrdup(share->name));

		if (!row)
			continue;
		row->v[0] = pct_of(share->self, all);
		row->v[1] = pct_of(share->total, all);
		row->v[2] = share->self;
		row->text = text_base_name(share->module);
	}
	shares_release(&s);
	tree_free(t);
	overview_part_release(&one);
}

static double window_ns(const struct profile *p)
{
	return p->meta.duration_ns ? p->meta.duration_ns : 1;
}

/* What it waits for most, as a name; "" = for nothing. */
static const char *most_of(const struct budget_row *row)
{
	uint64_t most = 0;
	const char *name = "";

	for (uint32_t class = 0; class < WAITS_NR; class ++)
		if (budget_is_blocked(class) && row->ns[class] > most) {
			most = row->ns[class];
			name = waits_name(class);
		}
	return name;
}

static void fill_who(struct overview_row *to, const struct profile *p,
		     const struct budget_row *from, uint32_t id)
{
	double all = window_ns(p);

	to->pid = from->pid;
	to->tid = from->tid;
	to->v[WHO_ID] = id;
	to->v[WHO_CPU] = pct_of(from->ns[WAITS_ON_CPU], all);
	to->v[WHO_RUNNABLE] = pct_of(budget_runnable(from), all);
	to->idle = to->v[WHO_CPU] + to->v[WHO_RUNNABLE] < 0.05;
}

static char *name_of(const struct profile *p, uint32_t string)
{
	return text_cleaned(profile_str(p, string));
}

static const struct budget *budget_of(struct overview_sums *sums)
{
	if (!sums->has_budget)
		budget_init(&sums->budget, sums->profile);
	sums->has_budget = true;
	return &sums->budget;
}

void overview_sums_release(struct overview_sums *sums)
{
	if (sums->has_budget)
		budget_release(&sums->budget);
	sums->has_budget = false;
}

static void add_processes(struct overview *o, struct overview_sums *sums,
			  const struct overview_opts *opts)
{
	const struct profile *p = sums->profile;
	const struct budget *b = budget_of(sums);

	for (size_t i = 0; i < b->nr_processes; i++) {
		const struct budget_process *from = &b->processes[i];
		struct overview_row *row = opts->pid && from->sum.pid != opts->pid
						   ? NULL
						   : add(o, opts, name_of(p, from->sum.process));

		if (!row)
			continue;
		fill_who(row, p, &from->sum, from->sum.pid);
		row->v[WHO_MORE] = from->nr;
		row->text = most_of(&from->sum);
	}
}

/*
 * A process has the name of its first thread: one that began another program has two by now, and
 * has one on all pages.
 */
static uint32_t thread_name(const struct budget_row *row)
{
	return row->tid == row->pid ? row->process : row->thread;
}

static void add_threads(struct overview *o, struct overview_sums *sums,
			const struct overview_opts *opts)
{
	size_t nr = sizeof(shown_classes) / sizeof(*shown_classes);
	const struct profile *p = sums->profile;
	const struct budget *b = budget_of(sums);

	for (size_t i = 0; i < b->nr_threads; i++) {
		const struct budget_row *from = &b->threads[i];
		struct overview_row *row = opts->pid && from->pid != opts->pid
						   ? NULL
						   : add(o, opts, name_of(p, thread_name(from)));

		if (!row)
			continue;
		fill_who(row, p, from, from->tid);
		for (size_t k = 0; k < nr; k++)
			row->v[WHO_MORE + k] = pct_of(from->ns[shown_classes[k]], window_ns(p));
		row->text = profile_str(p, from->process);
	}
}

static void add_state(struct overview *o, const struct overview_opts *opts, const char *name,
		      const struct waits_sum *sum, double all_ns, double ns)
{
	struct overview_row *row;

	if (!sum->ns && !sum->nr)
		return;
	row = add(o, opts, xstrdup(name));
	if (!row)
		return;
	row->v[0] = pct_of(sum->ns, all_ns);
	row->v[1] = sum->ns / ns;
	row->v[2] = sum->nr * 1e9 / ns;
	row->v[3] = sum->nr ? (double)sum->ns / sum->nr : 0;
}

static void add_states(struct overview *o, const struct overview_opts *opts, const struct waits *w,
		       double ns)
{
	for (uint32_t class = 0; class < WAITS_NR; class ++) {
		struct waits_sum sum = w->by_class[class];

		if (class == WAITS_ON_CPU)
			sum.nr = 0; /* samples are no waits */
		add_state(o, opts, waits_name(class), &sum, w->all.ns, ns);
	}
	add_state(o, opts, "idle: workers without work", &w->idle, w->all.ns, ns);
}

static void add_waits(struct overview *o, struct overview_sums *sums,
		      const struct overview_opts *opts)
{
	const struct profile *p = sums->profile;
	struct profile one;
	struct waits w;

	if (!opts->pid) {
		add_states(o, opts, &budget_of(sums)->waits, window_ns(p));
		return;
	}
	one = with_samples(p, opts->pid, false);
	waits_init(&w, &one, &(struct view){});
	add_states(o, opts, &w, window_ns(p));
	waits_release(&w);
	overview_part_release(&one);
}

struct order {
	const struct overview *o;
	int column;
};

static int by_text(const struct overview_row *a, const struct overview_row *b, int column,
		   const struct overview *o)
{
	const char *x = o->columns[column].kind == OVERVIEW_NAME ? a->name : a->text;
	const char *y = o->columns[column].kind == OVERVIEW_NAME ? b->name : b->text;

	return strcmp(x ? x : "", y ? y : "");
}

/* Most first; texts from a to z. What is equal is in the order of further columns. */
static int by_column(const void *x, const void *y, void *arg)
{
	const struct overview_row *a = x, *b = y;
	const struct order *order = arg;
	int column = order->column;
	int diff = 0;

	if (order->o->columns[column].kind >= OVERVIEW_TEXT)
		diff = by_text(a, b, column, order->o);
	else if (a->v[column] != b->v[column])
		return a->v[column] > b->v[column] ? -1 : 1;
	if (diff)
		return diff;
	for (size_t i = 0; i < order->o->nr_columns; i++)
		if (order->o->columns[i].kind == OVERVIEW_PCT && a->v[i] != b->v[i])
			return a->v[i] > b->v[i] ? -1 : 1;
	diff = strcmp(a->name, b->name);
	return diff ? diff : a->v[0] < b->v[0] ? -1 : a->v[0] > b->v[0];
}

void overview_init(struct overview *o, struct overview_sums *sums, enum overview_page page,
		   const struct overview_opts *opts)
{
	static void (*const add_rows[OVERVIEW_NR])(struct overview * o, struct overview_sums * sums,
						   const struct overview_opts *opts) = {
		[OVERVIEW_FUNCTIONS] = add_functions,
		[OVERVIEW_PROCESSES] = add_processes,
		[OVERVIEW_THREADS] = add_threads,
		[OVERVIEW_WAITS] = add_waits,
	};
	struct order order = { o, opts->sort < 0 ? pages[page].sort : opts->sort };

	*o = (struct overview){ .page = page,
				.columns = pages[page].columns,
				.nr_columns = pages[page].nr };
	add_rows[page](o, sums, opts);
	if (o->nr)
		qsort_r(o->rows, o->nr, sizeof(*o->rows), by_column, &order);
}

void overview_release(struct overview *o)
{
	for (size_t i = 0; i < o->nr; i++)
		free(o->rows[i].name);
	free(o->rows);
	*o = (struct overview){};
}

char *overview_text(const struct overview *o, size_t row, size_t column)
{
	const struct overview_row *r = &o->rows[row];
	double v = r->v[column];

	switch (o->columns[column].kind) {
	case OVERVIEW_PCT:
		return v ? xasprintf("%.1f%%", v) : xstrdup("-");
	case OVERVIEW_NUMBER:
		return xasprintf("%.0f", v);
	case OVERVIEW_RATE:
		return v ? xasprintf("%.1f", v) : xstrdup("-");
	case OVERVIEW_TIME:
		return xstrdup(v ? text_ns(v) : "-");
	case OVERVIEW_TEXT:
		return text_cleaned(r->text ? r->text : "");
	default:
		return xstrdup(r->name);
	}
}
