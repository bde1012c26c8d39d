/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpfprof list: the events that this machine has, each one tried. */
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "event/catalog.h"
#include "event/pmus.h"
#include "event/trial.h"
#include "output/json_put.h"

#define WORK_NS	    500000ull	 /* of one trial */
#define ALL_WORK_NS 400000000ull /* of all together */
#define STATE_WIDTH 17

struct list_args {
	bool json;
};

const struct opt list_opts[] = {
	OPT_GROUP("Output"),
	OPT_FLAG(0, "json", struct list_args, json, "as JSON"),
	OPT_END,
};

static const char *const sources[] = {
	[EVENT_SYSFS] = "kernel's list", [EVENT_SOFTWARE] = "software", [EVENT_GENERIC] = "generic",
	[EVENT_TABLE] = "our table",	 [EVENT_FIELDS] = "fields",	[EVENT_RAW] = "raw",
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

/* The machine ---------------------------------------------------------------------------------- */

struct host {
	const struct core *core;
	const struct pmu *pmu; /* NULL: none */
	long nr_cpus;
	unsigned int counters;
	uint64_t branches; /* depth of branch stacks, 0 = none */
	bool spe;
};

static void look(struct host *h, const struct catalog *c)
{
	*h = (struct host){
		.core = catalog_core(c),
		.pmu = catalog_core_pmu(c),
		.nr_cpus = sysconf(_SC_NPROCESSORS_ONLN),
		.counters = trial_counters(c),
		.spe = !access("/sys/bus/event_source/devices/arm_spe_0", F_OK),
	};
	if (h->pmu)
		h->branches = pmu_cap(h->pmu, "branches", 0);
}

static void print_host(const struct host *h)
{
	bool same = !strcmp(h->core->cpu, h->core->name);

	printf("CPU: %s%s%s, %ld online (%s)\n", h->core->cpu, same ? "" : ", ",
	       same ? "" : h->core->name, h->nr_cpus, h->core->ident);
	if (!h->pmu)
		puts("PMU: none. This machine shows no hardware counters (virtual machines often "
		     "do not): cycles,\n     instructions, caches, TLBs and branches cannot be "
		     "counted; software events can.");
	else if (h->counters)
		printf("PMU: %s, %u counters free for any event%s\n", h->pmu->name, h->counters,
		       h->core->vendor == CORE_ARM ? ", and one for cycles" : "");
	else
		printf("PMU: %s; how many counters it has could not be asked\n", h->pmu->name);
}

static void print_rest(const struct host *h)
{
	if (h->branches)
		printf("Branch stacks: %llu deep.\n", (unsigned long long)h->branches);
	else
		puts("Branch stacks: none.");
	if (h->core->vendor == CORE_ARM)
		puts(h->spe ? "SPE: arm_spe_0 is there; its trace is not read."
			    : "SPE: none; of cloud machines only whole ones (metal) have it.");
}

/* Tables --------------------------------------------------------------------------------------- */

static size_t widest(const struct rows *rows, const char *(*f)(const struct row *row), size_t least)
{
	size_t width = least;

	for (size_t i = 0; i < rows->nr; i++)
		if (text_width(f(&rows->v[i])) > width)
			width = text_width(f(&rows->v[i]));
	return width;
}

static const char *name_of(const struct row *row)
{
	return row->event.name;
}

static const char *pmu_of(const struct row *row)
{
	return row->event.pmu ? row->event.pmu->name : "kernel";
}

static void print_cell(const char *text, size_t width)
{
	text_fit(stdout, text, width, 1);
	fputs("  ", stdout);
}

static void print_rows(const struct rows *rows)
{
	size_t names = widest(rows, name_of, 4), pmus = widest(rows, pmu_of, 3);
	char *meaning;

	printf("\n%-*s  %-*s  %-13s  %-*s  %s\n", (int)names, "NAME", (int)pmus, "PMU", "SOURCE",
	       STATE_WIDTH, "STATE", "MEANING");
	for (size_t i = 0; i < rows->nr; i++) {
		print_cell(name_of(&rows->v[i]), names);
		print_cell(pmu_of(&rows->v[i]), pmus);
		print_cell(sources[rows->v[i].event.source], 13);
		meaning = text_cleaned(rows->v[i].event.meaning);
		text_fit(stdout, trial_text(rows->v[i].trial.state), STATE_WIDTH, !!*meaning);
		printf("%s%s\n", *meaning ? "  " : "", meaning);
		free(meaning);
	}
	putchar('\n');
}

static struct json_object *row_json(const struct row *row)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "name", json_text(row->event.name));
	json_object_object_add(o, "pmu", json_text(pmu_of(row)));
	json_object_object_add(o, "source", json_text(sources[row->event.source]));
	json_object_object_add(o, "state", json_text(trial_key(row->trial.state)));
	json_object_object_add(o, "advertised", json_object_new_boolean(row->event.advertised));
	json_object_object_add(o, "per_task", json_object_new_boolean(row->event.per_task));
	json_put_count(o, "type", row->event.type);
	json_put_count(o, "config", row->event.config);
	json_put_count(o, "config1", row->event.config1);
	json_object_object_add(o, "unit", json_text(row->event.unit));
	json_object_object_add(o, "meaning", json_text(row->event.meaning));
	return o;
}

