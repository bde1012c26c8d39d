/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpfprof history: is the latest result of stat like those before it? */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/results.h"
#include "metric/history.h"

#define USUAL_RUNS  20
#define USUAL_SIGMA 3

struct history_args {
	const char *window, *sigma, *fail_on;
	struct results_opts results;
};

const struct opt history_opts[] = {
	FORMS_ROWS(struct history_args, results, HISTORY_EXTENSIONS),
	OPT_GROUP("What is unusual"),
	OPT_STRING(0, "window", struct history_args, window, "N|TIME",
		   "compare with N runs before (default 20), or those of TIME: 7d, 12h"),
	OPT_STRING(0, "sigma", struct history_args, sigma, "Z",
		   "standard deviations from which on a run is unusual (default 3)"),
	OPT_STRING(0, "fail-on", struct history_args, fail_on, "RULES",
		   "exit status 4 if the latest run is unusual, or a step is new, beyond one: "
		   "'time>5%,ipc<-5%'"),
	OPT_END,
};

/* A number above 0 with what stands behind it; NULL when there is none. */
static const char *parse_number(const char *text, double *to)
{
	char *end;

	*to = strtod(text, &end);
	return end != text && *to > 0 && *to <= 1e6 ? end : NULL;
}

static int refused(const char *option, const char *text, const char *form)
{
	char *shown = text_cleaned(text);

	log_err(0, "%s '%s': %s", option, shown, form);
	free(shown);
	return -EINVAL;
}

static int parse_window(const char *text, struct history_opts *o)
{
	static const struct {
		const char *unit;
		double seconds;
	} units[] = { { "h", 3600 }, { "d", 86400 }, { "w", 7 * 86400 } };
	const char *unit;
	double x;

	*o = (struct history_opts){ .window = USUAL_RUNS, .sigma = USUAL_SIGMA };
	if (!text)
		return 0;
	unit = parse_number(text, &x);
	for (size_t i = 0; unit && i < sizeof(units) / sizeof(*units); i++) {
		if (strcmp(unit, units[i].unit))
			continue;
		o->window = 0;
		o->window_s = x * units[i].seconds;
		return 0;
	}
	if (!unit || *unit || x < HISTORY_LEAST || x != (size_t)x)
		return refused(
			"--window", text,
			"a number of runs from 5 on, or a time with a unit: 20, 12h, 7d, 4w");
	o->window = x;
	return 0;
}

static enum cmd_result judge(const struct history *h)
{
	if (h->nr_unjudged)
		log_warn("%zu --fail-on rule%s judged nothing: there are fewer than %d runs to "
			 "compare with",
			 h->nr_unjudged, h->nr_unjudged == 1 ? "" : "s", HISTORY_LEAST);
	if (h->nr_failed)
		return CMD_REGRESSION;
	if (!h->nr_unknown)
		return CMD_OK;
	log_err(0, "%zu --fail-on rule%s not evaluated: the latest run does not have the number",
		h->nr_unknown, h->nr_unknown == 1 ? "" : "s");
	return CMD_FAILED;
}

static enum cmd_result show(const struct history_args *a, struct history *h,
			    const struct history_opts *o, const struct diff_rules *rules)
{
	enum cmd_result result = CMD_FAILED;
	struct results *results;

	if (history_judge(h, o, rules))
		return CMD_USAGE;
	results = results_open(&a->results);
	if (!results && errno == EINVAL)
		result = CMD_USAGE;
	else if (results &&
		 !results_write_all(results, &(struct result){ RESULT_HISTORY, .history = h }))
		result = judge(h);
	results_close(results);
	return result;
}

static enum cmd_result run(struct history_args *a, char **words, int nr)
{
	enum cmd_result result = CMD_USAGE;
	struct diff_rules rules = {};
	struct history_opts o;
	struct history h;

	if (nr != 1) {
		log_err(0, nr ? "history reads one file at a time"
			      : "which file? (bpfprof history FILE.csv; bpfprof stat --history "
				"FILE.csv writes it)");
		return CMD_USAGE;
	}
	if (parse_window(a->window, &o) ||
	    opt_number(&(struct opt_number){ "--sigma", 0.5, 8, NULL }, a->sigma, &o.sigma) ||
	    results_check(&a->results) || (a->fail_on && diff_rules_parse(&rules, a->fail_on)))
		return CMD_USAGE;
	if (history_read(&h, words[0]))
		result = CMD_FAILED;
	else
		result = show(a, &h, &o, &rules);
	history_release(&h);
	diff_rules_release(&rules);
	return result;
}

enum cmd_result cmd_history(const struct command *self, int argc, char **argv)
{
	enum cmd_result result = CMD_USAGE;
	struct history_args a = { .results.kind = RESULT_HISTORY };
	char **words;
	int nr, err;

	err = opt_parse("history", history_opts, argc, argv, &a, &words, &nr);
	if (err == OPT_HELP) {
		cmd_help(self);
		result = CMD_OK;
	} else if (!err) {
		result = run(&a, words, nr);
	}
	opt_release(history_opts, &a);
	return result;
}
