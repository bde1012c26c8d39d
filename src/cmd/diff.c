/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpfprof diff: what changed between two results of stat, and is it real? */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/outfile.h"
#include "cmd/cmd.h"
#include "metric/diff.h"
#include "metric/stat.h"
#include "output/stat.h"

struct diff_args {
	const char *fail_on, *junit;
	bool json, force;
};

const struct opt diff_opts[] = {
	OPT_STRING(0, "fail-on", struct diff_args, fail_on, "RULES",
		   "exit status 4 when one applies: ipc<-5%,l2_mpki>15%,time>5%"),
	OPT_STRING(0, "junit", struct diff_args, junit, "FILE",
		   "also as JUnit XML; '-': on standard output instead"),
	OPT_FLAG(0, "json", struct diff_args, json, "as JSON on standard output"),
	OPT_FLAG(0, "force", struct diff_args, force,
		 "also results of different CPU models or formulas"),
	OPT_END,
};

static bool to_stdout(const char *path)
{
	return path && (!strcmp(path, "-") || !strcmp(path, "/dev/stdout"));
}

static bool is_profile(const char *path)
{
	size_t len = strlen(path), end = strlen(".bpfprof");

	return len >= end && !strcmp(path + len - end, ".bpfprof");
}

static int check(const struct diff_args *a, char **words, int nr)
{
	if (nr != 2)
		return log_err(0, "which two results? (bpfprof diff A.json B.json)");
	for (int i = 0; i < nr; i++)
		if (is_profile(words[i]))
			return log_err(0,
				       "%s is a profile: diff compares results of "
				       "'bpfprof stat --json'",
				       words[i]);
	if (a->json && to_stdout(a->junit))
		return log_err(0, "--json and --junit - both want standard output");
	return 0;
}

/* On standard output unless that has the XML. */
static int write_results(const struct diff_args *a, const struct diff *c, struct outfile *file)
{
	int err;

	if (file) {
		err = diff_write_junit(c, outfile_stream(file));
		if (err) {
			outfile_abort(file);
			return err;
		}
		err = outfile_commit(file);
		if (err || to_stdout(a->junit))
			return err;
	}
	return a->json ? diff_write_json(c, stdout) : diff_write_text(c, stdout);
}

static enum cmd_result judge(const struct diff *c)
{
	if (c->nr_failed)
		return CMD_REGRESSION;
	if (!c->nr_unknown)
		return CMD_OK;
	log_err(0, "%zu rule%s could not be judged: one of the results lacks the number",
		c->nr_unknown, c->nr_unknown == 1 ? "" : "s");
	return CMD_FAILED;
}

static enum cmd_result compare(const struct diff_args *a, char **words,
			       const struct stat_report reports[2], const struct diff_rules *rules)
{
	enum cmd_result result = CMD_FAILED;
	struct outfile *file = NULL;
	struct diff c;

	if (diff_make(&c, &reports[0], &reports[1], rules, a->force))
		return CMD_USAGE;
	c.name_a = words[0];
	c.name_b = words[1];
	if (a->junit)
		file = outfile_open(a->junit);
	if ((file || !a->junit) && !write_results(a, &c, file))
		result = judge(&c);
	diff_release(&c);
	return result;
}

static enum cmd_result run(const struct diff_args *a, char **words, int nr)
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
	struct diff_args a = {};
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
