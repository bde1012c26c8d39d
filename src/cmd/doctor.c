/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpfprof doctor: all that bpfprof, or one of its commands, asks of a machine. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/results.h"
#include "doctor/doctor.h"

struct doctor_args {
	struct results_opts results;
	int verbose;
};

const struct opt doctor_opts[] = {
	OPT_GROUP("Output"),
	FORMS_ROWS(struct doctor_args, results, CHECKS_EXTENSIONS),
	OPT_COUNT('v', "verbose", struct doctor_args, verbose, "where each value is from"),
	OPT_END,
};

static void add_row(struct checks_report *r, const struct doctor_row *row, const struct machine *m)
{
	bool ok;
	struct finding f;

	doctor_look(row, m, &f);
	ok = f.state == DOCTOR_OK;
	r->rows[r->nr_rows++] = (struct checks_row){
		.name = row->name,
		.group = row->group,
		.how = row->how,
		.state = (enum checks_state)f.state,
		.needed = doctor_is_needed(row, m->uses),
		.found = xstrdup(f.found),
		.consequence = ok ? NULL : xstrdup(f.consequence),
		.remedy = ok ? NULL : xstrdup(f.remedy),
	};
}

/* Rows of a group stand together. */
static void add_group(struct checks_report *r, const struct machine *m, const char *group)
{
	for (size_t i = 0; i < doctor_nr_rows; i++)
		if (!strcmp(doctor_rows[i].group, group) &&
		    doctor_concerns(&doctor_rows[i], m->uses))
			add_row(r, &doctor_rows[i], m);
}

static void look(struct checks_report *r, const struct machine *m)
{
	r->rows = xcalloc(doctor_nr_rows, sizeof(*r->rows));
	for (size_t i = 0; i < doctor_nr_rows; i++) {
		size_t k = 0;

		while (strcmp(doctor_rows[k].group, doctor_rows[i].group))
			k++;
		if (k == i)
			add_group(r, m, doctor_rows[i].group);
	}
}

static void release(struct checks_report *r)
{
	for (size_t i = 0; i < r->nr_rows; i++) {
		free(r->rows[i].found);
		free(r->rows[i].consequence);
		free(r->rows[i].remedy);
	}
	free(r->rows);
}

static enum cmd_result judge(const struct checks_report *r)
{
	for (size_t i = 0; i < r->nr_rows; i++)
		if (r->rows[i].state == CHECKS_MISSING)
			return CMD_FAILED;
	return CMD_OK;
}

static enum cmd_result show(struct results *results, struct checks_report *r, unsigned int uses)
{
	struct catalog *c = catalog_open("/");
	enum cmd_result result;
	struct machine m;

	if (!c)
		return CMD_FAILED;
	machine_ask(&m, true);
	m.uses = uses;
	machine_try(&m, c);
	look(r, &m);
	result = results_write_all(results, &(struct result){ RESULT_CHECKS, .checks = r })
			 ? CMD_FAILED
			 : judge(r);
	release(r);
	catalog_close(c);
	return result;
}

static int no_such_command(const char *word)
{
	const char **names = xcalloc(nr_commands, sizeof(*names));
	char *hint;

	for (size_t i = 0; i < nr_commands; i++)
		names[i] = commands[i].name;
	hint = text_meant("", text_nearest(word, names, nr_commands));
	log_err(0, "doctor: '%s' is no command%s", word, hint);
	free(hint);
	free(names);
	return -EINVAL;
}

/* What a command uses; of those that use nothing of the machine there is nothing to look at. */
static int parse_command(char **words, int nr, unsigned int *uses)
{
	*uses = 0;
	if (!nr)
		return 0;
	if (nr > 1) {
		log_err(0, "doctor: one command at a time");
		return -EINVAL;
	}
	for (size_t i = 0; i < nr_commands; i++) {
		if (strcmp(commands[i].name, words[0]))
			continue;
		if (doctor_uses(words[0], uses))
			return 0;
		return log_as(-EINVAL, "doctor: %s needs nothing of the machine", words[0]);
	}
	return no_such_command(words[0]);
}

static enum cmd_result run(struct doctor_args *a, char **words, int nr)
{
	struct checks_report r = { .command = nr ? words[0] : NULL, .verbose = a->verbose > 0 };
	struct results *results;
	enum cmd_result result;
	unsigned int uses;

	log_verbosity = a->verbose;
	if (parse_command(words, nr, &uses) || results_check(&a->results))
		return CMD_USAGE;
	results = results_open(&a->results);
	if (!results)
		return errno == EINVAL ? CMD_USAGE : CMD_FAILED;
	result = show(results, &r, uses);
	results_close(results);
	return result;
}

enum cmd_result cmd_doctor(const struct command *self, int argc, char **argv)
{
	enum cmd_result result = CMD_USAGE;
	struct doctor_args a = { .results.kind = RESULT_CHECKS };
	char **words;
	int nr, err;

	err = opt_parse("doctor", doctor_opts, argc, argv, &a, &words, &nr);
	if (err == OPT_HELP) {
		cmd_help(self);
		result = CMD_OK;
	} else if (!err) {
		result = run(&a, words, nr);
	}
	opt_release(doctor_opts, &a);
	return result;
}
