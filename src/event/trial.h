/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Trying events out, by counting them over a moment of work of this thread that does a little of
 * everything: what a list promises and what a counter does are not the same in a virtual machine.
 */
#ifndef BPFPROF_EVENT_TRIAL_H
#define BPFPROF_EVENT_TRIAL_H

#include <stdint.h>

#include "event/catalog.h"

/* In files by their keys; the last column is for people. */
#define TRIAL_STATES(X)                                                                            \
	X(COUNTS, "counts", "counts")                                                              \
	X(USER_ONLY, "counts-user", "counts, :u only")                                             \
	X(ZERO, "zero", "opens, counted 0")                                                        \
	X(USER_ZERO, "zero-user", "0, :u only")                                                    \
	X(NO_COUNTER, "no-counter", "no counter free")                                             \
	X(NOT_SUPPORTED, "not-supported", "not supported")                                         \
	X(NO_PERMISSION, "no-permission", "no permission")

enum trial_state {
#define X(name, key, text) TRIAL_##name,
	TRIAL_STATES(X)
#undef X
		TRIAL_NR_STATES
};

struct trial {
	enum trial_state state;
	uint64_t count; /* as counted, without scale */
};

/* Counts e over some ns of work; events of shared PMUs on their first CPU. */
struct trial trial_run(const struct catalog *c, const struct event *e, uint64_t work_ns);

/*
 * Counters of the core that are free now for any event, beside those that count cycles only. 0:
 * none, or nobody may ask.
 */
unsigned int trial_counters(const struct catalog *c);

const char *trial_key(enum trial_state state);
const char *trial_text(enum trial_state state);

#endif
