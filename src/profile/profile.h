/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The profile model: what a recording found, in a form that needs neither the kernel nor the
 * profiled host any more. Collectors fill it, the symbolizer names its frames, it is saved and
 * loaded as a .bpfprof file, and every output and every analysis reads only this (through
 * profile/tree.h or profile/top.h).
 *
 * Its tables, each an array whose index is the id; entry 0 of strings, modules, frames,
 * stacks and wakers means "none":
 *
 *	strings  interned bytes, as found (hostile names included; outputs make them safe)
 *	modules  files that code came from, plus "[kernel]" and friends
 *	frames   one code location each: (module, offset), with its names once symbolized
 *	details  of frames: source lines, and which functions the compiler put into the frame's
 *	inlines  these functions
 *	stacks   frame ids, leaf first; a user or a kernel half
 *	events   what was sampled; empty: meta.event alone
 *	samples  who (pid, tid, names), where (user half, kernel half), how much (count, weight)
 *	columns  ratios of counters that were read with the samples, and counted: what they said
 *	branches from where to where, and how often mispredicted
 *	wakers   who ended a wait, what it was doing, and who had woken it
 *	locks    with wakers that are holders of locks: one for each
 *	wait_buckets, longest  of samples of waits: how long these were
 *	slices   of time, and which part of which sample came in each
 *	moments  the same in slices that are much shorter, for heat maps
 *	long_waits  begin and end of each wait that was long
 *	threads  how long each one was watched, where a recording accounts for all of their time
 *	call_rows, call_buckets  of functions that were asked for: how often, and how long
 *	linked   where executable parts of modules are linked to
 *	begins   source lines where functions begin
 *	timeline events of the scheduler, in the order of time
 *	disagreements  with --audit: halves of stacks that were remembered, and found otherwise
 *
 * Frames keep their exact location; functions merge only in views. The profile owns everything it
 * hands out.
 */
#ifndef BPFPROF_PROFILE_PROFILE_H
#define BPFPROF_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/index.h"
#include "base/strings.h"
#include "bpf/lock.h"
#include "bpf/prof.h"
#include "bpf/timeline.h"
#include "profile/frame.h"

struct sample {
	uint64_t count;	 /* samples */
	uint64_t weight; /* sum of periods, in units of its event */
	uint32_t pid, tid;
	uint32_t process; /* name of the process, string */
	uint32_t thread;  /* name of the thread when it was sampled, string */
	uint32_t ustack;  /* 0 = none */
	uint32_t kstack;  /* 0 = none */
	uint32_t wait;	  /* prof.h: what the thread did, or which event; 0 = the first event */
	uint32_t waker;	  /* who ended the wait, 0 = not known */
};

struct waker {
	uint32_t pid, tid;
	uint32_t process, thread; /* names, strings */
	uint32_t ustack, kstack;  /* 0 = none */
	uint32_t next;		  /* the waker's own waker, always a smaller id; 0 = not known */
	uint32_t pad;
};

/* Of the waker of the same number, in a recording of locks: which lock, and in which role. */
struct lock {
	uint64_t word, max_ns; /* address; the longest wait */
	uint32_t op, kind;     /* of the system call; enum lock_kind (bpf/lock.h) */
	uint32_t role, wait;   /* enum lock_role; what that thread did, as in samples */
	uint32_t flags, pad;   /* LOCK_* */
};

/* The source line where a function of a module begins. */
struct begin {
	uint32_t module, name; /* as the linker has it */
	uint32_t line;
};

/* Code of a module: so many bytes of the file are linked to that address. */
struct linked {
	uint64_t offset, bytes, address;
	uint32_t module, pad;
};

/* What was sampled. */
struct sampled_event {
	uint32_t name, note; /* strings; note: what to know of its samples, 0 = nothing */
	uint64_t period;     /* of each sample; 0 = chosen by the kernel for rate_hz */
	uint64_t rate_hz;    /* of samples on each CPU, 0 with a period */
	uint64_t enabled_ns, running_ns; /* of all CPUs: it shared a counter when these differ */
};

/*
 * A ratio of two counters that are read with each sample: per times the first one, by the second.
 * Both were on the hardware at the same times, unless note says otherwise.
 */
struct value_column {
	uint32_t name, note; /* strings; note 0 = nothing */
	uint64_t per;
};
#define PROFILE_MAX_COLUMNS (PMU_MAX_EVENTS / 2)

