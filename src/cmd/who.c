/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpfprof who: what the agent would call each process, and by which rule. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "cmd/cmd.h"
#include "cmd/results.h"
#include "output/named.h"
#include "proc/running.h"
#include "who/who.h"

struct who_args {
	struct results_opts results;
	const char *rules;
	uint32_t max_series;
};

const struct opt who_opts[] = {
	OPT_GROUP("Names"),
	OPT_STRING(0, "rules", struct who_args, rules, "FILE",
		   "keep, drop and label by these rules"),
	OPT_U32(0, "max-series", struct who_args, max_series, 1, 1000000, "N",
		"with more series, further ones are \"other\" [500]"),
	OPT_GROUP("Output"),
	FORMS_ROWS(struct who_args, results, NAMED_EXTENSIONS),
	OPT_END,
};

static void add(struct named_report *r, struct who *w, uint32_t pid)
{
	struct named_row row = { .pid = pid };
	const struct labels *all;

	row.dropped_by = who_dropped_by(w, pid, &all);
	labels_copy(&row.all, all);
	if (!row.dropped_by)
		labels_copy(&row.series, who_series(w, pid));
	r->rows = xgrow(r->rows, r->nr, &r->cap, sizeof(*r->rows));
	r->rows[r->nr++] = row;
}

static void release(struct named_report *r)
{
	for (size_t i = 0; i < r->nr; i++) {
		labels_release(&r->rows[i].all);
		labels_release(&r->rows[i].series);
	}
	free(r->rows);
}

/* All that run, but for kernel threads, which have neither service nor container. */
static uint32_t *running_pids(const struct running *running, size_t *nr)
{
	uint32_t *pids = xcalloc(running->nr + 1, sizeof(*pids));

	*nr = 0;
	for (size_t i = 0; i < running->nr; i++)
		if (!running->v[i].is_kernel)
			pids[(*nr)++] = running->v[i].pid;
	return pids;
}

static bool parse_pid(const struct running *running, const char *word, uint32_t *pid)
{
	char *end;
	unsigned long n = strtoul(word, &end, 10);

	if (*end || end == word || n > UINT32_MAX || *word == '-') {
		log_err(0, "who: '%s' is no process number", word);
		return false;
	}
	*pid = (uint32_t)n;
	if (running_find(running, *pid))
		return true;
	log_err(0, "who: there is no process %u", *pid);
	return false;
}

static enum cmd_result pids_of(const struct running *running, char **words, int nr_words,
			       uint32_t **pids, size_t *nr)
{
	if (!nr_words) {
		*pids = running_pids(running, nr);
		return CMD_OK;
	}
	*pids = xcalloc(nr_words, sizeof(**pids));
	*nr = nr_words;
	for (int i = 0; i < nr_words; i++)
		if (!parse_pid(running, words[i], &(*pids)[i]))
			return CMD_USAGE;
	return CMD_OK;
}

static enum cmd_result show(const struct who_args *a, struct results *results, const uint32_t *pids,
			    size_t nr)
{
	const struct who_options options = { .rules = a->rules, .max_series = a->max_series };
	struct named_report r = { .rules = a->rules };
	struct who *w = who_new(&options);
	int err;

	if (!w)
		return errno == EINVAL ? CMD_USAGE : CMD_FAILED;
	who_look(w, pids, nr, NULL, NULL);
	for (size_t i = 0; i < nr; i++)
		add(&r, w, pids[i]);
	r.nr_series = who_counts(w).series;
	if (who_counts(w).unread)
		log_warn("processes whose environment and files did not answer: %u",
			 (unsigned int)who_counts(w).unread);
	err = results_write_all(results, &(struct result){ RESULT_NAMED, .named = &r });
	release(&r);
	who_free(w);
	return err ? CMD_FAILED : CMD_OK;
}

static enum cmd_result run(struct who_args *a, char **words, int nr_words)
{
	struct results *results;
	struct running running;
	enum cmd_result result;
	uint32_t *pids = NULL;
	size_t nr = 0;

	if (results_check(&a->results))
		return CMD_USAGE;
	results = results_open(&a->results);
	if (!results)
		return errno == EINVAL ? CMD_USAGE : CMD_FAILED;
	running_read(&running, "");
	result = pids_of(&running, words, nr_words, &pids, &nr);
	if (result == CMD_OK)
		result = show(a, results, pids, nr);
	free(pids);
	running_release(&running);
	results_close(results);
	return result;
}

enum cmd_result cmd_who(const struct command *self, int argc, char **argv)
{
	enum cmd_result result = CMD_USAGE;
	struct who_args a = { .results.kind = RESULT_NAMED };
	char **words;
	int nr, err;

	err = opt_parse("who", who_opts, argc, argv, &a, &words, &nr);
	if (err == OPT_HELP) {
		cmd_help(self);
		result = CMD_OK;
	} else if (!err) {
		result = run(&a, words, nr);
	}
	opt_release(who_opts, &a);
	return result;
}
