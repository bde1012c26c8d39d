/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpfprof lock: contended locks of programs, by waiters and holders; or those of the kernel. */
#include "cmd/recording.h"

#include <errno.h>

#include "base/log.h"

#define MAX_ROWS       8192	       /* of locks, kinds and CPUs */
#define KERNEL_COMMAND "lock --kernel" /* what is recorded is of another kind */

struct lock_args {
	struct recording_args common; /* first */
	bool kernel;
};

const struct opt lock_opts[] = {
	TARGET_ROWS,
	OPT_FLAG(0, "kernel", struct lock_args, kernel,
		 "locks of the kernel instead of those of programs: kind, name, who waits"),
	BLOCK_ROWS,
	OPT_GROUP("How"),
	STACK_ROWS,
	WALK_ROWS,
	WAKEUP_ROWS,
	LIMIT_ROW,
	STRICT_ROW,
	OPT_U32(0, "max-rows", struct recording_args, record.calls.max_rows, 16, 1 << 20, "N",
		"with --kernel, room for N histograms: locks and CPUs (default 8192)"),
	OPT_U32(0, "max-open", struct recording_args, record.ops.max_open, 16, 1 << 20, "N",
		"with --kernel, room for N waits at a time (default 8192)"),
	RESULTS_ROWS_OF(struct recording_args, results, RESULTS_EXTENSIONS " (--kernel: also .csv)",
			"folded stacks on stdout (the default when it is no terminal)"),
	WAIT_ROWS(struct recording_args, results),
	RUNTIME_ROWS(struct recording_args, results),
	HISTOGRAM_ROW(struct recording_args, results),
	BY_ROW(struct recording_args, results),
	VERBOSE_ROWS,
	OPT_END,
};

static int check(const struct recording_args *a)
{
	const struct {
		const char *name;
		bool given;
	} others[] = {
		{ "-M", a->record.waits.max_ns != 0 },
		{ "--state", a->state != NULL },
		{ "--walks", a->record.waits.walks != 0 },
		{ "--audit", a->record.audit },
		{ "--wakeups", a->record.waits.wakeups },
		{ "--class", a->results.classes != NULL },
		{ "--by-class", a->results.view.by_class },
		{ "--idle", a->results.idle != NULL },
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (others[i].given)
			return log_as(-EINVAL,
				      "%s is for locks of programs: it does not go with "
				      "--kernel",
				      others[i].name);
	return 0;
}

static enum cmd_result run(struct recording_args *a)
{
	struct calls_opts *calls = &a->record.calls;
	int err;

	if (!((struct lock_args *)a)->kernel)
		return recording_run(a);
	err = check(a);
	if (!err)
		err = ops_choose_locks(calls);
	if (err)
		return cmd_failed(err);
	a->record.command = KERNEL_COMMAND;
	a->results.kind = RESULT_CALLS;
	results_default(&a->results, kind_of(KERNEL_COMMAND));
	if (!calls->max_rows)
		calls->max_rows = MAX_ROWS;
	calls->timed = true;
	calls->stacks = true;
	calls->min_ns = a->record.waits.min_ns;
	return recording_run(a);
}

enum cmd_result cmd_lock(const struct command *self, int argc, char **argv)
{
	struct lock_args a = { .common = { .parse_words = recording_duration } };

	return recording_main(self, argc, argv, &a.common, run);
}
