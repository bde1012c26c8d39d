/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counters per thread, process or cgroup for the price of counters per CPU (bpf/accounts.bpf.c).
 * The caller opens the same events on each CPU, system-wide, neither inherited nor pinned. They
 * are read at each switch, and what they counted is given to whom they counted it for.
 *
 * What all counters have counted is the sum of the accounts, of idle and of lost. Exactly so, if
 * counters are opened disabled and go on between accounts_start() and accounts_stop():
 *
 *	accounts_open, _add…, _start, enable the counters, …, disable them, _stop, _read
 */
#ifndef BPFPROF_COLLECT_ACCOUNTS_H
#define BPFPROF_COLLECT_ACCOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/alloc.h"
#include "bpf/calls.h"
#include "bpf/prof.h"
#include "bpf/thin.h"
#include "bpf/timeline.h"
#include "collect/sizes.h"

/* As enum stat_by numbers them. */
enum account_by { ACCOUNT_BY_PROCESS = 1, ACCOUNT_BY_THREAD, ACCOUNT_BY_CGROUP };

struct accounts_opts {
	enum account_by by;
	size_t nr_events;  /* 1 to PMU_MAX_EVENTS */
	uint32_t max_rows; /* of threads at a time, rounded up; 0 = by the threads there are */
};

/*
 * One thread, process or cgroup. What it was called last, or its first thread. pid and tid are 0
 * where there is no single one. Of threads that have run; a thread that runs since accounts_start()
 * is there after the next flush.
 */
struct account {
	uint64_t key;
	uint32_t pid, tid;
	uint32_t parent; /* the process that made this one meanwhile; 0: it was there before */
	uint64_t cgroup; /* its id */
	char comm[PROF_COMM_LEN];
	uint64_t switches;   /* times it left a CPU */
	uint64_t running_ns; /* on CPUs whose counters were enabled */
	struct prof_event_count event[PMU_MAX_EVENTS];
};

struct accounts_report {
	struct account *v; /* in no order */
	size_t nr;
	struct account idle, lost; /* of all CPUs; lost: of threads that found no row */
	/* What else there is to say; not part of any sum. */
	uint64_t unread; /* times a counter could not be read: what it counted then is nowhere */
	uint64_t
		unseen; /* threads that were given a CPU unseen: they got what was counted before */
	uint64_t missed; /* switches that the kernel kept from us: the next thread got the counts */
};

struct accounts;

/* What its maps hold on a host of that size. Nothing is created. 0: there is no BPF object. */
uint64_t accounts_plan_bytes(const struct sizes_host *host);

/* Loads; attaches nothing. NULL with errno set, logged. */
struct accounts *accounts_open(const struct accounts_opts *o);

/*
 * An open counter of a CPU, which may be closed afterwards; at any time, also in the place of one
 * whose CPU was away. It counts from here on. fd -1 takes it away. 0 or negative errno, logged.
 */
int accounts_add(struct accounts *a, uint32_t cpu, size_t event, int fd);

/* From now on. 0 or negative errno, logged. */
int accounts_start(struct accounts *a);

/*
 * Gives threads that run what they have used since their last switch. 0 or negative errno, logged.
 */
int accounts_flush(struct accounts *a);

/*
 * Makes room for new threads: takes the rows of those that are gone. Cheap; call it some times a
 * second. (The other calls do it too.)
 */
void accounts_collect(struct accounts *a);

/* Flushes, and ends. 0 or negative errno, logged. */
int accounts_stop(struct accounts *a);

/* All since accounts_start(). Without a flush, as of the last switch of each CPU. */
void accounts_read(struct accounts *a, struct accounts_report *r);
void accounts_report_release(struct accounts_report *r);

/* Detaches and frees; NULL is fine. */
void accounts_close(struct accounts *a);

#endif
