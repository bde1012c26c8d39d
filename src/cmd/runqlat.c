/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpfprof runqlat: how long threads that could run wait for a CPU, as histograms. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/outfile.h"
#include "cmd/recording.h"
#include "collect/latency.h"
#include "output/runqlat.h"

struct runqlat_args {
	struct recording_args common; /* first */
	bool per_process, per_thread, per_cpu, timestamps;
};

const struct opt runqlat_opts[] = {
	TARGET_ROWS,
	OPT_GROUP("Rows"),
	OPT_FLAG('P', "per-process", struct runqlat_args, per_process, "a row for each process"),
	OPT_FLAG(0, "per-thread", struct runqlat_args, per_thread, "a row for each thread"),
	OPT_FLAG(0, "per-cpu", struct runqlat_args, per_cpu, "a row for each CPU"),
	OPT_U64(0, "threshold", struct recording_args, record.runqlat.outlier_us, 1, 1ull << 40,
		"US", "list each wait of at least US microseconds, and who ran meanwhile"),
	MILLISECONDS_ROW(struct recording_args, results),
	OPT_FLAG('T', "timestamp", struct runqlat_args, timestamps,
		 "accepted; intervals always have the time"),
	OPT_GROUP("How"),
	OPT_U32(0, "max-rows", struct recording_args, record.max_stacks, 1, 1 << 20, "N",
		"track at most N processes or threads (default 4096); the rest is reported "
		"as lost"),
	MAX_MEMORY_ROW,
	LIMIT_ROW,
	OPT_GROUP("Output"),
	FORMS_ROWS(struct recording_args, results, RUNQLAT_EXTENSIONS),
	CSV_ROW(struct recording_args, results),
	STRICT_ROW,
	VERBOSE_ROWS,
	OPT_END,
};

/* A run. */
struct runqlat {
	const struct runqlat_args *args;
	struct results *results;
	uint32_t count, interval; /* to print, 0 = no limit; printed so far */
	struct latency latency;
	size_t nr_rows;
	uint64_t last_ns;
	bool any, failed;
	struct whole { /* all intervals, for files */
		struct runqlat_row *rows;
		struct prof_outlier *outliers;
		size_t nr_outliers, cap_outliers;
		uint64_t outliers_lost;
	} whole;
};

static bool is_split(const struct runqlat_args *a)
{
	return a->per_process || a->per_thread || a->per_cpu;
}

static void add_row(struct runqlat_row *to, const struct runqlat_row *row)
{
	for (size_t k = 0; k < PROF_NR_HISTS; k++)
		runqlat_add(&to->hist[k], &row->hist[k]);
	to->pid = row->pid;
	to->tid = row->tid;
	to->cpu = row->cpu;
	memcpy(to->name, row->name, sizeof(to->name));
}

static void add_to_whole(struct whole *w, const struct runqlat_report *r)
{
	if (!w->rows)
		w->rows = xcalloc(r->nr_rows, sizeof(*w->rows));
	for (size_t i = 0; i < r->nr_rows; i++)
		add_row(&w->rows[i], &r->rows[i]);
	for (size_t i = 0; i < r->nr_outliers; i++) {
		w->outliers =
			xgrow(w->outliers, w->nr_outliers, &w->cap_outliers, sizeof(*w->outliers));
		w->outliers[w->nr_outliers++] = r->outliers[i];
	}
	w->outliers_lost += r->outliers_lost;
}

/* The recording as a profile, and what files hold: a report made of that. */
static int write_files(struct runqlat *q, struct record *r, struct profile *p)
{
	const struct runqlat_args *a = q->args;
	struct runqlat_report report = {
		.rows = q->whole.rows,
		.nr_rows = q->nr_rows,
		.by = a->common.record.runqlat.by,
		.split = is_split(a),
		.threshold_ns = a->common.record.runqlat.outlier_us * 1000,
		.start_ns = record_begin_ns(r),
		.outliers = q->whole.outliers,
		.nr_outliers = q->whole.nr_outliers,
		.outliers_lost = q->whole.outliers_lost,
	};
	int err;

	runqlat_report_keep(&report, p);
	runqlat_report_make(&report, p);
	err = results_add(q->results, &(struct result){ RESULT_RUNQLAT, .runqlat = &report });
	err = err ? err : results_commit(q->results);
	runqlat_report_release(&report);
	return err;
}

