/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How large the tables of a recording are: arithmetic on the size of the host and on what the user
 * allows. Knows neither maps nor the machine it runs on, so the memory for any machine can be told
 * (tests/unit/test_memory.c).
 */
#ifndef BPFPROF_COLLECT_SIZES_H
#define BPFPROF_COLLECT_SIZES_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/calls.h"
#include "bpf/lock.h"
#include "bpf/ops.h"
#include "bpf/prof.h"

struct sizes_host {
	uint32_t nr_cpus;    /* highest number a CPU can have, plus one */
	uint32_t nr_threads; /* that live when the recording begins */
};

/* This one. */
struct sizes_host sizes_host_read(void);

struct sizes_wishes {
	uint32_t max_stacks;	/* slots, rounded up to a power of two; 0 = by the number of CPUs */
	uint64_t max_bytes;	/* 0 = by the number of CPUs */
	uint64_t scratch_bytes; /* of each CPU */
	bool for_long;		/* threads come and go for long, and most do the same */
};

/* Fills in the sizes of a configuration whose switches are set. */
void sizes_choose(struct prof_config *c, const struct sizes_wishes *w,
		  const struct sizes_host *host);

/* Rows for threads that sleep when the recording begins. */
uint32_t sizes_sleepers(uint32_t nr_threads);

/*
 * Rows for calls: of values, if any event has arguments, and of histograms, if calls are timed.
 * max_rows as in struct sizes_wishes.
 */
struct sizes_calls {
	bool may_lack; /* room for all calls without values, whatever max_rows says */
	uint32_t nr_events, nr_cpus;
	bool values, timed;
	uint32_t max_rows;
};
void sizes_choose_calls(struct call_config *c, const struct sizes_calls *w);

/* Buckets for operations that are open at a time; 0 = as many as is usual. A power of two. */
uint32_t sizes_ops_buckets(uint32_t max_open);

#endif
