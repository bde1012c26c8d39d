/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Probes are rows: a family of BPF programs that is switched on together. All others stay unloaded.
 */
#ifndef BPFPROF_EVENT_PROBE_H
#define BPFPROF_EVENT_PROBE_H

#include <stdint.h>

/* What the first program is attached to. */
enum probe_kind {
	PROBE_PERF,	/* perf events, one per CPU */
	PROBE_SWITCHES, /* the kernel's scheduler */
	PROBE_UPROBE,	/* a function of a program */
};

struct probe {
	const char *name;
	const char *programs[4]; /* attached to events by the command, first one first */
	enum probe_kind kind;
	uint8_t nr_scratches; /* per CPU: enum scratch_id in bpf/arena.bpf.h, up to what it uses */
};

/* The row of a probe; must exist. */
const struct probe *probe_get(const char *name);

#endif
