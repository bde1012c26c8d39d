/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpfprof diff: what changed between recordings, or between two results of stat; is it real? */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/filters.h"
#include "cmd/results.h"
#include "cmd/saved.h"
#include "cmd/scope.h"
#include "cmd/sort_keys.h"
#include "metric/diff.h"
#include "metric/stat.h"
#include "output/changes.h"
#include "profile/call_samples.h"
#include "profile/changes.h"
#include "profile/kind.h"

struct diff_args {
	const char *fail_on, *fail_above, *alpha, *by;
	struct results_opts results;
	struct filters filters;
	struct changes_opts changes;
	bool force;
	/* What is given: files before, and files after. */
	char **words;
	size_t nr[2];
};

#define ALPHA 0.001

const struct opt diff_opts[] = {
	OPT_STRING(0, "junit", struct diff_args, results.junit, "FILE",
		   "also as JUnit XML; '-': on standard output instead"),
	FORMS_ROWS(struct diff_args, results, CHANGES_EXTENSIONS),
	OPT_FLAG('f', "folded", struct diff_args, results.folded,
		 "of recordings: stacks with two numbers on stdout, before and after"),
	REPORT_ROW(struct diff_args, results, "md: of recordings, a comment for a pull request"),
	OPT_GROUP("Recordings"),
	OPT_FLAG(0, "absolute", struct diff_args, changes.absolute,
		 "compare what was recorded, not shares of it"),
	OPT_STRING(0, "fail-above", struct diff_args, fail_above, "PCT",
		   "exit status 4 when a function costs more than PCT percent more, beyond noise"),
	OPT_STRING(0, "alpha", struct diff_args, alpha, "P",
		   "how likely noise may be called a change (default 0.001)"),
	OPT_STRING(0, "percent-limit", struct diff_args, filters.percent_limit, "P",
		   "functions below P percent on both sides are not judged (default 0.5)"),
	OPT_STRING(0, "by", struct diff_args, by, "KEY",
		   "compare functions (the default), threads, processes, classes of waits, or of a "
		   "runtime's threads context, kind, role or task"),
	FOCUS_ROWS(struct diff_args, filters),
	OPT_FLAG('U', "user-stacks-only", struct diff_args, results.view.user_only,
		 "no kernel frames"),
	OPT_FLAG('K', "kernel-stacks-only", struct diff_args, results.view.kernel_only,
		 "no user frames"),
	OPT_FLAG(0, "no-inline", struct diff_args, results.view.no_inline,
		 "without inlined calls: functions as the linker has them"),
	OPT_U32(0, "rows", struct diff_args, results.view.rows, 1, 1000000, "N",
		"functions in tables (default 20)"),
	VALUE_ROW(struct diff_args, results),
	FLAME_ROWS(struct diff_args, results),
	WAIT_ROWS(struct diff_args, results),
	RUNTIME_ROWS(struct diff_args, results),
	OPT_GROUP("Results of stat"),
	OPT_STRING(0, "fail-on", struct diff_args, fail_on, "RULES",
		   "exit status 4 when one applies: ipc<-5%,l2_mpki>15%,time>5%"),
	OPT_FLAG(0, "force", struct diff_args, force,
		 "also results of different CPU models or formulas"),
	OPT_END,
};

/* "A B", or "A... vs B...", without the word. */
static int split(struct diff_args *a, char **words, int nr)
{
	int at = 0;

	while (at < nr && strcmp(words[at], "vs"))
		at++;
	for (int i = at + 1; i < nr; i++)
		if (!strcmp(words[i], "vs"))
			return log_as(-EINVAL, "'vs' stands once: before it the files of one side, "
					       "behind it those of the other");
	a->words = words;
	if (at < nr) {
		memmove(&words[at], &words[at + 1], (nr - at - 1) * sizeof(*words));
		a->nr[0] = at;
		a->nr[1] = nr - at - 1;
	} else if (nr == 2) {
		a->nr[0] = a->nr[1] = 1;
	}
	if (a->nr[0] && a->nr[1])
		return 0;
	log_err(0, nr > 2 ? "which of these are before, which after? "
			    "(bpfprof diff A1 A2 vs B1 B2)"
			  : "which two results? (bpfprof diff A B)");
	return -EINVAL;
}

/* What is not there is of no kind. */
static int check_files(const struct diff_args *a)
{
	for (size_t i = 0; i < a->nr[0] + a->nr[1]; i++)
		if (!saved_is_folder(a->words[i]) && access(a->words[i], R_OK))
			return log_err(-errno, "cannot read %s", a->words[i]);
	return 0;
}

