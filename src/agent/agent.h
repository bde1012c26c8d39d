/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording that never ends, in windows that follow each other by the clock. Each is a profile
 * with names, with its own ledger and cost, and is handed to sinks, which keep, send or show it:
 *
 *	recording  ──┬── window ──┬── window ──┬── window ──┬──
 *	             |            |            |            |
 *	tables full: a second recording begins ┴── takes over here, the first one is closed
 *
 * Both are looked at one right after the other: what happened between the two looks, a few
 * milliseconds, is in no window, and the first window behind says how long that was.
 */
#ifndef BPFPROF_AGENT_AGENT_H
#define BPFPROF_AGENT_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/live.h"
#include "collect/record.h"
#include "profile/profile.h"

/* Of a window, besides its profile. */
struct agent_facts {
	uint64_t nr;	 /* of the window, from 0 */
	uint64_t gap_ns; /* before it, when one recording took over from another: nobody's time */
	struct live_facts live;
	const struct ended *ended; /* waits that ended in it, if record->waits.lengths */
	size_t nr_ended;
};

/* Where windows go. Functions that a sink has nothing to do in are NULL. */
struct agent_sink {
	const char *name;
	void *arg;
	/* The profile is lent. It must not wait for anything. */
	void (*window)(void *arg, const struct profile *p, const struct agent_facts *f);
	int (*fd)(void *arg); /* readable: turn() has something to do; the same one all the time */
	void (*turn)(void *arg);  /* at least a few times a second */
	int (*reload)(void *arg); /* on SIGHUP; an error was logged, and all is as before */
	void (*close)(void *arg); /* after the last window */
};

/* How closely to look for a time. */
struct agent_looks {
	uint32_t rate_hz;
	double max_overhead;
};

struct agent_opts {
	struct record_opts *record;	   /* command, live and before are filled in */
	uint32_t most_stacks;		   /* of record->max_stacks, where more are needed */
	uint64_t interval_ns, duration_ns; /* duration 0 = until a signal */
	/* While is_close says so, another recording looks more closely. NULL = never. */
	bool (*is_close)(void *arg);
	void *close_arg;
	struct agent_looks closely;
	const struct agent_sink *sinks;
	size_t nr_sinks;
};

/* Until a signal, or the time or all selected processes end. 0 or negative errno, logged. */
int agent_run(const struct agent_opts *o);

#endif
