/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One tree of all samples, weighed by side, and then each function judged by its recordings. */
#include "profile/changes.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/student.h"
#include "base/text.h"
#include "profile/append.h"
#include "profile/changes_parts.h"
#include "profile/kind.h"
#include "profile/top.h"

/* --- one profile of all --- */

static int refuse(const char *a, const char *b, const char *what, const char *of_a,
		  const char *of_b)
{
	char *safe_a = text_cleaned(of_a), *safe_b = text_cleaned(of_b);

	log_err(0, "%s and %s do not compare: the %s is %s in one and %s in the other", a, b, what,
		safe_a, safe_b);
	free(safe_a);
	free(safe_b);
	return -EINVAL;
}

/*
 * Samples of a clock are shown by their number, or, where some stand for more than others since
 * fewer were taken (--max-overhead), by the time they stand for. All can be shown by that.
 */
static void show_alike(struct profile *const *profiles, size_t nr)
{
	bool thinned = false;

	for (size_t i = 0; i < nr; i++)
		thinned |= profiles[i]->meta.by_weight && profiles[i]->meta.thinned_ns;
	for (size_t i = 0; i < nr && thinned; i++)
		profiles[i]->meta.by_weight |=
			profile_is_clock(profile_str(profiles[i], profiles[i]->meta.event));
}

/* Weights add up only where they mean the same. */
static int check_pair(const struct profile *a, const struct profile *b, char *const *names)
{
	const char *kind_a = profile_str(a, a->meta.command);
	const char *kind_b = profile_str(b, b->meta.command);

	if (strcmp(kind_a, kind_b))
		return refuse(names[0], names[1], "command", kind_a, kind_b);
	if (strcmp(profile_unit(a), profile_unit(b)))
		return refuse(names[0], names[1], "unit", profile_unit(a), profile_unit(b));
	if (strcmp(profile_str(a, a->meta.event), profile_str(b, b->meta.event)))
		return refuse(names[0], names[1], "event", profile_str(a, a->meta.event),
			      profile_str(b, b->meta.event));
	if (a->meta.is_time != b->meta.is_time || a->meta.timed != b->meta.timed ||
	    a->meta.by_weight != b->meta.by_weight || a->nr_events != b->nr_events)
		return log_err(0, "%s and %s do not compare: their events differ", names[0],
			       names[1]);
	for (size_t i = 0; i < a->nr_events; i++)
		if (strcmp(profile_str(a, a->events[i].name), profile_str(b, b->events[i].name)))
			return refuse(names[0], names[1], "event",
				      profile_str(a, a->events[i].name),
				      profile_str(b, b->events[i].name));
	return 0;
}

/* Of the samples of one side: twice as many a second are twice as much of everything. */
static int check_rates(const struct changes *c, const struct profile *p, char *const *names)
{
	const struct profile *first = c->sides[0].profile;

	if (!c->opts.absolute || first->meta.is_time || first->meta.rate_hz == p->meta.rate_hz)
		return 0;
	return log_err(0,
		       "%s and %s were sampled at %llu and %llu Hz: without --absolute, shares "
		       "compare",
		       names[0], names[1], (unsigned long long)first->meta.rate_hz,
		       (unsigned long long)p->meta.rate_hz);
}

static int add_part(struct judge *j, const struct profile *p, int side, char *const *names,
		    size_t i)
{
	struct changes *c = j->c;
	char *pair[] = { names[0], names[i] };
	size_t first = c->both->nr_samples;
	int err = check_pair(c->sides[0].profile, p, pair);

	if (!err)
		err = check_rates(c, p, pair);
	if (err)
		return err;
	if (profile_append(c->both, p, true))
		return log_err(0, "the recordings are too large together");
	c->sides[side].recorded += p->counters[PROF_RECORDED];
	c->sides[side].lost += profile_sum(p, COUNTER_LOST);
	j->parts[i] = (struct part){ .first = first,
				     .end = c->both->nr_samples,
				     .first_slice = c->both->nr_slices - p->nr_slices,
				     .nr_slices = p->nr_slices,
				     .side = side };
	return 0;
}

static int add_parts(struct judge *j, struct profile *const *profiles, char *const *names,
		     const size_t nr[2])
{
	int err = 0;

	for (size_t i = 0; i < nr[0] + nr[1] && !err; i++)
		err = add_part(j, profiles[i], i >= nr[0], names, i);
	return err;
}

/* --- the tree, by side --- */

