/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpfprof report: any view of a saved profile, on any machine, without root. */
#include <errno.h>

#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/results.h"
#include "profile/save.h"

struct report_args {
	struct results_opts results;
};

const struct opt report_opts[] = {
	OPT_GROUP("View"),
	OPT_FLAG('U', "user-stacks-only", struct report_args, results.view.user_only,
		 "no kernel frames"),
	OPT_FLAG('K', "kernel-stacks-only", struct report_args, results.view.kernel_only,
		 "no user frames"),
	RESULTS_ROWS(struct report_args, results),
	OPT_END,
};

enum cmd_result cmd_report(const struct command *self, int argc, char **argv)
{
	struct report_args a = {};
	struct results *results = NULL;
	struct profile *p = NULL;
	enum cmd_result result = CMD_FAILED;
	char **words;
	int nr, err;

	err = opt_parse("report", report_opts, argc, argv, &a, &words, &nr);
	if (err == OPT_HELP) {
		cmd_help(self);
		return CMD_OK;
	}
	if (!err && nr != 1)
		err = log_err(0, nr ? "report reads one profile at a time"
				    : "which profile? (bpfprof report FILE.bpfprof)");
	if (!err && a.results.view.user_only && a.results.view.kernel_only)
		err = log_err(0, "-U and -K exclude each other: nothing would be left");
	if (err)
		return CMD_USAGE;
	p = profile_load(words[0]);
	if (!p)
		goto out;
	results = results_open(&a.results);
	if (!results) {
		result = errno == EINVAL ? CMD_USAGE : CMD_FAILED;
		goto out;
	}
	result = results_write(results, p) ? CMD_FAILED : CMD_OK;
out:
	results_close(results);
	profile_free(p);
	return result;
}
