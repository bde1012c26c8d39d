/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows of two reports side by side, by name: each change, its interval, and rules on it. */
#include "metric/diff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/student.h"
#include "base/text.h"

/* As much of each side as a row is made from; NULL = not there. */
struct side {
	const struct stat_number *number;
	double single; /* of a count without runs; NAN otherwise */
};

static bool has_repeats(const struct side *s)
{
	return s->number && stat_number_nr(s->number) > 1;
}

static double mean_of(const struct side *s)
{
	if (!s->number)
		return NAN;
	return s->number->nr_runs ? s->number->mean : s->single;
}

/* Half of the interval of the difference, by Welch: the sides may have different noise. */
static double half_width(const struct stat_number *a, const struct stat_number *b)
{
	double va = a->error * a->error, vb = b->error * b->error, pa, pb;

	if (!(va + vb > 0))
		return 0;
	/* Of the sum, so that squares of small numbers do not vanish. */
	pa = va / (va + vb);
	pb = vb / (va + vb);
	return student_t95(1 / (pa * pa / (stat_number_nr(a) - 1) +
				pb * pb / (stat_number_nr(b) - 1))) *
	       hypot(a->error, b->error);
}

static void judge(struct diff_row *row, const struct side *a, const struct side *b)
{
	double d = row->b - row->a, half, of = fabs(row->a);

	row->change_pct = row->low_pct = row->high_pct = NAN;
	row->known = !isnan(row->a) && !isnan(row->b);
	if (!row->known)
		return;
	if (of > 0 || !d)
		row->change_pct = d ? 100 * d / of : 0;
	row->noise_known = has_repeats(a) && has_repeats(b);
	if (!row->noise_known)
		return;
	half = half_width(a->number, b->number);
	row->real = half ? fabs(d) > half : d != 0;
	if (of > 0 || (!d && !half)) {
		row->low_pct = of > 0 ? 100 * (d - half) / of : 0;
		row->high_pct = of > 0 ? 100 * (d + half) / of : 0;
	}
}

/* From 0 to anything is more than any percentage. */
static bool is_beyond(const struct diff_row *row, const struct diff_rule *rule)
{
	double change =
		isnan(row->change_pct) ? copysign(INFINITY, row->b - row->a) : row->change_pct;

	return rule->greater ? change > rule->pct : change < rule->pct;
}

static struct diff_row *add(struct diff *c, const struct diff_row *row,
			    const struct diff_rule *rule)
{
	struct diff_row *v;

	c->v = xreallocarray(c->v, c->nr + 1, sizeof(*c->v));
	v = &c->v[c->nr++];
	*v = *row;
	v->rule = rule;
	if (rule && !v->known)
		c->nr_unknown++;
	v->failed = rule && v->known && is_beyond(v, rule) && (v->real || !v->noise_known);
	c->nr_failed += v->failed;
	return v;
}

static void add_row(struct diff *c, const struct diff_rules *rules, struct diff_row *row,
		    const struct side *a, const struct side *b)
{
	size_t nr = c->nr;

	row->a = mean_of(a);
	row->b = mean_of(b);
	judge(row, a, b);
	for (size_t i = 0; rules && i < rules->nr; i++)
		if (stat_name_equal(rules->v[i].name, row->name) ||
		    stat_event_equal(rules->v[i].name, row->name))
			add(c, row, &rules->v[i]);
	if (c->nr == nr)
		add(c, row, NULL);
}

/* A 0 of which the report itself says that it is none: of an event that the PMU does not count. */
static bool is_no_number(const struct stat_metric *m)
{
	return m->verdict == METRIC_NONE && *m->why && !m->number.mean;
}

static struct side metric_side(const struct stat_metric *m)
{
	if (m && is_no_number(m))
		m = NULL;
	return (struct side){ .number = m ? &m->number : NULL, .single = m ? m->number.mean : NAN };
}

static struct side event_side(const struct stat_event *e)
{
	bool there = e && count_is_there(&e->count);

	return (struct side){ .number = there ? &e->number : NULL,
			      .single = there ? e->count.value : NAN };
}

static void add_time(struct diff *c, const struct diff_rules *rules)
{
	struct side a = { &c->a->seconds, c->a->seconds.mean };
	struct side b = { &c->b->seconds, c->b->seconds.mean };
	struct diff_row row = { .name = "time", .label = "time", .unit = "s" };

	add_row(c, rules, &row, &a, &b);
}

static void add_metric(struct diff *c, const struct diff_rules *rules, const struct stat_metric *m)
{
	struct side a = metric_side(stat_row_metric(&c->a->all, m->name));
	struct side b = metric_side(stat_row_metric(&c->b->all, m->name));
	struct diff_row row = { .name = m->name, .label = m->label, .unit = m->unit };

	add_row(c, rules, &row, &a, &b);
}

static void add_event(struct diff *c, const struct diff_rules *rules, const struct stat_event *e)
{
	struct side a = event_side(stat_row_event(&c->a->all, e->name));
	struct side b = event_side(stat_row_event(&c->b->all, e->name));
	struct diff_row row = { .name = e->name, .label = e->name, .unit = e->unit };
	bool is_metric =
		stat_row_metric(&c->a->all, e->name) || stat_row_metric(&c->b->all, e->name);

	/* "branches" may be both: a rule means the metric. */
	add_row(c, is_metric ? NULL : rules, &row, &a, &b);
}

