/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sampling periods that do not keep step with what is sampled.
 *
 * A fixed period beats: 499 samples a second look at a loop of 10 ms in five places only, and 3 s
 * later nearly at the same five. So the period changes about three times a second, to one of
 * several that are far from simple fractions of what programs have as periods: the places spread.
 * The kernel has no such mode, and a BPF program cannot change the period of its event. What is
 * left is an ioctl that interrupts the CPU; it costs nothing per sample.
 *
 *	 segment 1        | segment 2           | segment 3
 *	 ¦   ¦   ¦   ¦   ¦¦¦    ¦    ¦    ¦    ¦¦¦  ¦  ¦  ¦  ¦
 *	                   ^ the kernel begins a new period: what had passed of the old one is lost
 *
 * What a segment lacks the next ones make up for, so the number of samples is what the rate
 * promises. All of this is arithmetic: times come from the caller, randomness from the seed.
 */
#ifndef BPFPROF_EVENT_DITHER_H
#define BPFPROF_EVENT_DITHER_H

#include <stdint.h>

#define DITHER_SHARES 8 /* to either side */

/* Of an event, on all CPUs: they change at the same time, each to a period of its own. */
struct dither {
	uint64_t random; /* state of the generator, never 0 */
	double rate_hz;
	double more[DITHER_SHARES], less[DITHER_SHARES]; /* parts by which the rate is changed */
	uint64_t end_ns; /* of the segment, which is no multiple of anything either */
};

/* On one CPU. */
struct dither_cpu {
	uint64_t begin_ns, period_ns;
	double owed; /* samples that it lacks so far */
};

/* Takes about a millisecond. */
void dither_init(struct dither *d, double rate_hz, uint64_t seed, uint64_t now_ns);

/* A CPU's next period, in ns, which begins now. The first one with all of c zero. */
uint64_t dither_draw(struct dither *d, struct dither_cpu *c, uint64_t now_ns);

/* All CPUs have theirs: sets the end of the new segment. */
void dither_begin(struct dither *d, uint64_t now_ns);

#endif
