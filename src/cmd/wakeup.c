/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpfprof wakeup: who ends the waits of threads, by stack. */
#include "cmd/recording.h"

const struct opt wakeup_opts[] = {
	TARGET_ROWS,
	BLOCK_ROWS,
	OPT_GROUP("How"),
	OPT_U32(0, "hops", struct recording_args, record.waits.hops, 1, PROF_MAX_HOPS, "N",
		"wakers, their wakers, and so on (default 1)"),
	STACK_ROWS,
	WALK_ROWS,
	WAKEUP_ROWS,
	LIMIT_ROW,
	STRICT_ROW,
	RESULTS_ROWS(struct recording_args, results),
	HEATMAP_ROW(struct recording_args, results),
	WAIT_ROWS(struct recording_args, results),
	RUNTIME_ROWS(struct recording_args, results),
	HISTOGRAM_ROW(struct recording_args, results),
	BY_ROW(struct recording_args, results),
	VERBOSE_ROWS,
	OPT_END,
};

enum cmd_result cmd_wakeup(const struct command *self, int argc, char **argv)
{
	struct recording_args a = { .parse_words = recording_duration, .record.waits.hops = 1 };

	return recording_main(self, argc, argv, &a, recording_run);
}
