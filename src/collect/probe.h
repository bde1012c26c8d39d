/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Probes are rows: a family of BPF programs that is switched on together. All others stay unloaded.
 */
#ifndef BPFPROF_COLLECT_PROBE_H
#define BPFPROF_COLLECT_PROBE_H

#include <stddef.h>
#include <stdint.h>

#define PROBE_MAX_PROGRAMS 12

/* How a program gets to run. */
enum probe_when {
	PROBE_PERF = 1, /* at perf events, one per CPU: the command opens them */
	PROBE_HITS,	/* at tracepoints that are sampled: likewise */
	PROBE_BIRTHS,	/* before the recording: keeps the filters and the states of threads true */
	PROBE_EVENTS,	/* a tracepoint, during the recording */
	PROBE_WAKEUPS,	/* the same, where the kernel does not count waits for a CPU itself */
	PROBE_CALLS,	/* at points: functions and tracepoints (collect/links.h) */
	PROBE_TASKS,	/* for each task at the beginning and at the end */
	PROBE_LOOK,	/* for each task when somebody looks on */
};

struct probe {
	const char *name;
	uint8_t nr_scratches; /* per CPU: enum scratch_id in bpf/arena.bpf.h, up to what it uses */
	/*
	 * Attached in this order and detached in the other one: what sees something end comes
	 * before what sees it begin.
	 */
	struct probe_program {
		const char *name;
		enum probe_when when;
	} programs[PROBE_MAX_PROGRAMS];
};

/* The name of the first program of a kind, NULL when the probe has none. */
const char *probe_program(const struct probe *p, enum probe_when when);

/* The row of a probe; must exist. */
const struct probe *probe_get(const char *name);
/* Row i, NULL behind the last. */
const struct probe *probe_at(size_t i);

#endif
