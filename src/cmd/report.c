/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpfprof report: any view of a saved result, on any machine, without root. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/filters.h"
#include "cmd/interactive.h"
#include "cmd/results.h"
#include "cmd/saved.h"
#include "cmd/sort_keys.h"
#include "profile/kind.h"

struct report_args {
	struct results_opts results;
	struct filters filters;
	const char *sort;
	const char *at, *from, *to; /* as given */
	uint64_t last_ns;
};

const struct opt report_opts[] = {
	OPT_GROUP("Windows of bpfprof agent, in a folder (default: all)"),
	OPT_TIME(0, "last", struct report_args, last_ns, 1000000000, 1,
		 7 * 24 * 3600 * 1000000000ull, "TIME", "the last TIME that was kept: 10m, 1h"),
	OPT_STRING(
		0, "at", struct report_args, at, "TIME",
		"that minute, or that second: 14:05, 14:05:10, 2026-11-25T14:05 (also DIR@TIME)"),
	OPT_STRING(0, "from", struct report_args, from, "TIME", "from the begin of that time on"),
	OPT_STRING(0, "to", struct report_args, to, "TIME", "up to the begin of that time"),
	OPT_GROUP("View"),
	OPT_FLAG('i', "interactive", struct report_args, results.interactive,
		 "look through it on the terminal: functions, trees, callers (? lists the keys); "
		 "begins with what --tree, --bottom-up or --by says"),
	OPT_FLAG('U', "user-stacks-only", struct report_args, results.view.user_only,
		 "no kernel frames"),
	OPT_FLAG('K', "kernel-stacks-only", struct report_args, results.view.kernel_only,
		 "no user frames"),
	RESULTS_ROWS(struct report_args, results),
	HEATMAP_ROW(struct report_args, results),
	VALUE_ROW(struct report_args, results),
	BRANCHES_ROW(struct report_args, results,
		     "branches that were recorded, on stdout; with -f one line each"),
	OPT_GROUP("Trees"),
	OPT_FLAG(0, "tree", struct report_args, results.tree,
		 "the call tree on stdout, callers first (also --json)"),
	OPT_FLAG(0, "bottom-up", struct report_args, results.view.bottom_up,
		 "trees, flame graphs and folded stacks begin with the innermost function"),
	OPT_STRING(0, "peek", struct report_args, filters.peek, "REGEX",
		   "functions whose name matches, each between its callers and its callees, on "
		   "stdout (also --json)"),
	BY_ROW(struct report_args, results),
	OPT_STRING(0, "sort", struct report_args, sort, "KEYS",
		   "the order of --by: self, total or name; perf's keys are known: dso,symbol; of "
		   "timeline and sched: max, avg, runtime or switches"),
	FOCUS_ROWS(struct report_args, filters),
	OPT_STRING(0, "percent-limit", struct report_args, filters.percent_limit, "P",
		   "of trees: what has less than P percent is summed up (default 0.5)"),
	OPT_GROUP("Off-CPU views"),
	WAIT_ROWS(struct report_args, results),
	HISTOGRAM_ROW(struct report_args, results),
	TABLE_ROW(struct report_args, results),
	RUNTIME_ROWS(struct report_args, results),
	GAP_ROWS(struct report_args, results),
	OPT_GROUP("Results of timeline and sched"),
	SCHED_PROCESS_ROW(struct report_args, results),
	OPT_GROUP("Results of runqlat and stat"),
	CSV_ROW(struct report_args, results),
	MILLISECONDS_ROW(struct report_args, results),
	TABLE_ROWS_ROW(struct report_args, results),
	REPORT_ROW(struct report_args, results,
		   "md: a report in Markdown, with the hottest functions and next steps"),
	OPT_END,
};

static int check(struct report_args *a, int nr_words)
{
	if (!nr_words)
		return log_err(0, "which file? (bpfprof report FILE.bpfprof)");
	if (nr_words > 1)
		return log_err(0, "report reads one file at a time");
	if (sort_keys_apply(a->sort, &a->results))
		return -EINVAL;
	if (filters_apply(&a->filters, &a->results.view))
		return -EINVAL;
	return results_check(&a->results);
}

