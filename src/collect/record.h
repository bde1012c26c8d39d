/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording from start to end: opens everything, runs until its time is over, the target ends or
 * a signal comes, and leaves a symbolized profile. Ties together event, proc, symbol and profile;
 * knows nothing of outputs.
 */
#ifndef BPFPROF_COLLECT_RECORD_H
#define BPFPROF_COLLECT_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/opt.h"
#include "collect/session.h"
#include "event/catalog.h"
#include "profile/profile.h"
#include "symbol/symbolizer.h"

struct group_column;
struct target;
struct record;

/* Of commands that sample events. */
struct sample_opts {
	const char *event;		  /* "cycles" or "cpu-clock"; NULL = the best there is */
	const struct event *events;	  /* of pmu, instead of event */
	size_t nr_events, nr_tracepoints; /* of them */
	uint64_t period;		  /* of each; 0 = by rate, or what is usual for the event */
	uint32_t rate_hz; /* at most host_max_rate(); 0 = 99 with a target, 49 without */
	bool precise;
	const struct group_column *columns; /* of -M */
	size_t nr_columns;
	bool branches;	  /* branch records with each sample */
	const char *note; /* what else to know of the events, NULL = nothing */
};

/* Of commands that follow waits. */
struct wait_opts {
	bool no_stacks;
	bool wakeups;	     /* by their tracepoint, though the kernel may count waits for a CPU */
	uint32_t state_mask; /* prof_config's; 0 = all */
	uint64_t min_ns, max_ns; /* max_ns 0 = no limit */
	uint32_t walks;		 /* per second and CPU; 0 = WALKS_PER_SECOND */
	uint32_t hops;		 /* of wakeup */
	bool lengths;		 /* of what is looked at while it goes on: how long waits were */
	uint64_t gap_ns;	 /* in which a runtime's driver is not polled; 0 = nobody asks */
};

/* Of histograms. */
struct hist_opts {
	enum prof_hist_by by;
	uint64_t outlier_us;  /* 0 = none are kept */
	uint64_t interval_ns; /* of on_interval, 0 = never */
	/* An interval is over, or all of it is. False ends the recording. */
	bool (*on_interval)(void *arg, struct record *r, bool last);
	void *arg;
};

/* Of recordings that are looked at while they go on: there is no profile of them at their end. */
struct live_opts {
	int fd;		  /* wakes the loop when it is readable; -1 = none */
	uint64_t turn_ns; /* between turns, 0 = a tenth of a second */
	/* False ends the recording. NULL: nobody looks on. */
	bool (*turn)(void *arg, struct record *r);
	bool (*signal)(void *arg, int nr); /* true: it does not end the recording; NULL: all do */
	void *arg;
	struct target *target; /* the program, if it runs since an earlier recording; else pid 0 */
};

/* What all commands have in common, and a part for each family of them. */
struct record_opts {
	const char *command; /* "oncpu"; the probe of that name */
	bool unsafe_kernel;  /* record on one that is known to be bad, too */
	uint64_t start_ns;   /* CLOCK_MONOTONIC when bpfprof began */
	/* Who, and how long. */
	uint64_t duration_ns; /* 0 = until a signal or the target's end */
	char **program;	      /* to start, NULL = none */
	bool all;	      /* the whole machine, while program runs */
	struct opt_ids pids, tids, cpus;
	const char *comm;   /* glob list */
	const char *cgroup; /* path, below the cgroup2 mount or absolute */
	bool no_children;
	bool user_threads, kernel_threads; /* only these */
	bool idle;
	bool per_thread;
	bool foreign_folder; /* results go where the folder is not ours */
	bool moments;	     /* when each was taken is kept, for heat maps */
	/* Their stacks. */
	bool user_stacks, kernel_stacks; /* only these */
	bool audit;			 /* walked all the same, and compared */
	uint32_t max_stacks, max_depth;
	uint64_t stack_bytes; /* of tables of stacks; 0 = by the number of CPUs */
	uint64_t max_bytes;   /* of all that is ours; 0 = what the cgroup leaves */
	double max_overhead;  /* share of the CPUs' time that it may cost; 0 = no limit */
	bool ends_above;      /* it; where nothing can be left out, else that is told */
	bool always_on; /* no samples are left out for it, and it is never refused: there are few */
	enum prof_call_graph call_graph;
	uint64_t unwind_bytes; /* of unwind tables at most; 0 = 64 MB */
	const struct record
		*before; /* whose unwind tables are taken over, as it goes on; or NULL */
	/* Of a recording that others follow, and theirs: opened by the first one; or NULL. */
	struct reading *reading;
	struct shelf *shelf; /* of unwind tables */
	bool java_names;     /* JVMs are asked for them */
	bool no_python;	     /* interpreters are native code like any other */
	struct symbol_options symbols;
	/* By family. */
	struct sample_opts sampling;
	struct wait_opts waits;
	struct hist_opts runqlat;
	struct calls_opts calls;
	struct alloc_opts alloc;
	struct ops_opts ops;
	struct live_opts live;
	struct timeline_opts timeline;
};

#define WALKS_PER_SECOND 10000

/*
 * The row of probes, and of kinds, that it runs by: that of its command. Where driver gaps are
 * looked for, what runs between waits is sampled, too.
 */
const char *record_row(const struct record_opts *o);

/* What the options mean to the BPF programs; sizes are missing. */
struct prof_config record_config(const struct record_opts *o);

/*
 * Checks the options and the host, loads, and starts the program (not yet released). NULL with
 * errno set, logged; EINVAL means the options.
 */
struct record *record_open(const struct record_opts *o);

/* Samples until the end. 0 or negative errno, logged. */
int record_run(struct record *r);

/*
 * The same in parts, for a recording that is looked at and takes over from another one: it begins,
 * takes turns (none of which waits) beside that one, which hurries for it, and goes on alone until
 * its end.
 */
int record_begin(struct record *r);
int record_turn(struct record *r, struct record *beside);
int record_go_on(struct record *r);
/* The one that it took over from (record_opts.before) is about to be closed. */
void record_go_alone(struct record *r);

/* The result, symbolized; belongs to the caller. Once, after record_run. */
struct profile *record_take(struct record *r);

/*
 * Of one that was looked at while it went on (record_opts.live), after its end: ends what its
 * programs do, and adds what they counted, and what was expected, to a profile that has only that.
 * 0 or negative errno, logged.
 */
int record_sum_up(struct record *r, struct profile *sum);

/* What came of it is where it belongs: signals end the wait for what is kept, and cost nothing. */
void record_is_done(struct record *r);
void record_close(struct record *r);
/* Before it: the program goes on, for the recording that follows. */
void record_hand_over(struct record *r, struct target *to);

/* During the recording: what is recorded, to be freed; its kernel side; and since when. */
char *record_target(struct record *r);
struct session *record_session(struct record *r);
uint64_t record_begin_ns(const struct record *r); /* CLOCK_MONOTONIC */
/* What has ended it before its time. */
enum profile_end record_ended_by(const struct record *r);
/*
 * A signal that ends us before signals are read, by record_open(), is told in a sentence from now
 * on; or no more.
 */
void record_tell_early(bool on);
bool record_was_interrupted(const struct record *r); /* by a signal */
bool record_has_outlived(const struct record *r);    /* all that it profiled has exited */

#endif