static void print_json(const struct host *h, const struct rows *rows)
{
	struct json_object *o = json_object_new_object(), *events = json_object_new_array();

	json_object_object_add(o, "cpu", json_text(h->core->cpu));
	json_object_object_add(o, "core", json_text(h->core->name));
	json_object_object_add(o, "core_ident", json_text(h->core->ident));
	json_put_count(o, "cpus", h->nr_cpus > 0 ? h->nr_cpus : 0);
	json_object_object_add(o, "pmu", h->pmu ? json_text(h->pmu->name) : NULL);
	json_put_count(o, "counters", h->counters);
	json_put_count(o, "branch_stack_depth", h->branches);
	json_object_object_add(o, "spe", json_object_new_boolean(h->spe));
	for (size_t i = 0; i < rows->nr; i++)
		json_object_array_add(events, row_json(&rows->v[i]));
	json_object_object_add(o, "events", events);
	json_print(o, true, stdout);
}

/* The command ---------------------------------------------------------------------------------- */

static enum cmd_result show(const struct list_args *a, const struct catalog *c, const char *pattern)
{
	struct rows rows = { .pattern = pattern };
	enum cmd_result result = CMD_OK;
	struct event *v = NULL;
	struct host host;
	size_t nr = 0;

	catalog_for_each(c, add_matching, &rows);
	add_by_name(&rows, c);
	look(&host, c);
	try_all(&rows, c);
	if (!rows.nr) {
		/* The catalog says it best: mistyped, of another core, hidden. */
		if (strpbrk(pattern, "*?[") || !catalog_find(c, pattern, &v, &nr))
			log_err(0, "no event here matches '%s'%s (bpfprof list shows all)", pattern,
				host.pmu ? "" : ", and this machine shows no hardware counters");
		result = CMD_EMPTY;
	} else if (a->json) {
		print_json(&host, &rows);
	} else {
		print_host(&host);
		print_rows(&rows);
		print_rest(&host);
	}
	events_free(v, nr);
	release(&rows);
	return result;
}

static enum cmd_result run(const struct list_args *a, char **words, int nr)
{
	struct catalog *c;
	enum cmd_result result;

	if (nr > 1) {
		log_err(0, "one pattern at a time (quote it: bpfprof list 'l1d_*')");
		return CMD_USAGE;
	}
	c = catalog_open("/");
	if (!c)
		return CMD_FAILED;
	result = show(a, c, nr ? words[0] : NULL);
	catalog_close(c);
	return result;
}

enum cmd_result cmd_list(const struct command *self, int argc, char **argv)
{
	enum cmd_result result = CMD_USAGE;
	struct list_args a = {};
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
