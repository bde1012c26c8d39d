/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What has been taken out of the kernel's table of counts: the same key in a later generation of
 * the arena adds to what is there.
 */
#ifndef BPFPROF_COLLECT_TALLY_H
#define BPFPROF_COLLECT_TALLY_H

#include <stddef.h>

#include "base/index.h"
#include "bpf/prof.h"

/* How long waits were: a union prof_wait_hist, or several added up. */
struct tally_lengths {
	uint64_t max_ns, count[PROF_WAIT_BUCKETS];
};

struct tally {
	struct prof_count *counts; /* stacks are what the caller calls them; hash is not used */
	size_t nr, cap;
	struct prof_event_count *values; /* nr_values of each */
	size_t nr_values, nr_all, cap_values;
	struct tally_lengths *lengths; /* of each, of waits */
	size_t nr_lengths, cap_lengths;
	struct index index;
};

/*
 * The number of the sum. values: nr_values counters of the samples, NULL without. Those are as many
 * at each call.
 */
uint32_t tally_add(struct tally *t, const struct prof_count *count,
		   const struct prof_event_count *values, size_t nr_values);

/* The lengths of the waits that were just added under that number. Of all counts or of none. */
void tally_add_lengths(struct tally *t, uint32_t id, const union prof_wait_hist *h);

void tally_release(struct tally *t);

#endif
