/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the threads of each runtime did, one span after the other, for gaps.c. */
#ifndef BPFPROF_PROFILE_GAP_SPANS_H
#define BPFPROF_PROFILE_GAP_SPANS_H

#include "profile/context.h"

/* What a thread does for a while, as far as its runtime's driver is concerned. */
enum doing {
	RUNS, /* or waits so shortly that nobody wrote it down */
	DRIVES,
	BLOCKS, /* in a task */
	RESTS,
	ELSEWHERE, /* it is no worker now, or not there */
	NR_DOING,
	POLLS = NR_DOING, /* for a moment, while it runs */
};

struct gap_span {
	uint32_t pid, runtime; /* which one, of its process */
	uint32_t tid;
	uint32_t sample;
	uint64_t begin_ns, end_ns;
	enum doing doing;
	bool preempted; /* so it ran the same code before and behind it */
};

/* When running code was sampled. */
struct gap_moment {
	uint32_t pid, tid;
	uint32_t sample;
	uint64_t at_ns;
};

struct gap_spans {
	struct gap_span *v; /* by runtime, then by begin */
	size_t nr, cap;
	struct gap_moment *moments; /* by thread, then by time */
	size_t nr_moments, cap_moments;
};

void gap_spans_init(struct gap_spans *s, const struct contexts *c);
void gap_spans_release(struct gap_spans *s);

/* The moments of a thread after begin_ns and up to end_ns: the first; nr may be 0. */
const struct gap_moment *gap_spans_moments(const struct gap_spans *s, const struct gap_span *of,
					   uint64_t begin_ns, uint64_t end_ns, size_t *nr);

#endif
