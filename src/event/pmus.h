/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the kernel says of its event sources: a directory each below event_source/devices. Servers
 * have hundreds, so a directory is only looked into when something of it is asked for.
 */
#ifndef BPFPROF_EVENT_PMUS_H
#define BPFPROF_EVENT_PMUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/cpus.h"

enum pmu_kind {
	PMU_CORE,   /* counters of CPU cores */
	PMU_KERNEL, /* no hardware: software, tracepoint, uprobe … */
	PMU_TRACE,  /* writes a trace and counts nothing: SPE, Intel PT … */
	PMU_OTHER,  /* memory controllers, caches, links … */
};

#define PMU_MAX_RANGES 8
#define PMU_WORDS      3 /* config, config1, config2 */

/* A row of format/: which bits of which word a field fills, from its lowest one on. */
struct pmu_field {
	char *name;
	uint8_t word;
	uint8_t nr; /* ranges */
	struct {
		uint8_t from, to; /* inclusive */
	} range[PMU_MAX_RANGES];
};

/* A file of events/. What is in it is read when the event is asked for. */
struct pmu_event {
	char *name;
	bool read, good; /* good: it was read, and is in the kernel's notation */
	uint64_t config[PMU_WORDS];
	double scale;
	char *unit;
};

struct pmu {
	char *name, *dir;
	enum pmu_kind kind;
	bool loaded, formats_read, events_listed;
	int err; /* of loading */
	uint32_t type;
	bool has_cpus, shared; /* shared: cpumask, a CPU counts for others: not for threads */
	struct cpus cpus;
	struct pmu_field *fields;
	size_t nr_fields, cap_fields;
	struct pmu_event *events; /* by name */
	size_t nr_events, cap_events;
};

struct pmus {
	struct pmu **v; /* by name, numbers at the end of names as numbers */
	size_t nr, cap;
};

/* Lists them. A machine without any, or without sysfs, has none. */
void pmus_open(struct pmus *pmus, const char *root);
void pmus_close(struct pmus *pmus);

/* Reads type and CPUs, once. 0, or a negative errno when the kernel's files make no sense. */
int pmu_load(struct pmu *p);

/* By name, whatever its case; NULL without one. */
const struct pmu_field *pmu_field(struct pmu *p, const char *name);
const struct pmu_event *pmu_event(struct pmu *p, const char *name);
/* Its i-th event, NULL behind the last; not yet read. */
const struct pmu_event *pmu_event_get(struct pmu *p, size_t i);
/* An event of this encoding, NULL if none is listed. */
const struct pmu_event *pmu_event_by_config(struct pmu *p, const uint64_t config[PMU_WORDS]);

/* Puts a value into a field. -ERANGE if it has more bits than the field. */
int pmu_field_set(const struct pmu_field *f, uint64_t value, uint64_t config[PMU_WORDS]);
/* The greatest value that fits. */
uint64_t pmu_field_max(const struct pmu_field *f);

/* A file of caps/ as a number, in C's notation; fallback if there is none. */
uint64_t pmu_cap(const struct pmu *p, const char *name, uint64_t fallback);

/* "uncore_imc_3" of the family "uncore_imc": length of the family's name, without "_3". */
size_t pmu_family_len(const char *name);

/* Is this PMU meant by the word? Its name, its family, either without "uncore_", or a pattern. */
bool pmu_is_meant(const struct pmu *p, const char *word);

#endif