static void weigh(struct judge *j)
{
	struct changes *c = j->c;
	struct tree *t = c->tree;
	const struct tree_leaf *leaf;

	for (int side = 0; side < 2; side++) {
		c->self[side] = xcalloc(t->nr, sizeof(*c->self[side]));
		c->total[side] = xcalloc(t->nr, sizeof(*c->total[side]));
	}
	for (size_t k = 0; k < j->nr_parts; k++) {
		for (size_t i = j->parts[k].first; i < j->parts[k].end; i++) {
			leaf = &t->leaves[i];
			if (!leaf->node)
				continue;
			c->self[j->parts[k].side][leaf->node] += leaf->weight;
			j->parts[k].weight += leaf->weight;
		}
	}
	for (int side = 0; side < 2; side++) {
		tree_weigh(t, c->self[side]);
		for (size_t i = 0; i < t->nr; i++)
			c->total[side][i] = t->nodes[i].total;
	}
}

/* --- functions --- */

/* What paths begin with. To be freed. */
static struct top_row *owner_rows(const struct tree *t, size_t *nr)
{
	struct top_row *rows = NULL;
	size_t cap = 0;

	*nr = 0;
	for (uint32_t i = t->nodes[0].first_child; i; i = t->nodes[i].next) {
		rows = xgrow(rows, *nr, &cap, sizeof(*rows));
		rows[(*nr)++] = (struct top_row){ .name = t->nodes[i].name,
						  .self = t->nodes[i].total,
						  .total = t->nodes[i].total };
	}
	return rows;
}

static uint32_t owner_of(const struct changes *c, uint32_t node)
{
	if (!view_by_owner(c->by))
		return top_owner(c->tree, node);
	while (c->tree->nodes[node].parent)
		node = c->tree->nodes[node].parent;
	return node;
}

/* Rows of both sides, and where those of a name are. */
static void add_rows(struct changes *c, uint32_t *row_of)
{
	struct top_row *rows;
	struct change *row;
	size_t nr, cap = 0;

	for (int side = 0; side < 2; side++) {
		tree_weigh(c->tree, c->self[side]);
		rows = view_by_owner(c->by) ? owner_rows(c->tree, &nr) : top_names(c->tree, &nr);
		for (size_t i = 0; i < nr; i++) {
			if (!row_of[rows[i].name]) {
				c->v = xgrow(c->v, c->nr, &cap, sizeof(*c->v));
				c->v[c->nr++] = (struct change){ .name = rows[i].name,
								 .module = rows[i].module,
								 .kind = rows[i].kind,
								 .p = 1 };
				row_of[rows[i].name] = c->nr;
			}
			row = &c->v[row_of[rows[i].name] - 1];
			row->self[side] = rows[i].self;
			row->total[side] = rows[i].total;
		}
		free(rows);
	}
}

/* Which part of what each recording has is whose. */
static void divide(struct judge *j, const uint32_t *row_of)
{
	const struct tree *t = j->c->tree;

	for (size_t k = 0; k < j->nr_parts; k++) {
		for (size_t i = j->parts[k].first; i < j->parts[k].end; i++) {
			uint32_t owner = t->leaves[i].node ? owner_of(j->c, t->leaves[i].node) : 0;

			if (!owner)
				continue;
			j->row1_of[i] = row_of[t->nodes[owner].name];
			j->own[(j->row1_of[i] - 1) * j->nr_parts + k] += t->leaves[i].weight;
		}
	}
}

static bool is_judged(const struct changes *c, const struct change *row, double limit_pct)
{
	for (int side = 0; side < 2; side++)
		if (100.0 * row->self[side] >= limit_pct * changes_all(c, side) && row->self[side])
			return true;
	return false;
}

static int by_p(const void *x, const void *y)
{
	const struct change *a = *(const struct change *const *)x,
			    *b = *(const struct change *const *)y;

	return a->p < b->p ? -1 : a->p > b->p;
}

/* Holm: the least p has to be below alpha by all of them, the next by all but one, … */
static void judge_together(struct changes *c)
{
	struct change **order = xcalloc(c->nr + 1, sizeof(*order)), *row;
	size_t nr = 0;

	for (size_t i = 0; i < c->nr; i++)
		if (c->v[i].judged)
			order[nr++] = &c->v[i];
	qsort(order, nr, sizeof(*order), by_p);
	for (size_t i = 0; i < nr && order[i]->p <= c->opts.alpha / (nr - i); i++) {
		row = order[i];
		row->real = true;
		row->failed = !changes_incomplete(c) && row->change_pct > c->opts.fail_above_pct;
		c->nr_real++;
		c->nr_failed += row->failed;
	}
	free(order);
}

/*
 * Of shares, against the rest of the side: a function that alone gets slower by a tenth has a
 * tenth more of that, however large its own share is.
 */
static double change_of(const struct changes *c, const struct change *row)
{
	double a = changes_rate(c, row, 0), b = changes_rate(c, row, 1);

	if (!c->opts.absolute && a < 1 && b < 1) {
		a /= 1 - a;
		b /= 1 - b;
	}
	return a > 0 ? 100 * (b - a) / a : b > 0 ? INFINITY : 0;
}

