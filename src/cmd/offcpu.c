/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpfprof offcpu: where threads wait, and for what. */
#include "base/log.h"
#include "cmd/recording.h"

struct offcpu_args {
	struct recording_args common; /* first */
	bool polls;
};

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
	STRICT_ROW,
	RESULTS_ROWS(struct recording_args, results),
	HEATMAP_ROW(struct recording_args, results),
	WAIT_ROWS(struct recording_args, results),
	RUNTIME_ROWS(struct recording_args, results),
	GAP_ROWS(struct recording_args, results),
	OPT_FLAG(0, "polls", struct offcpu_args, polls,
		 "says what to type: polls of Tokio are timed by bpfprof polls"),
	HISTOGRAM_ROW(struct recording_args, results),
	BY_ROW(struct recording_args, results),
	CSV_ROW(struct recording_args, results),
	VERBOSE_ROWS,
	OPT_END,
};

static enum cmd_result run(struct recording_args *a)
{
	if (((struct offcpu_args *)a)->polls) {
		log_err(0, "--polls: offcpu costs a program nothing while it runs, and timing its "
			   "polls does; type bpfprof polls -p PID");
		return CMD_USAGE;
	}
	return recording_run(a);
}

enum cmd_result cmd_offcpu(const struct command *self, int argc, char **argv)
{
	struct offcpu_args a = { .common.parse_words = recording_duration };

	return recording_main(self, argc, argv, &a.common, run);
}
