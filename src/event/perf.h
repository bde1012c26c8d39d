/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sampling events: one perf event per online CPU, each running one BPF program. CPUs may leave and
 * come back while they are open.
 */
#ifndef BPFPROF_EVENT_PERF_H
#define BPFPROF_EVENT_PERF_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "bpf/prof.h"
#include "event/cpus.h"
#include "event/dither.h"
#include "event/due.h"
#include "event/sideband.h"

struct perf_event {
	uint32_t cpu;
	int fd;
	int link;	     /* holds the program where it is told which event ran it, else -1 */
	uint64_t enabled_ns; /* when it was last looked at */
	struct dither_cpu dither;
	uint64_t recorded;	 /* samples of its CPU, when its period was last changed */
	struct due_moment begin; /* when it was switched on */
	struct due_timer timer;	 /* of a clock that is sampled by rate */
};

/* How long a counter was asked for and had its turn, over all CPUs. */
struct perf_times {
	uint64_t enabled_ns, running_ns;
};

/* What reading an event has to say, for its times. */
#define PERF_READ_FORMAT (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

struct perf_events {
	struct perf_event_attr attr;
	const char *name; /* "cycles", "cpu-clock", or as it was asked for; borrowed */
	const char *why;  /* not cycles; NULL when it is */
	int prog_fd;
	bool tell; /* the program is told the cookie */
	uint64_t cookie;
	const uint32_t *only; /* -C, borrowed; empty = all */
	size_t nr_only;
	const struct cpus *cpus;	/* that have such a counter, borrowed; NULL = all */
	const struct cpus *used;	/* that may be of interest, borrowed; NULL = all */
	const struct sideband *records; /* where the kernel says when it throttles, or NULL */
	struct perf_times times;	/* of those that are closed */
	struct due due;			/* samples, the same */
	struct dither dither;		/* of what is sampled by rate; rate_hz 0 = not */
	struct perf_event *v;
	size_t nr, cap;
	uint64_t opened; /* CPUs that joined after the start */
	uint64_t gone;	 /* CPUs that left */
};

/* perf_event_open(2). Returns the descriptor or negative errno. */
int perf_open(struct perf_event_attr *attr, int pid, int cpu, int group);

/* "cannot WHAT …" or "may not WHAT …", and the way out. Returns as refusal_tell() does. */
int perf_refused(int err, const char *what);

/* Errors that mean "this machine cannot count that", as opposed to "you may not". */
bool perf_has_no_such(int err);

/*
 * Was the event's CPU away since the last look? It may be back already (a suspend takes every CPU
 * but one away while nobody watches), but the kernel never restarts an event that it took off a
 * CPU: its time stands still. Needs PERF_FORMAT_TOTAL_TIME_ENABLED; the running time may follow.
 */
bool perf_is_dead(int fd, uint64_t *enabled_ns);

/*
 * Chooses the event (hardware cycles, or cpu-clock where there is no PMU, or what force names),
 * then opens and starts it at rate_hz on every online CPU, or those of e->only, with program
 * e->prog_fd. 0 or negative errno, logged.
 */
int perf_events_open(struct perf_events *e, const char *force, uint32_t rate_hz);

/*
 * The same for any event: the caller has set attr (what event, and its rate or period) and name.
 * Nothing is logged; *cpu is the one that failed. -ENXIO when no wanted CPU has it.
 */
int perf_events_start(struct perf_events *e, uint32_t *cpu);

/* One sentence on why it did not start. -EOPNOTSUPP where the machine cannot count it, else err. */
int perf_events_explain(const struct perf_events *e, int err, uint32_t cpu);

/* Follows CPUs that went offline or came online since. Cheap; call it a few times a second. */
void perf_events_refresh(struct perf_events *e);

/*
 * Changes the periods of what is sampled by rate, where that is due and something was recorded:
 * CPUs that sleep are left alone. rows: counters of all CPUs. Returns when it is due again, 0 =
 * never.
 */
uint64_t perf_events_dither(struct perf_events *e, const struct prof_counters *rows,
			    uint64_t now_ns);

/*
 * From now on, samples come at 1/2^halvings of the rate. Returns how many times 2 the program has
 * to count each for: of clocks as often, of counters never, since the kernel tells their periods;
 * -1: these events have no rate.
 */
int perf_events_thin(struct perf_events *e, unsigned int halvings);

/*
 * Does the kernel's time or count alone say how many samples are due? Not of counters that are
 * sampled by rate: the kernel guesses their periods.
 */
bool perf_is_clock(const struct perf_event_attr *attr);
bool perf_events_know_due(const struct perf_events *e);

/* Stops sampling. When it returns no program is running any more, and times are complete. */
void perf_events_close(struct perf_events *e);

#endif
