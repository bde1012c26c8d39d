/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpfprof diff: what changed between two results of stat, and is it real? */
#include <errno.h>

#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/results.h"
#include "cmd/saved.h"
#include "metric/diff.h"
#include "metric/stat.h"

struct diff_args {
	const char *fail_on;
	struct results_opts results;
	bool force;
};

const struct opt diff_opts[] = {
	OPT_STRING(0, "fail-on", struct diff_args, fail_on, "RULES",
		   "exit status 4 when one applies: ipc<-5%,l2_mpki>15%,time>5%"),
	OPT_STRING(0, "junit", struct diff_args, results.junit, "FILE",
		   "also as JUnit XML; '-': on standard output instead"),
	FORMS_ROWS(struct diff_args, results, DIFF_EXTENSIONS),
	OPT_FLAG(0, "force", struct diff_args, force,
		 "also results of different CPU models or formulas"),
	OPT_END,
};

static int check(struct diff_args *a, char **words, int nr)
{
	if (nr != 2)
		return log_err(0, "which two results? (bpfprof diff A B)");
	for (int i = 0; i < nr; i++)
		if (saved_is_profile(words[i]))
			return log_err(0,
				       "%s is a profile: diff compares results of "
				       "'bpfprof stat -o FILE.bpfprof' or '--json'",
				       words[i]);
	return results_check(&a->results);
}

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

static enum cmd_result run(struct diff_args *a, char **words, int nr)
{
	struct stat_report reports[2] = {};
	struct diff_rules rules = {};
	enum cmd_result result = CMD_FAILED;

	if (check(a, words, nr) || (a->fail_on && diff_rules_parse(&rules, a->fail_on)))
		return CMD_USAGE;
	if (!stat_read_json(&reports[0], words[0]) && !stat_read_json(&reports[1], words[1]))
		result = compare(a, words, reports, &rules);
	stat_report_release(&reports[0]);
	stat_report_release(&reports[1]);
	diff_rules_release(&rules);
	return result;
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
	opt_release(diff_opts, &a);
	return result;
}
