/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What each thread did when: events of the scheduler joined to spans. The spans of a thread follow
 * each other without a gap, from the begin of what is shown, or its birth, to the end, or its exit.
 */
#ifndef BPFPROF_PROFILE_TIMELINE_H
#define BPFPROF_PROFILE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/index.h"
#include "profile/profile.h"
#include "profile/wait.h"

enum timeline_state {
	TIMELINE_RUNS,
	TIMELINE_RUNNABLE, /* woken, new or preempted: only a CPU is missing */
	TIMELINE_WAITS,
	TIMELINE_THROTTLED, /* its cgroup has used up its CPU quota */
	TIMELINE_UNKNOWN,   /* that it got its CPU, or left it, was not seen */
	TIMELINE_NR_STATES
};

/* "running" and so on. */
extern const char *const timeline_state_names[TIMELINE_NR_STATES];

struct timeline_span {
	uint64_t start_ns, end_ns; /* since the begin of the recording */
	uint32_t thread;	   /* index */
	uint32_t wait;	   /* prof_count.wait; of a run, what it ended for, 0 = it did not */
	uint32_t waker1;   /* event + 1 that ended the wait before, 0 = none is known */
	uint16_t cpu;	   /* of a run */
	uint8_t state;	   /* enum timeline_state */
	bool before, open; /* it began before what is shown, or had not ended with it */
};

struct timeline_thread {
	uint32_t pid, tid;
	char name[PROF_COMM_LEN + 1]; /* the last one seen */
	bool kernel, selected, gone;
	uint64_t ns[TIMELINE_NR_STATES];
	uint64_t switches, preempted; /* it left its CPU, and could have gone on */
	uint64_t delays;	      /* spans of TIMELINE_RUNNABLE */
	uint32_t longest1;	      /* of these the longest, index + 1; 0 = there is none */
	/* What it does at the moment. */
	struct {
		enum { THREAD_NEW, THREAD_RUNS, THREAD_WAITS, THREAD_GONE } state;
		uint64_t since_ns;
		uint32_t wait, waker1;
		uint16_t cpu;
		bool before;
	} now;
};

struct timeline {
	const struct profile *profile;
	uint64_t from_ns, end_ns; /* what is shown, since the begin of the recording */
	struct timeline_thread *threads;
	size_t nr_threads, cap_threads;
	struct timeline_span *spans; /* in the order of their ends; those of a thread in its own */
	size_t nr_spans, cap_spans;
	uint32_t outlier1; /* longest span of a selected thread that is an outlier, + 1; or 0 */
	struct index by_tid;
	struct timeline_cpu *cpus; /* by number: the joiner's own */
};

void timeline_init(struct timeline *t, const struct profile *p);
void timeline_release(struct timeline *t);

/* What a span's wait is: what ended it ("then"), or what was waited for ("class"). */
const char *timeline_wait_key(const struct timeline_span *s);
/* What a thread waits for, or has waited for. */
enum wait_class timeline_class(const struct timeline *t, uint32_t thread, uint32_t wait);
/* The same in a word for people, which may be the system call. */
const char *timeline_word(const struct timeline *t, uint32_t thread, uint32_t wait);

/* The selected threads as a table, those with the largest key first. */
enum timeline_sort {
	TIMELINE_BY_MAX,
	TIMELINE_BY_AVG,
	TIMELINE_BY_RUNTIME,
	TIMELINE_BY_SWITCHES,
	TIMELINE_NR_SORTS
};
extern const char *const timeline_sort_names[TIMELINE_NR_SORTS];

struct timeline_row {
	uint32_t pid, tid; /* tid 0: of all threads of the process */
	const char *name;
	size_t nr_threads;
	bool has_first; /* the first thread of the process is among them */
	uint64_t ns[TIMELINE_NR_STATES];
	uint64_t switches, preempted, delays;
	const struct timeline_span *longest; /* NULL = it never waited for a CPU */
};

/* To be freed. */
struct timeline_row *timeline_rows(const struct timeline *t, enum timeline_sort sort,
				   bool by_process, size_t *nr);
uint64_t timeline_avg_ns(const struct timeline_row *r);
uint64_t timeline_max_ns(const struct timeline_row *r);

/* Can a profile from outside be joined? */
bool timeline_can(const struct profile *p);

#endif
