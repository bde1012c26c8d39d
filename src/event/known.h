/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names that no kernel lists: our tables of the events of some cores, one file per vendor, a row
 * per encoding. A name may have several rows, for different cores. Pure data; nothing is read here.
 */
#ifndef BPFPROF_EVENT_KNOWN_H
#define BPFPROF_EVENT_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/core.h"

struct known {
	const char *name; /* lower case; NULL ends a table */
	uint32_t cores;	  /* CORE_BIT()s that have it with this encoding */
	uint64_t config;
	const char *meaning;
	uint64_t config1;
	const char *pmu; /* NULL: of the cores; else a PMU or a family such as "uncore_imc" */
	bool sysfs_only; /* there only if the kernel lists it: for meanings and sentences */
};

extern const struct known known_arm[], known_intel[], known_amd[];

/* The row of a name on this core, NULL without one; those of sysfs_only are not found. */
const struct known *known_find(const struct core *core, const char *name);

/* The first row of a name, whatever the core, of a vendor or of all; also those of sysfs_only. */
const struct known *known_of(enum core_vendor vendor, const char *name);
const struct known *known_anywhere(const char *name);

/* All cores of the row's vendor that have its name. */
uint32_t known_cores(const struct known *k);

/* A row of this core by what is programmed, for meanings. NULL without one. */
const struct known *known_by_config(const struct core *core, uint64_t config, uint64_t config1);

/* The table of a vendor; of others an empty one. */
const struct known *known_table(enum core_vendor vendor);

/* Whose table a row is from. */
enum core_vendor known_vendor(const struct known *k);

/* "Neoverse V1, Neoverse N2" of CORE_BIT()s. The caller frees it. */
char *known_cores_text(uint32_t cores);

/*
 * Names that answer the same question on different cores: for any of them the nr-th one that this
 * vendor has. NULL where none is known or no more is.
 */
const char *known_instead(enum core_vendor vendor, const char *name, size_t nr);

/* Are two names the same? Case does not matter, and '-' is '_'. */
bool known_same(const char *a, const char *b);
/* By that rule: <0, 0, >0. */
int known_compare(const char *a, const char *b);

#endif
