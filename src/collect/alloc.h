/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Allocations: which functions make and free them, how they are sampled, and what a sample stands
 * for.
 *
 * An allocation of S bytes is sampled with probability p = 1 - exp(-S / every), so it stands for
 * S / p bytes and 1 / p objects. Each sample is weighed by its own size: sums of sizes would be
 * biased where sizes mix.
 */
#ifndef BPFPROF_COLLECT_ALLOC_H
#define BPFPROF_COLLECT_ALLOC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/opt.h"
#include "bpf/alloc.h"
#include "collect/points.h"

#define ALLOC_EVERY	 (512ull << 10)
#define GROWTH_EVERY	 (1ull << 20) /* of --growth, bytes as well */
#define ALLOC_LIVE_SLOTS (1u << 18)

struct alloc_opts {
	uint64_t every;	   /* bytes from one sample to the next, on average; 0 = no allocations */
	bool live;	   /* those too that are not freed at the end */
	uint64_t older_ns; /* of these, only what is at least so old */
	uint32_t max_live; /* sampled ones that are kept; 0 = ALLOC_LIVE_SLOTS */
	double duty;	   /* the part of the time that the probes stand; 0 = all of it */
};

/* The means of equally likely parts of the exponential distribution, as bytes. */
void alloc_draws(uint64_t every, uint64_t draws[ALLOC_DRAWS]);

/* The bytes that a sampled allocation of size bytes, above 0, stands for. */
double alloc_weight(uint64_t size, uint64_t every);

/* Maps of bpf/alloc.bpf.c, by their descriptors. 0 or negative errno, logged. */
int alloc_put_draws(int fd, uint64_t every);
void alloc_for_each_live(int fd, void (*fn)(void *arg, const struct alloc_live *a), void *arg);

/*
 * Adds the allocators' functions in the files of the processes, or where there are none, in those
 * that program will have; o->timed: those too that free. 0 or negative errno, logged; -ENOENT: no
 * file has any.
 */
int alloc_points(struct points *p, const char *program);

#endif