/* A branch that was taken: from where to where, as frames. */
struct branch {
	uint32_t from, to;
	uint64_t count;
	uint64_t mispredicted;
	uint64_t untold;	/* of which the hardware does not say whether they were predicted */
	uint64_t cycles, timed; /* since the branch before, in sum, and of how many */
};

/*
 * Which part of a sample's weight (of its count, if it has no weight) came in which slice of time.
 * In the order of samples, then slices. What was measured in no slice is in none.
 */
struct sliced {
	uint32_t sample, slice;
	uint64_t weight;
};

/*
 * In each of nr slices of meta.moment_ns from first on, so much of a sample's weight; count: of its
 * samples, or of its waits that began there. In the order of time. What of a sample is in none came
 * when there was no room.
 */
struct moment {
	uint32_t sample, first, nr, count;
	uint64_t weight;
};
#define PROFILE_MAX_MOMENT_SLICES (1u << 20)

/*
 * A wait of at least meta.long_wait_ns, with the time for a CPU behind it; of each sample also the
 * first and the last one, however short. Those for events (epoll) are here whatever their length,
 * and as one where less than that lay between them; and samples of running code, at their end.
 * Since the begin of the recording.
 */
struct long_wait {
	uint32_t sample, pad;
	uint64_t begin_ns, end_ns;
};

/* How many waits of a sample were how long: buckets of union prof_wait_hist. In their order. */
struct wait_bucket {
	uint32_t sample, index;
	uint64_t count;
};

/* The time that a thread's samples have to add up to. */
struct thread_time {
	uint32_t pid, tid;
	uint32_t process, thread; /* names, strings */
	uint64_t wall_ns;	  /* from its birth or the begin of the recording to its end */
};

/* Of a process that shares its name with others: what tells it from them. */
struct title {
	uint32_t pid;
	uint32_t text; /* string */
};

/* With --audit: a half of a stack that was remembered, and what a walk found instead. */
struct disagreement {
	uint64_t times;
	uint32_t pid, tid;	     /* who came first */
	uint32_t process, thread;    /* names, strings */
	uint32_t remembered, walked; /* stacks */
	uint32_t half;		     /* enum prof_stack_kind: user or kernel */
	uint32_t pad;
};

/* The same of threads that the recording did not tell apart: all of one process and name. */
struct merged_time {
	uint32_t pid;
	uint32_t nr; /* threads that ended with that name, or had it when the recording ended */
	uint32_t process, thread;
	uint64_t wall_ns; /* of all of them, also of those that have another name now */
};

/* Waits for a CPU by their length (runqlat): of whom, and the buckets that have any. */
struct hist_row {
	uint32_t pid, tid, cpu, pad;
	char name[PROF_COMM_LEN];
	uint64_t sum_ns[PROF_NR_HISTS], max_ns[PROF_NR_HISTS]; /* by enum prof_hist_kind */
};

struct hist_bucket {
	uint32_t row;
	uint16_t kind, index; /* enum prof_hist_kind; of prof_hist.count */
	uint64_t count;
};

/*
 * Calls of one event (a function, a tracepoint) with the same values of its arguments, by one
 * process if they were asked for by process.
 */
struct call_row {
	uint32_t event;
	uint32_t values;       /* string: "64, /etc/passwd"; 0 = none were asked for */
	uint32_t pid, process; /* 0 = all of them; name, string */
	uint64_t calls;
	uint64_t sum_ns, max_ns; /* of calls that were timed */
};

/* How many of them took how long: buckets of bpf/hist.h. */
struct call_bucket {
	uint32_t row, index;
	uint64_t count;
};

/* One line of facts about the recording each; strings are ids, 0 = unknown. */
/* Reaches saved files. */
enum profile_end {
	ENDED_ON_TIME, /* or by its user, or with its target */
	ENDED_BY_MEMORY,
	ENDED_BY_OVERHEAD,
	ENDED_BY_PROBES, /* that their target paid too much for */
};