/* Are they recordings, or results of stat? All or none. */
static int find_kind(struct diff_args *a)
{
	size_t nr = a->nr[0] + a->nr[1], nr_profiles = 0;

	for (size_t i = 0; i < nr; i++)
		nr_profiles += saved_is_profile(a->words[i]);
	if (nr_profiles && nr_profiles < nr) {
		size_t other = 0, odd = 0;

		while (saved_is_profile(a->words[other]) == saved_is_profile(a->words[0]))
			other++;
		while (saved_is_profile(a->words[odd]))
			odd++;
		if (!saved_is_json(a->words[odd]))
			return log_err(0, "%s is neither a recording nor a result of stat",
				       a->words[odd]);
		return log_err(0, "%s is %s, %s is not: they do not compare", a->words[0],
			       saved_is_profile(a->words[0]) ? "a recording" : "a result of stat",
			       a->words[other]);
	}
	a->results.kind = nr_profiles ? RESULT_CHANGES : RESULT_DIFF;
	return 0;
}

static int check_kind(const struct diff_args *a)
{
	bool recordings = a->results.kind == RESULT_CHANGES;

	if (recordings && a->fail_on)
		return log_err(0, "--fail-on is for results of stat: of recordings, use "
				  "--fail-above");
	if (!recordings && (a->fail_above || a->alpha || a->changes.absolute))
		return log_err(0, "%s is for recordings: of results of stat, use --fail-on",
			       a->fail_above ? "--fail-above"
			       : a->alpha    ? "--alpha"
					     : "--absolute");
	if (!recordings && a->nr[0] + a->nr[1] > 2)
		return log_err(0, "results of stat compare two by two (stat -r repeats)");
	return 0;
}

/* What is compared are functions or what paths begin with. */
static int check_by(struct diff_args *a)
{
	int by = sort_keys_by(a->by);

	if (by < 0)
		return by;
	if (a->by && a->results.kind != RESULT_CHANGES)
		return log_as(-EINVAL, "--by is for recordings: results of stat have metrics");
	if (by && !view_by_owner(by))
		return log_as(-EINVAL,
			      "--by %s: diff compares function, thread, process, class, "
			      "context, kind, role or task",
			      a->by);
	a->results.view.by = by;
	return scope_check_words(&a->results.view);
}

static int check(struct diff_args *a)
{
	a->changes.alpha = ALPHA;
	a->changes.fail_above_pct = NAN;
	if (find_kind(a) || check_kind(a) ||
	    opt_number(&(struct opt_number){ "--alpha", 0, 1, "%" }, a->alpha, &a->changes.alpha) ||
	    opt_number(&(struct opt_number){ "--fail-above", 0, 1e6, "%" }, a->fail_above,
		       &a->changes.fail_above_pct))
		return -EINVAL;
	if (filters_apply(&a->filters, &a->results.view) || results_check(&a->results))
		return -EINVAL;
	return check_by(a);
}

/* --- recordings --- */

/* Of calls without stacks the functions that were called are compared. */
static int name_calls(struct saved *s)
{
	struct profile *named = call_samples(s->profile);

	if (!named)
		return -ENODATA;
	profile_free(s->profile);
	s->profile = named;
	s->result.profile = named;
	return 0;
}

/* One event of each, since others have units of their own. */
static int choose_event(const struct diff_args *a, struct saved *s, struct profile *one,
			const char *name)
{
	const char *value = a->results.view.value;

	if (s->result.kind != RESULT_STACKS && s->result.kind != RESULT_CALLS)
		return log_err(0, "%s is %s: it has no stacks to compare", name,
			       output_kind_text(s->result.kind));
	if (s->result.kind == RESULT_CALLS && s->profile->nr_stacks <= 1 &&
	    !view_by_owner(a->results.view.by) && name_calls(s))
		return log_err(0, "%s has no calls to compare", name);
	if (value && profile_find_event(s->profile, value) < 0)
		return log_err(0, "--value '%s': %s has no such event", value, name);
	*one = profile_is_mixed(s->profile)
		       ? profile_of_event(s->profile, view_event(&a->results.view, s->profile))
		       : *s->profile;
	return 0;
}

static enum cmd_result verdict(const struct changes *c)
{
	if (!changes_is_unjudged(c))
		return c->nr_failed ? CMD_REGRESSION : CMD_OK;
	log_err(0, "--fail-above: not judged, " CHANGES_NOT_JUDGED);
	return CMD_FAILED;
}

static enum cmd_result show(struct diff_args *a, struct profile *const *profiles)
{
	enum cmd_result result = CMD_FAILED;
	struct results *results;
	struct changes c;
	int err;

