/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes made-up results of stat, whose numbers are known, on standard output:
 *
 *	gen_stat text|json|csv|md [KEY=VALUE]...
 *
 * KEYs: runs (5), threads (0), interval (0), time (factor of the seconds, 1), ipc (factor of the
 * instructions per cycle, 1), noise (percent between runs, of both, 1), ident (of the core), cpus.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/stat.h"
#include "tests/unit/made_stat.h"

struct wish {
	const char *key;
	double value;
};

static struct wish wishes[] = {
	{ "runs", 5 }, { "threads", 0 }, { "interval", 0 }, { "time", 1 },
	{ "ipc", 1 },  { "noise", 1 },	 { "cpus", 4 },	    { "hotspots", 0 },
};
#define NR_WISHES (sizeof(wishes) / sizeof(wishes[0]))

static double get(const char *key)
{
	for (size_t i = 0; i < NR_WISHES; i++)
		if (!strcmp(wishes[i].key, key))
			return wishes[i].value;
	abort();
}

static bool set(const char *arg)
{
	for (size_t i = 0; i < NR_WISHES; i++) {
		size_t len = strlen(wishes[i].key);

		if (strncmp(arg, wishes[i].key, len) || arg[len] != '=')
			continue;
		wishes[i].value = atof(arg + len + 1);
		return true;
	}
	return false;
}

static void renumber(struct stat_number *n, double factor, double noise_pct)
{
	double mean = n->mean * factor;
	size_t nr = n->nr_runs;

	free(n->runs);
	*n = made_number(mean, mean * noise_pct / 100, nr);
}

static void put_hotspots(struct stat_report *r, size_t nr)
{
	r->hotspots_event = xstrdup(nr > 1 ? "cycles" : "no function was sampled");
	r->hotspots = xcalloc(nr + 1, sizeof(*r->hotspots));
	for (; nr > 1 && r->nr_hotspots < nr; r->nr_hotspots++) {
		r->hotspots[r->nr_hotspots].symbol = xstrdup("std::map<int, a|b>::find");
		r->hotspots[r->nr_hotspots].module = xstrdup("libserver_core.so");
		r->hotspots[r->nr_hotspots].self_pct = 50.0 / (r->nr_hotspots + 1);
		r->hotspots[r->nr_hotspots].samples = 60 / (r->nr_hotspots + 1);
	}
}

static void put_facts(struct stat_report *r)
{
	r->facts = xcalloc(2, sizeof(*r->facts));
	r->facts[r->nr_facts++] = (struct stat_fact){ xstrdup("SMT"), xstrdup("on"),
						      xstrdup("echo off >/sys/control") };
	r->facts[r->nr_facts++] =
		(struct stat_fact){ xstrdup("ASLR"), xstrdup("off"), xstrdup("") };
}

static int write_as(const char *format, const struct stat_report *r)
{
	if (!strcmp(format, "text"))
		return stat_write_text(r, stdout);
	if (!strcmp(format, "json"))
		return stat_write_json(r, stdout);
	if (!strcmp(format, "csv"))
		return stat_write_csv(r, stdout);
	if (!strcmp(format, "md"))
		return stat_write_markdown(r, stdout);
	return -EINVAL;
}

int main(int argc, char **argv)
{
	struct stat_report r;
	char *ident = NULL;
	int err;

	for (int i = 2; i < argc; i++) {
		if (!strncmp(argv[i], "ident=", 6)) {
			ident = argv[i] + 6;
		} else if (!set(argv[i])) {
			fprintf(stderr, "gen_stat: %s?\n", argv[i]);
			return 2;
		}
	}
	r = made_report((size_t)get("runs"));
	if (ident)
		made_text(&r.core_ident, ident);
	r.nr_cpus = (uint32_t)get("cpus");
	r.interval = (uint32_t)get("interval");
	r.elapsed_s = r.interval * 1.25;
	renumber(&r.seconds, get("time"), get("noise"));
	renumber(&r.all.metrics[0].number, get("ipc"), get("noise"));
	if (get("threads"))
		made_threads(&r, (size_t)get("threads"));
	if (get("hotspots"))
		put_hotspots(&r, (size_t)get("hotspots"));
	if (get("hotspots")) {
		r.nr_samples = 120;
		put_facts(&r);
	}
	err = argc > 1 ? write_as(argv[1], &r) : -EINVAL;
	stat_report_release(&r);
	if (err)
		fprintf(stderr, "gen_stat: text, json, csv or md?\n");
	return err ? 2 : 0;
}
