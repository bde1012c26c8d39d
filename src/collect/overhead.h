/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How much a recording leaves out so that it costs no more than it may. Arithmetic only: times and
 * costs come from the caller.
 *
 *	 cost of the last tenth of a second    level
 *	 above the budget                      up, by as many halvings as it takes, at most 4
 *	 doubled, below 4/5 of it for 1 s      down by one
 *
 * What is left out at a level is the caller's: one of 2^level is taken. What bpfprof itself needs
 * comes in bursts (tables are built when a program starts), so of that the mean of some seconds
 * counts, and the first seconds do not.
 *
 * What it needs for itself hardly follows the level (apart): beside programs that come and go it is
 * their tables, and in a live view names, however few samples are taken. There the kernel's part
 * alone is held to what that leaves of the budget, and always has half of it: else what is shown
 * would be thinned to nothing, and nothing saved.
 */
#ifndef BPFPROF_COLLECT_OVERHEAD_H
#define BPFPROF_COLLECT_OVERHEAD_H

#include <stdbool.h>
#include <stdint.h>

#define OVERHEAD_WINDOW_NS 100000000ull
#define OVERHEAD_REFUSED   (-1)
#define OVERHEAD_ENDS	   2

/* What runs of BPF programs have cost, of which one in some measures its own time. */
struct overhead_runs {
	uint64_t nr;		  /* as of the last call */
	uint64_t timed, timed_ns; /* that the price is not of yet */
	double price_ns;	  /* of a run; 0 = not known yet */
	double ns;		  /* of all that were charged */
};

/*
 * As of now: how many runs, how many of them were timed, and what these took. Those since the last
 * call are charged what runs cost lately: a mean of few says little, so until it is known, what was
 * timed is charged alone. Returned is what all have cost, which never falls.
 */
uint64_t overhead_charge(struct overhead_runs *r, uint64_t nr, uint64_t timed, uint64_t timed_ns);

struct overhead {
	double share;	   /* of the CPUs' time; 0 = no limit */
	unsigned int most; /* the highest level; 0: nothing can be left out, nor is it refused */
	/* Above each of these levels something else is left out, 0 = none; after overhead_init() */
	unsigned int ends[OVERHEAD_ENDS];
	unsigned int level, highest;
	uint64_t begin_ns, window_ns; /* of all; of the window */
	uint64_t kernel_ns, own_ns;   /* as of the begin of the window */
	double last;		      /* share of the last window; own time smoothed */
	double own;		      /* smoothed */
	double kernel;		      /* share of the last window, without it */
	bool apart;		      /* own does not follow the level; set after overhead_init() */
	double before;		      /* share before the last raise; 0 = none lately */
	bool spent;		      /* leaving out more would bring next to nothing */
	unsigned int nr_windows, nr_calm;
	uint64_t thinned_ns, over_ns; /* while level > 0; while it was too much all the same */
	uint64_t over_run_ns;	      /* for how long it has been too much without a break */
};

void overhead_init(struct overhead *o, double share, unsigned int most, uint64_t now_ns);

/*
 * What it has cost so far, on nr_cpus: in the kernel, and bpfprof itself. Returns the level from
 * now on, or OVERHEAD_REFUSED: with nothing left to leave out, the first tenths of a second, which
 * are the canary, cost more than ten times what they may.
 */
int overhead_turn(struct overhead *o, uint64_t now_ns, uint64_t kernel_ns, uint64_t own_ns,
		  unsigned int nr_cpus);

#endif
