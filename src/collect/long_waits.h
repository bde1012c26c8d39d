/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waits that were long, each with its begin and its end: out of the entries of bpf/moments.bpf.c,
 * as moments.h takes them. What a thread waited for a CPU behind its wait is part of it. Of each
 * count the first and the last wait are kept whatever their length, so that it is known between
 * which times its thread was seen.
 *
 * Waits for events (epoll) are kept whatever their length, since it matters when nobody waited for
 * them: those of one count that follow each other within least_ns are one. So are samples of
 * running code, each with the period before it. While entries are missing, nobody knows who waited
 * for events, so whoever ever did so has a wait of that stretch.
 */
#ifndef BPFPROF_COLLECT_LONG_WAITS_H
#define BPFPROF_COLLECT_LONG_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/prof.h"

#define LONG_WAITS_MAX (1u << 20) /* 24 MB */
#define LONG_WAITS     4	  /* those of the time of a gap, divided by it, are long */

struct long_wait_entry {
	uint32_t slot;		   /* of its count */
	uint64_t begin_ns, end_ns; /* since the begin of the recording */
};

struct long_waits {
	uint64_t least_ns;		 /* 0: none are kept */
	size_t max;			 /* 0 = the usual */
	const struct prof_count *counts; /* the kernel's, borrowed */
	struct long_wait_entry *v;
	size_t nr, cap;
	uint64_t lost; /* for which there was no room */

	struct long_wait_missed {
		uint64_t begin_ns, end_ns;
	} * missed; /* entries of one CPU */
	size_t nr_missed, cap_missed;
	uint64_t *at_ns; /* per CPU: the end of its latest entry */
	bool *misses;	 /* per CPU: what followed it was not read */

	size_t *of_cpu;		      /* per CPU: its latest entry in v + 1, 0 = was not kept */
	struct long_wait_entry *last; /* per count */
	bool *seen, *kept;	      /* per count: any, and whether the last one is in v */
	size_t *stretch1; /* per count: its latest waits for events that are one, in v + 1 */
	uint32_t *id1;	  /* per count: the id that it has for good + 1; waits keep their counts */
	size_t nr_cpus, nr_counts;
};

/* With least_ns set. */
void long_waits_begin(struct long_waits *w, const struct prof_count *counts, size_t nr_counts,
		      size_t nr_cpus);

/* What a CPU counted next. */
void long_waits_add(struct long_waits *w, size_t cpu, const struct long_wait_entry *e);

/* What a CPU counted next was written over before it was read. */
void long_waits_miss(struct long_waits *w, size_t cpu);

/* None comes any more. */
void long_waits_end(struct long_waits *w);

void long_waits_release(struct long_waits *w);

#endif
