/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The parts of a recording that have files of their own: whether it can be (record_check.c),
 * which rights it keeps (record_rights.c), what
 * its options mean in the kernel (record_config.c), taking over what the kernel wrote
 * (record_fetch.c), and what is said of it at the end (record_describe.c). For these, record.c and
 * record_open.c only.
 */
#ifndef BPFPROF_COLLECT_RECORD_PARTS_H
#define BPFPROF_COLLECT_RECORD_PARTS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/index.h"
#include "collect/overhead.h"
#include "collect/capture.h"
#include "collect/duty.h"
#include "collect/groups.h"
#include "collect/lifetimes.h"
#include "collect/reading.h"
#include "collect/record.h"
#include "collect/sampling.h"
#include "collect/target.h"
#include "event/kernel_counts.h"
#include "event/sideband.h"
#include "proc/running.h"
#include "reader/fork.h"
#include "uprobe/price.h"

#define RECORD_TURN_NS 100000000ull

struct record {
	const struct record_opts *opts;
	struct session *session;
	struct store *store; /* NULL without unwind tables, and once they have been used */
	bool had_store;
	struct store_stats store_stats; /* then */
	uint64_t map_bytes;		/* then, 0 = maps are still there */
	uint64_t unwind_bytes;		/* for it at most */
	struct sampling sampling;
	struct groups groups;
	struct sideband *sideband;
	struct reading *reading; /* own_reading, unless it is for others, too */
	struct reading own_reading;
	struct reader_late late; /* who write what was read of DWARF */
	struct proc_table procs;
	struct capture capture;
	struct lifetimes *lifetimes; /* NULL but for wall */
	struct target target;
	bool has_begun; /* the program that bpfprof started: it is no copy of bpfprof any more */
	struct profile *profile;
	struct prof_glob glob;
	int cgroup_fd, timer, signals;
	sigset_t old_mask;
	uint64_t begin_ns, end_ns;
	uint64_t asleep_ns;  /* that the machine had been suspended when it began */
	uint64_t gap_ns;     /* since when records are missing that nobody looked up; 0 = none */
	uint64_t recheck_ns; /* /proc is not read anew before */
	uint64_t next_interval_ns;
	uint64_t haste_ns;  /* turns are short until then */
	int beside_ms;	    /* until one that begins beside this one wants a turn; -1 = never */
	bool hurried;	    /* nice was 0 and is HURRY_NICE */
	uint64_t dither_ns; /* when sampling periods change; 0 = never */
	enum capture_state state;
	unsigned int nr_turns;
	bool is_tight;	    /* memory is, */
	uint64_t looked_ns; /* and was looked at then */
	enum profile_end ended_by;
	bool interrupted; /* by a signal */
	bool outlived;	  /* all that was profiled had exited before the time was over */
	bool done;	  /* record_is_done() */
	struct table_pause pause;
	size_t nr_cpus;	      /* profiled at the end */
	struct cpus confined; /* where alone what is selected may run, if is_confined */
	bool is_confined;
	struct overhead overhead;
	struct overhead_runs runs, wakes; /* of BPF programs; of those at wake-ups */
	uint64_t interrupts_ns;		  /* that interrupts took so far */
	uint64_t interrupt_price_ns;	  /* of one */
	uint64_t overhead_ns;		  /* when they were last added up */
	size_t overhead_cpus;		  /* whose time it is a share of */
	struct kernel_counts counts;	  /* when sampling had begun */
	struct due due;			  /* samples */
	bool due_known;
	struct opt_ids probed; /* processes that points are attached in */
	bool tried;	       /* how often they are hit is known */
	struct probe_cost {
		uint64_t time_ns, cpu_ns, hits, probe_ns;
		uint64_t others; /* hits by processes that were not selected */
	} probe_cost;		 /* at the last look; time_ns 0 = there was none */
	struct price price;	 /* of a probe without its program */
	bool probes_all;	 /* in all */
	bool told_of_most;	 /* that more processes are not probed */
	struct duty duty;
	struct cpu_time {
		uint32_t pid;
		uint64_t ns;
	} * cpu_times; /* for duty */
	size_t nr_cpu_times, cap_cpu_times;
	struct index call_rows;
	struct timeline_marks marks;
	struct klock_names *klock_names; /* NULL but for locks of the kernel */
};

/*
 * Can it be recorded here, and is what was asked for there? Fills in r->glob, opens r->cgroup_fd. 0
 * or negative errno, logged; -EINVAL means the options.
 */
int record_check(struct record *r);

/* All is attached: gives up capabilities that nothing needs from here on. */
void record_drop_rights(const struct record *r);

/*
 * Takes over side-band records and stacks up to the time that it returns. last: all there are.
 * done: nothing is left in the log.
 */
