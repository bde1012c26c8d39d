/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Probes that stand for a part of the time only, in windows at random distances, so that nothing
 * that a program does again and again keeps step with them.
 *
 * While they stand, the program is slower. So what was seen does not stand for the time that went
 * by, but for what the program did: its CPU time, less what the probes took of it. How much the
 * windows differ says how far off that may be.
 */
#ifndef BPFPROF_COLLECT_DUTY_H
#define BPFPROF_COLLECT_DUTY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DUTY_WINDOW_NS 50000000ull

/* What has been counted by a moment. */
struct duty_mark {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t cpu_ns;  /* of the program, and never less than before */
	uint64_t hits, samples;
};

/* Zeroed: the probes stand all the time. */
struct duty {
	double share;	 /* of the time that is wanted, below 1; 0 = all of it */
	double price_ns; /* of a hit */
	bool on;
	uint64_t turn_ns;	/* when the window ends, or the next one begins */
	struct duty_mark begin; /* of the window, or of the pause */
	double on_ns, on_cpu, hits, off_cpu;
	double sum, square; /* of the samples of windows, and of their squares */
	size_t nr;	    /* windows that are over */
};

bool duty_is_due(const struct duty *d, uint64_t now);

/* A window begins when the probes stand, and ends before they go. */
void duty_on(struct duty *d, const struct duty_mark *now);
void duty_off(struct duty *d, const struct duty_mark *now);
/* The last window or pause. */
void duty_end(struct duty *d, const struct duty_mark *now);

/* By what sums have to be multiplied; 1 where the probes stood all the time. */
double duty_factor(const struct duty *d);

/*
 * The share of the program's CPU time in windows that the probes took, 0 to 1. Near 1 the factor is
 * little more than a guess: what is left is the difference of two large numbers.
 */
double duty_burden(const struct duty *d);
#define DUTY_MOST_BURDEN 0.8 /* no more is taken off */

/* How far off all sums may be, as a part of them, for what a hit takes is known to a third. */
double duty_price_error(const struct duty *d);
#define DUTY_PRICE_ERROR (1.0 / 3)

/*
 * How far off a sum of all may be by chance, as a part of it, in 95 of 100 recordings: twice the
 * standard error of the windows' mean. Infinite for fewer than three windows, or where nothing was
 * sampled.
 */
double duty_error(const struct duty *d);

#endif
