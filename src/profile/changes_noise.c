/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How much of a change noise alone would make. By how much more programs vary than independent
 * samples would is chi-square per degree of freedom, of two kinds: recordings of a side around the
 * side's share, and slices of a recording around the recording's. The larger one counts. What lasts
 * longer than a slice shows when neighbours are taken together, so that is tried, too.
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/student.h"
#include "profile/changes_parts.h"

#define LONGEST 4 /* slices that are taken together */

/* Chi-square of one kind, and its degrees of freedom, of each row and in all. */
struct scatter {
	double *chi2, *df;
	double dispersion; /* at least 1 */
	bool known;
};

/* What a row has in a slice. */
struct piece {
	uint32_t row, slice;
	double weight;
};

struct pieces {
	struct piece *v;
	size_t nr;
	/* Of each slice what it has of all rows, with absolute its length; of each recording. */
	double *all, *recorded;
	uint32_t *part_of; /* of each slice */
};

/* --- what independent samples would vary by --- */

/*
 * Samples of different weight vary by more than as many equal ones: by the mean of the squares
 * over the mean. Of what was added up in a count only the sum is known. Waits are taken to be as
 * different as those of a queue (exponential: twice the square of the mean).
 */
static double unit_of(const struct changes *c)
{
	double sum = 0, squares = 0, weight;

	for (size_t i = 0; i < c->both->nr_samples; i++) {
		if (!c->tree->leaves[i].node)
			continue;
		weight = c->tree->leaves[i].weight;
		sum += weight;
		squares += weight * weight /
			   (c->both->samples[i].count ? c->both->samples[i].count : 1);
	}
	return sum > 0 ? squares / sum * (c->both->meta.is_time ? 2 : 1) : 1;
}

double changes_of_side(const struct changes *c, int side)
{
	return c->opts.absolute ? c->sides[side].nr : changes_all(c, side);
}

double changes_rate(const struct changes *c, const struct change *row, int side)
{
	double of = changes_of_side(c, side);

	return of > 0 ? row->self[side] / of : 0;
}

/* What the variance of a rate over so much is. */
static double variance(const struct changes *c, double rate, double of)
{
	double v = rate * (c->opts.absolute ? 1 : 1 - rate) * c->unit;

	return of > 0 ? v / of : 0;
}

double changes_variance(const struct changes *c, double a, double b)
{
	double of_a = changes_of_side(c, 0), of_b = changes_of_side(c, 1), both;

	if (!(of_a > 0) || !(of_b > 0))
		return 0;
	both = (a + b) / (of_a + of_b);
	return variance(c, both, of_a) + variance(c, both, of_b);
}

/* --- recordings around their side --- */

static double part_of(const struct judge *j, size_t part)
{
	return j->c->opts.absolute ? 1 : j->parts[part].weight;
}

static void scatter_recordings(const struct judge *j, struct scatter *s, size_t row)
{
	const struct changes *c = j->c;
	double of, off, expected, rate;

	for (size_t k = 0; k < j->nr_parts; k++) {
		of = part_of(j, k);
		rate = changes_rate(c, &c->v[row], j->parts[k].side);
		expected = variance(c, rate, of);
		if (!(expected > 0))
			continue;
		off = j->own[row * j->nr_parts + k] / of - rate;
		s->chi2[row] += off * off / expected;
	}
	for (int side = 0; side < 2; side++)
		if (c->v[row].self[side])
			s->df[row] += c->sides[side].nr - 1;
}

/* --- slices around their recording --- */

static int by_row(const void *x, const void *y)
{
	const struct piece *a = x, *b = y;

	if (a->row != b->row)
		return a->row < b->row ? -1 : 1;
	return a->slice < b->slice ? -1 : a->slice > b->slice;
}

static void add_to_slice(struct pieces *p, size_t slice, double weight)
{
	p->all[slice] += weight;
	p->recorded[p->part_of[slice]] += weight;
}