static enum cmd_result written(int err)
{
	return err == -EINVAL ? CMD_USAGE : err ? CMD_FAILED : CMD_OK;
}

/* Where there is no screen to be had, the rest is still shown. */
static int look_through(struct report_args *a, const struct saved *saved, struct results *results)
{
	int err = results_write_files(results, &saved->result);
	const char *why;

	if (err)
		return err;
	why = interactive_show(&a->results, &saved->result);
	if (!why)
		return 0;
	log_warn("-i: %s; this is the plain report", why);
	return results_show(results, &saved->result);
}

/* Of a result without stacks, the options are refused later. */
static bool is_nothing(const struct report_args *a, const struct saved *saved)
{
	enum result_kind kind = saved->result.kind;

	return (kind == RESULT_STACKS || kind == RESULT_CALLS) &&
	       filters_leave_nothing(&a->results.view, saved->profile);
}

static enum cmd_result show(struct report_args *a, const struct saved *saved)
{
	enum cmd_result result = CMD_FAILED;
	struct results *results;

	a->results.kind = saved->result.kind;
	if (saved->profile) {
		filters_fit(&a->filters, saved->profile);
		results_default(&a->results, kind_of_profile(saved->profile));
	}
	if (is_nothing(a, saved)) {
		filters_tell_nothing(&a->filters);
		return CMD_EMPTY;
	}
	results = results_open(&a->results);
	if (results && a->results.interactive)
		result = written(look_through(a, saved, results));
	else if (results)
		result = written(results_write_all(results, &saved->result));
	else if (errno == EINVAL)
		result = CMD_USAGE;
	results_close(results);
	return result;
}

static int refuse_time(const char *option, const char *text)
{
	return log_as(-EINVAL, "%s '%s' is no time: %s", option, text, RING_TIMES);
}

static int parse_time(const char *option, const char *text, struct ring_span *to)
{
	return ring_parse(text, clock_ns(CLOCK_REALTIME), to) ? 0 : refuse_time(option, text);
}

static bool has_time(const struct report_args *a)
{
	return a->at || a->from || a->to || a->last_ns;
}

static int parse_span(const struct report_args *a, struct ring_span *to)
{
	struct ring_span part;

	*to = (struct ring_span){ .to_ns = UINT64_MAX, .last_ns = a->last_ns };
	if ((a->at != NULL) + (a->from || a->to) + (a->last_ns != 0) > 1)
		return log_as(-EINVAL, "--at, --last and --from with --to exclude each other");
	if (a->at)
		return parse_time("--at", a->at, to);
	if (a->from && parse_time("--from", a->from, &part))
		return -EINVAL;
	if (a->from)
		to->from_ns = part.from_ns;
	if (a->to && !ring_parse_end(a->to, clock_ns(CLOCK_REALTIME), to->from_ns, &part))
		return refuse_time("--to", a->to);
	if (a->to)
		to->to_ns = part.from_ns;
	return to->from_ns < to->to_ns ? 0 : log_as(-EINVAL, "--from is not before --to");
}

static int open_result(const struct report_args *a, const char *path, struct saved *to)
{
	struct ring_span span;

	*to = (struct saved){};
	if (!has_time(a))
		return saved_open(to, path);
	if (parse_span(a, &span))
		return -EINVAL;
	return saved_open_span(to, path, &span);
}

static enum cmd_result run(struct report_args *a, char **words, int nr)
{
	enum cmd_result result = CMD_FAILED;
	struct saved saved;
	int err;

	if (check(a, nr))
		return CMD_USAGE;
	err = open_result(a, words[0], &saved);
	if (!err)
		result = show(a, &saved);
	else if (err == -EINVAL)
		result = CMD_USAGE;
	saved_close(&saved);
	return result;
}

enum cmd_result cmd_report(const struct command *self, int argc, char **argv)
{
	enum cmd_result result = CMD_USAGE;
	struct report_args a = {};
	char **words;
	int nr, err;

	err = opt_parse("report", report_opts, argc, argv, &a, &words, &nr);
	if (err == OPT_HELP) {
		cmd_help(self);
		result = CMD_OK;
	} else if (!err) {
		result = run(&a, words, nr);
	}
	filters_release(&a.filters);
	opt_release(report_opts, &a);
	return result;
}
