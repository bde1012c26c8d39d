/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What standard output gets: the options that choose its form, which of them go together, and what
 * asks for something that no form shows.
 */
#include "cmd/form.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

/* Options that choose what standard output gets, each a bit. */
enum {
	TABLE = 1,
	BROKEN = 2,
	BRANCHES = 4,
	JSON = 8,
	CSV = 16,
	REPORT = 32,
	FOLDED = 64,
	SUMMARY = 128,
	TREE = 256,
	PEEK = 512,
	BY = 1024,
	INTERACTIVE = 2048,
};
static const char *const choice_words[] = { "--table", "--broken", "--branches", "--json",
					    "--csv",   "--report", "-f",	 "-s",
					    "--tree",  "--peek",   "--by",	 "-i" };
#define NR_WORDS (sizeof(choice_words) / sizeof(*choice_words))

/* The sets of them that go together; JSON is of the summary. */
static const struct choice {
	unsigned int options;
	const char *output; /* NULL = by what stdout is */
} choices[] = {
	{ 0, NULL },
	{ TABLE | JSON, "table-json" },
	{ TABLE, "table" },
	{ BROKEN | JSON, "broken-json" },
	{ BROKEN, "broken" },
	{ JSON, "json" },
	{ JSON | SUMMARY, "json" },
	{ JSON | BRANCHES, "branches-json" },
	{ CSV, "csv" },
	{ REPORT, "md" },
	{ BRANCHES | FOLDED, "branches-folded" },
	{ BRANCHES, "branches" },
	{ TREE, "tree" },
	{ TREE | JSON, "tree-json" },
	{ PEEK, "peek" },
	{ PEEK | JSON, "peek-json" },
	{ BY, "by" },
	{ BY | CSV, "by-csv" },
	{ BY | JSON, "by-json" },
	{ FOLDED, "folded" },
	{ SUMMARY, "summary" },
	{ INTERACTIVE, "summary" },
	{ INTERACTIVE | TREE, "tree" },
	{ INTERACTIVE | BY, "by" },
};
#define NR_CHOICES (sizeof(choices) / sizeof(*choices))

static unsigned int given(const struct results_opts *o)
{
	return (o->budget ? TABLE : 0) | (o->broken ? BROKEN : 0) | (o->branches ? BRANCHES : 0) |
	       (o->json ? JSON : 0) | (o->csv ? CSV : 0) | (o->report ? REPORT : 0) |
	       (o->folded ? FOLDED : 0) | (o->summary ? SUMMARY : 0) | (o->tree ? TREE : 0) |
	       (o->view.peek ? PEEK : 0) | (o->by ? BY : 0) | (o->interactive ? INTERACTIVE : 0);
}

/* NULL: they exclude each other. */
static const struct choice *choice_of(unsigned int options)
{
	for (size_t i = 0; i < NR_CHOICES; i++)
		if (choices[i].options == options)
			return &choices[i];
	return NULL;
}

/* "-f, --json and --csv". To be freed. */
static char *choice_text(unsigned int options, const char *last)
{
	char *text = NULL;
	size_t sz, nr = 0;
	FILE *f = open_memstream(&text, &sz);

	for (size_t i = 0; i < NR_WORDS; i++)
		if (options >> i & 1)
			fprintf(f, "%s%s",
				!nr++		     ? ""
				: options >> (i + 1) ? ", "
						     : last,
				choice_words[i]);
	fclose(f);
	return text;
}

static int refuse_choice(unsigned int options)
{
	char *text = choice_text(options, " and ");

	log_err(0, "%s exclude each other (-o FILE writes several)", text);
	free(text);
	return -EINVAL;
}

/* The options that results of a kind have a form for. */
static unsigned int choices_for(enum result_kind kind)
{
	unsigned int options = 0;

	for (size_t i = 0; i < NR_CHOICES; i++)
		if (choices[i].output && output_get(kind, choices[i].output))
			options |= choices[i].options;
	return options & ~INTERACTIVE;
}

int form_refuse(const struct results_opts *o)
{
	enum result_kind kind = o->kind;
	unsigned int options = given(o);
	/* Of --table --json, --table is what it does not have. */
	unsigned int known = choices_for(kind), unknown = options & ~known;
	char *wanted = choice_text(unknown ? unknown : options, " ");
	char *text = choice_text(known, " or ");

	log_err(0, "%s cannot be shown by %s (use %s)", output_kind_text(kind), wanted, text);
	free(text);
	free(wanted);
	return -EINVAL;
}

/* Those of who waited, or of what for; of code nobody knows them. */
static bool has_lengths(enum view_by by)
{
	return by == VIEW_BY_THREAD || by == VIEW_BY_PROCESS || by == VIEW_BY_CLASS;
}

static bool shows_histograms(const struct results_opts *o)
{
	unsigned int forms = SUMMARY | JSON | (has_lengths(o->view.by) ? BY : 0) | INTERACTIVE;

	return !(given(o) & ~forms) || results_wants(o, "summary") || results_wants(o, "json");
}

/* A table of timelines. */
static bool shows_rows(const struct results_opts *o)
{
	return o->kind != RESULT_TIMELINE || o->budget || results_wants(o, "json") ||
	       given(o) == JSON;
}

int form_check_shown(const struct results_opts *o)
{
	if (o->view.histogram && !shows_histograms(o))
		return log_as(-EINVAL, "%s",
			      o->by ? "--histogram goes with --by thread, process or class"
				    : "--histogram is part of the summary: use -s or -o FILE.txt");
	if ((o->sort || o->view.per_process) && !shows_rows(o))
		return log_as(-EINVAL,
			      "%s is for the table of threads: add --table, or use bpfprof sched",
			      o->sort ? "--sort" : "-P");
	return 0;
}

const char *form_name(const struct results_opts *o)
{
	return choice_of(given(o))->output;
}

int form_check(const struct results_opts *o)
{
	return choice_of(given(o)) ? 0 : refuse_choice(given(o));
}

void form_imply(struct results_opts *o)
{
	bool none = !(given(o) & ~INTERACTIVE);

	/* A direction alone asks for what has one. */
	if (o->view.bottom_up && !(given(o) & ~(INTERACTIVE | JSON)) &&
	    (o->interactive || o->json || !o->files.nr))
		o->tree = true;
	/* So do histograms: they are in the summary. */
	if (o->view.histogram && none && !results_wants(o, "summary") && !results_wants(o, "json"))
		o->summary = true;
	/* And tables, which alone have rows. */
	if (o->view.rows && none && !o->files.nr && !o->interactive)
		o->summary = true;
}
