/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpfprof alloc: who allocates memory, and who does not free it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/text.h"
#include "cmd/recording.h"
#include "collect/calls_trial.h"
#include "collect/memory_fit.h"
#include "collect/points_files.h"
#include "doctor/doctor.h"
#include "proc/maps.h"

#define WORTH_TELLING 0.05 /* of their CPU time */

struct alloc_args {
	struct recording_args common; /* first */
	struct points_opts points;
	const char *duty;
	bool growth, force;
};

const struct opt alloc_opts[] = {
	OPT_GROUP("Allocations"),
	OPT_SIZE(0, "every", struct recording_args, record.alloc.every, 1, 1, 1ull << 40, "BYTES",
		 "one sample for so many bytes, on average (default 512K)"),
	OPT_FLAG(0, "live", struct recording_args, record.alloc.live,
		 "also what is allocated meanwhile and not freed at the end: leaks first"),
	OPT_TIME(0, "older", struct recording_args, record.alloc.older_ns, 1000000, 1,
		 7 * 24 * 3600 * 1000000000ull, "TIME",
		 "of --live, only what is at least so old: 500 or 500ms, 10s (implies --live)"),
	OPT_U32(0, "max-live", struct recording_args, record.alloc.max_live, 16, 1 << 24, "N",
		"room for N sampled allocations in use (default 262144)"),
	OPT_STRING(
		0, "duty", struct alloc_args, duty, "PCT",
		"probe for so much of the time only, in windows of 50 ms: 10%; the result says how "
		"far off it may be"),
	OPT_FLAG(0, "growth", struct alloc_args, growth,
		 "instead, what makes processes larger: memory that is touched first, by page "
		 "faults; costs next to nothing"),
	TARGET_ROWS,
	OPT_GROUP("How"),
	OPT_FLAG(0, "force", struct alloc_args, force,
		 "also on a kernel where probes are not safe"),
	WALKING_ROWS,
	STRICT_ROW,
	UNSAFE_ROW,
	RESULTS_ROWS(struct recording_args, results),
	VALUE_ROW(struct recording_args, results),
	VERBOSE_ROWS,
	OPT_END,
};

static int check(const struct record_opts *o)
{
	if (o->kernel_stacks)
		return log_as(-EINVAL, "-K leaves nothing: allocations are told by user stacks");
	if (o->pids.nr || (o->program && !o->all))
		return 0;
	return log_as(-EINVAL, "whose allocations? They are probed in selected processes only: "
			       "-p PID, or a program after '--'");
}

static int check_value(const char *value, bool live)
{
	const char *const names[] = { "bytes", "objects", "live-bytes", "live-objects" };
	const size_t nr = live ? 4 : 2;
	char *hint;

	for (size_t i = 0; i < nr; i++)
		if (!value || !strcmp(value, names[i]))
			return 0;
	hint = text_meant("", text_nearest(value, names, nr));
	log_err(0, "--value: '%s' is none of bytes, objects%s%s", value,
		live ? ", live-bytes, live-objects" : " (and live-bytes, live-objects of --live)",
		hint);
	free(hint);
	return -EINVAL;
}

/* "10" and "10%". */
static int check_duty(struct alloc_args *a)
{
	struct alloc_opts *o = &a->common.record.alloc;
	char *end;
	double pct;

	if (!a->duty)
		return 0;
	pct = strtod(a->duty, &end);
	if (end == a->duty || end[*end == '%'] || !(pct >= 0.1 && pct < 100))
		return log_as(-EINVAL, "--duty: '%s' is no share of the time: from 0.1 to 99",
			      a->duty);
	if (o->live)
		return log_as(-EINVAL, "--live needs to see each free, and with --duty most go by: "
				       "give one of them");
	o->duty = pct / 100;
	return 0;
}

/* Before all that takes time. */
static int check_processes(const struct opt_ids *pids)
{
	for (size_t i = 0; i < pids->nr; i++)
		if (!maps_is_alive(pids->v[i]))
			return log_as(-ESRCH, "process %u does not exist", pids->v[i]);
	return 0;
}

