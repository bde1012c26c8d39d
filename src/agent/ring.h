/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Saved windows in a folder: files that are called by when they began (UTC) and how long they took,
 * so that they sort by time:
 *
 *	20261125T140510.003Z-10000ms.bpfprof
 *
 * What they have in common with those behind them, strings and stacks, is in files that are called
 * by the first of these (agent/naming.h):
 *
 *	20261125T140510.003Z.names
 *
 * Other files in it are nobody's business.
 */
#ifndef BPFPROF_AGENT_RING_H
#define BPFPROF_AGENT_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;

struct ring_file {
	char *name;
	uint64_t begin_ns, length_ns; /* CLOCK_REALTIME; whole milliseconds */
	uint64_t bytes;
};

struct ring {
	struct ring_file *v; /* by time */
	size_t nr, cap;
	struct ring_file *names; /* by time; none of its windows begins after it ends */
	size_t nr_names, cap_names;
};

/* To be freed. */
char *ring_name(uint64_t begin_ns, uint64_t length_ns);
char *ring_names_name(uint64_t begin_ns);

/* What is in an open folder. 0 or negative errno, not logged. */
int ring_read(struct ring *r, int dir);
void ring_add(struct ring *r, const char *name, uint64_t bytes); /* if it is such a name */
void ring_drop_first(struct ring *r);
/* That file has more bytes, and the window that begins at last_ns. */
void ring_set_names(struct ring *r, const char *name, uint64_t bytes, uint64_t last_ns);
/* Whether the first file of names has none of the windows. */
bool ring_names_are_over(const struct ring *r);
void ring_drop_first_names(struct ring *r);
bool ring_names_have(const struct ring_file *names, const struct ring_file *window);
/* All of them. */
uint64_t ring_bytes(const struct ring *r);
void ring_release(struct ring *r);

/* A part of the time. to_ns is not part of it; 0, UINT64_MAX = no limit. */
struct ring_span {
	uint64_t from_ns, to_ns;
	uint64_t last_ns; /* before the end of the last window, 0 = no matter */
};

/*
 * A time of day or a date with one, local unless a Z is behind it: "14:05" is that minute,
 * "14:05:10" that second, "2026-11-25T14:05"; "-10m" is the last ten minutes, and "A..B" goes from
 * the begin of A to the end of B. What is said without a date has been. False: none of these.
 */
#define RING_TIMES "use 14:05, 14:05:10, 2026-11-25T14:05, 14:05..14:10, or -10m"
bool ring_parse(const char *text, uint64_t now_ns, struct ring_span *to);
/* One time, of what began at since_ns: 14:10 behind 14:05 is that of today also at 14:07. */
bool ring_parse_end(const char *text, uint64_t now_ns, uint64_t since_ns, struct ring_span *to);

/*
 * The windows of which the greater part lies in it, or that it lies in, as one profile. NULL with
 * errno set after one sentence; files that cannot be read are left out with a warning.
 */
struct profile *ring_load(const char *folder, const struct ring_span *span);

#endif
