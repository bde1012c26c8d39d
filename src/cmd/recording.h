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
	struct opt_strings processes;	/* of -p, the same */
	struct opt_strings events;	/* of pmu, the same */
	const char *columns;		/* the same, of -M */
	const char *max_overhead;	/* the same */
	const char *strict;		/* the same */
	double strict_pct;		/* of it; below 0 = not said */
	bool stacks;			/* -g: they always are */
	struct record_opts record;
	struct results_opts results;
	int (*parse_words)(struct recording_args *a, char **words, int nr); /* of the command */
};

/* clang-format off */
#define TARGET_ROWS                                                                                \
	OPT_GROUP("Target (default: system-wide)"),                                                \
	OPT_STRINGS('p', "pid", struct recording_args, processes, "LIST",                          \
		    "only these processes, by number or name, and their children"),                \
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
		 "leave out children of -p, and threads born later of -t"),                        \
	OPT_FLAG('a', "all-cpus", struct recording_args, record.all,                               \
		 "the whole machine, also while PROGRAM runs"),                                    \
	OPT_TIME('d', "duration", struct recording_args, record.duration_ns, 1000000000, 1,        \
		 7 * 24 * 3600 * 1000000000ull, "TIME",                                            \
		 "how long, as DURATION: 10, 500ms, 2m (default: until Ctrl-C)")

#define SAMPLING_ROWS SAMPLING_ROWS_OF("99 with a target, 49 without")
#define SAMPLING_ROWS_OF(hz)                                                                       \
	OPT_U32_UPTO('F', "freq", struct recording_args, record.sampling.rate_hz, 1, host_max_rate,\
		     "kernel.perf_event_max_sample_rate", "HZ",                                    \
		     "samples per second and CPU (default " hz ")"),                               \
	OPT_ALIAS(0, "frequency", "freq"),                                                         \
	OPT_STRING('e', "event", struct recording_args, record.sampling.event, "NAME",             \
		   "cycles or cpu-clock (default: cycles where the machine has them)")

#define STACK_ROWS                                                                                 \
	OPT_FLAG('g', NULL, struct recording_args, stacks, "accepted: stacks are always taken"),   \
	WALKING_ROWS

#define MEMORY_ROW                                                                                 \
	OPT_SIZE(0, "stack-mem", struct recording_args, record.stack_bytes, 1 << 20, 1 << 20,      \
		 1ull << 34, "MB", "kernel memory for stacks (default 32 on up to 16 CPUs)"),      \
		MAX_MEMORY_ROW

#define MAX_MEMORY_ROW                                                                             \
	OPT_SIZE(0, "max-mem", struct recording_args, record.max_bytes, 1 << 20, 1 << 20,          \
		 1ull << 40, "MB",                                                                 \
		 "memory that bpfprof may take in all: maps, unwind tables, itself, and what "     \
		 "reads files for it (default: no limit but the cgroup's)")

#define WALKING_ROWS                                                                               \
	OPT_FLAG('U', "user-stacks-only", struct recording_args, record.user_stacks,               \
		 "no kernel frames"),                                                              \
	OPT_FLAG('K', "kernel-stacks-only", struct recording_args, record.kernel_stacks,           \
		 "no user frames"),                                                                \
	OPT_STRING(0, "call-graph", struct recording_args, call_graph, "HOW",                      \
		   "walk user stacks by unwind tables (dwarf), by frame pointers (fp), or by "     \
		   "tables and by frame pointers where there are none (auto, the default)"),       \
	OPT_SIZE(0, "unwind-mem", struct recording_args, record.unwind_bytes, 1 << 20, 4 << 20,    \
		 1ull << 30, "MB", "kernel memory for unwind tables (default 64)"),                \
	OPT_FLAG(0, "no-python", struct recording_args, record.no_python,                          \
		 "show the interpreter of Python, not its functions"),                             \
	OPT_FLAG(0, "java-names", struct recording_args, record.java_names,                        \
		 "have sampled Java virtual machines write down the names of their code"),         \
	OPT_U32(0, "max-depth", struct recording_args, record.max_depth, 1, PROF_MAX_FRAMES, "N",  \
		"user frames per stack (default 1000)"),                                           \
	OPT_ALIAS(0, "perf-max-stack-depth", "max-depth"),                                         \
	OPT_U32(0, "max-stacks", struct recording_args, record.max_stacks, 1, 1 << 24, "N",        \
		"slots for distinct stacks, rounded up to a power of two (default 65536; more "    \
		"above 16 CPUs)"),                                                                 \
	OPT_ALIAS(0, "stack-storage-size", "max-stacks"),                                          \
	MEMORY_ROW,                                                                                \
	OPT_TIME(0, "symbol-time", struct recording_args, record.symbols.time_ns, 1000000000, 0,   \
		 3600 * 1000000000ull, "TIME",                                                     \
		 "time for source lines and inlined calls, after the recording (default 5s; 0: "   \
		 "without)"),                                                                      \
	OPT_FLAG(0, "no-symbol-cache", struct recording_args, record.symbols.no_cache,             \
		 "read debug information again, and keep nothing of it on disk"),                  \
	OPT_FLAG(0, "debuginfod", struct recording_args, record.symbols.debuginfod,                \
		 "ask the servers of DEBUGINFOD_URLS for missing debug files")

