/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Options of stat that do not go together, and those that want others. */
#include <string.h>

#include "cmd/stat_args.h"

/* What was given, by which combinations are refused. */
enum {
	PIDS = 1 << 0,
	TIDS = 1 << 1,
	CGROUP = 1 << 2,
	CPUS = 1 << 3,
	ALL_CPUS = 1 << 4,
	PROGRAM = 1 << 5,
	COUNTED_PROGRAM = 1 << 6, /* not only what tells how long */
	DURATION = 1 << 7,
	BY_THREAD = 1 << 8,
	BY_PROCESS = 1 << 9,
	BY_CGROUP = 1 << 10,
	BY_CPU = 1 << 11,
	ROWS = BY_THREAD | BY_PROCESS | BY_CGROUP | BY_CPU,
	MAX_ROWS = 1 << 12,
	INTERVAL = 1 << 13,
	REPEATS = 1 << 14,
	BASELINE = 1 << 15,
	JUDGED = 1 << 16, /* --fail-on, --junit */
	MARKDOWN = 1 << 17,
	SAVED = 1 << 18,
	HISTORY = 1 << 19,
	LABEL = 1 << 20,
	PEAK_FLOPS = 1 << 21,
	PEAK_BYTES = 1 << 22,
	ROOFLINE = 1 << 23,
	MEASURED = 1 << 24,
};

static const struct {
	unsigned int a, b;
	const char *why;
} excluded[] = {
	{ BY_THREAD, BY_PROCESS | BY_CGROUP | BY_CPU,
	  "--per-thread excludes --per-process, --per-cgroup and --per-cpu" },
	{ BY_PROCESS, BY_CGROUP | BY_CPU, "--per-process excludes --per-cgroup and --per-cpu" },
	{ BY_CGROUP, BY_CPU, "--per-cgroup excludes --per-cpu" },
	{ REPEATS, ROWS, "-r does not go with rows, which differ from run to run" },
	{ ALL_CPUS, PIDS | TIDS | CGROUP | CPUS,
	  "-a is the whole machine: it does not go with -p, -t, --cgroup and -C" },
	{ CGROUP, PIDS | TIDS, "--cgroup does not go with -p and -t" },
	{ CPUS, PIDS | TIDS, "-C counts all that runs on a CPU: it does not go with -p and -t" },
	{ BY_CGROUP, PIDS | TIDS,
	  "--per-cgroup is of all that runs: it does not go with -p and -t" },
	{ BY_CGROUP, COUNTED_PROGRAM,
	  "--per-cgroup is of all that runs: it goes with a program only beside -a" },
	{ BY_CPU, PIDS | TIDS, "--per-cpu is of all that runs: it does not go with -p and -t" },
	{ BY_PROCESS, TIDS, "-t goes with --per-thread, not with --per-process" },
	{ INTERVAL, REPEATS, "-I and -r exclude each other" },
	{ BASELINE, ROWS, "--baseline compares totals: it does not go with rows" },
	{ BASELINE, INTERVAL, "--baseline compares one result: it does not go with -I" },
	{ MARKDOWN, INTERVAL, "a report in Markdown is of the whole: it does not go with -I" },
	{ SAVED, INTERVAL, "a saved result is of the whole: it does not go with -I" },
	{ HISTORY, INTERVAL, "--history is of whole results: it does not go with -I" },
	{ MEASURED, PEAK_FLOPS | PEAK_BYTES,
	  "--measure-peaks measures what --peak-gflops and --peak-gbps tell: give one" },
	{ MARKDOWN, ROWS, "a report in Markdown is of the whole: it does not go with rows" },
};

/* b: at least one of these. */
static const struct {
	unsigned int a, b;
	const char *why;
} needed[] = {
	{ REPEATS, PROGRAM | DURATION, "-r wants a program to run, or a DURATION" },
	{ MAX_ROWS, ROWS & ~BY_CPU,
	  "--max-rows is of --per-thread, --per-process and --per-cgroup" },
	{ PEAK_FLOPS, PEAK_BYTES, "--peak-gflops makes a roof with --peak-gbps only" },
	{ PEAK_BYTES, PEAK_FLOPS, "--peak-gbps makes a roof with --peak-gflops only" },
	{ PEAK_FLOPS, ROOFLINE, "--peak-gflops and --peak-gbps are of -M roofline" },
	{ MEASURED, ROOFLINE, "--measure-peaks is of -M roofline" },
	{ LABEL, HISTORY, "--label is what --history FILE.csv calls the run" },
	{ JUDGED, BASELINE,
	  "--fail-on and --junit compare with --baseline FILE (or use 'bpfprof diff')" },
};

static unsigned int if_given(bool given, unsigned int bit)
{
	return given ? bit : 0;
}

static bool has_roofline(const struct opt_strings *sets)
{
	for (size_t i = 0; i < sets->nr; i++)
		if (strstr(sets->v[i], "roofline") || strstr(sets->v[i], "all"))
			return true;
	return false;
}

static unsigned int given_of(const struct stat_args *a)
{
	const struct stat_opts *c = &a->counting;

	return if_given(c->pids.nr, PIDS) | if_given(c->tids.nr, TIDS) |
	       if_given(c->cgroup, CGROUP) | if_given(c->cpus.nr, CPUS) |
	       if_given(c->all_cpus, ALL_CPUS) | if_given(c->program, PROGRAM) |
	       if_given(stat_counts_program(c), COUNTED_PROGRAM) |
	       if_given(c->duration_ns, DURATION) | if_given(a->per_thread, BY_THREAD) |
	       if_given(a->per_process, BY_PROCESS) | if_given(a->per_cgroup, BY_CGROUP) |
	       if_given(a->per_cpu, BY_CPU) | if_given(c->max_rows, MAX_ROWS) |
	       if_given(c->interval_ns, INTERVAL) | if_given(c->repeats > 1, REPEATS) |
	       if_given(a->baseline, BASELINE) | if_given(a->fail_on || a->junit, JUDGED) |
	       if_given(a->peak_gflops, PEAK_FLOPS) | if_given(a->peak_gbps, PEAK_BYTES) |
	       if_given(a->measure_peaks, MEASURED) | if_given(has_roofline(&a->sets), ROOFLINE) |
	       if_given(a->history, HISTORY) | if_given(a->label, LABEL) |
	       if_given(results_wants(&a->results, "md"), MARKDOWN) |
	       if_given(results_wants(&a->results, "bpfprof"), SAVED);
}

const char *stat_refused(const struct stat_args *a)
{
	unsigned int given = given_of(a);

	for (size_t i = 0; i < sizeof(excluded) / sizeof(*excluded); i++)
		if (given & excluded[i].a && given & excluded[i].b)
			return excluded[i].why;
	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
		if (given & needed[i].a && !(given & needed[i].b))
			return needed[i].why;
	return NULL;
}
