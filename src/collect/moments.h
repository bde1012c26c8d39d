/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * When samples were taken and waits passed, for heat maps: takes the entries of bpf/moments.bpf.c
 * out of their rings, and keeps how much of which count came in which slice of time. A wait is in
 * all slices that it lasted.
 *
 * Long waits are kept one by one as well, if they are asked for.
 *
 * Slices are 20 ms long. When a recording would have more than MOMENTS_MAX_PARTS parts or
 * MOMENTS_MAX_SLICES slices, they become longer: 100 ms, 500 ms, 1 s, 2 s and so on.
 */
#ifndef BPFPROF_COLLECT_MOMENTS_H
#define BPFPROF_COLLECT_MOMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/prof.h"
#include "collect/long_waits.h"

#define MOMENTS_MAX_PARTS  (1u << 19) /* 12 MB */
#define MOMENTS_MAX_SLICES (1u << 20)
#define MOMENTS_TAKEN	   (1u << 31)

/* So much in each of nr slices from first on; count: of samples, or of waits that began there. */
struct moment_part {
	uint32_t owner; /* slot of a count; with MOMENTS_TAKEN the id that it has for good */
	uint32_t first, nr;
	uint32_t count;
	uint64_t weight;
};

struct moments {
	/* The kernel's, borrowed; NULL: no times are kept. */
	const struct prof_moment *ring; /* of each CPU nr_slots */
	const struct prof_word *heads;
	const struct prof_count *counts;
	size_t nr_cpus, nr_slots, nr_counts;
	uint64_t *read; /* per CPU: entries that were read */
	uint64_t lost;	/* that were written over before */

	bool no_slices; /* only long waits are wanted */
	struct long_waits long_waits;

	uint64_t begin_ns, slice_ns;
	struct moment_slot {
		uint32_t id1;	/* of the count + 1, once it is taken over; 0 = not yet */
		uint32_t last1; /* its latest part + 1, 0 = none */
	} * slots;
	struct moment_part *parts;
	size_t nr_parts, cap_parts, max_parts;
};

/* The rings have begun to be filled before. */
void moments_begin(struct moments *m, uint64_t begin_ns);

/* Takes over what is complete. */
void moments_drain(struct moments *m);

/* A count of the kernel's, by its slot, is taken over for good under that id. */
void moments_take(struct moments *m, size_t slot, uint32_t id);

/* So many slots from that one on become free: counts that were not taken over are dropped. */
void moments_empty(struct moments *m, size_t first, size_t nr);

/* All was taken over: parts of one count and time become one, in the order of time. */
void moments_end(struct moments *m);

void moments_release(struct moments *m);

#endif