static void judge(struct judge *j, const uint32_t *row_of, double limit_pct)
{
	struct changes *c = j->c;

	j->own = xcalloc(c->nr * j->nr_parts + 1, sizeof(*j->own));
	j->row1_of = xcalloc(c->both->nr_samples + 1, sizeof(*j->row1_of));
	divide(j, row_of);
	for (size_t i = 0; i < c->nr; i++) {
		c->v[i].judged = is_judged(c, &c->v[i], limit_pct);
		c->v[i].change_pct = change_of(c, &c->v[i]);
	}
	changes_judge(j);
	judge_together(c);
	free(j->own);
	free(j->row1_of);
}

/* --- all of it --- */

double changes_scale(const struct changes *c)
{
	if (c->opts.absolute)
		return (double)c->sides[1].nr / c->sides[0].nr;
	return changes_all(c, 0) ? (double)changes_all(c, 1) / changes_all(c, 0) : 1;
}

int changes_shade(const struct changes *c, uint32_t node)
{
	double a = c->total[0][node], b = c->total[1][node], scale = changes_scale(c), part;
	double off = changes_of_side(c, 1) > 0 ? (b - scale * a) / changes_of_side(c, 1) : 0;

	if (!c->nr_real || off * off <= c->shade_noise * changes_variance(c, a, b))
		return 0;
	part = fabs(b - scale * a) / fmax(b, scale * a);
	if (part < 0.05)
		return 0;
	return (part < 0.2 ? 1 : part < 0.5 ? 2 : 3) * (off < 0 ? -1 : 1);
}

/*
 * How many variances a frame has to be off: so many that chance gives any of all frames a colour
 * with the probability that it gives any function a verdict (Bonferroni: one limit for all).
 */
static double shade_noise(const struct changes *c)
{
	double alpha = c->opts.alpha / (c->tree->nr > 1 ? c->tree->nr - 1 : 1);
	double low = 0, high = 40, z;

	for (int i = 0; i < 60; i++) {
		z = (low + high) / 2;
		if (1 - student_within(z, INFINITY) > alpha)
			low = z;
		else
			high = z;
	}
	return high * high * fmax(c->dispersion, c->slice_dispersion);
}

static int by_difference(const void *x, const void *y, void *arg)
{
	const struct changes *c = arg;
	const struct change *a = x, *b = y;
	double scale = changes_scale(c), m = fabs(a->self[1] - scale * a->self[0]),
	       n = fabs(b->self[1] - scale * b->self[0]);

	if (m != n)
		return m > n ? -1 : 1;
	if (a->total[1] != b->total[1])
		return a->total[1] > b->total[1] ? -1 : 1;
	return strcmp(c->tree->names.bytes + a->name, c->tree->names.bytes + b->name);
}

static void compare(struct judge *j, const struct view *v)
{
	struct changes *c = j->c;
	uint32_t *row_of;

	c->tree = tree_new(c->both, v);
	weigh(j);
	row_of = xcalloc(c->tree->names.len, sizeof(*row_of));
	add_rows(c, row_of);
	judge(j, row_of, v->percent_limit);
	c->shade_noise = shade_noise(c);
	if (c->nr)
		qsort_r(c->v, c->nr, sizeof(*c->v), by_difference, c);
	tree_weigh(c->tree, c->self[1]);
	free(row_of);
}

int changes_make(struct changes *c, struct profile *const *profiles, char *const *names,
		 const size_t nr[2], const struct view *v, const struct changes_opts *opts)
{
	struct judge j = { .c = c, .nr_parts = nr[0] + nr[1] };
	int err;

	*c = (struct changes){ .opts = *opts, .by = v->by, .both = profile_new() };
	for (int side = 0; side < 2; side++)
		c->sides[side] = (struct changes_side){ .name = names[side ? nr[0] : 0],
							.profile = profiles[side ? nr[0] : 0],
							.nr = nr[side] };
	for (size_t i = 0; i < j.nr_parts; i++)
		c->sides[i >= nr[0]].nr_incomplete += profiles[i]->meta.incomplete != 0;
	j.parts = xcalloc(j.nr_parts, sizeof(*j.parts));
	show_alike(profiles, j.nr_parts);
	err = add_parts(&j, profiles, names, nr);
	if (!err)
		compare(&j, v);
	else
		changes_release(c);
	free(j.parts);
	return err;
}

void changes_release(struct changes *c)
{
	tree_free(c->tree);
	profile_free(c->both);
	for (int side = 0; side < 2; side++) {
		free(c->self[side]);
		free(c->total[side]);
	}
	free(c->v);
	*c = (struct changes){};
}