#define BLOCK_ROWS                                                                                 \
	OPT_TIME('m', "min-block-time", struct recording_args, record.waits.min_ns, 1000, 0,       \
		 7 * 24 * 3600 * 1000000000ull, "TIME",                                            \
		 "only waits of at least this length: 500 or 500us, 1ms, 2s"),                     \
	OPT_TIME('M', "max-block-time", struct recording_args, record.waits.max_ns, 1000, 1,       \
		 7 * 24 * 3600 * 1000000000ull, "TIME",                                            \
		 "only waits of at most this length"),                                             \
	OPT_STRING(0, "state", struct recording_args, state, "MASK",                               \
		   "only waits in these task states: letters as in ps (S, D, T; R: preempted) "   \
		   "or the kernel's mask")

#define WALK_ROWS                                                                                  \
	OPT_U32(0, "walks", struct recording_args, record.waits.walks, 1, 1000000, "N",            \
		"walk at most N stacks per second and CPU (default 10000); other waits count as "  \
		"[not sampled]"),                                                                  \
	OPT_FLAG(0, "audit", struct recording_args, record.audit,                                  \
		 "walk every stack, also the remembered ones, and count where they differ")

#define AUDIT_ROW                                                                                  \
	OPT_FLAG(0, "audit", struct recording_args, record.audit,                                  \
		 "have the kernel walk its stacks as well, and count where they differ")

#define COST_ROWS COST_ROWS_OF("1")
#define COST_ROWS_OF(pct)                                                                          \
	OPT_STRING(0, "max-overhead", struct recording_args, max_overhead, "PCT",                  \
		   "cost at most PCT % of the CPUs' time: more is left out the busier they are "   \
		   "(default " pct "; 0: no limit)")

/* The same of commands that have nothing to leave out. */
#define LIMIT_ROW                                                                                  \
	OPT_STRING(0, "max-overhead", struct recording_args, max_overhead, "PCT",                  \
		   "end when it costs more than PCT % of the CPUs' time for two seconds: nothing " \
		   "can be left out (default: above 1 % is told; 0: not even that)")

#define STRICT_ROW                                                                                 \
	OPT_STRING(0, "strict", struct recording_args, strict, "PCT",                              \
		   "exit with 1 when more than PCT % of what was expected is lost or missing")

#define WAKEUP_ROWS                                                                                \
	OPT_FLAG(0, "wakeups", struct recording_args, record.waits.wakeups,                        \
		 "time wake-ups by their tracepoint: dearer than the kernel's own accounting, "    \
		 "which misses how long an idle CPU takes to wake up")

/* Of commands that some kernels are bad for (doctor/hazards.h). */
#define UNSAFE_ROW                                                                                 \
	OPT_FLAG(0, "unsafe-kernel", struct recording_args, record.unsafe_kernel,                  \
		 "record also on a kernel that is known to be bad for it")

#define VERBOSE_ROWS                                                                               \
	OPT_COUNT('v', "verbose", struct recording_args, verbose,                                  \
		  "say more on stderr (-vv: libbpf too)"),                                         \
	OPT_PROGRAM(struct recording_args, record.program)
/* clang-format on */

/* A single word, the duration. 0 or -EINVAL, logged. */
int recording_duration(struct recording_args *a, char **words, int nr);

#define RECORDING_MAX_COUNT 1000000
/* [INTERVAL [COUNT]]; what is not said stays as it is. 0 or -EINVAL, logged. */
int recording_intervals(char **words, int nr, uint64_t *interval_ns, uint32_t *count);

/* Parses, checks, records and writes results: all of a command but what is its own. */
enum cmd_result recording_main(const struct command *self, int argc, char **argv,
			       struct recording_args *a,
			       enum cmd_result (*run)(struct recording_args *a));

/* CMD_FAILED, and why, when more is lost or missing than --strict allows. */
enum cmd_result recording_judge(const struct recording_args *a, const struct profile *p);

/* The usual run: a profile, shown as asked for. */
enum cmd_result recording_run(struct recording_args *a);
/* The same of events, as -e takes them. */
enum cmd_result recording_of_events(struct recording_args *a, const char *list);

#endif
