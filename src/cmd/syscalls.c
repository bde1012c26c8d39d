/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpfprof syscalls: system calls by name and error, how many and how long. */
#include "collect/syscalls.h"

#include <errno.h>

#include "cmd/calls.h"

#define MAX_ROWS 8192 /* of names, errors and CPUs */

struct syscalls_args {
	struct calls_args calls; /* first */
	const char *only;
};

const struct opt syscalls_opts[] = {
	TARGET_ROWS,
	OPT_GROUP("What of each call"),
	OPT_STRING(0, "only", struct syscalls_args, only, "LIST",
		   "only these system calls, as their tracepoints are called: read,openat,futex"),
	OPT_FLAG('P', "per-process", struct calls_args, per_process, "a row for each process"),
	OPT_FLAG('g', "stacks", struct calls_args, stacks, "who calls, by stack"),
	OPT_TIME(0, "slower", struct recording_args, record.calls.min_ns, 1000, 1,
		 7 * 24 * 3600 * 1000000000ull, "TIME",
		 "only calls of at least this long: 500 or 500us, 1ms"),
	OPT_U32(0, "max-rows", struct recording_args, record.calls.max_rows, 16, 1 << 20, "N",
		"room for N histograms: names, errors and CPUs (default 8192)"),
	OPT_GROUP("How"),
	WALKING_ROWS,
	LIMIT_ROW,
	STRICT_ROW,
	CALLS_RESULTS_ROWS(struct recording_args, results),
	VERBOSE_ROWS,
	OPT_END,
};

static int add(struct points *p, const char *list)
{
	return syscalls_add(p, *list ? list : NULL);
}

static enum cmd_result run(struct recording_args *common)
{
	struct syscalls_args *a = (struct syscalls_args *)common;
	const char *words[] = { a->only ? a->only : "" };

	a->calls.latency = true;
	a->calls.force = true; /* what others pay is told */
	a->calls.words = words;
	a->calls.nr_words = 1;
	if (!common->record.calls.max_rows)
		common->record.calls.max_rows = MAX_ROWS;
	return calls_run(&a->calls, add);
}

enum cmd_result cmd_syscalls(const struct command *self, int argc, char **argv)
{
	struct syscalls_args a = { .calls.common = { .parse_words = recording_duration,
						     .results.kind = RESULT_CALLS } };

	return recording_main(self, argc, argv, &a.calls.common, run);
}
