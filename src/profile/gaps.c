/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A sweep over what the threads of a runtime did (gap_spans.h) counts who does what. While nobody
 * drives, what the thread did that drove last is a piece after the other.
 */
#include "profile/gaps.h"

#include <stdlib.h>

#include "base/mem.h"
#include "profile/gap_spans.h"

/* What one thread did in a gap. */
struct piece {
	const struct gap_span *span;
	uint64_t begin_ns, end_ns;
};

struct sweep {
	struct gaps *g;
	const struct gap_spans *spans;
	uint64_t least_ns;
	const struct gap_span **now; /* per thread of the runtime */
	size_t nr, cap;
	size_t left; /* who drove last */
	uint64_t by[NR_DOING];
	bool has_driver; /* somebody drives, at one time or other */

	bool is_open, runs;
	struct gap open;
	uint64_t at_ns; /* so far */
	struct piece *pieces;
	size_t nr_pieces, cap_pieces;
};

static void add_part(struct gaps *g, struct gap *gap, struct gap_part part)
{
	if (!part.ns)
		return;
	g->parts = xgrow(g->parts, g->nr_parts, &g->cap_parts, sizeof(*g->parts));
	g->parts[g->nr_parts++] = part;
	gap->nr++;
}

/* What ran is what the samples say, each as much of it. False: there is none. */
static bool add_run(struct sweep *s, struct gap *gap, const struct piece *p)
{
	size_t nr;
	const struct gap_moment *m =
		gap_spans_moments(s->spans, p->span, p->begin_ns, p->end_ns, &nr);
	uint64_t ns = p->end_ns - p->begin_ns;

	for (size_t i = 0; i < nr; i++)
		add_part(s->g, gap,
			 (struct gap_part){ m[i].sample, true, ns * (i + 1) / nr - ns * i / nr });
	return nr;
}

/* What a thread that was not sampled ran: what it was taken off its CPU in, then or before. */
static const struct gap_span *preempted_in(const struct sweep *s, size_t i)
{
	const struct piece *p = &s->pieces[i];
	const struct gap_span *next = i + 1 < s->nr_pieces ? p[1].span : p->span;
	const struct gap_span *last = i ? p[-1].span : p->span;

	if (next->tid == p->span->tid && next->doing == BLOCKS && next->preempted)
		return next;
	if (last->tid == p->span->tid && last->doing == BLOCKS && last->preempted)
		return last;
	return NULL;
}

/* Runs too short to be sampled go to what took longest. */
static void add_rest(struct gaps *g, struct gap *gap, uint64_t ns)
{
	struct gap_part *most = NULL;

	for (size_t i = gap->first; i < gap->first + gap->nr; i++)
		if (g->parts[i].sample != GAP_UNKNOWN && (!most || g->parts[i].ns > most->ns))
			most = &g->parts[i];
	if (most)
		most->ns += ns;
	else
		add_part(g, gap, (struct gap_part){ GAP_UNKNOWN, true, ns });
}

static void keep(struct sweep *s)
{
	struct gaps *g = s->g;
	struct gap *gap = &s->open;
	const struct gap_span *in;
	uint64_t rest = 0;

	gap->first = g->nr_parts;
	for (size_t i = 0; i < s->nr_pieces; i++) {
		const struct piece *p = &s->pieces[i];
		uint64_t ns = p->end_ns - p->begin_ns;

		if (p->span->doing == BLOCKS)
			add_part(g, gap, (struct gap_part){ p->span->sample, false, ns });
		else if (add_run(s, gap, p))
			continue;
		else if ((in = preempted_in(s, i)))
			add_part(g, gap, (struct gap_part){ in->sample, true, ns });
		else if (ns < s->least_ns / 4)
			rest += ns;
		else
			add_part(g, gap, (struct gap_part){ GAP_UNKNOWN, true, ns });
	}
	add_rest(g, gap, rest);
	g->v = xgrow(g->v, g->nr, &g->cap, sizeof(*g->v));
	g->v[g->nr++] = *gap;
	g->ns += gap->ns;
	g->ran_ns += gap->ran_ns;
	if (gap->ns > g->longest_ns)
		g->longest_ns = gap->ns;
}

/* Up to then nothing changed. */
static void advance(struct sweep *s, uint64_t at_ns)
{
	if (!s->is_open)
		return;
	s->open.ns = at_ns - s->open.begin_ns;
	s->open.ran_ns += s->runs ? at_ns - s->at_ns : 0;
	s->pieces[s->nr_pieces - 1].end_ns = at_ns;
	s->at_ns = at_ns;
}

static void close_gap(struct sweep *s)
{
	if (s->is_open && s->open.ns >= s->least_ns)
		keep(s);
	s->is_open = false;
	s->nr_pieces = 0;
}

