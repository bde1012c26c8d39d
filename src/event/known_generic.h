/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's own events, the same on every machine: software events, the few hardware events that
 * it translates for each core, and the family of caches (L1-dcache-load-misses …). What it
 * translates a name to differs: cache-misses are of the L1D, the L2 or the last level.
 */
#ifndef BPFPROF_EVENT_KNOWN_GENERIC_H
#define BPFPROF_EVENT_KNOWN_GENERIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/core.h"

struct generic {
	const char *name;
	uint32_t type; /* PERF_TYPE_SOFTWARE, _HARDWARE or _HW_CACHE */
	uint64_t config;
	const char *meaning;
	bool alias;			/* another spelling of a name above: accepted, not listed */
	bool uncountable;		/* only samples */
	const char *real[CORE_AMD + 1]; /* what it is on the cores of a vendor, if known */
};

/* NULL when the kernel has no such name. */
const struct generic *generic_find(const char *name);

/* All names but aliases; NULL behind the last. */
const struct generic *generic_get(size_t i);

/* One line, for the cores of this vendor. */
const char *generic_meaning(const struct generic *g, enum core_vendor vendor);

#endif
