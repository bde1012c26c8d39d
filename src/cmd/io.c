/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpfprof io: I/O by kind, from the stack where it began to its completion. */
#include "cmd/recording.h"

#include <errno.h>

struct io_args {
	struct recording_args common; /* first */
	const char *kinds;
};

const struct opt io_opts[] = {
	TARGET_ROWS,
	OPT_GROUP("What"),
	OPT_STRING(0, "kind", struct io_args, kinds, "LIST",
		   "only I/O of these kinds: block, uring (io_uring), connect (TCP)"),
	OPT_TIME(0, "slower", struct recording_args, record.calls.min_ns, 1000, 1,
		 7 * 24 * 3600 * 1000000000ull, "TIME",
		 "only what takes at least this long: 500 or 500us, 1ms"),
	OPT_U32(0, "max-open", struct recording_args, record.ops.max_open, 16, 1 << 20, "N",
		"room for N operations that have begun and not ended (default 8192)"),
	OPT_GROUP("How"),
	STACK_ROWS,
	LIMIT_ROW,
	STRICT_ROW,
	CALLS_RESULTS_ROWS(struct recording_args, results),
	VERBOSE_ROWS,
	OPT_END,
};

static enum cmd_result run(struct recording_args *common)
{
	struct io_args *a = (struct io_args *)common;
	struct calls_opts *calls = &common->record.calls;
	int err = ops_choose_io(&common->record.ops, calls, a->kinds);

	if (err)
		return err == -EINVAL ? CMD_USAGE : cmd_failed(err);
	calls->timed = true;
	calls->stacks = true;
	return recording_run(common);
}

enum cmd_result cmd_io(const struct command *self, int argc, char **argv)
{
	struct io_args a = { .common = { .parse_words = recording_duration,
					 .results.kind = RESULT_CALLS } };

	return recording_main(self, argc, argv, &a.common, run);
}
