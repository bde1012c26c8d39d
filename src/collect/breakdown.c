/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Choosing, naming and sorting accounts. */
#include "collect/breakdown.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "collect/accounts.h"
#include "event/cgroup.h"
#include "event/cpus.h"

#define MAX_ROWS 10000 /* the lightest beyond become one */

struct breakdown {
	const struct stat_plan *stat_plan;
	const struct stat_opts *opts;
	struct accounts *accounts;
	struct accounts_report before; /* what was told already, by key */
	struct opt_ids wanted;	       /* processes that were asked for, and what they started */
	pid_t held;
	int *fds; /* by CPU and event: the counter + 1 that was handed over, 0 = none */
	int err;  /* of that */
};

struct breakdown *breakdown_open(const struct stat_plan *f, const struct stat_opts *o)
{
	struct accounts_opts opts = { (enum account_by)o->by, f->nr_events, o->max_rows };
	struct breakdown *b;
	int err;

	if (!f->nr_events || f->nr_events > PMU_MAX_EVENTS) {
		log_err(0,
			"rows of threads, processes and cgroups count 1 to %d events at a time, "
			"and these are %zu: name fewer (-e), or fewer sets (-M)",
			PMU_MAX_EVENTS, f->nr_events);
		errno = EINVAL;
		return NULL;
	}
	b = xcalloc(1, sizeof(*b));
	b->stat_plan = f;
	b->opts = o;
	b->fds = xcalloc(cpus_possible(), PMU_MAX_EVENTS * sizeof(*b->fds));
	b->accounts = accounts_open(&opts);
	if (b->accounts)
		return b;
	err = errno;
	breakdown_close(b);
	errno = err;
	return NULL;
}

/* A counter is handed over once: again would mean to begin again. */
static void add_counter(void *arg, uint32_t cpu, size_t event, int fd)
{
	struct breakdown *b = arg;
	int *known = &b->fds[cpu * PMU_MAX_EVENTS + event], err;

	if (*known == fd + 1)
		return;
	*known = fd + 1;
	err = accounts_add(b->accounts, cpu, event, fd);
	b->err = b->err ? b->err : err;
}

int breakdown_start(struct breakdown *b, const struct counters *c, pid_t held)
{
	b->held = held;
	counters_for_each_cpu(c, add_counter, b);
	return b->err ? b->err : accounts_start(b->accounts);
}

void breakdown_refresh(struct breakdown *b, const struct counters *c)
{
	counters_for_each_cpu(c, add_counter, b);
	accounts_collect(b->accounts);
}

static int by_key(const void *x, const void *y)
{
	const struct account *a = x, *b = y;

	return a->key < b->key ? -1 : a->key > b->key;
}

static void subtract(struct account *a, const struct account *before)
{
	a->switches -= before->switches;
	a->running_ns -= before->running_ns;
	for (size_t i = 0; i < PMU_MAX_EVENTS; i++) {
		a->event[i].value -= before->event[i].value;
		a->event[i].enabled_ns -= before->event[i].enabled_ns;
		a->event[i].running_ns -= before->event[i].running_ns;
	}
}

static void add(struct account *sum, const struct account *a)
{
	sum->switches += a->switches;
	sum->running_ns += a->running_ns;
	for (size_t i = 0; i < PMU_MAX_EVENTS; i++) {
		sum->event[i].value += a->event[i].value;
		sum->event[i].enabled_ns += a->event[i].enabled_ns;
		sum->event[i].running_ns += a->event[i].running_ns;
	}
}

/* r as of now stays in b; *delta is what came since. */
static void since_last(struct breakdown *b, struct accounts_report *r,
		       struct accounts_report *delta)
{
	*delta = *r;
	delta->v = xcalloc(r->nr ? r->nr : 1, sizeof(*delta->v));
	qsort(r->v, r->nr, sizeof(*r->v), by_key);
	memcpy(delta->v, r->v, r->nr * sizeof(*r->v));
	for (size_t i = 0; i < delta->nr; i++) {
		const struct account *before =
			b->before.nr ? bsearch(&r->v[i], b->before.v, b->before.nr,
					       sizeof(*b->before.v), by_key)
				     : NULL;

		if (before)
			subtract(&delta->v[i], before);
	}
	subtract(&delta->idle, &b->before.idle);
	subtract(&delta->lost, &b->before.lost);
	delta->unread -= b->before.unread;
	delta->unseen -= b->before.unseen;
	delta->missed -= b->before.missed;
	accounts_report_release(&b->before);
	b->before = *r;
}

/* Those asked for and, turn by turn, what they started, until there is nobody new. */
static void find_wanted(struct breakdown *b, const struct accounts_report *r)
{
	size_t before;

	for (size_t i = 0; i < b->opts->pids.nr; i++)
		opt_ids_add(&b->wanted, b->opts->pids.v[i]);
	if (b->held)
		opt_ids_add(&b->wanted, b->held);
	do {
		before = b->wanted.nr;
		for (size_t i = 0; i < r->nr && !b->opts->no_children; i++)
			if (r->v[i].pid && opt_ids_has(&b->wanted, r->v[i].parent))
				opt_ids_add(&b->wanted, r->v[i].pid);
	} while (b->wanted.nr != before);
}

