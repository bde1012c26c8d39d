/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Steps of a series of runs, and runs that are unusual. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/student.h"
#include "base/text.h"
#include "metric/history.h"

/* Numbers that are equal in all digits that matter do not make a change of the last one unusual. */
#define LEAST_DEVIATION 0.0005 /* of the mean */
#define MOST_PASSES	8

/* Runs that have the number, with sums up to each of them. */
struct present {
	size_t *run, nr;
	double *sum, *squares; /* of those before, nr + 1; of what is beyond the first one */
	double first;
};

static void find_present(struct present *p, const struct history_series *s, size_t nr_runs)
{
	double x;

	*p = (struct present){ .run = xcalloc(nr_runs + 1, sizeof(*p->run)),
			       .sum = xcalloc(nr_runs + 1, sizeof(*p->sum)),
			       .squares = xcalloc(nr_runs + 1, sizeof(*p->squares)) };
	for (size_t i = 0; i < nr_runs; i++) {
		if (isnan(s->v[i]))
			continue;
		if (!p->nr)
			p->first = s->v[i];
		x = s->v[i] - p->first;
		p->sum[p->nr + 1] = p->sum[p->nr] + x;
		p->squares[p->nr + 1] = p->squares[p->nr] + x * x;
		p->run[p->nr++] = i;
	}
}

static void release_present(struct present *p)
{
	free(p->run);
	free(p->sum);
	free(p->squares);
}

static double mean_of(const struct present *p, size_t from, size_t to)
{
	return (p->sum[to] - p->sum[from]) / (to - from) + p->first;
}

/* Sum of the squares of what each is off the mean. */
static double scatter_of(const struct present *p, size_t from, size_t to)
{
	double sum = p->sum[to] - p->sum[from];

	return fmax(p->squares[to] - p->squares[from] - sum * sum / (to - from), 0);
}

static double least_deviation(double mean)
{
	return LEAST_DEVIATION * fabs(mean);
}

/* --- steps --- */

static double t_at(const struct present *p, size_t from, size_t at, size_t to)
{
	double df = to - from - 2, a = mean_of(p, from, at), b = mean_of(p, at, to);
	double deviation = sqrt((scatter_of(p, from, at) + scatter_of(p, at, to)) / df);

	deviation = fmax(deviation, fmax(least_deviation(a), least_deviation(b)));
	return deviation > 0 ? fabs(b - a) / (deviation * sqrt(1.0 / (at - from) + 1.0 / (to - at)))
			     : 0;
}

/* 0 = there is none. */
static size_t find_step(const struct present *p, size_t from, size_t to)
{
	size_t tried = 0, best = 0;
	double t, most = 0;

	for (size_t at = from + HISTORY_LEAST_STEP; at + HISTORY_LEAST_STEP <= to; at++) {
		t = t_at(p, from, at, to);
		tried++;
		if (t > most) {
			most = t;
			best = at;
		}
	}
	return best && (1 - student_within(most, to - from - 2)) * tried < HISTORY_STEP_P ? best
											  : 0;
}

static void add_step(struct history_series *s, const struct present *p, size_t at)
{
	s->steps = xreallocarray(s->steps, s->nr_steps + 1, sizeof(*s->steps));
	s->steps[s->nr_steps++] = (struct history_step){ .run = at }; /* in p, for now */
}

static void split(struct history_series *s, const struct present *p, size_t from, size_t to)
{
	size_t at = find_step(p, from, to);

	if (!at)
		return;
	split(s, p, from, at);
	add_step(s, p, at);
	split(s, p, at, to);
}

static size_t segment_end(const struct history_series *s, const struct present *p, size_t step)
{
	return step < s->nr_steps ? s->steps[step].run : p->nr;
}

/*
 * A step that was found while there were others on its side may lie a little off, or be none
 * between its neighbours: each is looked for again there. False: nothing changed.
 */
static bool place_anew(struct history_series *s, const struct present *p)
{
	size_t from = 0, at, nr = 0;
	bool changed = false;

	for (size_t i = 0; i < s->nr_steps; i++) {
		at = find_step(p, from, segment_end(s, p, i + 1));
		changed |= at != s->steps[i].run;
		if (!at)
			continue;
		s->steps[nr++].run = from = at;
	}
	s->nr_steps = nr;
	return changed;
}

static void find_steps(struct history_series *s, const struct present *p)
{
	size_t from = 0;

	split(s, p, 0, p->nr);
	for (int i = 0; i < MOST_PASSES && place_anew(s, p); i++)
		;
	for (size_t i = 0; i < s->nr_steps; i++) {
		s->steps[i].before = mean_of(p, from, s->steps[i].run);
		s->steps[i].after = mean_of(p, s->steps[i].run, segment_end(s, p, i + 1));
		from = s->steps[i].run;
	}
}

/* --- unusual runs --- */

/* Of the runs from one on that are not unusual: sums of what is beyond the first run. */
struct window {
	size_t begin, nr;
	double sum, squares;
	double mean, deviation; /* NAN: there are too few */
};

static void count(struct window *w, const struct history_series *s, const struct present *p,
		  size_t i, int sign)
{
	double x = s->v[p->run[i]] - p->first;

	if (s->unusual[p->run[i]])
		return;
	w->sum += sign * x;
	w->squares += sign * x * x;
	w->nr += sign;
}

static bool is_too_old(const struct history *h, const struct present *p, const struct window *w,
		       size_t at)
{
	if (h->opts.window)
		return w->nr > h->opts.window;
	return h->runs[p->run[at]].start_s - h->runs[p->run[w->begin]].start_s > h->opts.window_s;
}

