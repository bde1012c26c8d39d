/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Probes are rows: a family of BPF programs that is switched on together. All others stay unloaded.
 */
#ifndef BPFPROF_EVENT_PROBE_H
#define BPFPROF_EVENT_PROBE_H

struct probe {
	const char *name;
	const char *programs[4]; /* attached to events by the command, first one first */
};

/* The row of a probe; must exist. */
const struct probe *probe_get(const char *name);

#endif