struct profile_meta {
	uint32_t command;    /* "oncpu" */
	uint32_t event;	     /* "cpu-clock" or "cycles"; of several the first */
	uint32_t event_note; /* why it is not cycles; 0 when it is */
	uint32_t target;     /* "process 123 (redis-server)", "the whole machine" */
	uint32_t host;
	uint32_t kernel; /* release */
	uint32_t arch;
	uint32_t version;    /* of bpfprof */
	uint32_t call_graph; /* how user stacks were walked: "auto", "fp", "dwarf"; 0: by "fp" */
	uint32_t runtimes;   /* "tokio 1.54.1 in /srv/app": versions that files say themselves */
	uint32_t debug_packages; /* what has the debug symbols of files (nameless.h) */
	uint32_t debug_missing;	 /* files that debug information leads to (missing.h) */
	uint32_t lacks;		 /* why code has no names (lacks.h) */
	uint64_t is_time;	 /* weights are ns of waiting, shown as us; else they are periods */
	uint64_t by_weight;	 /* periods are what is shown; else the number of samples */
	uint64_t start_ns;	 /* CLOCK_REALTIME */
	uint64_t duration_ns;	 /* of sampling */
	uint64_t rate_hz;
	uint64_t max_depth; /* user frames per stack at most; 0 = unknown */
	uint64_t nr_cpus;   /* CPUs sampled */
	uint64_t cpu_ns;    /* CPU time of bpfprof's own process and of its readers */
	uint64_t bpf_ns;    /* CPU time of its BPF programs, from runs that timed themselves */
	uint64_t rss_bytes; /* peak, and the readers' */
	uint64_t readers_ns, readers_bytes; /* of these, for reading the files of others */
	uint64_t map_bytes;		    /* of BPF maps: values times entries, see session.h */
	uint64_t first_sample_ns; /* from the start of bpfprof to the first stack it took */
	uint64_t first_root_ns; /* to the first user stack that was walked to its root; 0 = none */
	uint64_t suspended_ns;	/* while the machine slept, nothing waited */
	uint64_t missed;	/* program runs that the kernel skipped because another one ran */
	uint64_t sideband_lost; /* process and mapping records that did not fit their ring */
	uint64_t throttles;	/* how often the kernel stopped a sampling event for a while */
	uint64_t throttled_ns;	/* for how long, in the sum of all CPUs and events */
	uint64_t timed;		/* calls were timed: their weights are ns */
	uint64_t slow_poll_ns;	/* samples are within polls of at least that; 0 = or anywhere */
	uint64_t moment_ns;	/* length of the slices of moments; 0 = there are none */
	uint64_t long_wait_ns;	/* least length of long waits; 0 = none were kept */
	uint64_t ended_by;	/* enum profile_end: what ended the recording before its time */
	uint64_t incomplete; /* part of it could not be read later: it is not taken for the whole */
	uint64_t frames_late; /* for whose source lines and inlined calls there was no time */
	uint64_t budget_ppm;  /* of the CPUs' time, that the recording was to cost; 0 = no limit */
	uint64_t unlimited;   /* since the user has said so */
	uint64_t interrupts_ns; /* that the interrupts took which samples came by, but for bpf_ns */
	uint64_t thinned_ns;	/* while something was left out to keep within the budget */
	uint64_t thinnest;	/* one in how many was taken then, at worst */
	uint64_t spread_ns;	/* of waiting without a stack, shown by the thread's other ones */
	uint64_t over_ns;	/* for how long it cost more all the same */
	uint64_t others_ns; /* that a system call took more in processes that were not selected */
	/* Runs of programs by the kernel's clock and counts, and as counted; most 0 = unknown. */
	uint64_t expected_least, expected_most, expected_seen;
	/* Of runqlat: struct runqlat_report has them. */
	uint64_t hist_by, hist_split, threshold_ns, outliers_from_ns, outliers_lost;
	/*
	 * Of timelines, CLOCK_MONOTONIC: begin of the recording, since when events were wanted,
	 * since when there are all, and the end.
	 */
	uint64_t timeline_begin_ns, timeline_wanted_ns, timeline_from_ns, timeline_end_ns;
	uint64_t timeline_short_cpu;			  /* + 1, that lacks wanted events; or 0 */
	uint64_t timeline_outlier_ns, timeline_around_ns; /* --threshold and --around; 0 = none */
};

struct frame_entry;

struct profile {
	struct profile_meta meta;
	uint64_t counters[PROF_NR_COUNTERS];

