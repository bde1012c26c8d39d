/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What windows of a recording come to in the text format of Prometheus (0.0.4): CPU time and
 * waiting by service and container, histograms of waits, the ledger, the cost. Sums since the
 * start; the number of series is bounded.
 */
#ifndef BPFPROF_SERVE_METRICS_H
#define BPFPROF_SERVE_METRICS_H

#include <stdio.h>

#include "base/labels.h"
#include "profile/ended.h"
#include "profile/profile.h"

struct metrics;

/*
 * Owners: services and containers that have series of their own. 0 = METRICS_MAX_OWNERS. Histograms
 * have more series each: a part of them has these, the others are "other" there.
 */
struct metrics *metrics_new(uint32_t max_owners);
#define METRICS_MAX_OWNERS 100
#define METRICS_HISTS_TO   5 /* of five owners two */
#define METRICS_HISTS_OF   2
void metrics_free(struct metrics *m);

/* Labels of a process: service_name, container, pod and namespace are used; NULL = none. */
typedef const struct labels *(*metrics_who)(void *arg, uint32_t pid);

/*
 * Adds a window: a recording of running code, of waits, or of both, with its ledger and its cost;
 * ended: waits that ended in it, for the histograms. nr_ended 0: there are only sums.
 */
struct metrics_window {
	const struct profile *p;
	const struct ended *ended;
	size_t nr_ended;
};
void metrics_add(struct metrics *m, const struct metrics_window *w, metrics_who who, void *arg);

/* A number that somebody else counts, for instance what was pushed. */
struct metrics_row {
	const char *name; /* "bpfprof_push_requests_total": a counter if it ends in _total */
	const char *help;
	const char *labels; /* "engine=\"pyroscope\"", escaped by metrics_escape(); "" = none */
	double value;
};

/* Takes the place of the row with this name and these labels. All strings are copied. */
void metrics_set(struct metrics *m, const struct metrics_row *row);

/* A label's value, without quotes. To be freed. */
char *metrics_escape(const char *value);

void metrics_write(const struct metrics *m, FILE *out);

#endif