static void add_durations(const struct judge *j, struct pieces *p)
{
	const uint64_t *ends = j->c->both->slices;

	for (size_t k = 0; k < j->nr_parts; k++) {
		for (size_t i = 0; i < j->parts[k].nr_slices; i++) {
			size_t at = j->parts[k].first_slice + i;

			if (ends[at] > (i ? ends[at - 1] : 0))
				add_to_slice(p, at, ends[at] - (i ? ends[at - 1] : 0));
		}
	}
}

static void add_pieces(const struct judge *j, struct pieces *p)
{
	const struct profile *both = j->c->both;

	for (size_t i = 0; i < both->nr_sliced; i++) {
		const struct sliced *s = &both->sliced[i];
		const struct sample *of = &both->samples[s->sample];
		const struct tree_leaf *leaf = &j->c->tree->leaves[s->sample];
		double in_all = of->weight ? of->weight : of->count, weight;

		if (!leaf->node || !(in_all > 0))
			continue;
		weight = leaf->weight * fmin(s->weight / in_all, 1);
		if (!j->c->opts.absolute)
			add_to_slice(p, s->slice, weight);
		if (j->row1_of[s->sample] && j->c->v[j->row1_of[s->sample] - 1].judged)
			p->v[p->nr++] =
				(struct piece){ j->row1_of[s->sample] - 1, s->slice, weight };
	}
	if (p->nr)
		qsort(p->v, p->nr, sizeof(*p->v), by_row);
}

static void find_pieces(const struct judge *j, struct pieces *p)
{
	size_t nr_slices = j->c->both->nr_slices;

	p->v = xcalloc(j->c->both->nr_sliced + 1, sizeof(*p->v));
	p->all = xcalloc(nr_slices + 1, sizeof(*p->all));
	p->recorded = xcalloc(j->nr_parts, sizeof(*p->recorded));
	p->part_of = xcalloc(nr_slices + 1, sizeof(*p->part_of));
	for (size_t k = 0; k < j->nr_parts; k++)
		for (size_t i = 0; i < j->parts[k].nr_slices; i++)
			p->part_of[j->parts[k].first_slice + i] = k;
	if (j->c->opts.absolute)
		add_durations(j, p);
	add_pieces(j, p);
}

static void release_pieces(struct pieces *p)
{
	free(p->v);
	free(p->all);
	free(p->recorded);
	free(p->part_of);
}

/* How many groups of so many slices a recording has that hold anything. */
static double nr_groups(const struct part *part, const struct pieces *p, size_t together)
{
	double nr = 0, all = 0;

	for (size_t i = 0; i < part->nr_slices; i++) {
		all += p->all[part->first_slice + i];
		if ((i + 1) % together && i + 1 < part->nr_slices)
			continue;
		nr += all > 0;
		all = 0;
	}
	return nr;
}

/* What the group with that slice has of all rows. */
static double all_of_group(const struct part *part, const struct pieces *p, size_t slice,
			   size_t together)
{
	size_t first = slice / together * together;
	double all = 0;

	for (size_t i = first; i < first + together && i < part->nr_slices; i++)
		all += p->all[part->first_slice + i];
	return all;
}

/*
 * The pieces of one row in one recording, n of them. With x of n in each group and a share of s,
 * the sum of (x - s n)^2 / n is that of x^2 / n, less the square of the sum of x by that of n.
 */
static void scatter_slices(const struct judge *j, struct scatter *s, const struct pieces *p,
			   const struct piece *v, size_t nr, size_t together)
{
	size_t k = p->part_of[v->slice], row = v->row;
	const struct part *part = &j->parts[k];
	double own = 0, squares = 0, in_group = 0, share, expected;

	for (size_t i = 0; i < nr; i++) {
		size_t at = v[i].slice - part->first_slice;

		in_group += v[i].weight;
		own += v[i].weight;
		if (i + 1 < nr && (v[i + 1].slice - part->first_slice) / together == at / together)
			continue;
		squares += in_group * in_group / all_of_group(part, p, at, together);
		in_group = 0;
	}
	share = own / p->recorded[k];
	expected = share * (j->c->opts.absolute ? 1 : 1 - share) * j->c->unit;
	if (!(expected > 0))
		return;
	s->chi2[row] += (squares - own * share) / expected;
	s->df[row] += nr_groups(part, p, together) - 1;
}

