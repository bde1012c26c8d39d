/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpfprof list: the events that this machine has, each one tried. */
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "cmd/cmd.h"
#include "cmd/results.h"
#include "event/catalog.h"
#include "event/pmus.h"
#include "event/trial.h"

#define WORK_NS	    500000ull	 /* of one trial */
#define ALL_WORK_NS 400000000ull /* of all together */

struct list_args {
	struct results_opts results;
};

const struct opt list_opts[] = {
	OPT_GROUP("Output"),
	FORMS_ROWS(struct list_args, results, EVENTS_EXTENSIONS),
	CSV_ROW(struct list_args, results),
	OPT_END,
};

static const char *const sources[] = {
	[EVENT_SYSFS] = "kernel's list",   [EVENT_SOFTWARE] = "software",
	[EVENT_GENERIC] = "generic",	   [EVENT_TABLE] = "our table",
	[EVENT_FIELDS] = "fields",	   [EVENT_RAW] = "raw",
	[EVENT_TRACEPOINT] = "tracepoint",
};

/* Events that were asked for, with what became of them. */
struct row {
	struct event event; /* name is ours, all else the catalog's */
	struct trial trial;
};

struct rows {
	const char *pattern; /* NULL: all */
	struct row *v;
	size_t nr, cap;
};

/* Choosing ------------------------------------------------------------------------------------- */

/* As event names compare: '-' is '_', case does not matter. */
static char *plain(const char *name)
{
	char *text = xstrdup(name);

	for (char *p = text; *p; p++)
		*p = *p == '-' ? '_' : (char)tolower((unsigned char)*p);
	return text;
}

/* A shell pattern, or a part of the name. '-' in brackets is a range: patterns stay as they are. */
static bool matches(const char *pattern, const char *name)
{
	char *word = plain(pattern), *text = plain(name);
	bool yes = strpbrk(pattern, "*?[")
			   ? !fnmatch(pattern, name, FNM_CASEFOLD) || !fnmatch(word, text, 0)
			   : !!strstr(text, word);

	free(word);
	free(text);
	return yes;
}

static void add(struct rows *rows, const struct event *e)
{
	struct row row = { .event = *e };

	row.event.name = xstrdup(e->name);
	row.event.base = row.event.name;
	rows->v = xgrow(rows->v, rows->nr, &rows->cap, sizeof(*rows->v));
	rows->v[rows->nr++] = row;
}

static void add_matching(void *arg, const struct event *e)
{
	struct rows *rows = arg;

	if (!rows->pattern || matches(rows->pattern, e->name))
		add(rows, e);
}

/* What no list has may still be an event: an alias, a raw number, fields. */
static void add_by_name(struct rows *rows, const struct catalog *c)
{
	struct event *v = NULL;
	size_t nr = 0;

	if (!rows->nr && rows->pattern && catalog_has(c, rows->pattern) &&
	    !catalog_find(c, rows->pattern, &v, &nr))
		for (size_t i = 0; i < nr; i++)
			add(rows, &v[i]);
	events_free(v, nr);
}

static void try_all(struct rows *rows, const struct catalog *c)
{
	uint64_t ns = rows->nr * WORK_NS > ALL_WORK_NS ? ALL_WORK_NS / rows->nr : WORK_NS;

	for (size_t i = 0; i < rows->nr; i++)
		rows->v[i].trial = trial_run(c, &rows->v[i].event, ns);
}

static void release(struct rows *rows)
{
	for (size_t i = 0; i < rows->nr; i++)
		free(rows->v[i].event.name);
	free(rows->v);
}

/* The report ----------------------------------------------------------------------------------- */

static void describe_machine(struct events_report *r, const struct catalog *c)
{
	const struct core *core = catalog_core(c);
	const struct pmu *pmu = catalog_core_pmu(c);
	long nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);

	*r = (struct events_report){
		.cpu = core->cpu,
		.core = core->name,
		.core_ident = core->ident,
		.pmu = pmu ? pmu->name : NULL,
		.nr_cpus = nr_cpus > 0 ? nr_cpus : 0,
		.counters = trial_counters(c),
		.branch_stack_depth = pmu ? pmu_cap(pmu, "branches", 0) : 0,
		.arm = core->vendor == CORE_ARM,
		.spe = !access("/sys/bus/event_source/devices/arm_spe_0", F_OK),
	};
}

static struct events_row describe(const struct row *row)
{
	const struct event *e = &row->event;

	return (struct events_row){
		.name = e->name,
		.pmu = e->pmu ? e->pmu->name : "kernel",
		.source = sources[e->source],
		.unit = e->unit,
		.meaning = e->meaning,
		.state = trial_key(row->trial.state),
		.state_text = trial_text(row->trial.state),
		.advertised = e->advertised,
		.per_task = e->per_task,
		.type = e->type,
		.config = e->config,
		.config1 = e->config1,
	};
}

static int write_report(struct results *results, struct events_report *r, const struct rows *rows)
{
	struct events_row *v = xcalloc(rows->nr, sizeof(*v));
	int err;

	for (size_t i = 0; i < rows->nr; i++)
		v[i] = describe(&rows->v[i]);
	r->rows = v;
	r->nr_rows = rows->nr;
	err = results_write_all(results, &(struct result){ RESULT_EVENTS, .events = r });
	free(v);
	return err;
}

/* The command ---------------------------------------------------------------------------------- */

/* The catalog says it best: mistyped, of another core, hidden. */
static enum cmd_result none(const struct catalog *c, const char *pattern, bool has_pmu)
{
	struct event *v = NULL;
	size_t nr = 0;

	if (strpbrk(pattern, "*?[") || !catalog_find(c, pattern, &v, &nr))
		log_err(0, "no event here matches '%s'%s (bpfprof list shows all)", pattern,
			has_pmu ? "" : ", and this machine shows no hardware counters");
	events_free(v, nr);
	return CMD_EMPTY;
}

static enum cmd_result show(struct results *results, const struct catalog *c, const char *pattern)
{
	struct rows rows = { .pattern = pattern };
	enum cmd_result result = CMD_OK;
	struct events_report r;

	catalog_for_each(c, add_matching, &rows);
	add_by_name(&rows, c);
	describe_machine(&r, c);
	try_all(&rows, c);
	if (!rows.nr)
		result = none(c, pattern, r.pmu != NULL);
	else if (write_report(results, &r, &rows))
		result = CMD_FAILED;
	release(&rows);
	return result;
}

static enum cmd_result run(struct list_args *a, char **words, int nr)
{
	struct results *results;
	struct catalog *c;
	enum cmd_result result = CMD_FAILED;

	if (nr > 1) {
		log_err(0, "one pattern at a time (quote it: bpfprof list 'l1d_*')");
		return CMD_USAGE;
	}
	if (results_check(&a->results))
		return CMD_USAGE;
	results = results_open(&a->results);
	if (!results)
		return errno == EINVAL ? CMD_USAGE : CMD_FAILED;
	c = catalog_open("/");
	if (c)
		result = show(results, c, nr ? words[0] : NULL);
	catalog_close(c);
	results_close(results);
	return result;
}

enum cmd_result cmd_list(const struct command *self, int argc, char **argv)
{
	enum cmd_result result = CMD_USAGE;
	struct list_args a = { .results.kind = RESULT_EVENTS };
	char **words;
	int nr, err;

	err = opt_parse("list", list_opts, argc, argv, &a, &words, &nr);
	if (err == OPT_HELP) {
		cmd_help(self);
		result = CMD_OK;
	} else if (!err) {
		result = run(&a, words, nr);
	}
	opt_release(list_opts, &a);
	return result;
}
