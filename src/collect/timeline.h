/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Timelines: how large their rings are, and reading them when all is over. */
#ifndef BPFPROF_COLLECT_TIMELINE_H
#define BPFPROF_COLLECT_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/timeline.h"
#include "profile/profile.h"

struct proc_table;
struct session_maps;

struct timeline_opts {
	uint64_t ring_bytes; /* of all CPUs; 0 = 16 MB for each, and at most */
	uint64_t most_bytes; /* so much, or 256 MB if that is 0 or more */
	uint64_t last_ns;    /* that are kept; 0 = all of the recording */
	uint64_t outlier_us; /* the first wait for a CPU of that length ends it; 0 = none does */
	uint64_t around_ns;  /* that are kept before and behind it */
};

struct timeline_config timeline_configure(const struct timeline_opts *o, uint32_t nr_cpus);

/*
 * How many events each CPU had recorded at moments that are a 32nd of the wanted time apart: of
 * those that were overwritten, these say which were wanted.
 */
#define TIMELINE_MARKS 64
struct timeline_marks {
	uint64_t nr;			  /* so far; the latest TIMELINE_MARKS are kept */
	uint64_t time_ns[TIMELINE_MARKS]; /* when, */
	uint64_t *recorded;		  /* and of each of them a number for each CPU */
};

/* To be called often. */
void timeline_mark(struct timeline_marks *m, const struct timeline_opts *o,
		   const struct session_maps *maps);
void timeline_marks_release(struct timeline_marks *m);

/*
 * Takes the events from begin to end, and says in the ledger what became of all others. Programs
 * must not run any more.
 */
void timeline_read(const struct timeline_opts *o, const struct timeline_marks *marks,
		   const struct session_maps *maps, struct profile *p, uint64_t begin_ns,
		   uint64_t end_ns);

/* Tells the profile the names of processes whose first threads did nothing. */
void timeline_name_processes(struct profile *p, const struct proc_table *procs);

#endif