static bool show(void *arg, struct record *r, bool last)
{
	struct runqlat *q = arg;
	const struct runqlat_args *a = q->args;
	const struct session *session = record_session(r);
	uint64_t counters[PROF_NR_COUNTERS], now = now_ns();
	uint64_t since = q->last_ns ? q->last_ns : record_begin_ns(r);
	char *target = record_target(r);
	struct runqlat_row *rows = latency_rows(&q->latency, session, &q->nr_rows);
	struct runqlat_report report = {
		.target = target,
		.start_real_ns = clock_ns(CLOCK_REALTIME) - (now - since),
		.duration_ns = now - since,
		.interval = a->common.record.runqlat.interval_ns ? ++q->interval : 0,
		.rows = rows,
		.nr_rows = q->nr_rows,
		.by = a->common.record.runqlat.by,
		.split = is_split(a),
		.threshold_ns = a->common.record.runqlat.outlier_us * 1000,
		.start_ns = record_begin_ns(r),
		.ended_by = last ? record_ended_by(r) : ENDED_ON_TIME,
		.counters = last ? counters : NULL,
	};
	struct prof_outlier *outliers =
		latency_outliers(&q->latency, session, &report.nr_outliers, &report.outliers_lost);

	log_progress(NULL);
	session_counters(session, counters);
	report.outliers = outliers;
	q->any |= counters[PROF_RECORDED] != 0;
	if (q->any || !last)
		q->failed |= results_show(q->results,
					  &(struct result){ RESULT_RUNQLAT, .runqlat = &report });
	if (a->common.results.files.nr)
		add_to_whole(&q->whole, &report);
	q->last_ns = now;
	free(target);
	free(rows);
	free(outliers);
	return !q->count || q->interval < q->count;
}

/* [INTERVAL [COUNT]]: with a program, or without COUNT, until the end. */
static int parse_words(struct recording_args *common, char **words, int nr)
{
	struct runqlat_args *a = (struct runqlat_args *)common;
	struct record_opts *o = &common->record;
	int given = a->per_process + a->per_thread + a->per_cpu;
	uint32_t count = 0;
	int err;

	if (given > 1)
		return log_err(0, "-P, --per-thread and --per-cpu exclude each other");
	o->runqlat.by = a->per_process	? PROF_HIST_BY_PROCESS
			: a->per_thread ? PROF_HIST_BY_THREAD
					: PROF_HIST_BY_CPU;
	err = recording_intervals(words, nr, &o->runqlat.interval_ns, &count);
	if (err)
		return err;
	if (count)
		o->duration_ns = count * o->runqlat.interval_ns;
	/* What is kept is one recording: there a number is how long it takes, as everywhere. */
	if (nr == 1 && common->results.files.nr)
		o->duration_ns = o->runqlat.interval_ns;
	return 0;
}

/* What has no intervals any more: files, and the verdict of --strict. */
static enum cmd_result end(struct runqlat *q, struct record *r)
{
	const struct recording_args *common = &q->args->common;
	struct profile *p = record_take(r);
	enum cmd_result result = CMD_FAILED;

	if (!common->results.files.nr || !write_files(q, r, p))
		result = recording_judge(common, p);
	profile_free(p);
	return result;
}

static enum cmd_result run(struct recording_args *common)
{
	struct runqlat q = { .args = (struct runqlat_args *)common };
	enum cmd_result result = CMD_OK;
	struct record *r;
	int err;

	q.results = results_open(&common->results);
	if (!q.results)
		return errno == EINVAL ? CMD_USAGE : CMD_FAILED;
	common->record.runqlat.on_interval = show;
	common->record.runqlat.arg = &q;
	/* One interval is a recording. */
	if (common->record.duration_ns == common->record.runqlat.interval_ns)
		common->record.runqlat.interval_ns = 0;
	common->record.foreign_folder = results_need_rights(q.results);
	r = record_open(&common->record);
	err = r ? record_run(r) : -errno;
	if (err)
		result = cmd_failed(err);
	else if (q.failed)
		result = CMD_FAILED;
	else if (!q.any) {
		log_err(0, "nothing was recorded: none of the selected threads waited for a CPU");
		result = CMD_EMPTY;
	} else {
		result = end(&q, r);
	}
	if (!err)
		record_is_done(r);
	if (!err && outfile_end_stdout() && result == CMD_OK)
		result = CMD_FAILED;
	latency_release(&q.latency);
	free(q.whole.rows);
	free(q.whole.outliers);
	record_close(r);
	results_close(q.results);
	return result;
}

enum cmd_result cmd_runqlat(const struct command *self, int argc, char **argv)
{
	struct runqlat_args a = {
		.common = { .parse_words = parse_words, .results.kind = RESULT_RUNQLAT },
	};

	return recording_main(self, argc, argv, &a.common, run);
}