/* Whose fault it is now: of others than the one that drove last, who blocked last, or ran. */
static const struct gap_span *culprit(const struct sweep *s)
{
	const struct gap_span *last = NULL;

	if (s->left < s->nr && (s->now[s->left]->doing == RUNS || s->now[s->left]->doing == BLOCKS))
		return s->now[s->left];
	for (size_t i = 0; i < s->nr; i++) {
		const struct gap_span *own = s->now[i];

		if (own->doing != BLOCKS && (own->doing != RUNS || s->by[BLOCKS]))
			continue;
		if (!last || own->begin_ns > last->begin_ns)
			last = own;
	}
	return last;
}

static void add_piece(struct sweep *s, const struct gap_span *span, uint64_t at_ns)
{
	const struct piece *last = s->nr_pieces ? &s->pieces[s->nr_pieces - 1] : NULL;

	if (last && last->span->tid == span->tid &&
	    (last->span == span || (last->span->doing == RUNS && span->doing == RUNS)))
		return;
	s->pieces = xgrow(s->pieces, s->nr_pieces, &s->cap_pieces, sizeof(*s->pieces));
	s->pieces[s->nr_pieces++] = (struct piece){ span, at_ns, at_ns };
}

static void look(struct sweep *s, uint64_t at_ns)
{
	bool runs = s->by[RUNS] && s->has_driver;

	if (s->by[DRIVES] || (s->by[RUNS] && !runs) || (!s->by[BLOCKS] && !runs)) {
		close_gap(s);
		return;
	}
	if (!s->is_open)
		s->open = (struct gap){ .begin_ns = at_ns };
	s->is_open = true;
	s->runs = runs;
	s->at_ns = at_ns;
	add_piece(s, culprit(s), at_ns);
}

/*
 * Who comes back from a wait in a task, or was idle, may poll without waiting before it goes on;
 * not so who was only taken off its CPU.
 */
static bool may_poll(const struct gap_span *was, const struct gap_span *next)
{
	return next->doing == RUNS && (was->doing == BLOCKS || was->doing == RESTS) &&
	       !was->preempted && was->end_ns > was->begin_ns;
}

/* The thread goes on to its next span. */
static void turn(struct sweep *s, const struct gap_span *next)
{
	size_t i = 0;

	while (i < s->nr && s->now[i]->tid != next->tid)
		i++;
	if (i < s->nr && may_poll(s->now[i], next))
		close_gap(s);
	if (i == s->nr) {
		s->now = xgrow(s->now, s->nr, &s->cap, sizeof(*s->now));
		s->nr++;
	} else {
		s->by[s->now[i]->doing]--;
	}
	s->now[i] = next;
	s->by[next->doing]++;
	if (next->doing == DRIVES)
		s->left = i;
}

/* All spans of one runtime, in the order of their begins. */
static void sweep(struct sweep *s, const struct gap_span *v, size_t nr, uint64_t duration_ns)
{
	s->nr = 0;
	s->left = SIZE_MAX;
	s->has_driver = false;
	for (size_t i = 0; i < NR_DOING; i++)
		s->by[i] = 0;
	for (size_t i = 0; i < nr; i++)
		s->has_driver |= v[i].doing == DRIVES;
	for (size_t i = 0; i < nr && v[i].begin_ns < duration_ns; i++) {
		advance(s, v[i].begin_ns);
		if (v[i].doing == POLLS)
			close_gap(s);
		else
			turn(s, &v[i]);
		if (i + 1 == nr || v[i + 1].begin_ns != v[i].begin_ns)
			look(s, v[i].begin_ns);
	}
	advance(s, duration_ns);
	close_gap(s);
}

bool gaps_init(struct gaps *g, const struct contexts *c, uint64_t least_ns)
{
	struct gap_spans spans;
	struct sweep s = { .g = g, .spans = &spans, .least_ns = least_ns };
	size_t first = 0;

	*g = (struct gaps){};
	if (!c->v || !c->p->nr_long_waits)
		return false;
	gap_spans_init(&spans, c);
	for (size_t i = 0; i < spans.nr; i++) {
		const struct gap_span *v = &spans.v[i];

		if (i + 1 < spans.nr && v->pid == v[1].pid && v->runtime == v[1].runtime)
			continue;
		sweep(&s, &spans.v[first], i + 1 - first, c->p->meta.duration_ns);
		first = i + 1;
	}
	free(s.now);
	free(s.pieces);
	gap_spans_release(&spans);
	return first != 0;
}

void gaps_release(struct gaps *g)
{
	free(g->v);
	free(g->parts);
	*g = (struct gaps){};
}

uint64_t *gaps_weights(const struct gaps *g, const struct profile *p)
{
	uint64_t *weights = xcalloc(p->nr_samples + 1, sizeof(*weights));

	for (size_t i = 0; i < g->nr_parts; i++)
		if (g->parts[i].sample != GAP_UNKNOWN)
			weights[g->parts[i].sample] += g->parts[i].ns;
	return weights;
}
