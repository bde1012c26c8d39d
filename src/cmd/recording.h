/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the commands that record have in common: options for what is profiled and how, their checks,
 * and the way from the command line to the results.
 */
#ifndef BPFPROF_CMD_RECORDING_H
#define BPFPROF_CMD_RECORDING_H

#include "cmd/cmd.h"
#include "cmd/results.h"
#include "collect/record.h"
#include "event/host.h"

struct recording_args {
	int verbose;
	const char *call_graph, *state; /* as given */
	struct opt_strings events;	/* of pmu, as given */
	const char *columns;		/* the same, of -M */
	struct record_opts record;
	struct results_opts results;
	int (*parse_words)(struct recording_args *a, char **words, int nr); /* of the command */
};

/* clang-format off */
#define TARGET_ROWS                                                                                \
	OPT_GROUP("What to profile (default: everything)"),                                        \
	OPT_PIDS('p', "pid", struct recording_args, record.pids, "LIST",                           \
		 "only these processes, and what they start"),                                     \
	OPT_TIDS('t', "tid", struct recording_args, record.tids, "LIST",                           \
		 "only these threads (also -L)"),                                                  \
	OPT_ALIAS('L', NULL, "tid"),                                                               \
	OPT_STRING('n', "comm", struct recording_args, record.comm, "GLOB",                        \
		   "only threads so named: 'nginx', 'worker-*,gc*'"),                              \
	OPT_STRING(0, "cgroup", struct recording_args, record.cgroup, "PATH",                      \
		   "only this cgroup (v2) and those below it"),                                    \
	OPT_FLAG('u', "user-threads-only", struct recording_args, record.user_threads,             \
		 "no kernel threads"),                                                             \
	OPT_FLAG('k', "kernel-threads-only", struct recording_args, record.kernel_threads,         \
		 "only kernel threads"),                                                           \
	OPT_FLAG(0, "no-children", struct recording_args, record.no_children,                      \
		 "leave out threads (of -t) and processes born later")

#define SAMPLING_ROWS                                                                              \
	OPT_U32_UPTO('F', "freq", struct recording_args, record.rate_hz, 1, host_max_rate,         \
		     "kernel.perf_event_max_sample_rate", "HZ",                                    \
		     "samples per second and CPU (default 99 with a target, 49 without)"),         \
	OPT_ALIAS(0, "frequency", "freq"),                                                         \
	OPT_STRING('e', "event", struct recording_args, record.event, "NAME",                      \
		   "cycles or cpu-clock (default: cycles where the machine has them)")

#define STACK_ROWS                                                                                 \
	OPT_FLAG('U', "user-stacks-only", struct recording_args, record.user_stacks,               \
		 "no kernel frames"),                                                              \
	OPT_FLAG('K', "kernel-stacks-only", struct recording_args, record.kernel_stacks,           \
		 "no user frames"),                                                                \
	OPT_STRING(0, "call-graph", struct recording_args, call_graph, "HOW",                      \
		   "walk user stacks by unwind tables (dwarf), by frame pointers (fp), or by "     \
		   "tables and by frame pointers where there are none (auto, the default)"),       \
	OPT_SIZE(0, "unwind-mem", struct recording_args, record.unwind_bytes, 1 << 20, 4 << 20,    \
		 1ull << 30, "MB", "kernel memory for unwind tables (default 64)"),                \
	OPT_U32(0, "max-depth", struct recording_args, record.max_depth, 1, PROF_MAX_FRAMES, "N",  \
		"user frames per stack (default 1000)"),                                           \
	OPT_ALIAS(0, "perf-max-stack-depth", "max-depth"),                                         \
	OPT_U32(0, "max-stacks", struct recording_args, record.max_stacks, 1, 1 << 24, "N",        \
		"slots for distinct stacks, rounded up to a power of two (default 65536; more "    \
		"above 16 CPUs)"),                                                                 \
	OPT_ALIAS(0, "stack-storage-size", "max-stacks"),                                          \
	OPT_SIZE(0, "max-mem", struct recording_args, record.max_bytes, 1 << 20, 1 << 20,          \
		 1ull << 34, "MB", "kernel memory for stacks (default 32 on up to 16 CPUs)")

#define BLOCK_ROWS                                                                                 \
	OPT_U64('m', "min-block-time", struct recording_args, record.min_us, 0, 1ull << 40, "US",  \
		"only waits of at least so many microseconds"),                                    \
	OPT_U64('M', "max-block-time", struct recording_args, record.max_us, 1, 1ull << 40, "US",  \
		"only waits of at most so many microseconds"),                                     \
	OPT_STRING(0, "state", struct recording_args, state, "MASK",                               \
		   "only waits in these task states: letters as in ps (S,D,T,R) or a mask (1 is " \
		   "S, 2 D, 0 R, which could have run)")

#define WALK_ROWS                                                                                  \
	OPT_U32(0, "walks", struct recording_args, record.walks, 1, 1000000, "N",                  \
		"stacks walked at most per second and CPU (default 10000); what is beyond is "     \
		"'[not sampled]'"),                                                                \
	OPT_FLAG(0, "audit", struct recording_args, record.audit,                                  \
		 "walk every stack, also those found unchanged, and count where these differ")

#define WAKEUP_ROWS                                                                                \
	OPT_FLAG(0, "wakeups", struct recording_args, record.wakeups,                              \
		 "time wake-ups by their tracepoint, not by the kernel's own accounting of waits " \
		 "for a CPU, which leaves out how long an idle one takes to come")

#define VERBOSE_ROWS                                                                               \
	OPT_COUNT('v', "verbose", struct recording_args, verbose,                                  \
		  "say more on stderr (-vv: libbpf too)"),                                         \
	OPT_PROGRAM(struct recording_args, record.program)
/* clang-format on */

/* A single word, the duration. 0 or -EINVAL, logged. */
int recording_duration(struct recording_args *a, char **words, int nr);

/* Parses, checks, records and writes results: all of a command but what is its own. */
enum cmd_result recording_main(const struct command *self, int argc, char **argv,
			       struct recording_args *a,
			       enum cmd_result (*run)(struct recording_args *a));

/* The usual run: a profile, shown as asked for. */
enum cmd_result recording_run(struct recording_args *a);

#endif
