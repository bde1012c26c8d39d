/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel side of a recording: the BPF object, configured, loaded, attached, and its maps in our
 * memory.
 */
#ifndef BPFPROF_COLLECT_SESSION_H
#define BPFPROF_COLLECT_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/prof.h"
#include "bpf/table.h"
#include "collect/alloc.h"
#include "collect/kernel_segments.h"
#include "collect/links.h"
#include "collect/maps.h"
#include "collect/ops.h"
#include "collect/probe.h"
#include "collect/sizes.h"
#include "collect/timeline.h"
#include "event/due.h"

struct session;

struct session_opts {
	const struct probe *probe;
	struct prof_config config;	/* filters and depth; sizes are filled in by session_open */
	const struct prof_glob *glob;	/* with config.filter_comm */
	int cgroup_fd;			/* with config.filter_cgroup */
	const struct calls_opts *calls; /* of PROBE_CALLS; must stay */
	const struct alloc_opts *alloc; /* of alloc, else NULL */
	bool hits, only_hits;		/* tracepoints are sampled; nothing else is */
	const struct ops_opts *ops;	/* of operations, else NULL */
	const struct timeline_opts *timeline; /* of timelines, else NULL */
	uint32_t max_stacks; /* slots, rounded up to a power of two; 0 = by the number of CPUs */
	bool for_long;	     /* as in struct sizes_wishes */
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
 * Attaches what is no perf program to its events, but for points. Threads are found as they are
 * then. 0 or negative errno, logged. Nothing is counted any more after session_stop(), which
 * accounts for what threads were doing until then.
 */
int session_start(struct session *s);
/* Attaches to the points of session_opts.calls, see links_attach(). */
int session_probe(struct session *s, uint32_t pid);
void session_unprobe(struct session *s);
/* Hits of probes at allocators are not counted while it is paused. */
void session_pause_allocs(struct session *s, bool paused);
/*
 * With prof_config.slow_poll_ns: the recording ends now. Before probes are taken away, since polls
 * that return later seem to go on.
 */
void session_freeze(struct session *s);
int session_stop(struct session *s);

/*
 * Of probes with PROBE_LOOK: what each selected thread is doing now. 0 or negative errno, logged.
 */
int session_look(struct session *s, void (*fn)(void *arg, const struct prof_look *row), void *arg);

/* When waits began to be recorded, and no longer were: CLOCK_MONOTONIC ns. */
uint64_t session_began(const struct session *s);
uint64_t session_ended(const struct session *s);

/*
 * Adds how many switches the kernel has counted while sched_switch was attached, and how many of
 * these may have run no program. False: it does not say.
 */
bool session_switches(const struct session *s, struct due *d);

/* When a thread had waited for a CPU for so long that a timeline ends; 0 = none has so far. */
uint64_t session_trip(const struct session *s);

/* Adds to the filter sets; takes effect at once. */
void session_add_pid(struct session *s, uint32_t pid);
void session_add_tid(struct session *s, uint32_t tid);

/* Calls fn for each sampled allocation that was not freed. */
void session_live(const struct session *s, void (*fn)(void *arg, const struct alloc_live *a),
		  void *arg);

/* Descriptor of the probe's program for perf events. */
int session_perf_program(const struct session *s);

/* The same of the one at tracepoints that are sampled, and a CPU where it is to do nothing. */
int session_hits_program(const struct session *s);
void session_leave_out_cpu(struct session *s, uint32_t cpu);

/* Gives the program counter i of a CPU to read, with config.nr_values. 0 or negative errno. */
int session_put_counter(struct session *s, uint32_t cpu, uint32_t i, int fd);

const struct session_maps *session_maps(const struct session *s);

/* From now on, so much is left out. */
void session_thin(struct session *s, uint32_t stacks, uint32_t skips, uint32_t samples);

/* Returns when all runs of programs that have begun have ended: some ten milliseconds. */
void session_settle(struct session *s);

/* Sums the counters of all CPUs. */
void session_counters(const struct session *s, uint64_t sum[PROF_NR_COUNTERS]);

/*
 * What the kernel says lies at the addresses of nr questions, at most PROF_KSYM_BATCH: fills in
 * their texts. Not with no_kstacks. 0 or negative errno.
 */
int session_ask_kernel(struct session *s, struct prof_ksym *questions, size_t nr);

/* Where unwind tables lie. */
struct kernel_segments *session_segments(struct session *s);

/*
 * Runs of our programs that the kernel skipped, since another BPF program was running on that CPU.
 */
uint64_t session_missed(const struct session *s);

/*
 * What the maps hold: size of a value times entries, times CPUs where each has its own. The same on
 * every kernel; keys, page ends and the kernel's bookkeeping are not counted. Not after
 * session_reduce().
 */
uint64_t session_map_bytes(const struct session *s);

/*
 * The same of a recording on a host of that size, before any segment of unwind tables: needs no
 * privileges, since nothing is created. 0: the BPF object cannot be opened.
 */
uint64_t session_plan_bytes(const struct session_opts *o, const struct sizes_host *host);

/*
 * After session_stop(), when all that it recorded has been read, and no unwind table is used any
 * more: gives back the memory that names need now. What it counted stays, and session_ask_kernel().
 */
void session_reduce(struct session *s);

/* Detaches, unmaps and frees; NULL is fine. */
void session_close(struct session *s);

#endif
