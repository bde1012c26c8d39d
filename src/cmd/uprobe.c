/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpfprof uprobe: calls of functions of programs, and probes that programs bring along (USDT). */
#include "cmd/calls.h"
#include "collect/memory_fit.h"
#include "doctor/doctor.h"

const struct opt uprobe_opts[] = {
	TARGET_ROWS,
	OPT_FLAG(0, "all", struct calls_args, points.all,
		 "probe also more than 1000 functions at a time"),
	CALL_ROWS,
	TIMED_ROWS,
	OPT_GROUP("How"),
	WALKING_ROWS,
	STRICT_ROW,
	UNSAFE_ROW,
	CALLS_RESULTS_ROWS(struct recording_args, results),
	VERBOSE_ROWS,
	OPT_END,
};

static enum cmd_result run(struct recording_args *common)
{
	struct calls_args *a = (struct calls_args *)common;
	struct hazards_host host;
	int err = memory_fit_bytes(0); /* to look into files takes some, too */

	common->record.unsafe_kernel |= a->force;
	if (!err)
		err = doctor_check(USE_PROBE, common->record.unsafe_kernel);
	if (err)
		return cmd_failed(err);
	host = hazards_host_read(true);
	a->points.place_flags = hazards_place_flags(&host);
	return calls_run(a, points_add_uprobes);
}

enum cmd_result cmd_uprobe(const struct command *self, int argc, char **argv)
{
	struct calls_args a = { .common = { .parse_words = calls_parse_words,
					    .results.kind = RESULT_CALLS } };

	return recording_main(self, argc, argv, &a.common, run);
}
