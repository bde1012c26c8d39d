/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What probes cost whom they stand in: said before, looked at while they are hit. The price of a
 * hit is measured on functions of our own, and that of our program while it runs.
 */
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "collect/record_parts.h"
#include "profile/kind.h"

#define TRIAL_NS	100000000ull
#define MOST_PER_SECOND 100000 /* hits; polls go by their share alone */
#define MOST_HITS	"100,000 hits a second"
#define POLLS_LOOK_NS	200000000ull
#define CALLS_LOOK_NS	1000000000ull
#define CALLS_SHARE	0.25 /* of a CPU, or of what the processes use if that is more */

/* What a call of an event costs without our programs, and how many hits it is. */
struct call_price {
	double entry_ns, back_ns;
	uint32_t nr_entries, nr_backs;
};

/*
 * An event has one entry, or, of a USDT probe, several; and a return probe, whose trap is as dear
 * as a cheap one, or some returns of which one is executed.
 */
static struct call_price *call_prices(const struct calls_opts *o, struct price price)
{
	struct call_price *v = xcalloc(o->nr_events + 1, sizeof(*v));

	for (size_t i = 0; i < o->nr_points; i++) {
		const struct point *p = &o->points[i];
		struct call_price *e = &v[p->event < o->nr_events ? p->event : o->nr_events];
		double ns = p->is_dear ? price.stepped_ns : price.emulated_ns;

		if (p->is_return) {
			e->back_ns += ns;
			e->nr_backs++;
			continue;
		}
		e->entry_ns += ns;
		e->nr_entries++;
		if (p->by_probe) {
			e->back_ns += price.emulated_ns;
			e->nr_backs++;
		}
	}
	return v;
}

static double price_of_call(const struct call_price *p, double *hits)
{
	*hits = (p->nr_entries > 0) + (p->nr_backs > 0);
	return (p->nr_entries ? p->entry_ns / p->nr_entries : 0) +
	       (p->nr_backs ? p->back_ns / p->nr_backs : 0);
}

/* Calls of each event until now, as far as they were recorded. */
static uint64_t *calls_by_event(const struct record *r)
{
	const struct session_maps *m = session_maps(r->session);
	const struct calls_opts *o = &r->opts->calls;
	uint64_t *nr = xcalloc(o->nr_events + 1, sizeof(*nr));

	for (size_t i = 0; i < m->nr_call_hists; i++)
		for (size_t k = 0; m->call_hists[i].hash && k < PROF_HIST_BUCKETS; k++)
			if (m->call_hists[i].event < o->nr_events)
				nr[m->call_hists[i].event] += m->call_hists[i].hist.count[k];
	for (size_t i = 0; !o->timed && i < m->nr_counts; i++)
		if (m->counts[i].hash && PROF_WAIT_EVENT(m->counts[i].wait) < o->nr_events)
			nr[PROF_WAIT_EVENT(m->counts[i].wait)] += m->counts[i].samples;
	return nr;
}

/* The mean of all hits, by how often each function was called; before any call, by their number. */
static double trap_ns(const struct record *r)
{
	const struct calls_opts *o = &r->opts->calls;
	struct call_price *prices;
	double ns = 0, hits = 0, hits_of_call;
	uint64_t *nr;

	if (!o->nr_dear || o->slow_ns)
		return r->price.emulated_ns;
	prices = call_prices(o, r->price);
	nr = calls_by_event(r);
	for (int by_number = 0; by_number < 2 && hits == 0; by_number++)
		for (size_t i = 0; i < o->nr_events; i++) {
			double calls = by_number ? 1 : nr[i];

			ns += calls * price_of_call(&prices[i], &hits_of_call);
			hits += calls * hits_of_call;
		}
	free(nr);
	free(prices);
	return hits > 0 ? ns / hits : r->price.emulated_ns;
}

void record_tell_price(const struct record *r)
{
	const struct calls_opts *o = &r->opts->calls;
	struct call_price *prices;
	double most = 0, ns, hits;

	if (!o->nr_dear)
		return;
	prices = call_prices(o, r->price);
	for (size_t i = 0; i < o->nr_events; i++) {
		ns = price_of_call(&prices[i], &hits);
		most = ns > most ? ns : most;
	}
	free(prices);
	log_warn("probes that the kernel single-steps: %zu of %zu, at %s a hit on this host, where "
		 "others cost %s; a call%s takes up to %s more (-v lists them)",
		 o->nr_dear, o->nr_points, text_ns(r->price.stepped_ns),
		 text_ns(r->price.emulated_ns), o->timed ? " with its return" : "",
		 text_ns((uint64_t)most));
}

/* CPU time of the processes that are probed. */
static uint64_t cpu_ns(const struct record *r)
{
	uint64_t sum = 0;
	struct timespec t;
	clockid_t clock;

	for (size_t i = 0; i < r->probed.nr; i++)
		if (!clock_getcpuclockid(r->probed.v[i], &clock) && !clock_gettime(clock, &t))
			sum += t.tv_sec * 1000000000ull + t.tv_nsec;
	if (r->target.pid && !clock_getcpuclockid(r->target.pid, &clock) &&
	    !clock_gettime(clock, &t))
		sum += t.tv_sec * 1000000000ull + t.tv_nsec;
	return sum;
}

