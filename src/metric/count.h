/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A count as data: the number, and whether there is one. Counters are shared by events in turns, so
 * a count may be scaled from the time that it ran; or it was never counted, which is not 0.
 */
#ifndef BPFPROF_METRIC_COUNT_H
#define BPFPROF_METRIC_COUNT_H

#include <stdbool.h>
#include <stdint.h>

/* Numbered for files by their keys.
 *      name            key               on the terminal instead of a number */
#define COUNT_STATES(X)                                                                            \
	X(COUNTED, "counted", "")                                                                  \
	X(SCALED, "scaled", "")                                                                    \
	X(NOT_COUNTED, "not-counted", "<not counted>")                                             \
	X(NOT_SUPPORTED, "not-supported", "<not supported>")                                       \
	X(NOT_ADVERTISED, "not-advertised", "<not advertised>")                                    \
	X(LOST, "lost", "<lost>")                                                                  \
	X(NO_PERMISSION, "no-permission", "<no permission>")                                       \
	X(NOT_AVAILABLE, "not-available", "not available here")

enum count_state {
#define X(name, key, text) COUNT_##name,
	COUNT_STATES(X)
#undef X
		COUNT_NR_STATES
};

struct count {
	enum count_state state;
	double value; /* scaled; holds only if count_is_there() */
	uint64_t raw; /* as counted */
	uint64_t enabled_ns, running_ns;
};

/* From what the kernel says. advertised: the kernel lists the event, so 0 is a number. */
struct count count_make(uint64_t raw, uint64_t enabled_ns, uint64_t running_ns, bool advertised);

/*
 * Of an event without a count, by the error of opening it; 0: it was open and read() gave nothing,
 * which is how a pinned event says that it has lost its counter.
 */
struct count count_missing(int err);

/* Counted or scaled. */
bool count_is_there(const struct count *c);

/* Share of the time in which it counted, 0 to 100. */
double count_duty_pct(const struct count *c);

const char *count_state_key(enum count_state state);
const char *count_state_text(enum count_state state);

#endif