	for (size_t i = 0; i < a->nr[0] + a->nr[1]; i++)
		filters_fit(&a->filters, profiles[i]);
	results_default(&a->results, kind_of_profile(profiles[0]));
	a->results.view.merge_threads = true;
	if (scope_check_options(&a->results,
				&(struct result){ RESULT_STACKS, .profile = profiles[0] }))
		return CMD_USAGE;
	if (changes_make(&c, profiles, a->words, a->nr, &a->results.view, &a->changes))
		return CMD_USAGE;
	if ((a->filters.focus || a->filters.ignore) && c.tree->left_out && !changes_all(&c, 0) &&
	    !changes_all(&c, 1)) {
		filters_tell_nothing(&a->filters);
		changes_release(&c);
		return CMD_EMPTY;
	}
	results = results_open(&a->results);
	if (results)
		err = results_write_all(results, &(struct result){ RESULT_CHANGES, .changes = &c });
	else
		err = -errno;
	if (!err)
		result = verdict(&c);
	else if (err == -EINVAL)
		result = CMD_USAGE;
	results_close(results);
	changes_release(&c);
	return result;
}

static enum cmd_result compare_recordings(struct diff_args *a)
{
	size_t nr = a->nr[0] + a->nr[1], nr_open = 0;
	struct saved *saved = xcalloc(nr, sizeof(*saved));
	struct profile *ones = xcalloc(nr, sizeof(*ones)), **profiles = xcalloc(nr, sizeof(void *));
	enum cmd_result result = CMD_OK;

	for (; nr_open < nr && result == CMD_OK; nr_open++) {
		profiles[nr_open] = &ones[nr_open];
		if (saved_open(&saved[nr_open], a->words[nr_open]))
			result = CMD_FAILED;
		else if (choose_event(a, &saved[nr_open], &ones[nr_open], a->words[nr_open]))
			result = CMD_USAGE;
	}
	if (result == CMD_OK)
		result = show(a, profiles);
	for (size_t i = 0; i < nr_open; i++) {
		if (saved[i].profile && profile_is_mixed(saved[i].profile))
			profile_of_event_release(&ones[i]);
		saved_close(&saved[i]);
	}
	free(profiles);
	free(ones);
	free(saved);
	return result;
}

/* --- results of stat --- */

static enum cmd_result judge(const struct diff *c)
{
	if (c->nr_failed)
		return CMD_REGRESSION;
	if (!c->nr_unknown)
		return CMD_OK;
	log_err(0, DIFF_NOT_EVALUATED, c->nr_unknown, c->nr_unknown == 1 ? "" : "s");
	return CMD_FAILED;
}

static enum cmd_result compare(const struct diff_args *a, char **words,
			       const struct stat_report reports[2], const struct diff_rules *rules)
{
	enum cmd_result result = CMD_FAILED;
	struct results *results;
	struct diff c;

	if (diff_make(&c, &reports[0], &reports[1], rules, a->force))
		return CMD_USAGE;
	c.name_a = words[0];
	c.name_b = words[1];
	results = results_open(&a->results);
	if (!results && errno == EINVAL)
		result = CMD_USAGE;
	else if (results &&
		 !results_write_all(results, &(struct result){ RESULT_DIFF, .diff = &c }))
		result = judge(&c);
	results_close(results);
	diff_release(&c);
	return result;
}

static enum cmd_result compare_results(struct diff_args *a, char **words)
{
	struct stat_report reports[2] = {};
	struct diff_rules rules = {};
	enum cmd_result result = CMD_FAILED;

	if (a->fail_on && diff_rules_parse(&rules, a->fail_on))
		return CMD_USAGE;
	if (!stat_read_json(&reports[0], words[0]) && !stat_read_json(&reports[1], words[1]))
		result = compare(a, words, reports, &rules);
	stat_report_release(&reports[0]);
	stat_report_release(&reports[1]);
	diff_rules_release(&rules);
	return result;
}

static enum cmd_result run(struct diff_args *a, char **words, int nr)
{
	if (split(a, words, nr))
		return CMD_USAGE;
	if (check_files(a))
		return CMD_FAILED;
	if (check(a))
		return CMD_USAGE;
	return a->results.kind == RESULT_CHANGES ? compare_recordings(a)
						 : compare_results(a, words);
}

enum cmd_result cmd_diff(const struct command *self, int argc, char **argv)
{
	enum cmd_result result = CMD_USAGE;
	struct diff_args a = { .results.kind = RESULT_DIFF };
	char **words;
	int nr, err;

	err = opt_parse("diff", diff_opts, argc, argv, &a, &words, &nr);
	if (err == OPT_HELP) {
		cmd_help(self);
		result = CMD_OK;
	} else if (!err) {
		result = run(&a, words, nr);
	}
	filters_release(&a.filters);
	opt_release(diff_opts, &a);
	return result;
}