static bool is_wanted(const struct breakdown *b, const struct account *a)
{
	if (!b->opts->tids.nr && !b->opts->pids.nr && !b->held)
		return true;
	return opt_ids_has(&b->opts->tids, a->tid) || opt_ids_has(&b->wanted, a->pid);
}

static bool is_empty(const struct account *a)
{
	for (size_t i = 0; i < PMU_MAX_EVENTS; i++)
		if (a->event[i].enabled_ns || a->event[i].value)
			return false;
	return !a->switches;
}

static char *name_of(const struct breakdown *b, const struct account *a)
{
	char *path;

	if (b->opts->by != STAT_BY_CGROUP)
		return xstrndup(a->comm, sizeof(a->comm));
	path = cgroup_path(a->cgroup);
	return path ? path : xasprintf("[cgroup %llu, gone]", (unsigned long long)a->cgroup);
}

/* Takes name over. */
static void fill_row(const struct breakdown *b, const struct account *a, char *name, double seconds,
		     struct stat_row *row)
{
	struct count counts[PMU_MAX_EVENTS];
	struct stat_plan_runs runs = { counts, &seconds, 1 };

	for (size_t i = 0; i < b->stat_plan->nr_events; i++)
		counts[i] = count_make(a->event[i].value, a->event[i].enabled_ns,
				       a->event[i].running_ns, b->stat_plan->events[i].advertised);
	row->name = name;
	row->pid = a->pid;
	row->tid = b->opts->by == STAT_BY_THREAD ? a->tid : 0;
	row->switches = a->switches;
	row->running_ns = a->running_ns;
	stat_plan_fill(b->stat_plan, &runs, row);
}

/* Most of the first event first, then those with more time. */
static int by_weight(const void *x, const void *y)
{
	const struct account *a = x, *b = y;

	if (a->event[0].value != b->event[0].value)
		return a->event[0].value < b->event[0].value ? 1 : -1;
	if (a->running_ns != b->running_ns)
		return a->running_ns < b->running_ns ? 1 : -1;
	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

static void note_losses(struct stat_report *r, const struct accounts_report *a)
{
	char note[160];

	if (a->unread) {
		snprintf(note, sizeof(note),
			 "counters could not be read %llu times: rows lack what they counted then",
			 (unsigned long long)a->unread);
		stat_plan_note(r, note);
	}
	if (a->missed + a->unseen) {
		snprintf(note, sizeof(note),
			 "%llu switches were not told of: what ran then is in the row of another",
			 (unsigned long long)(a->missed + a->unseen));
		stat_plan_note(r, note);
	}
}

static void fill_rows(struct breakdown *b, struct accounts_report *a, struct stat_report *r,
		      double seconds)
{
	struct account filtered = {}, rest = {};
	size_t nr = 0, nr_rest = 0;

	for (size_t i = 0; i < a->nr; i++) {
		if (!is_wanted(b, &a->v[i]))
			add(&filtered, &a->v[i]);
		else if (!is_empty(&a->v[i]))
			a->v[nr++] = a->v[i];
	}
	qsort(a->v, nr, sizeof(*a->v), by_weight);
	for (; nr > MAX_ROWS; nr_rest++)
		add(&rest, &a->v[--nr]);
	r->rows = xcalloc(nr + 1, sizeof(*r->rows));
	for (size_t i = 0; i < nr; i++)
		fill_row(b, &a->v[i], name_of(b, &a->v[i]), seconds, &r->rows[r->nr_rows++]);
	if (nr_rest)
		fill_row(b, &rest, xasprintf("[%zu more]", nr_rest), seconds,
			 &r->rows[r->nr_rows++]);
	if (!is_empty(&filtered))
		fill_row(b, &filtered, xstrdup("filtered"), seconds, &r->filtered);
	if (!is_empty(&a->idle))
		fill_row(b, &a->idle, xstrdup("idle"), seconds, &r->idle);
	if (!is_empty(&a->lost))
		fill_row(b, &a->lost, xstrdup("lost"), seconds, &r->lost);
}

int breakdown_fill(struct breakdown *b, struct stat_report *r, double seconds, bool last)
{
	struct accounts_report now = {}, delta;
	int err = last ? accounts_stop(b->accounts) : accounts_flush(b->accounts);

	if (err)
		return err;
	accounts_read(b->accounts, &now);
	find_wanted(b, &now);
	since_last(b, &now, &delta);
	fill_rows(b, &delta, r, seconds);
	note_losses(r, &delta);
	free(delta.v);
	return 0;
}

void breakdown_close(struct breakdown *b)
{
	if (!b)
		return;
	accounts_close(b->accounts);
	accounts_report_release(&b->before);
	opt_ids_release(&b->wanted);
	free(b->fds);
	free(b);
}
