/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The heat map of a page: which node had how much in which slice of time. The viewer sums it up,
 * for the map itself (flame_heat.js) and for the flame graph of what is selected in it. Columns of
 * numbers, one entry per part, packed as those of flame_script.c:
 *
 *	gaps     slices between the first slice of the part before and its own
 *	spans    slices behind the first one that have as much each
 *	nodes    in the order of the file's tree
 *	values   which value: of waits that of the class, which are part of the first value too
 *	amounts  in each slice
 *	others   of the value whose number is "other": how many, or what these stand for
 */
#include "output/flame.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "profile/waits.h"

/* Per class of waits, then of idle ones: its value, 0 = the first one. */
struct class_values {
	uint32_t of[WAITS_NR + 1];
};

static struct class_values find_classes(const struct flame *f)
{
	struct class_values c = {};

	for (size_t i = 0; i < f->nr_values; i++)
		if (f->values[i].class)
			c.of[f->values[i].class - 1] = i;
	return c;
}

/* The value of each sample's own; NULL: all are of the first one. */
static uint32_t *own_values(const struct flame *f, const struct profile *p, const struct view *v)
{
	struct class_values c = find_classes(f);
	uint32_t *own = xcalloc(p->nr_samples + 1, sizeof(*own));
	struct waits w;
	uint32_t shown = view_event(v, p), event;

	if (p->meta.is_time) {
		waits_init(&w, p, v);
		for (size_t i = 0; i < p->nr_samples; i++)
			own[i] = c.of[w.fate[i] == WAITS_IDLE ? (uint32_t)WAITS_NR : w.class_of[i]];
		waits_release(&w);
	} else if (profile_is_mixed(p)) {
		for (size_t i = 0; i < p->nr_samples; i++) {
			event = PROF_WAIT_EVENT(p->samples[i].wait);
			own[i] = event == shown ? 0 : event + (event < shown);
		}
	}
	return own;
}

static uint64_t part_of(uint64_t all, uint64_t part, uint64_t whole)
{
	return part == whole ? all : whole ? llround((double)all / whole * part) : 0;
}

/* Views show a sample by its number or by its weight, and some of them scale it. */
static struct flame_moment moment_of(const struct flame *f, const struct profile *p,
				     const struct moment *m)
{
	const struct sample *s = &p->samples[m->sample];
	const struct tree_leaf *leaf = &f->t->leaves[m->sample];
	bool weighs = p->meta.is_time || p->meta.by_weight || p->meta.timed;

	return (struct flame_moment){ .first = m->first,
				      .nr = m->nr,
				      .node = leaf->node,
				      .amount = weighs ? part_of(leaf->weight, m->weight, s->weight)
						       : part_of(leaf->weight, m->count, s->count),
				      .other = f->counts ? m->count : m->weight };
}

static size_t nr_slices(const struct profile *p)
{
	uint64_t nr = (p->meta.duration_ns + p->meta.moment_ns - 1) / p->meta.moment_ns;
	const struct moment *m;

	nr = !nr ? 1 : nr < PROFILE_MAX_MOMENT_SLICES ? nr : PROFILE_MAX_MOMENT_SLICES;
	for (size_t i = 0; i < p->nr_moments; i++) {
		m = &p->moments[i];
		if (m->first + m->nr > nr)
			nr = m->first + m->nr;
	}
	return nr;
}

/* What no node shows is left out. */
void flame_moments_init(struct flame *f, const struct profile *p, const struct view *v)
{
	uint32_t *own = own_values(f, p, v);
	struct flame_moment one;

	f->nr_slices = nr_slices(p);
	f->moments = xcalloc(p->nr_moments + 1, sizeof(*f->moments));
	for (size_t i = 0; i < p->nr_moments; i++) {
		one = moment_of(f, p, &p->moments[i]);
		one.value = own[p->moments[i].sample];
		if (one.node && (one.amount || one.other))
			f->moments[f->nr_moments++] = one;
	}
	free(own);
}

/* The numbers that the file gives to nodes. To be freed. */
static uint32_t *number_nodes(const struct flame *f)
{
	uint32_t *numbers = xcalloc(f->t->nr, sizeof(*numbers)), i = 0, nr = 0, up;

	do {
		numbers[i] = nr++;
		i = flame_next(f, i, true, &up);
	} while (i);
	return numbers;
}

enum column { GAPS, SPANS, NODES, VALUES, AMOUNTS, OTHERS, NR_COLUMNS };

static void put_column(const struct flame *f, FILE *out, const uint32_t *numbers,
		       enum column column)
{
	static const char *const names[NR_COLUMNS] = { "gaps",	 "spans",   "nodes",
						       "values", "amounts", "others" };
	uint32_t before = 0;

	fprintf(out, ",\n\"%s\":\"", names[column]);
	for (size_t i = 0; i < f->nr_moments; i++) {
		const struct flame_moment *m = &f->moments[i];
		const uint64_t of[NR_COLUMNS] = { m->first - before, m->nr - 1, numbers[m->node],
						  m->value,	     m->amount, m->other };

		flame_put_number(out, of[column]);
		before = m->first;
	}
	fputc('"', out);
}

void flame_moments_put(const struct flame *f, FILE *out)
{
	uint32_t *numbers;

	if (!f->nr_slices)
		return;
	numbers = number_nodes(f);
	fprintf(out,
		",\n\"moments\":{\"slice\":%" PRIu64 ",\"nr\":%zu,\"start\":%" PRIu64
		",\"lost\":%" PRIu64 ",\"other\":%zu",
		f->p->meta.moment_ns, f->nr_slices, f->p->meta.start_ns / 1000000,
		f->p->counters[PROF_MOMENTS_LOST], f->counted);
	for (enum column c = 0; c < NR_COLUMNS; c++)
		if (c != OTHERS || f->counted)
			put_column(f, out, numbers, c);
	fputc('}', out);
	free(numbers);
}