	struct strings strings;
	struct module *modules;
	size_t nr_modules, cap_modules;
	struct frame *frames;
	size_t nr_frames, cap_frames;
	struct frame_detail *details;
	size_t nr_details, cap_details;
	struct frame_function *inlines;
	size_t nr_inlines, cap_inlines;
	uint32_t *stack_frames;
	size_t nr_stack_frames, cap_stack_frames;
	struct stack *stacks;
	size_t nr_stacks, cap_stacks;
	struct sampled_event *events;
	size_t nr_events, cap_events;
	struct sample *samples;
	size_t nr_samples, cap_samples;
	struct value_column *columns;
	size_t nr_columns, cap_columns;
	struct prof_event_count *counted; /* 2 * nr_columns of each sample */
	size_t nr_counted, cap_counted;
	struct branch *branches;
	size_t nr_branches, cap_branches;
	struct waker *wakers;
	size_t nr_wakers, cap_wakers;
	struct lock *locks; /* none, or nr_wakers */
	size_t nr_locks, cap_locks;
	struct wait_bucket *wait_buckets;
	size_t nr_wait_buckets, cap_wait_buckets;
	uint64_t *longest; /* none, or of each sample its longest wait in ns */
	size_t nr_longest, cap_longest;
	uint64_t *slices; /* where each ends, in ns since the begin of the recording */
	size_t nr_slices, cap_slices;
	struct sliced *sliced;
	size_t nr_sliced, cap_sliced;
	struct moment *moments;
	size_t nr_moments, cap_moments;
	struct long_wait *long_waits;
	size_t nr_long_waits, cap_long_waits;
	struct thread_time *threads;
	size_t nr_threads, cap_threads;
	struct title *titles; /* see titles.h */
	size_t nr_titles, cap_titles;
	struct disagreement *disagreements;
	size_t nr_disagreements, cap_disagreements;
	struct merged_time *merged;
	size_t nr_merged, cap_merged;
	struct hist_row *hist_rows;
	size_t nr_hist_rows, cap_hist_rows;
	struct hist_bucket *hist_buckets;
	size_t nr_hist_buckets, cap_hist_buckets;
	struct prof_outlier *outliers;
	size_t nr_outliers, cap_outliers;
	struct timeline_event *timeline;
	size_t nr_timeline, cap_timeline;
	struct call_row *call_rows;
	size_t nr_call_rows, cap_call_rows;
	struct call_bucket *call_buckets;
	size_t nr_call_buckets, cap_call_buckets;

	struct begin *begins; /* by module and name */
	size_t nr_begins, cap_begins;
	struct linked *linked;
	size_t nr_linked, cap_linked;

	struct frame_entry *frame_index;
	struct index stack_index;
};

struct profile *profile_new(void);
void profile_free(struct profile *p);

/*
 * Interning: the same content gives the same id. A string's id stays valid; the pointers below move
 * on the next add.
 */
uint32_t profile_string(struct profile *p, const char *s);
uint32_t profile_string_n(struct profile *p, const char *s, size_t len);
/* Modules are not merged: the caller knows which files are the same. */
uint32_t profile_add_module(struct profile *p, const char *path);
uint32_t profile_add_generated(struct profile *p, uint32_t pid);
void profile_add_linked(struct profile *p, const struct linked *l);
/* The address that an offset of a module is linked to. False: not known. O(parts of all files). */
bool profile_linked_at(const struct profile *p, uint32_t module, uint64_t offset,
		       uint64_t *address);
void profile_add_event(struct profile *p, const struct sampled_event *e);
void profile_add_sample(struct profile *p, const struct sample *s);
void profile_add_column(struct profile *p, const struct value_column *c);
/* Right behind its sample, once there are columns: 2 * nr_columns. */
void profile_add_counted(struct profile *p, const struct prof_event_count *counted);
/*
 * How long the waits of the last sample were, and the longest of them. Of all samples or of none;
 * buckets come in their order.
 */
