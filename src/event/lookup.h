/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Inside of the catalog: from a spelling to events, in the order that catalog.h tells, or to the
 * sentence that says why there is none.
 */
#ifndef BPFPROF_EVENT_LOOKUP_H
#define BPFPROF_EVENT_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/catalog.h"
#include "event/known.h"
#include "event/known_generic.h"
#include "event/pmus.h"
#include "event/spelling.h"

struct catalog {
	struct core core;
	struct pmus pmus;
	struct pmu **cores; /* of pmus, those of CPU cores that could be loaded */
	size_t nr_cores;
	char *tracefs; /* where it lies in a copy, NULL = this machine's */
	bool live;     /* this machine, not a copy of its files: events can be tried */
};

struct lookup {
	const struct catalog *c;
	struct spelling s;
	char *label; /* of name=…, else NULL */
	char **why;  /* gets the sentence; NULL: nobody asks */
	struct event *v;
	size_t nr;
};

/* Fills v with the events that text names. 0 or negative errno; then v is empty. */
int lookup_run(struct lookup *f, const char *text);
/* Frees all but v. */
void lookup_release(struct lookup *f);

/* Events as the catalog lists them: of what a PMU lists, a row of a table, a generic event. */
struct event lookup_listed(const struct catalog *c, struct pmu *p, const struct pmu_event *e);
struct event lookup_known(const struct catalog *c, struct pmu *p, const struct known *k);
struct event lookup_generic(const struct catalog *c, const struct generic *g, struct pmu *p);

/* Sentences for what is not there; they return the errno that fits. */
int unknown_name(const struct lookup *f);
int unknown_tracepoint(const struct lookup *f, char *const *names, size_t nr);
int unknown_pmu(const struct lookup *f);
int unknown_term(const struct lookup *f, struct pmu *p, const char *term);

#endif
