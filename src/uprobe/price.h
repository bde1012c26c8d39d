/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a probe costs on this host, measured on functions of our own: between machines it differs by
 * more than ten times.
 */
#ifndef BPFPROF_UPROBE_PRICE_H
#define BPFPROF_UPROBE_PRICE_H

#include <stdint.h>

struct price {
	uint64_t emulated_ns, stepped_ns; /* of each hit, without any program; 0 = not known */
};

/* Takes some milliseconds, and root as probes do. */
struct price price_measure(void);

#endif
