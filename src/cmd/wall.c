/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpfprof wall: all of a thread's time, running, runnable and waiting, in one picture. */
#include "cmd/recording.h"

const struct opt wall_opts[] = {
	TARGET_ROWS,
	OPT_GROUP("How"),
	SAMPLING_ROWS,
	STACK_ROWS,
	UNSAFE_ROW,
	WALK_ROWS,
	COST_ROWS,
	STRICT_ROW,
	RESULTS_ROWS(struct recording_args, results),
	HEATMAP_ROW(struct recording_args, results),
	WAIT_ROWS(struct recording_args, results),
	HISTOGRAM_ROW(struct recording_args, results),
	BY_ROW(struct recording_args, results),
	CSV_ROW(struct recording_args, results),
	TABLE_ROW(struct recording_args, results),
	RUNTIME_ROWS(struct recording_args, results),
	GAP_ROWS(struct recording_args, results),
	VERBOSE_ROWS,
	OPT_END,
};

enum cmd_result cmd_wall(const struct command *self, int argc, char **argv)
{
	struct recording_args a = { .parse_words = recording_duration };

	return recording_main(self, argc, argv, &a, recording_run);
}
