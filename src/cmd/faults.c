/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpfprof faults: page faults, by stack, kind and memory. */
#include "cmd/recording.h"

const struct opt faults_opts[] = {
	TARGET_ROWS,
	OPT_CPUS('C', "cpu", struct recording_args, record.cpus, "LIST", "only these CPUs: 0-3,8"),
	OPT_GROUP("How"),
	OPT_U64('c', "count", struct recording_args, record.sampling.period, 1, 1ull << 62, "N",
		"look at one fault in N on each CPU; counts are multiplied (default 1)"),
	STACK_ROWS,
	LIMIT_ROW,
	STRICT_ROW,
	UNSAFE_ROW,
	RESULTS_ROWS(struct recording_args, results),
	HEATMAP_ROW(struct recording_args, results),
	VERBOSE_ROWS,
	OPT_END,
};

static enum cmd_result run(struct recording_args *a)
{
	return recording_of_events(a, "minor-faults,major-faults"); /* in this order */
}

enum cmd_result cmd_faults(const struct command *self, int argc, char **argv)
{
	struct recording_args a = { .parse_words = recording_duration };

	return recording_main(self, argc, argv, &a, run);
}
