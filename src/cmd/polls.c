/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpfprof polls: how long tasks of Tokio are polled. A command of its own and no option of offcpu,
 * which costs a program nothing while it runs: here each poll pays for two probes.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/log.h"
#include "cmd/calls.h"
#include "collect/memory_fit.h"
#include "doctor/doctor.h"
#include "proc/running.h"

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
	OPT_GROUP("What passes within slow polls"),
	OPT_TIME(0, "slower-polls", struct recording_args, record.calls.slow_ns, 1000, 1000,
		 7 * 24 * 3600 * 1000000000ull, "TIME",
		 "stacks of what tasks wait for and run in polls of at least this long: 10ms"),
	OPT_U32_UPTO('F', "freq", struct recording_args, record.sampling.rate_hz, 1, host_max_rate,
		     "kernel.perf_event_max_sample_rate", "HZ",
		     "of these, samples of running code per second and CPU (default 99)"),
	OPT_U32(0, "max-stacks", struct recording_args, record.max_stacks, 1, 1 << 24, "N",
		"slots for distinct stacks, rounded up to a power of two (default 65536; more "
		"above 16 CPUs)"),
	MEMORY_ROW,
	OPT_GROUP("How"),
	OPT_FLAG('g', "stacks", struct calls_args, stacks, "from where they are polled, by stack"),
	OPT_U32(0, "max-rows", struct recording_args, record.calls.max_rows, 16, 1 << 20, "N",
		"room for N tasks (default 4096)"),
	OPT_FLAG(0, "force", struct calls_args, force,
		 "go on where the probes take more than 2 % of the program's CPU time"),
	STRICT_ROW,
	UNSAFE_ROW,
	CALLS_RESULTS_ROWS(struct recording_args, results),
	VERBOSE_ROWS,
	OPT_END,
};

/* Probes are in files, so that somebody has to say in whose. */
static int check(const struct calls_args *a)
{
	const struct record_opts *o = &a->common.record;

	if (o->kernel_threads)
		return log_as(-EINVAL, "-k: threads of the kernel poll no tasks");
	if (o->all)
		return log_as(-EINVAL, "-a: probes are in the files of processes; name these by "
				       "-p PID,PID or -p NAME");
	if (!o->pids.nr && !o->tids.nr && !o->program)
		return log_as(-EINVAL, "%s? Add -p PID, or -- PROGRAM",
			      o->cgroup ? "--cgroup: which processes of it"
			      : o->comm ? "-n: threads of which process"
					: "which process");
	if (o->calls.slow_ns && a->points.runs)
		return log_as(-EINVAL, "--runs: a run may be of several polls, so it does not go "
				       "with --slower-polls");
	if (o->calls.slow_ns && (o->calls.min_ns || a->stacks))
		return log_as(-EINVAL,
			      "%s: --slower-polls has a bound of its own, and stacks of "
			      "what passes within slow polls",
			      a->stacks ? "-g" : "--slower");
	if (!o->calls.slow_ns && o->sampling.rate_hz)
		return log_as(-EINVAL, "-F: running code is sampled with --slower-polls only");
	if (a->points.by_task && a->points.runs)
		return log_as(-EINVAL, "--tasks: a run may be of several tasks, so --runs cannot "
				       "tell them apart");
	return 0;
}

/* 0: it has ended. */
static uint32_t process_of(uint32_t tid)
{
	char path[64], line[256];
	uint32_t pid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/status", tid);
	f = fopen(path, "re");
	while (f && !pid && fgets(line, sizeof(line), f))
		sscanf(line, "Tgid: %" SCNu32, &pid);
	if (f)
		fclose(f);
	return pid;
}

/* In whose files probes are: of those selected, and of what they have started until now. */
static void find_processes(const struct record_opts *o, struct opt_ids *pids)
{
	struct running running = {};

	for (size_t i = 0; i < o->pids.nr; i++)
		opt_ids_add(pids, o->pids.v[i]);
	for (size_t i = 0; i < o->tids.nr; i++) {
		uint32_t pid = process_of(o->tids.v[i]);

		if (pid && !opt_ids_has(pids, pid))
			opt_ids_add(pids, pid);
	}
	if (o->no_children || !pids->nr)
		return;
	running_read(&running, "");
	running_add_descendants(&running, pids);
	running_release(&running);
}

/* What is recorded then is what wall records, as far as it is within slow polls. */
static void look_into_slow(struct recording_args *a)
{
	a->record.command = "polls --slower-polls";
	a->results.kind = RESULT_STACKS;
	results_default(&a->results, kind_of(a->record.command));
}

static enum cmd_result run(struct recording_args *common)
{
	enum cmd_result result;
	struct opt_ids pids = {};
	struct calls_args *a = (struct calls_args *)common;
	struct record_opts *o = &common->record;
	struct hazards_host host;
	const char *where = o->pids.nr || o->tids.nr ? "" : o->program ? o->program[0] : "";
	int err = check(a);

	o->unsafe_kernel |= a->force;
	if (!err)
		err = memory_fit_bytes(0); /* to look into files takes some, too */
	if (!err)
		err = doctor_check(USE_PROBE, o->unsafe_kernel);
	if (err)
		return err == -EINVAL ? CMD_USAGE : cmd_failed(err);
	host = hazards_host_read(true);
	a->points.place_flags = hazards_place_flags(&host);
	a->words = &where;
	a->nr_words = 1;
	a->latency = true;
	o->calls.may_lack = true;
	o->calls.most_share = MOST_SHARE;
	if (a->points.runs)
		o->command = "polls --runs";
	if (o->calls.slow_ns)
		look_into_slow(common);
	find_processes(o, &pids);
	a->points.pids = &pids;
	result = calls_run(a, points_add_polls);
	a->points.pids = NULL;
	opt_ids_release(&pids);
	return result;
}

enum cmd_result cmd_polls(const struct command *self, int argc, char **argv)
{
	struct calls_args a = { .common = { .parse_words = recording_duration,
					    .results.kind = RESULT_CALLS } };

	return recording_main(self, argc, argv, &a.common, run);
}