void profile_add_longest(struct profile *p, uint64_t ns);
void profile_add_wait_bucket(struct profile *p, const struct wait_bucket *b);
void profile_add_branch(struct profile *p, const struct branch *b);
/* Not merged either: returns the id. The waker's own waker is there already: no chain is a ring. */
uint32_t profile_add_waker(struct profile *p, const struct waker *w);
/* The same with its lock; all wakers but the first have one, or none. */
uint32_t profile_add_holder(struct profile *p, const struct waker *w, const struct lock *l);
void profile_add_slice(struct profile *p, uint64_t end_ns);
/* Of a sample and a slice that are there. */
void profile_add_sliced(struct profile *p, const struct sliced *s);
/* Of a sample that is there. */
void profile_add_moment(struct profile *p, const struct moment *m);
void profile_add_long_wait(struct profile *p, const struct long_wait *w);
void profile_add_thread(struct profile *p, const struct thread_time *t);
/* Of two thread_times, for qsort and bsearch: by pid, then by tid. */
int profile_by_ids(const void *x, const void *y);
void profile_add_disagreement(struct profile *p, const struct disagreement *d);
void profile_add_merged(struct profile *p, const struct merged_time *t);
/* Buckets are of a row that is there. */
void profile_add_hist_row(struct profile *p, const struct hist_row *row);
void profile_add_hist_bucket(struct profile *p, const struct hist_bucket *b);
void profile_add_timeline(struct profile *p, const struct timeline_event *e);
void profile_add_outlier(struct profile *p, const struct prof_outlier *o);
/* The same. */
void profile_add_call_row(struct profile *p, const struct call_row *row);
void profile_add_call_bucket(struct profile *p, const struct call_bucket *b);

static inline const char *profile_str(const struct profile *p, uint32_t id)
{
	return p->strings.bytes + id;
}

/*
 * One event's samples as a profile of their own, which borrows all else from p, and p must not
 * change meanwhile. What was lost is known of all events together only: it stays with p, unless
 * there is but one. Views other than of all events are made of this.
 */
struct profile profile_of_event(const struct profile *p, uint32_t event);
void profile_of_event_release(struct profile *one);

/* Do its events have units of their own, so that views are of one of them? Calls do not. */
bool profile_is_mixed(const struct profile *p);

/* What is recorded, "wait", "call", or "sample". */
const char *profile_noun(const struct profile *p);

/* What views count in: "samples", "ns", or the event's name; it may hold anything. */
const char *profile_unit(const struct profile *p);
/* Are the periods of an event of this name ns, whatever the modifiers behind it? */
bool profile_is_clock(const char *event);
/* An event's number by its name, -1 = there is none of that name. */
int profile_find_event(const struct profile *p, const char *name);
/* Share of time in which the event was counted, 0..1. */
double sampled_event_duty(const struct sampled_event *e);

/* The ledger. */
enum counter_kind { COUNTER_TOTAL, COUNTER_FILTER, COUNTER_LOST, COUNTER_NOTE };
struct counter_info {
	enum counter_kind kind;
	const char *key, *text;
};
extern const struct counter_info profile_counters[PROF_NR_COUNTERS];
uint64_t counters_sum(const uint64_t counters[PROF_NR_COUNTERS], enum counter_kind kind);
uint64_t profile_sum(const struct profile *p, enum counter_kind kind);

/* A thread's stack is complete when its user half is; a kernel thread has only a kernel half. */
static inline uint32_t sample_outer_half(const struct sample *s)
{
	return s->ustack ? s->ustack : s->kstack;
}

/*
 * In a recording of all time of threads: does the ledger count it? The parts of a wait are one, and
 * time that a thread ran by the clock is no number of anything.
 */
bool sample_is_recorded(const struct sample *s);

/* Time that a thread ran by the clock, and waits whose stacks were not taken, have none. */
bool sample_has_stack(const struct sample *s);

/*
 * How honest the stacks are, by weight: what samples stand for (cycles, or ns of cpu-clock, or of
 * waiting), in all; that of those with stacks; of it the share whose stack reaches a thread's root,
 * and the one with frames that were guessed, 0..1; 0 of an empty profile.
 */
uint64_t profile_weight(const struct profile *p);
uint64_t profile_stack_weight(const struct profile *p);
bool profile_is_rooted(const struct profile *p, const struct sample *s);
double profile_rooted_share(const struct profile *p);
double profile_guessed_share(const struct profile *p);

/* The samples that do not reach the root, by why their stack ended. */
struct profile_broken {
	uint64_t samples, weight;
};
void profile_broken_ends(const struct profile *p, struct profile_broken by_end[UNWIND_NR_ENDS]);
/* Why a stack ended. A saved profile may come from a newer bpfprof that knows more reasons. */
enum unwind_end stack_end(const struct stack *s);

/* Was an event throttled for more than a thousandth of the time? */
bool profile_was_throttled(const struct profile *p);

extern const char *const unwind_end_keys[UNWIND_NR_ENDS];
extern const char *const unwind_end_texts[UNWIND_NR_ENDS];

#endif
