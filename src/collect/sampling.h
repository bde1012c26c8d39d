/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a recording samples: one event or several, each by a rate or by a period, on every CPU that
 * has it and is wanted.
 */
#ifndef BPFPROF_COLLECT_SAMPLING_H
#define BPFPROF_COLLECT_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/opt.h"
#include "event/catalog.h"
#include "event/perf.h"
#include "profile/profile.h"

struct sampling_opts {
	const struct event *events; /* of the catalog; borrowed */
	size_t nr;		    /* 0 = the hardware's cycles, or cpu-clock where it has none */
	const char *force;	    /* then: "cycles" or "cpu-clock", NULL = the best there is */
	uint64_t period;  /* of each; 0 = the default: each of what is seldom, else by rate */
	uint32_t rate_hz; /* of those that have no period */
	bool by_rate;	  /* all of them, since the user said so */
	bool precise;	  /* as precise as the hardware can */
	bool imprecise;	  /* it cannot, whatever it says */
	bool branches;	  /* with the branches that were taken before each sample */
	uint32_t cookie;  /* of the default event: what its counts say of waits; 0 = nothing */
	const char *note; /* what else is to be told of them, NULL = nothing */
	const struct opt_ids *cpus;	/* -C, none = all */
	const struct cpus *used;	/* others run nothing that is selected; NULL = all */
	const struct sideband *records; /* where the kernel says when it throttles them */
	int prog_fd;
	int hits_fd; /* of the program for tracepoints */
};

/* One for each event, in their order. */
struct sampling {
	struct perf_events *v;
	int *hits; /* of tracepoints, which have no perf event on each CPU; else -1 */
	size_t nr;
	const char *note;
	bool *skids; /* of hardware events: the sample may lie behind what caused it */
	bool has_tracepoints;
};

/* Does the machine record branches with samples of this event? 0 or negative errno, not logged. */
int sampling_try_branches(const struct event *e);

/* Starts all of them. 0 or negative errno, logged. */
int sampling_open(struct sampling *s, const struct sampling_opts *o);

/* More CPUs may be of interest than were when it was opened: all. */
void sampling_use_all(struct sampling *s);

/* Follows CPUs that went offline or came online. */
void sampling_refresh(struct sampling *s);

/*
 * Changes periods so that they do not keep step with what is sampled. rows: counters of all CPUs.
 * Returns when to call it again, 0 = never.
 */
uint64_t sampling_dither(struct sampling *s, const struct prof_counters *rows, uint64_t now_ns);

/* See perf_events_thin(); -1 also where there are several events, which cannot be told apart. */
int sampling_thin(struct sampling *s, unsigned int halvings);

/* CPUs that are sampled now. */
size_t sampling_cpus(const struct sampling *s);

/* Stops; when it returns no program is running any more. What can be told of it stays. */
void sampling_stop(struct sampling *s);

/* After sampling_stop: what was sampled, and how. */
void sampling_describe(const struct sampling *s, struct profile *p);

/*
 * After sampling_stop: adds how many samples were due by the kernel's time or count alone. False:
 * of one of the events at least that is not known.
 */
bool sampling_due(const struct sampling *s, struct due *d);
bool sampling_has_clock(const struct sampling *s);

void sampling_release(struct sampling *s);

#endif
