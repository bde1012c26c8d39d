/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpfprof offcpu: where threads wait, and for what. */
#include "cmd/recording.h"

const struct opt offcpu_opts[] = {
	TARGET_ROWS,
	BLOCK_ROWS,
	OPT_GROUP("How"),
	STACK_ROWS,
	OPT_FLAG(0, "no-stacks", struct recording_args, record.waits.no_stacks,
		 "time by thread and class only, which costs least"),
	WALK_ROWS,
	WAKEUP_ROWS,
	COST_ROWS,
	RESULTS_ROWS(struct recording_args, results),
	HEATMAP_ROW(struct recording_args, results),
	WAIT_ROWS(struct recording_args, results),
	RUNTIME_ROWS(struct recording_args, results),
	HISTOGRAM_ROW(struct recording_args, results),
	BY_ROW(struct recording_args, results),
	CSV_ROW(struct recording_args, results),
	VERBOSE_ROWS,
	OPT_END,
};

enum cmd_result cmd_offcpu(const struct command *self, int argc, char **argv)
{
	struct recording_args a = { .parse_words = recording_duration };

	return recording_main(self, argc, argv, &a, recording_run);
}