/* Those before run at, which are all in the window by now. */
static void close_window(struct window *w, const struct history *h, const struct history_series *s,
			 const struct present *p, size_t at)
{
	double variance;

	for (; w->begin < at && is_too_old(h, p, w, at); w->begin++)
		count(w, s, p, w->begin, -1);
	w->mean = w->deviation = NAN;
	if (w->nr < HISTORY_LEAST)
		return;
	w->mean = w->sum / w->nr + p->first;
	variance = fmax(w->squares - w->sum * w->sum / w->nr, 0) / (w->nr - 1);
	w->deviation = fmax(sqrt(variance), least_deviation(w->mean));
}

/* What never varied and does is infinitely far off. */
static double z_of(const struct window *w, double x)
{
	double off = x - w->mean;

	if (isnan(off) || off == 0)
		return off;
	return w->deviation > 0 ? off / (w->deviation * sqrt(1 + 1.0 / w->nr))
				: copysign(INFINITY, off);
}

static bool is_unusual(const struct history *h, const struct window *w, double z)
{
	return !isnan(z) && 1 - student_within(fabs(z), w->nr - 1) < erfc(h->opts.sigma / M_SQRT2);
}

static double change_of(double mean, double latest)
{
	double off = latest - mean;

	return off == 0 ? 0 : 100 * off / fabs(mean);
}

static void find_unusual(const struct history *h, struct history_series *s, const struct present *p)
{
	struct window w = { .mean = NAN };
	double z = NAN;

	s->unusual = xcalloc(h->nr_runs + 1, sizeof(*s->unusual));
	for (size_t i = 0, step = 0; i < p->nr; i++) {
		if (step < s->nr_steps && s->steps[step].run == i) {
			w = (struct window){ .begin = i };
			step++;
		}
		close_window(&w, h, s, p, i);
		z = z_of(&w, s->v[p->run[i]]);
		s->unusual[p->run[i]] = is_unusual(h, &w, z);
		count(&w, s, p, i, 1);
	}
	s->latest = s->v[h->nr_runs - 1];
	s->mean = s->deviation = s->z = s->change_pct = NAN;
	if (isnan(s->latest) || isnan(w.mean))
		return;
	/* The latest is in the window by now. */
	s->nr = w.nr - !s->unusual[h->nr_runs - 1];
	s->mean = w.mean;
	s->deviation = w.deviation;
	s->z = z;
	s->change_pct = change_of(w.mean, s->latest);
}

static void judge_series(struct history *h, struct history_series *s)
{
	struct present p;

	find_present(&p, s, h->nr_runs);
	find_steps(s, &p);
	find_unusual(h, s, &p);
	for (size_t i = 0; i < s->nr_steps; i++)
		s->steps[i].run = p.run[s->steps[i].run];
	release_present(&p);
}

/* --- rules --- */

static struct history_series *series_named(struct history *h, const char *name)
{
	for (size_t i = 0; i < h->nr; i++)
		if (stat_name_equal(h->v[i].name, name))
			return &h->v[i];
	return NULL;
}

static int unknown(const struct history *h, const char *name)
{
	const char **names = xcalloc(h->nr + 1, sizeof(*names)), *nearest;
	char *shown = text_cleaned(name), *near;

	for (size_t i = 0; i < h->nr; i++)
		names[i] = h->v[i].name;
	nearest = text_nearest(name, names, h->nr);
	near = nearest ? text_cleaned(nearest) : NULL;
	log_err(0,
		near ? "--fail-on '%s': %s has no such number; did you mean '%s'?"
		     : "--fail-on '%s': %s has no such number",
		shown, h->path, near);
	free(near);
	free(shown);
	free(names);
	return -EINVAL;
}

static bool is_beyond(const struct diff_rule *rule, double change_pct)
{
	return rule->greater ? change_pct > rule->pct : change_pct < rule->pct;
}

/* Behind a step there are too few runs to compare with for a while: then the step itself counts. */
static bool is_new_step(const struct history_series *s, const struct diff_rule *rule)
{
	const struct history_step *last = s->nr_steps ? &s->steps[s->nr_steps - 1] : NULL;

	return last && !isnan(s->latest) && isnan(s->mean) &&
	       is_beyond(rule, change_of(last->before, last->after));
}

static void apply(struct history *h, struct history_series *s, const struct diff_rule *rule)
{
	s->rule = rule;
	h->nr_unknown += isnan(s->latest);
	h->nr_unjudged += !isnan(s->latest) && isnan(s->mean) && !s->nr_steps;
	if (is_new_step(s, rule) ||
	    (s->unusual[h->nr_runs - 1] && is_beyond(rule, s->change_pct))) {
		s->failed = true;
		h->nr_failed++;
	}
}

int history_judge(struct history *h, const struct history_opts *opts,
		  const struct diff_rules *rules)
{
	struct history_series *s;

	h->opts = *opts;
	for (size_t i = 0; i < rules->nr; i++)
		if (!series_named(h, rules->v[i].name))
			return unknown(h, rules->v[i].name);
	for (size_t i = 0; i < h->nr; i++)
		judge_series(h, &h->v[i]);
	for (size_t i = 0; i < rules->nr; i++) {
		s = series_named(h, rules->v[i].name);
		if (!s->failed)
			apply(h, s, &rules->v[i]);
	}
	return 0;
}