/* A program that is still to be started cannot be tried. */
static void tell_cost(const struct record_opts *o)
{
	struct calls_trial t;
	double more;
	int err = o->pids.nr ? calls_trial_run(&t, &o->calls, &o->pids) : -ENOTSUP;

	if (err) {
		log_info("what probes cost here was not tried: %s", strerror(-err));
		return;
	}
	more = t.more_cpu * (o->alloc.duty > 0 ? o->alloc.duty : 1);
	if (more < WORTH_TELLING && !log_verbosity)
		return;
	log_warn("%s calls of allocators a second, at %.2f us each%s: expect these processes to "
		 "need at least %.*f times their CPU time%s",
		 text_count((uint64_t)t.calls_per_s), t.price_ns / 1000,
		 o->alloc.duty > 0 ? ", for a part of the time" : "", more < 1 ? 2 : 0, 1 + more,
		 more < 1 || o->alloc.live
			 ? ""
			 : " (--duty 10% makes it less, --growth next to nothing)");
}

static enum cmd_result run_at(struct alloc_args *a, struct points *p)
{
	struct calls_opts *o = &a->common.record.calls;
	int err;

	for (size_t i = 0; i < p->nr; i++)
		if (p->v[i].is_dear && !p->v[i].is_return)
			p->v[i].args |= ALLOC_HOW(0, 0, 0, ALLOC_IS_DEAR);
	o->events = p->events;
	o->nr_events = p->nr_events;
	o->points = p->v;
	o->nr_points = p->nr;
	o->timed = a->points.timed;
	o->stacks = true;
	o->force = true; /* what it costs is told before */
	err = points_check_early(p, o);
	points_end(p);
	if (err)
		return cmd_failed(err);
	tell_cost(&a->common.record);
	return recording_run(&a->common);
}

/* A fault is as good as a page: one of a huge page too, since the kernel does not tell. */
static void warn_of_huge_pages(void)
{
	FILE *f = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "re");
	char line[64];

	if (f && fgets(line, sizeof(line), f) && strstr(line, "[always]"))
		log_warn("transparent huge pages are on for all memory: each counts as one small "
			 "page, so sums are too small");
	if (f)
		fclose(f);
}

static enum cmd_result run_growth(struct recording_args *a)
{
	struct record_opts *o = &a->record;
	uint64_t every = o->alloc.every ? o->alloc.every : GROWTH_EVERY;
	uint64_t page_bytes = sysconf(_SC_PAGESIZE);

	if (o->alloc.live || o->alloc.max_live || a->results.view.value ||
	    ((struct alloc_args *)a)->duty) {
		log_err(0, "--growth tells who touches memory first, not who allocates it: --live, "
			   "--older, --max-live, --duty and --value are not for it");
		return CMD_USAGE;
	}
	warn_of_huge_pages();
	o->command = "growth";
	o->alloc.every = 0;
	o->sampling.period = every > page_bytes ? every / page_bytes : 1;
	return recording_of_events(a, "minor-faults");
}

static enum cmd_result run(struct recording_args *common)
{
	struct alloc_args *a = (struct alloc_args *)common;
	struct record_opts *o = &common->record;
	struct hazards_host host;
	enum cmd_result result;
	struct points points;
	int err;

	o->alloc.live |= o->alloc.older_ns != 0;
	if (a->growth)
		return run_growth(common);
	if (check(o) || check_duty(a) || check_value(common->results.view.value, o->alloc.live))
		return CMD_USAGE;
	err = check_processes(&o->pids);
	err = err ? err : memory_fit_bytes(0); /* to look into files takes some, too */
	err = err ? err : doctor_check(USE_PROBE, a->force || o->unsafe_kernel);
	if (err)
		return cmd_failed(err);
	o->alloc.every = o->alloc.every ? o->alloc.every : ALLOC_EVERY;
	a->points.pids = &o->pids;
	a->points.timed = o->alloc.live;
	a->points.at_last = true;
	a->points.sessions = links_have_sessions();
	a->points.args_of_jumps = ALLOC_HOW(0, 0, 0, ALLOC_IS_JUMP);
	host = hazards_host_read(true);
	a->points.place_flags = hazards_place_flags(&host);
	points_init(&points, &a->points);
	err = alloc_points(&points, o->pids.nr ? NULL : o->program[0]);
	result = err ? cmd_failed(err) : run_at(a, &points);
	points_release(&points);
	return result;
}

enum cmd_result cmd_alloc(const struct command *self, int argc, char **argv)
{
	struct alloc_args a = { .common = { .parse_words = recording_duration } };

	return recording_main(self, argc, argv, &a.common, run);
}