static void scatter_pieces(const struct judge *j, struct scatter *s, const struct pieces *p,
			   size_t together)
{
	size_t end;

	for (size_t i = 0; i < p->nr; i = end) {
		end = i + 1;
		while (end < p->nr && p->v[end].row == p->v[i].row &&
		       p->part_of[p->v[end].slice] == p->part_of[p->v[i].slice])
			end++;
		scatter_slices(j, s, p, &p->v[i], end - i, together);
	}
}

/* --- both --- */

static void init(struct scatter *s, size_t nr)
{
	*s = (struct scatter){ .chi2 = xcalloc(nr + 1, sizeof(*s->chi2)),
			       .df = xcalloc(nr + 1, sizeof(*s->df)) };
}

static void release(struct scatter *s)
{
	free(s->chi2);
	free(s->df);
}

static void find_dispersion(struct scatter *s, size_t nr)
{
	double chi2 = 0, df = 0;

	for (size_t i = 0; i < nr; i++) {
		chi2 += s->chi2[i];
		df += s->df[i];
	}
	s->known = df > 0;
	s->dispersion = df > 0 && chi2 > df ? chi2 / df : 1;
}

/* How likely it is, if that is how much there is of noise. */
static double p_by(const struct changes *c, const struct scatter *s, size_t i)
{
	const struct change *row = &c->v[i];
	double df = INFINITY, times = 1, v;

	if (s->known) {
		df = CHANGES_PRIOR_DF + s->df[i];
		times = fmax((CHANGES_PRIOR_DF * s->dispersion + s->chi2[i]) / df, 1);
	}
	v = times * changes_variance(c, row->self[0], row->self[1]);
	if (!(v > 0))
		return 1;
	return 1 - student_within(fabs(changes_rate(c, row, 1) - changes_rate(c, row, 0)) / sqrt(v),
				  df);
}

/* The noise that makes the difference likeliest is taken. */
static void judge_by(struct changes *c, struct scatter *s, double *dispersion)
{
	double p;

	find_dispersion(s, c->nr);
	*dispersion = fmax(*dispersion, s->dispersion);
	for (size_t i = 0; i < c->nr; i++) {
		p = c->v[i].judged ? p_by(c, s, i) : 1;
		if (!c->v[i].judged || p > c->v[i].p)
			c->v[i].p = p;
	}
}

static void judge_by_recordings(struct judge *j)
{
	struct changes *c = j->c;
	struct scatter s;

	init(&s, c->nr);
	for (size_t i = 0; i < c->nr; i++)
		if (c->v[i].judged)
			scatter_recordings(j, &s, i);
	judge_by(c, &s, &c->dispersion);
	c->noise_known = s.known;
	release(&s);
}

static void judge_by_slices(struct judge *j)
{
	struct changes *c = j->c;
	struct pieces p = {};
	struct scatter s;

	find_pieces(j, &p);
	for (size_t together = 1; together <= LONGEST; together *= 2) {
		init(&s, c->nr);
		scatter_pieces(j, &s, &p, together);
		judge_by(c, &s, &c->slice_dispersion);
		c->slices_known |= s.known;
		release(&s);
	}
	release_pieces(&p);
}

void changes_judge(struct judge *j)
{
	struct changes *c = j->c;

	c->unit = unit_of(c);
	c->dispersion = c->slice_dispersion = 1;
	for (size_t i = 0; i < c->nr; i++)
		c->v[i].p = 0;
	judge_by_recordings(j);
	judge_by_slices(j);
}
