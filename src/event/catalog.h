/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events by name. In this order: what the kernel lists in sysfs, the kernel's own software and
 * generic events, our table of this core's events, pmu/field=value,.../, raw rNNN, and tracepoints.
 * Names of events are found whatever their case, and '-' and '_' are the same.
 */
#ifndef BPFPROF_EVENT_CATALOG_H
#define BPFPROF_EVENT_CATALOG_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/core.h"
#include "event/cpus.h"

struct pmu; /* src/event/pmus.h: one directory of event_source/devices */
struct catalog;

enum event_source {
	EVENT_SYSFS,	  /* the kernel lists it: a count of 0 is one */
	EVENT_SOFTWARE,	  /* page-faults … */
	EVENT_GENERIC,	  /* cycles, L1-dcache-load-misses … */
	EVENT_TABLE,	  /* our table says that this core has it */
	EVENT_FIELDS,	  /* pmu/field=value/ */
	EVENT_RAW,	  /* rNNN */
	EVENT_TRACEPOINT, /* sched:sched_switch */
};

struct event {
	char *name; /* as it was asked for, with its modifiers, or by name=; of several pmu/name/ */
	const char *base; /* without PMU and modifiers, in the memory of name */
	uint32_t type;
	uint64_t config, config1, config2;
	bool exclude_user, exclude_kernel, exclude_hv;
	uint8_t precise; /* attr.precise_ip, by :p :pp :ppp */
	enum event_source source;
	const struct pmu *pmu;	 /* of the catalog; NULL: the kernel's own types */
	bool per_task;		 /* may be counted for a thread: not of uncore PMUs */
	const struct cpus *cpus; /* where to open it, NULL = every CPU (cpus or cpumask of sysfs) */
	bool advertised;	 /* else a count of 0 may mean that the PMU does not have it */
	double scale;		 /* of the count, 1 unless sysfs says otherwise */
	const char *unit;	 /* "" unless sysfs says */
	const char *meaning;	 /* one line, "" where nothing is known */
};

/* Reads sysfs and /proc below root. NULL with errno set, logged, only if root cannot be read. */
struct catalog *catalog_open(const char *root);
void catalog_close(struct catalog *c);

const struct core *catalog_core(const struct catalog *c);

/* The first PMU of CPU cores; NULL where the machine shows none. */
const struct pmu *catalog_core_pmu(const struct catalog *c);

/*
 * One event by its name. Usually one; on hybrid machines one for each core PMU, and of a pattern of
 * tracepoints all that it means. Appends to *v,
 * whose names the caller owns. 0, or a negative errno after one sentence: unknown (-ENOENT, with
 * the nearest names), of a PMU that is not here (-ENODEV), malformed (-EINVAL), a tracepoint that
 * only root may look for (-EACCES, -EPERM).
 */
int catalog_find(const struct catalog *c, const char *text, struct event **v, size_t *nr);

/*
 * The same without a word, for tables: does this machine have it? First match only. No are also: an
 * event of our table that an Arm PMU would list and does not (a hypervisor hides it, though it may
 * be asked for), and a generic event that the kernel has no translation of.
 */
bool catalog_has(const struct catalog *c, const char *name);

/*
 * A list: "cycles,instructions,cpu/event=0x3c,umask=1/:u". Commas within / / do not part names. 0,
 * or the error of the first that is none; then nothing is appended. An empty list is
 * -EINVAL, and so is a comma with nothing behind it.
 */
int catalog_find_list(const struct catalog *c, const char *text, struct event **v, size_t *nr);

/*
 * The same of a list of which some may be missing: an event that is unknown or not of this machine
 * (-ENOENT, -ENODEV) goes to missing() with its name and the sentence, unless it is the only one;
 * when none of several is there, the error and the sentence are those of the first.
 */
int catalog_find_some(const struct catalog *c, const char *text, struct event **v, size_t *nr,
		      void (*missing)(void *arg, const char *name, const char *why), void *arg);

/* Every event that has a name here, in order of PMU and name. The event is only lent. */
void catalog_for_each(const struct catalog *c, void (*f)(void *arg, const struct event *e),
		      void *arg);

/* Fills what tells the event, nothing else: size, type, config…, exclude_*, precise_ip. */
void event_attr(const struct event *e, struct perf_event_attr *attr);

void events_free(struct event *v, size_t nr);

#endif