/* One metric may stand in several sets: its first row counts. */
static void add_all(struct diff *c, const struct diff_rules *rules)
{
	const struct stat_row *a = &c->a->all, *b = &c->b->all;

	add_time(c, rules);
	for (size_t i = 0; i < a->nr_metrics; i++)
		if (stat_row_metric(a, a->metrics[i].name) == &a->metrics[i])
			add_metric(c, rules, &a->metrics[i]);
	for (size_t i = 0; i < b->nr_metrics; i++)
		if (!stat_row_metric(a, b->metrics[i].name) &&
		    stat_row_metric(b, b->metrics[i].name) == &b->metrics[i])
			add_metric(c, rules, &b->metrics[i]);
	for (size_t i = 0; i < a->nr_events; i++)
		if (stat_row_event(a, a->events[i].name) == &a->events[i])
			add_event(c, rules, &a->events[i]);
	for (size_t i = 0; i < b->nr_events; i++)
		if (!stat_row_event(a, b->events[i].name) &&
		    stat_row_event(b, b->events[i].name) == &b->events[i])
			add_event(c, rules, &b->events[i]);
}

static size_t names_of(const struct stat_row *row, const char **to)
{
	size_t nr = 0;

	for (size_t i = 0; i < row->nr_metrics; i++)
		to[nr++] = row->metrics[i].name;
	for (size_t i = 0; i < row->nr_events; i++)
		to[nr++] = row->events[i].name;
	return nr;
}

static int unknown_name(const struct diff *c, const char *name)
{
	const struct stat_row *a = &c->a->all, *b = &c->b->all;
	const char **names =
			   xcalloc(a->nr_metrics + a->nr_events + b->nr_metrics + b->nr_events + 1,
				   sizeof(*names)),
		   *near;
	size_t nr = names_of(a, names);
	char *shown = text_cleaned(name), *hint;

	nr += names_of(b, names + nr);
	names[nr++] = "time";
	near = text_nearest(name, names, nr);
	hint = near ? text_meant("", near) : xstrdup(" (a rule names one of theirs)");
	log_err(0, "neither result has a metric or event '%s'%s", shown, hint);
	free(hint);
	free(shown);
	free(names);
	return -EINVAL;
}

static int check_names(const struct diff *c, const struct diff_rules *rules)
{
	for (size_t i = 0; rules && i < rules->nr; i++) {
		const char *name = rules->v[i].name;

		if (!stat_name_equal(name, "time") && !stat_row_metric(&c->a->all, name) &&
		    !stat_row_metric(&c->b->all, name) && !stat_row_event(&c->a->all, name) &&
		    !stat_row_event(&c->b->all, name))
			return unknown_name(c, name);
	}
	return 0;
}

/* "the first is X, the second Y", of text from files. */
static int differ(const char *what, const char *a, const char *b)
{
	char *safe_a = text_cleaned(a), *safe_b = text_cleaned(b);

	log_err(0, "the results are of different %s (%s and %s): --force compares them anyway",
		what, safe_a, safe_b);
	free(safe_a);
	free(safe_b);
	return -EINVAL;
}

static int check_hosts(const struct stat_report *a, const struct stat_report *b)
{
	char nr_a[16], nr_b[16];

	if (strcmp(a->core_ident, b->core_ident))
		return differ("CPU models", a->core_ident, b->core_ident);
	snprintf(nr_a, sizeof(nr_a), "%u", a->nr_cpus);
	snprintf(nr_b, sizeof(nr_b), "%u", b->nr_cpus);
	return a->nr_cpus == b->nr_cpus ? 0 : differ("numbers of CPUs", nr_a, nr_b);
}

static int check_formulas(const struct stat_row *a, const struct stat_row *b)
{
	for (size_t i = 0; i < a->nr_metrics; i++) {
		const struct stat_metric *ma = &a->metrics[i], *mb = stat_row_metric(b, ma->name);
		char *safe;

		if (!mb || stat_row_metric(a, ma->name) != ma ||
		    stat_formula_equal(ma->formula, mb->formula))
			continue;
		safe = text_cleaned(ma->name);
		log_err(0,
			"'%s' was computed in different ways in the two results: --force compares "
			"it anyway",
			safe);
		free(safe);
		return -EINVAL;
	}
	return 0;
}

int diff_make(struct diff *c, const struct stat_report *a, const struct stat_report *b,
	      const struct diff_rules *rules, bool force)
{
	int err = 0;

	*c = (struct diff){ .a = a, .b = b, .name_a = "A", .name_b = "B" };
	if (!force)
		err = check_hosts(a, b);
	if (!err && !force)
		err = check_formulas(&a->all, &b->all);
	if (!err)
		err = check_names(c, rules);
	if (!err)
		add_all(c, rules);
	return err;
}

void diff_release(struct diff *c)
{
	free(c->v);
	*c = (struct diff){};
}
