/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From what the kernel wrote to the profile model: takes stack records out of the arena, turns each
 * address into (file, offset) as of the moment it was sampled, keeps the files open, and at the end
 * turns counts into samples.
 */
#ifndef BPFPROF_COLLECT_CAPTURE_H
#define BPFPROF_COLLECT_CAPTURE_H

#include "collect/arena.h"
#include "collect/session.h"
#include "proc/proc.h"
#include "profile/profile.h"
#include "symbol/symbolizer.h"

struct capture {
	struct profile *profile;  /* borrowed */
	struct proc_table *procs; /* borrowed */
	struct arena arena;
	uint32_t *stack_of_slot; /* profile's stack id per slot of the kernel's table, 0 = none */
	size_t nr_slots;
	struct symbol_source *sources; /* per module of the profile; descriptors belong to procs */
	size_t nr_sources, cap_sources;
	uint64_t first_ns;  /* time of the first stack, 0 = none yet */
	uint32_t own_child; /* the program that bpfprof started, 0 = none */
};

void capture_init(struct capture *c, struct profile *p, struct proc_table *procs,
		  const struct session_maps *maps, uint32_t own_child);

/*
 * Takes over all stacks taken up to until_ns. procs must know everything up to then.
 * False when a record is still in the making: others behind it wait for the next call.
 */
bool capture_drain(struct capture *c, uint64_t until_ns);

/* After the last drain: samples and ledger. counters are the sums over all CPUs. */
void capture_finish(struct capture *c, const struct session_maps *maps,
		    const uint64_t counters[PROF_NR_COUNTERS]);

void capture_release(struct capture *c);

#endif
