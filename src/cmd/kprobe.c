/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpfprof kprobe: calls of functions of the kernel. */
#include "cmd/calls.h"
#include "collect/memory_fit.h"

const struct opt kprobe_opts[] = {
	TARGET_ROWS,
	OPT_FLAG(0, "all", struct calls_args, points.all,
		 "probe also more than 1000 functions at a time"),
	CALL_ROWS,
	TIMED_ROWS,
	OPT_GROUP("How"),
	WALKING_ROWS,
	LIMIT_ROW,
	STRICT_ROW,
	CALLS_RESULTS_ROWS(struct recording_args, results),
	VERBOSE_ROWS,
	OPT_END,
};

static enum cmd_result run(struct recording_args *common)
{
	int err = memory_fit_bytes(0); /* to look for names takes some, too */

	if (err)
		return cmd_failed(err);
	return calls_run((struct calls_args *)common, points_add_kprobe);
}

enum cmd_result cmd_kprobe(const struct command *self, int argc, char **argv)
{
	struct calls_args a = { .common = { .parse_words = calls_parse_words,
					    .results.kind = RESULT_CALLS } };

	return recording_main(self, argc, argv, &a.common, run);
}
