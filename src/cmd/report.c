/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpfprof report: any view of a saved result, on any machine, without root. */
#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/results.h"
#include "cmd/saved.h"
#include "profile/kind.h"

#define PERCENT_LIMIT 0.5

struct report_args {
	struct results_opts results;
	const char *focus, *ignore, *percent_limit;
	regex_t patterns[3];
	size_t nr_patterns;
};

const struct opt report_opts[] = {
	OPT_GROUP("View"),
	OPT_FLAG('U', "user-stacks-only", struct report_args, results.view.user_only,
		 "no kernel frames"),
	OPT_FLAG('K', "kernel-stacks-only", struct report_args, results.view.kernel_only,
		 "no user frames"),
	RESULTS_ROWS(struct report_args, results),
	VALUE_ROW(struct report_args, results),
	BRANCHES_ROW(struct report_args, results,
		     "branches that were recorded, on stdout; with -f one line each"),
	OPT_GROUP("Trees"),
	OPT_FLAG(0, "tree", struct report_args, results.tree,
		 "the call tree on stdout, callers first"),
	OPT_FLAG(0, "bottom-up", struct report_args, results.view.bottom_up,
		 "trees, flame graphs and folded stacks begin with the innermost function"),
	OPT_STRING(0, "peek", struct report_args, results.peek, "REGEX",
		   "functions whose name matches, each between its callers and its callees, on "
		   "stdout"),
	OPT_STRING(0, "by", struct report_args, results.by, "KEY",
		   "shares by function, module, file, line, thread or process, on stdout (--csv: "
		   "for spreadsheets)"),
	OPT_STRING(0, "focus", struct report_args, focus, "REGEX",
		   "only stacks with a function or a thread whose name matches"),
	OPT_STRING(0, "ignore", struct report_args, ignore, "REGEX",
		   "no stacks with a function or a thread whose name matches"),
	OPT_STRING(0, "percent-limit", struct report_args, percent_limit, "P",
		   "of trees: what has less than P percent is summed up (default 0.5)"),
	OPT_GROUP("Off-CPU views"),
	WAIT_ROWS(struct report_args, results),
	TABLE_ROW(struct report_args, results),
	OPT_GROUP("Results of runqlat and stat"),
	CSV_ROW(struct report_args, results),
	MILLISECONDS_ROW(struct report_args, results),
	TABLE_ROWS_ROW(struct report_args, results),
	REPORT_ROW(struct report_args, results),
	OPT_END,
};

/* NULL, without a word when none is given; else logged. */
static const regex_t *compile(struct report_args *a, const char *option, const char *pattern)
{
	regex_t *re = &a->patterns[a->nr_patterns];
	char why[128];
	int err;

	if (!pattern)
		return NULL;
	err = regcomp(re, pattern, REG_EXTENDED | REG_NOSUB);
	if (!err) {
		a->nr_patterns++;
		return re;
	}
	regerror(err, re, why, sizeof(why));
	log_err(0, "%s: no regular expression (%s)", option, why);
	return NULL;
}

static int check_patterns(struct report_args *a)
{
	struct view *v = &a->results.view;

	v->focus = compile(a, "--focus", a->focus);
	v->ignore = compile(a, "--ignore", a->ignore);
	v->peek = compile(a, "--peek", a->results.peek);
	return !v->focus == !a->focus && !v->ignore == !a->ignore && !v->peek == !a->results.peek
		       ? 0
		       : -EINVAL;
}

static int check_limit(struct report_args *a)
{
	double *limit = &a->results.view.percent_limit;
	char *end, *shown;

	*limit = PERCENT_LIMIT;
	if (!a->percent_limit)
		return 0;
	*limit = strtod(a->percent_limit, &end);
	if (end != a->percent_limit && (!*end || !strcmp(end, "%")) && *limit >= 0 && *limit <= 100)
		return 0;
	shown = text_frame(a->percent_limit, strlen(a->percent_limit), 0);
	log_err(0, "--percent-limit: '%s' is no number from 0 to 100", shown);
	free(shown);
	return -EINVAL;
}

static int check(struct report_args *a, int nr_words)
{
	if (!nr_words)
		return log_err(0, "which file? (bpfprof report FILE.bpfprof)");
	if (nr_words > 1)
		return log_err(0, "report reads one file at a time");
	if (a->results.view.user_only && a->results.view.kernel_only)
		return log_err(0, "-U and -K exclude each other: nothing would be left");
	if (check_patterns(a) || check_limit(a))
		return -EINVAL;
	return results_check(&a->results);
}

static enum cmd_result written(int err)
{
	return err == -EINVAL ? CMD_USAGE : err ? CMD_FAILED : CMD_OK;
}

static enum cmd_result show(struct report_args *a, const struct saved *saved)
{
	enum cmd_result result = CMD_FAILED;
	struct results *results;

	a->results.kind = saved->result.kind;
	if (saved->profile)
		results_default(&a->results, kind_of_profile(saved->profile));
	results = results_open(&a->results);
	if (results)
		result = written(results_write_all(results, &saved->result));
	else if (errno == EINVAL)
		result = CMD_USAGE;
	results_close(results);
	return result;
}

static enum cmd_result run(struct report_args *a, char **words, int nr)
{
	enum cmd_result result = CMD_FAILED;
	struct saved saved;

	if (check(a, nr))
		return CMD_USAGE;
	if (!saved_open(&saved, words[0]))
		result = show(a, &saved);
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
	for (size_t i = 0; i < a.nr_patterns; i++)
		regfree(&a.patterns[i]);
	opt_release(report_opts, &a);
	return result;
}