/* What the probes took since the last look, and the processes with them. */
static void look_at_cost(struct record *r, struct probe_cost *now)
{
	uint64_t c[PROF_NR_COUNTERS];

	session_counters(r->session, c);
	*now = (struct probe_cost){
		.time_ns = now_ns(),
		.cpu_ns = cpu_ns(r),
		.hits = c[r->opts->calls.slow_ns ? PROF_POLL_RUNS : PROF_RUNS],
		.others = c[PROF_FILTER_PID],
	};
	now->probe_ns = c[PROF_TIMED_RUNS] ? c[PROF_TIMED_NS] / c[PROF_TIMED_RUNS] : 0;
	now->probe_ns += trap_ns(r);
}

/*
 * The part of the CPU time that probes took since the last look, and which part of the hits others
 * had that have the file mapped. Where the program hardly runs, it
 * is a share of one CPU: a large part of little hurts nobody.
 */
static double share_since(struct record *r, struct probe_cost *now, double *hits_per_s,
			  double *others)
{
	struct probe_cost before = r->probe_cost;
	double cost, cpu, wall;

	look_at_cost(r, now);
	r->probe_cost = *now;
	cost = (now->hits - before.hits) * (double)now->probe_ns;
	cpu = (double)now->cpu_ns - before.cpu_ns - cost;
	wall = now->time_ns - before.time_ns;
	*others = now->hits > before.hits
			  ? (double)(now->others - before.others) / (now->hits - before.hits)
			  : 0;
	*hits_per_s = wall > 0 ? (now->hits - before.hits) * 1e9 / wall : 0;
	return wall > 0 ? cost / (cpu > wall ? cpu : wall) : 0;
}

void record_begin_cost(struct record *r)
{
	if (r->opts->calls.points[0].kind == POINT_UPROBE)
		look_at_cost(r, &r->probe_cost);
}

static bool is_of_files(const struct calls_opts *o)
{
	return o->nr_points && o->points[0].kind == POINT_UPROBE;
}

/* What is wrong with that many hits: what they take of whom, or that strangers have them. */
static char *burden(const struct record *r, double share, double most, double others)
{
	if (others > 0.5)
		return xasprintf("%s of them by processes that were not selected and have the file "
				 "mapped as well%s",
				 text_pct(100 * others),
				 r->opts->no_children
					 ? ""
					 : " (with --no-children they have no probe, nor have the "
					   "children of those selected)");
	return xasprintf("that is %s of the program's CPU time, and at most %s is allowed",
			 text_pct(100 * share), share > most ? text_pct(100 * most) : MOST_HITS);
}

bool record_probes_are_dear(struct record *r)
{
	const struct calls_opts *o = &r->opts->calls;
	const char *cheaper = kind_of(r->opts->command)->cheaper;
	bool polls = o->most_share > 0;
	double share, hits_per_s, others, most = polls ? o->most_share : CALLS_SHARE;
	uint64_t look_ns = polls ? POLLS_LOOK_NS : CALLS_LOOK_NS;
	struct probe_cost now;
	char *what;

	if (!is_of_files(o) || o->force || (!polls && !r->tried) ||
	    now_ns() - r->probe_cost.time_ns < look_ns)
		return false;
	share = share_since(r, &now, &hits_per_s, &others);
	if (share <= most && (polls || hits_per_s <= MOST_PER_SECOND))
		return false;
	session_freeze(r->session);
	session_unprobe(r->session);
	what = burden(r, share, most, others);
	log_warn("the probes are taken away: hit %s times a second, at %s each: %s. What was %s "
		 "until now is shown; %s%s--force goes on",
		 text_count(hits_per_s), text_ns(now.probe_ns), what,
		 o->timed ? "timed" : "counted", cheaper ? cheaper : "",
		 cheaper ? " costs less, " : "");
	free(what);
	return true;
}

/* Of what the kernel has no price for: its own functions and tracepoints. */
static bool is_hit_too_often(struct record *r, uint64_t elapsed)
{
	uint64_t counters[PROF_NR_COUNTERS], per_s;

	session_counters(r->session, counters);
	per_s = counters[PROF_RUNS] * 1000000000ull / elapsed;
	if (per_s <= MOST_PER_SECOND)
		return false;
	session_unprobe(r->session);
	log_err(0,
		"they are hit %s times a second, and each time costs: choose fewer, or give "
		"--force",
		text_count(per_s));
	return true;
}

static bool costs_too_much(struct record *r)
{
	struct probe_cost now;
	double hits_per_s, others, share = share_since(r, &now, &hits_per_s, &others);
	char *what;

	if (share <= CALLS_SHARE && hits_per_s <= MOST_PER_SECOND)
		return false;
	session_unprobe(r->session);
	what = burden(r, share, CALLS_SHARE, others);
	log_err(0,
		"the probes are hit %s times a second, at %s each (%s where the kernel "
		"single-steps, else %s, and what bpfprof does there): %s. Probe fewer functions, "
		"or give --force",
		text_count(hits_per_s), text_ns(now.probe_ns), text_ns(r->price.stepped_ns),
		text_ns(r->price.emulated_ns), what);
	free(what);
	return true;
}

bool record_probe_too_often(struct record *r)
{
	const struct calls_opts *o = &r->opts->calls;
	uint64_t elapsed = now_ns() - r->begin_ns;

	if (!o->nr_points || o->force || o->most_share > 0 || r->tried || elapsed < TRIAL_NS)
		return false;
	r->tried = true;
	return is_of_files(o) ? costs_too_much(r) : is_hit_too_often(r, elapsed);
}
