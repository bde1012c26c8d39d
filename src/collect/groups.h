/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counters that the sampling program reads with each sample: pairs, the terms of a ratio each, as
 * groups of two on every CPU, so that both count at the same times. The kernel lets the groups take
 * turns. A pair that never gets one is opened again, each by itself.
 */
#ifndef BPFPROF_COLLECT_GROUPS_H
#define BPFPROF_COLLECT_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/opt.h"
#include "bpf/prof.h"
#include "collect/group_columns.h"
#include "collect/session.h"
#include "profile/profile.h"

struct groups {
	const struct group_column *columns; /* borrowed */
	size_t nr;
	struct session *session;
	struct group_cpu {
		uint32_t cpu;
		int fd[PMU_MAX_EVENTS];
	} * cpus;
	size_t nr_cpus, cap_cpus;
	uint64_t opened_ns;
	bool looked; /* whether they run */
	bool alone[PROFILE_MAX_COLUMNS];
};

/* On CPUs that are online now, or those of only. 0 or negative errno, logged. */
int groups_open(struct groups *g, const struct group_column *v, size_t nr,
		const struct opt_ids *only, struct session *s);

/* Some time after the start: do they all run? Cheap; call it a few times a second. */
void groups_look(struct groups *g, uint64_t now_ns);

void groups_describe(const struct groups *g, struct profile *p);
void groups_close(struct groups *g);

#endif
