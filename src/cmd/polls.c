/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpfprof polls: how long tasks of Tokio are polled. A command of its own and no option of offcpu,
 * which costs a program nothing while it runs: here each poll pays for two probes.
 */
#include <errno.h>

#include "base/log.h"
#include "cmd/calls.h"
#include "doctor/doctor.h"

#define MOST_SHARE 0.02 /* of the processes' CPU time */

const struct opt polls_opts[] = {
	TARGET_ROWS,
	OPT_GROUP("What of each poll"),
	OPT_FLAG(0, "tasks", struct calls_args, points.by_task,
		 "a row for each task, by its id, as far as there is room (--max-rows)"),
	OPT_FLAG(0, "runs", struct calls_args, points.runs,
		 "time runs of workers, at next to no cost: a run is a poll and those of the tasks "
		 "that it woke last"),
	OPT_TIME(0, "slower", struct recording_args, record.calls.min_ns, 1000, 1,
		 7 * 24 * 3600 * 1000000000ull, "TIME",
		 "only polls of at least this long: 500 or 500us, 10ms"),
	OPT_ALIAS(0, "slower-polls", "slower"),
	OPT_FLAG('g', "stacks", struct calls_args, stacks, "from where they are polled, by stack"),
	OPT_U32(0, "max-rows", struct recording_args, record.calls.max_rows, 16, 1 << 20, "N",
		"room for N tasks (default 4096)"),
	OPT_FLAG(0, "force", struct calls_args, force,
		 "go on where the probes take more than 2 % of the program's CPU time"),
	UNSAFE_ROW,
	CALLS_RESULTS_ROWS(struct recording_args, results),
	VERBOSE_ROWS,
	OPT_END,
};

static int check(const struct calls_args *a)
{
	const struct record_opts *o = &a->common.record;

	if (!o->pids.nr && !o->program)
		return log_as(-EINVAL, "which process? Add -p PID, or -- PROGRAM");
	if (a->points.by_task && a->points.runs)
		return log_as(-EINVAL, "--tasks: a run may be of several tasks, so --runs cannot "
				       "tell them apart");
	return 0;
}

static enum cmd_result run(struct recording_args *common)
{
	struct calls_args *a = (struct calls_args *)common;
	struct record_opts *o = &common->record;
	struct hazards_host host = hazards_host_read(true);
	const char *where = o->pids.nr ? "" : o->program ? o->program[0] : "";
	int err = check(a);

	o->unsafe_kernel |= a->force;
	if (!err)
		err = doctor_check(USE_PROBE, o->unsafe_kernel);
	if (err)
		return err == -EINVAL ? CMD_USAGE : cmd_failed(err);
	a->points.place_flags = hazards_place_flags(&host);
	a->words = &where;
	a->nr_words = 1;
	a->latency = true;
	o->calls.may_lack = true;
	o->calls.most_share = MOST_SHARE;
	if (a->points.runs)
		o->command = "polls --runs";
	return calls_run(a, points_add_polls);
}

enum cmd_result cmd_polls(const struct command *self, int argc, char **argv)
{
	struct calls_args a = { .common = { .parse_words = recording_duration,
					    .results.kind = RESULT_CALLS } };

	return recording_main(self, argc, argv, &a.common, run);
}
