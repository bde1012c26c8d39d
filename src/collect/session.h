/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel side of a recording: the BPF object, configured, loaded, attached, and its maps in our
 * memory. The only file pair that knows the skeleton.
 */
#ifndef BPFPROF_COLLECT_SESSION_H
#define BPFPROF_COLLECT_SESSION_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/prof.h"
#include "bpf/table.h"
#include "collect/sizes.h"
#include "collect/probe.h"

struct session;

/* The rows that the kernel writes and we read in place. Valid until session_close. */
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
	struct table_exe *exes;	  /* TABLE_MAX_EXES rows for the unwind tables, or NULL */
	struct table_proc *procs; /* and TABLE_PROC_ROWS of processes */
	uint32_t *table_epoch;
	const struct prof_waker *wakers; /* NULL but for --hops */
	size_t nr_wakers;
	const struct prof_disagreement *disagreements; /* NULL but for --audit */
	size_t nr_disagreements;
	struct prof_hist_row *hists; /* NULL but for runqlat; max_ns is ours to reset */
	size_t nr_hists;
	const struct prof_outlier *outliers; /* PROF_OUTLIERS of them, NULL when none are kept */
	const uint64_t *nr_outliers;	     /* since the start */
	const struct prof_branch *branches;  /* NULL but for --branches */
	size_t nr_branches;
};

struct session_opts {
	const struct probe *probe;
	struct prof_config config;    /* filters and depth; sizes are filled in by session_open */
	const struct prof_glob *glob; /* with config.filter_comm */
	int cgroup_fd;		      /* with config.filter_cgroup */
	uint32_t max_stacks; /* slots, rounded up to a power of two; 0 = by the number of CPUs */
	uint64_t max_bytes;  /* of all maps; 0 = by the number of CPUs */
};

/* Opens, sizes and loads. NULL with errno set, logged. */
struct session *session_open(const struct session_opts *o);

/*
 * Switches on what keeps the filters true (births of tasks). Before the first session_add_*. 0 or
 * negative errno, logged.
 */
int session_attach(struct session *s);

/*
 * Attaches what is no perf program to its events; file and function are for PROBE_UPROBE. Threads
 * are found as they are then. 0 or negative errno, logged. Nothing is counted any more after
 * session_stop(), which accounts for what threads were doing until then.
 */
int session_start(struct session *s, const char *file, const char *function);
int session_stop(struct session *s);

/* When waits began to be recorded, and no longer were: CLOCK_MONOTONIC ns. */
uint64_t session_began(const struct session *s);
uint64_t session_ended(const struct session *s);

/* Adds to the filter sets; takes effect at once. */
void session_add_pid(struct session *s, uint32_t pid);
void session_add_tid(struct session *s, uint32_t tid);

/* Descriptor of the probe's program for perf events. */
int session_perf_program(const struct session *s);

/* Gives the program counter i of a CPU to read, with config.nr_values. 0 or negative errno. */
int session_put_counter(struct session *s, uint32_t cpu, uint32_t i, int fd);

const struct session_maps *session_maps(const struct session *s);

/* Returns when all runs of programs that have begun have ended: some ten milliseconds. */
void session_settle(struct session *s);

/* Sums the counters of all CPUs. */
void session_counters(const struct session *s, uint64_t sum[PROF_NR_COUNTERS]);

/*
 * What the kernel says lies at the addresses of nr questions, at most PROF_KSYM_BATCH: fills in
 * their texts. Not with no_kstacks. 0 or negative errno.
 */
int session_ask_kernel(struct session *s, struct prof_ksym *questions, size_t nr);

/*
 * Segments of unwind tables: made and mapped at an address, or taken away from there again. struct
 * store_ops (unwind/store.h) in shape; session is a struct session. 0 or negative errno.
 */
int session_segment_make(void *session, uint32_t index, void *at);
void session_segment_drop(void *session, uint32_t index, void *at);

/*
 * Runs of our programs that the kernel skipped, since another BPF program was running on that CPU.
 */
uint64_t session_missed(const struct session *s);

/*
 * What the maps hold: size of a value times entries, times CPUs where each has its own. The same on
 * every kernel; keys, page ends and the kernel's bookkeeping are not counted.
 */
uint64_t session_map_bytes(const struct session *s);

/*
 * The same of a recording on a host of that size, before any segment of unwind tables: needs no
 * privileges, since nothing is created. 0: the BPF object cannot be opened.
 */
uint64_t session_plan_bytes(const struct session_opts *o, const struct sizes_host *host);

/* Detaches, unmaps and frees; NULL is fine. */
void session_close(struct session *s);

#endif
