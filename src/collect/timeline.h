/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Timelines: how large their rings are, and reading them when all is over. */
#ifndef BPFPROF_COLLECT_TIMELINE_H
#define BPFPROF_COLLECT_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/timeline.h"
#include "profile/profile.h"

struct session;

struct timeline_opts {
	uint64_t ring_bytes; /* of all CPUs; 0 = 4 MB for each, and at most 256 MB */
	uint64_t last_ns;    /* that are kept; 0 = all of the recording */
	uint64_t outlier_us; /* the first wait for a CPU of that length ends it; 0 = none does */
	uint64_t around_ns;  /* that are kept before and behind it */
};

struct timeline_config timeline_configure(const struct timeline_opts *o, uint32_t nr_cpus);

/*
 * Takes the events from begin to end, and says in the ledger what became of all others. Programs
 * must not run any more.
 */
void timeline_read(const struct timeline_opts *o, const struct session *s, struct profile *p,
		   uint64_t begin_ns, uint64_t end_ns);

#endif