uint64_t record_fetch(struct record *r, bool last, bool *done);
/* Between turns while stacks are deferred. */
int record_haste_ms(const struct record *r);

/* Reads /proc anew, where something may have changed since. */
void record_look_again(struct record *r, uint64_t since_ns);

/*
 * Attaches the programs at calls: in the selected processes alone, where these are few and known;
 * and in those that they have started since. 0 or negative errno, logged.
 */
int record_probe(struct record *r);
void record_probe_more(struct record *r);
/* Takes them away for a while, and attaches them anew. */
void record_unprobe(struct record *r);
int record_probe_again(struct record *r);
/*
 * What probes cost (record_cost.c). What is dear is said before it is paid; begin: from now on the
 * processes pay.
 */
void record_tell_price(const struct record *r);
void record_begin_cost(struct record *r);
/* After a tenth of a second: do they cost so much that nothing is recorded? Says so. */
bool record_probe_too_often(struct record *r);
/* Later: do they take a larger share of the CPU time than they may? Takes them away, says so. */
bool record_probes_are_dear(struct record *r);
/* Now that all is attached: what a system call of others takes more than alone_ns. */
void record_price(struct record *r, double alone_ns);

/*
 * Of each count of calls, when all is over, and its sample, which may get a frame more; then of
 * what else was found. arg: the recording.
 */
void record_take_call(void *arg, const struct prof_count *n, struct sample *s);
void record_describe_calls(struct record *r);

/* Bytes and objects in use come before all bytes and objects. */
#define ALLOC_LIVE_EVENTS 2
/*
 * Of each count of allocations: what it stands for, as events of the profile. At the end as whole
 * numbers; and those that were not freed. When frames have names, samples of allocations within
 * others are left out. arg: the recording.
 */
typedef void record_weigh_fn(void *arg, struct tally *t, const struct prof_count *n);
record_weigh_fn *record_weigher(const struct record_opts *o); /* NULL = as they are */
void record_whole(void *arg, struct sample *s);
void record_begin_duty(struct record *r);
/* Puts the probes up or takes them down, when it is time. 0 or negative errno, logged. */
int record_turn_duty(struct record *r);
void record_end_duty(struct record *r);
void record_add_live(struct record *r, uint64_t end_ns);
void record_describe_allocs(struct record *r);

/* What the profile says of the recording, from its begin until end_ns (and as a date). */
void record_describe(struct record *r, uint64_t end_ns, uint64_t end_real_ns);

/* The same of a part of it, without what it cost. */
void record_describe_what(struct record *r, uint64_t begin_ns, uint64_t end_ns,
			  uint64_t end_real_ns);

/*
 * What it costs, and what is left out to keep within --max-overhead. A turn is 0 or negative errno,
 * logged: it would cost far too much. record_own_ns(): CPU time of bpfprof and of the children that
 * read files for it.
 */
void record_begin_overhead(struct record *r);
int record_turn_overhead(struct record *r);
/*
 * Nothing can be left out, and it has cost too much for two seconds; or memory for the result runs
 * out. Either is told.
 */
enum profile_end record_ends_above(struct record *r);
/* What stacks that wait for tables may take. */
size_t record_wait_bytes(const struct record *r);
void record_describe_overhead(struct record *r, uint64_t end_ns);
uint64_t record_own_ns(const struct record *r);
/* As of now: one in so many. */
struct record_taken {
	uint64_t samples, stacks;
};
struct record_taken record_taken(const struct record *r);

/*
 * How many runs of programs the kernel's clock and its counts promise, from sources that share
 * nothing with our counters. After session_stop() and sampling_stop(). False: not known.
 */
void record_begin_expected(struct record *r);
void record_end_expected(struct record *r);
bool record_expects(const struct record *r, struct due *d);
void record_describe_expected(struct record *r);

/* Does it record a part of the machine? */
bool record_has_target(const struct record_opts *o);

/* The names of its frames, as far as there are none; and with other options than its own. */
void record_name(struct record *r);
void record_name_by(struct record *r, const struct symbol_options *o);
/*
 * From now on the first signal that would end us does not: the recording is over, and its result is
 * on its way. One more does. Or as it was.
 */
void record_survive(bool one);
/* Once names are there: which packages have those that lack. Takes 1 s at most. */
void record_find_packages(struct record *r);
/* The CPUs to sample, NULL = all: where alone what is selected may run. */
const struct cpus *record_confine(struct record *r);
/* Follows CPUs that come and go, and that what is selected may run on by now. */
void record_refresh_events(struct record *r);
/* CPUs that are profiled now. */
size_t record_nr_cpus(const struct record *r);

/* EINVAL means the options: what the kernel calls so later is something else. */
int record_not_usage(int err);

/* What -v says of it. */
void record_tell(const struct record *r);

#endif
