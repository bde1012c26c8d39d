/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the time of a runtime's workers went, so that it adds up to workers times how long each was
 * watched: by context, in which threads that are workers for most of the time were. A runtime of
 * one thread has a table of its own.
 */
#ifndef BPFPROF_PROFILE_CONTEXT_SUMS_H
#define BPFPROF_PROFILE_CONTEXT_SUMS_H

#include "profile/context.h"
#include "profile/view.h"
#include "profile/waits.h"

#define CONTEXT_MAX_KINDS 48
#define CONTEXT_MAX_NAMES 16

struct context_kind_sum {
	const char *kind;
	struct waits_sum sum;
};

/* Longest first. */
struct context_kind_sums {
	struct context_kind_sum v[CONTEXT_MAX_KINDS];
	size_t nr;
};

/* Numbers behind names, as Builder::thread_name_fn() gives, tell no two runtimes apart. */
struct context_name {
	uint32_t name;	/* string, of the first of them */
	uint32_t shown; /* so much of it, which all of them have */
	uint64_t nr_threads;
};

/* Those of one sort of threads; the lines add up to how long they were watched. */
struct context_table {
	uint64_t nr_threads;
	/* The most frequent one first: several runtimes have several. */
	struct context_name names[CONTEXT_MAX_NAMES];
	size_t nr_names;
	uint64_t ns;	     /* threads times how long they were watched */
	uint64_t running_ns; /* measured, or what the rest leaves */
	bool measured;
	bool filtered;		/* not measured, and waits were left out: it may be these as well */
	int64_t residual_ns;	/* of a measured one: what no line has */
	struct waits_sum queue; /* for a CPU */
	struct waits_sum by[CONTEXT_NR];       /* waits, without those for a CPU */
	struct context_kind_sums kinds, mains; /* of tasks, and of the main future */
};

/*
 * Threads of a runtime that run its tasks: some of many, or one that is all of its runtime. What
 * other threads did while they were workers is the third: block_in_place() makes each thread of the
 * pool a worker for a while, and a table of threads would lose that.
 */
enum context_sort { SORT_WORKERS, SORT_ALONE, SORT_MOVED, NR_SORTS };

struct context_sums {
	uint32_t runtime; /* its number */
	uint64_t nr_threads[ROLE_NR];
	struct context_table tables[NR_SORTS];
	struct waits_sum all[CONTEXT_NR]; /* of all threads of the process */
	struct context_kind_sums kinds;	  /* what tasks waited for, in all threads */
	bool legacy, v0;		  /* how names of functions were mangled */
	bool by_form;			  /* contexts_by_form() */
};

/* False: the view shows no runtime, or the profile has none of waits. */
bool context_sums_init(struct context_sums *s, const struct profile *p, const struct view *v);

#endif
