/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A window as series: what engines keep apart. One for each set of labels (a service in a
 * container) and class of wait, each with its own types of values; the ledger of the window and
 * what it cost are two more.
 */
#ifndef BPFPROF_PUSH_SERIES_H
#define BPFPROF_PUSH_SERIES_H

#include "base/labels.h"
#include "output/dictionary.h"
#include "push/push.h"

struct series {
	struct labels labels;
	const char *name;	/* "process_cpu", as Pyroscope groups types; a word */
	const char *wait_class; /* NULL: it is not of waits */
	struct value_types types;
	uint32_t columns[PROF_MAX_EVENTS]; /* of from, one for each type */
	const struct dictionary *from;
	uint32_t *samples; /* of from */
	size_t nr, cap;
	uint64_t weight;
};

struct series_set {
	struct series *v;
	size_t nr, cap;
	uint64_t folded; /* series that became "other" */
	uint64_t start_ns, duration_ns;
	struct profile *ledger, *cost;
	struct dictionary window_samples, ledger_samples, cost_samples;
};

struct series_opts {
	push_who who; /* NULL = the name of the process is all there is */
	void *arg;
	const struct labels *labels; /* of all series */
	uint32_t max_series;
	double min_weight;
};

/* Of all samples with a weight. None: set->nr is 0, or only the ledger's. */
void series_set_init(struct series_set *set, const struct profile *p, const struct series_opts *o);
void series_set_release(struct series_set *set);

/*
 * Folds what is less than share of a series in all of its values into callers, root side, and adds
 * up what became equal. The sums stay.
 */
void series_prune(struct dictionary *d, struct series *s, double share);

#endif
