/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpfprof oncpu: where running code spends its time. */
#include <errno.h>

#include "base/log.h"
#include "cmd/recording.h"

const struct opt oncpu_opts[] = {
	TARGET_ROWS,
	OPT_CPUS('C', "cpu", struct recording_args, record.cpus, "LIST", "only these CPUs: 0-3,8"),
	OPT_FLAG('I', "include-idle", struct recording_args, record.idle, "the idle task too"),
	OPT_GROUP("How"),
	SAMPLING_ROWS,
	STACK_ROWS,
	AUDIT_ROW,
	COST_ROWS,
	STRICT_ROW,
	UNSAFE_ROW,
	RESULTS_ROWS(struct recording_args, results),
	HEATMAP_ROW(struct recording_args, results),
	BY_ROW(struct recording_args, results),
	CSV_ROW(struct recording_args, results),
	RUNTIME_ROWS(struct recording_args, results),
	VERBOSE_ROWS,
	OPT_END,
};

/* Before time is spent on a recording that cannot say it. */
static int parse_words(struct recording_args *a, char **words, int nr)
{
	if (a->results.view.by == VIEW_BY_CLASS)
		return log_as(-EINVAL,
			      "--by class is for recordings of waits (offcpu, wall, wakeup)");
	return recording_duration(a, words, nr);
}

enum cmd_result cmd_oncpu(const struct command *self, int argc, char **argv)
{
	struct recording_args a = { .parse_words = parse_words };

	return recording_main(self, argc, argv, &a, recording_run);
}
