/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The roof of a roofline, measured: what the CPUs compute and what their memory brings, each for a
 * second, with one thread on each CPU.
 */
#ifndef BPFPROF_COLLECT_PEAKS_H
#define BPFPROF_COLLECT_PEAKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/opt.h"
#include "metric/metric.h"

/*
 * cpus: of these, none = of all that are online. *note, which the caller frees, is a sentence about
 * what was measured and how. 0, or negative errno, logged: -EBUSY when others used the CPUs, so
 * that what was measured is no peak.
 */
int peaks_measure(const struct opt_ids *cpus, struct metric_peaks *peaks, char **note);

/* A loop of multiplications and additions that wait for none but themselves. */
struct peaks_loop {
	const char *name;
	bool (*is_here)(void);
	double (*run)(uint64_t rounds, double factor, double summand);
	double flops; /* of a round */
};

/* The widest that this CPU has. */
const struct peaks_loop *peaks_loop(void);

/* The triad of STREAM, to[i] = a[i] + factor * b[i], of so many bytes of each, a multiple of 64. */
void peaks_triad(double *to, const double *a, const double *b, double factor, size_t bytes);

#endif
