/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tracepoints that are sampled: a program runs at each hit, on all CPUs, and counts them. */
#ifndef BPFPROF_COLLECT_HITS_H
#define BPFPROF_COLLECT_HITS_H

#include <stdbool.h>
#include <stdint.h>

#include "event/catalog.h"

#define HITS_MOST_PERIOD UINT32_MAX

bool hits_is_tracepoint(const struct event *e);

/*
 * Has the program sample one hit of the tracepoint in so many, on each CPU; wait is what its counts
 * say (bpf/prof.h). Returns a descriptor that ends it when it is closed, or negative errno, logged.
 */
int hits_open(const struct event *e, int program, uint32_t wait, uint64_t period);

#endif
