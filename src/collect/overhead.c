/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From what a recording costs to how much of it is left out. */
#include "collect/overhead.h"

#include <math.h>
#include <stddef.h>

#define MOST_STEPS    4	  /* halvings at a time, but for the first window, which is the canary */
#define CALM_WINDOWS  10  /* before more is taken again */
#define CALM_SHARE    0.8 /* of the budget, that it may cost then */
#define LITTLE	      0.85
#define MUCH_MORE     1.5
#define CANARY	      4	 /* windows in which it is refused: one, and each kind is tried */
#define REFUSE_TIMES  10 /* the budget */
#define START_NS      3000000000ull
#define KERNEL_PART   2	  /* of the budget, one in so many, that is the kernel's if own is apart */
#define OWN_WINDOW_NS 5e9 /* that bpfprof's own time is smoothed over */
#define ENOUGH_TIMED  16  /* runs, for a mean */

uint64_t overhead_charge(struct overhead_runs *r, uint64_t nr, uint64_t timed, uint64_t timed_ns)
{
	if (timed - r->timed >= ENOUGH_TIMED) {
		r->price_ns = (double)(timed_ns - r->timed_ns) / (timed - r->timed);
		r->timed = timed;
		r->timed_ns = timed_ns;
	}
	if (r->price_ns == 0)
		r->ns = timed_ns;
	else if (nr > r->nr)
		r->ns += (nr - r->nr) * r->price_ns;
	r->nr = nr;
	return r->ns;
}

void overhead_init(struct overhead *o, double share, unsigned int most, uint64_t now_ns)
{
	*o = (struct overhead){
		.share = share, .most = most, .begin_ns = now_ns, .window_ns = now_ns
	};
}

static unsigned int halvings(double times)
{
	return times > 1 ? (unsigned int)ceil(log2(times)) : 0;
}

/* What follows the level, and how much of it there may be. */
static double cost_of(const struct overhead *o)
{
	return o->apart ? o->kernel : o->last;
}

static double room_for(const struct overhead *o)
{
	return o->apart ? fmax(o->share - o->own, o->share / KERNEL_PART) : o->share;
}

/* Steps to where something else is left out; 0 = nothing else is. */
static unsigned int steps_to_next(const struct overhead *o)
{
	for (size_t i = 0; i < OVERHEAD_ENDS; i++)
		if (o->ends[i] && o->ends[i] >= o->level)
			return o->ends[i] + 1 - o->level;
	return 0;
}

/*
 * Unless the last step has brought next to nothing: then what costs is something else, which may be
 * left out by higher levels. Until it costs much more.
 */
static void raise_level(struct overhead *o)
{
	double cost = cost_of(o);
	unsigned int steps = halvings(cost / room_for(o)), next = steps_to_next(o);
	bool little = o->before > 0 && cost > o->before * LITTLE && cost < o->before * MUCH_MORE;

	o->spent = o->level == o->most || (little && !next);
	if (o->spent)
		return;
	o->before = cost;
	if (steps > MOST_STEPS && o->nr_windows > 1)
		steps = MOST_STEPS;
	if (little && steps < next)
		steps = next;
	o->level = steps < o->most - o->level ? o->level + steps : o->most;
	if (o->level > o->highest)
		o->highest = o->level;
	o->nr_calm = 0;
}

/* Of the window that has just ended: what it cost, as a share of the CPUs' time. */
static void measure(struct overhead *o, uint64_t now_ns, uint64_t kernel_ns, uint64_t own_ns,
		    unsigned int nr_cpus)
{
	double time_ns = (double)(now_ns - o->window_ns) * nr_cpus, part;

	if (now_ns - o->begin_ns > START_NS) {
		part = (now_ns - o->window_ns) / OWN_WINDOW_NS;
		o->own += ((own_ns - o->own_ns) / time_ns - o->own) * (part < 1 ? part : 1);
	}
	o->kernel = (kernel_ns - o->kernel_ns) / time_ns;
	o->last = o->kernel + o->own;
}

static void account(struct overhead *o, uint64_t ns)
{
	if (o->level)
		o->thinned_ns += ns;
	if ((o->spent || cost_of(o) <= room_for(o)) && o->last > o->share)
		o->over_ns += ns;
	o->over_run_ns = o->last > o->share ? o->over_run_ns + ns : 0;
}

int overhead_turn(struct overhead *o, uint64_t now_ns, uint64_t kernel_ns, uint64_t own_ns,
		  unsigned int nr_cpus)
{
	if (o->share <= 0 || !nr_cpus || now_ns - o->window_ns < OVERHEAD_WINDOW_NS)
		return o->level;
	measure(o, now_ns, kernel_ns, own_ns, nr_cpus);
	account(o, now_ns - o->window_ns);
	o->nr_windows++;
	o->window_ns = now_ns;
	o->kernel_ns = kernel_ns;
	o->own_ns = own_ns;
	if (cost_of(o) > room_for(o)) {
		raise_level(o);
		if (o->most && o->spent && o->nr_windows <= CANARY &&
		    o->last > o->share * REFUSE_TIMES)
			return OVERHEAD_REFUSED;
	} else if (o->level && cost_of(o) * 2 < room_for(o) * CALM_SHARE) {
		if (++o->nr_calm >= CALM_WINDOWS) {
			o->level--;
			o->nr_calm = 0;
			o->before = 0;
			o->spent = false;
		}
	} else {
		o->nr_calm = 0;
	}
	return o->level;
}
