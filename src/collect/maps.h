/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The maps of a recording, a row each (maps.c): when there is one, how many elements it has, and
 * where it lies in our memory. All else about a map, its kind and the size of an element, is in the
 * .bpf.c that it belongs to.
 */
#ifndef BPFPROF_COLLECT_MAPS_H
#define BPFPROF_COLLECT_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/account.h"
#include "bpf/alloc.h"
#include "bpf/calls.h"
#include "bpf/lock.h"
#include "bpf/ops.h"
#include "bpf/prof.h"
#include "bpf/table.h"
#include "bpf/thin.h"
#include "bpf/timeline.h"

struct bpfprof_bpf;

/* The rows that the kernel writes and we read in place. Valid until maps_release(). */
struct session_maps {
	/* The arena: one generation behind the other; sizes are those of one. Ours to empty. */
	size_t nr_generations;
	uint32_t *generation; /* which one the kernel fills */
	uint64_t *frames;     /* the log of stack records */
	size_t nr_frame_words;
	struct prof_word *frame_cursors; /* words handed out; may run past nr_frame_words */
	struct prof_count *counts;
	size_t nr_counts;
	struct prof_word *counts_used;
	const union prof_wait_hist *wait_hists; /* of each count; NULL but for waits */
	uint64_t *stacks;
	size_t nr_stack_slots;
	struct prof_event_count *values; /* nr_values of each count; NULL without */
	size_t nr_values;
	const uint64_t *merging_ns;	      /* since when threads are merged; 0 = they are not */
	const struct prof_counters *counters; /* per CPU */
	size_t nr_cpus;
	const struct prof_deferred *deferred; /* NULL when walks go by frame pointer only */
	size_t nr_deferred;
	uint64_t *deferred_taken;	     /* a bit for each */
	const struct prof_sleeper *sleepers; /* NULL but for waits with user stacks */
	size_t nr_sleepers;
	struct table_exe *exes;	       /* TABLE_MAX_EXES rows for the unwind tables, or NULL */
	struct python_layout *pythons; /* PYTHON_ROWS */
	struct table_proc *procs;      /* and TABLE_PROC_ROWS of processes */
	uint32_t *table_epoch;
	const struct prof_waker *wakers; /* NULL but for --hops */
	size_t nr_wakers;
	const struct prof_lock *locks; /* NULL but for locks */
	size_t nr_locks;
	const struct prof_disagreement *disagreements; /* NULL but for --audit */
	size_t nr_disagreements;
	const struct prof_moment *moments; /* of each CPU so many; NULL but for --heatmap */
	size_t nr_moments;
	const struct prof_word *moment_heads; /* per CPU */
	struct prof_hist_row *hists;	      /* NULL but for runqlat; max_ns is ours to reset */
	size_t nr_hists;
	const struct prof_outlier *outliers; /* PROF_OUTLIERS of them, NULL when none are kept */
	const uint64_t *nr_outliers;	     /* since the start */
	const struct prof_branch *branches;  /* NULL but for --branches */
	size_t nr_branches;
	const struct call_values *call_values; /* NULL but for arguments of calls */
	size_t nr_call_values;
	const struct call_hist *call_hists; /* NULL but for calls that are timed */
	size_t nr_call_hists;
	const struct timeline_event *timeline; /* of each CPU nr_timeline, NULL without */
	size_t nr_timeline;
	uint64_t *pids, *tids;	 /* bitmaps of the filters; NULL without */
	struct prof_orc *orc;	 /* NULL where the kernel walks its stacks itself */
	struct prof_ksym *ksyms; /* PROF_KSYM_BATCH of them; NULL without kernel stacks */
};

/* What decides about them: the configuration with its sizes, and what is in no field of it. */
struct maps_choice {
	const struct prof_config *config;
	uint32_t nr_scratches; /* per CPU */
	uint32_t nr_sleepers;  /* rows for threads that sleep at the start; 0 = none are kept */
	bool waits;	       /* threads are followed */
	bool hits;	       /* tracepoints are sampled */
	struct call_config calls;
	uint32_t nr_call_args; /* 0 = no calls are recorded */
	bool allocs;	       /* are sampled */
	struct alloc_config alloc;
	struct ops_config ops;
	struct timeline_config timeline; /* slots 0 = events of the scheduler are not kept */
};

/*
 * Before the object is loaded: which maps are created, and how large. Those of filters that are off
 * are not; the verifier drops the code that would use them.
 */
void maps_choose(struct bpfprof_bpf *skel, const struct maps_choice *c);

/* After it: maps them into our memory. 0 or negative errno, logged. */
int maps_open(struct session_maps *m, const struct bpfprof_bpf *skel, const struct maps_choice *c);
void maps_release(struct session_maps *m, const struct bpfprof_bpf *skel,
		  const struct maps_choice *c);
/*
 * All is read, and the programs are unloaded but who names the kernel's code: what that one does
 * not need is given back. The counters stay.
 */
void maps_give_back(struct session_maps *m, struct bpfprof_bpf *skel, const struct maps_choice *c);

/*
 * Size of a value times entries of all that are created, times CPUs where each has its own. What
 * fdinfo says is no measure: which overhead it counts differs from kernel to kernel.
 */
uint64_t maps_bytes(const struct bpfprof_bpf *skel, size_t nr_cpus);

#endif
