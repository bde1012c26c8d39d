/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Facts from the kernel's files: which mean what, and how to make them quiet, are rows. */
#include "collect/stability.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "event/cpus.h"

#define CPU_DIR "sys/devices/system/cpu/"

/* One number in a file. Of rows of one name the first counts whose file there is. */
static const struct setting {
	const char *name, *path;
	const char *words[3]; /* by value */
	unsigned int quiet;   /* value, with which it moves nothing */
	const char *advice;
} settings[] = {
	{ "Turbo",
	  CPU_DIR "intel_pstate/no_turbo",
	  { "on", "off" },
	  1,
	  "echo 1 >/" CPU_DIR "intel_pstate/no_turbo" },
	{ "Turbo",
	  CPU_DIR "cpufreq/boost",
	  { "off", "on" },
	  0,
	  "echo 0 >/" CPU_DIR "cpufreq/boost" },
	{ "Turbo", "", { NULL }, 0, "" },
	{ "SMT", CPU_DIR "smt/active", { "off", "on" }, 0, "echo off >/" CPU_DIR "smt/control" },
	{ "SMT", "", { NULL }, 0, "" },
	{ "ASLR",
	  "proc/sys/kernel/randomize_va_space",
	  { "off", "on, without the heap", "on" },
	  0,
	  "setarch -R PROGRAM" },
	{ "NMI watchdog",
	  "proc/sys/kernel/nmi_watchdog",
	  { "off", "on (takes a counter of each CPU)" },
	  0,
	  "sysctl kernel.nmi_watchdog=0" },
	{ "NMI watchdog", "", { NULL }, 0, "" },
};

/* Takes value over. */
static void add(struct stat_report *r, const char *name, char *value, const char *advice)
{
	r->facts = xreallocarray(r->facts, r->nr_facts + 1, sizeof(*r->facts));
	r->facts[r->nr_facts++] = (struct stat_fact){ xstrdup(name), value, xstrdup(advice) };
}

/* The first word of a file. */
static bool read_word(const char *root, const char *path, char to[64])
{
	char *full = xasprintf("%s/%s", root, path);
	FILE *f = fopen(full, "re");
	bool ok = f && fscanf(f, "%63s", to) == 1;

	if (f)
		fclose(f);
	free(full);
	return ok;
}

/* The governor of all CPUs that have one: its name, or how many have which. */
struct governors {
	struct {
		char name[64];
		size_t nr;
	} v[8];
	size_t nr;
};

static void count_governor(struct governors *g, const char *name)
{
	size_t i = 0;

	while (i < g->nr && strcmp(g->v[i].name, name) != 0)
		i++;
	if (i == sizeof(g->v) / sizeof(*g->v))
		return;
	if (i == g->nr)
		snprintf(g->v[g->nr++].name, sizeof(g->v[0].name), "%s", name);
	g->v[i].nr++;
}

static void read_governor(struct stat_report *r, const char *root)
{
	struct governors g = {};
	char path[128], word[64], *text = NULL, *longer;
	uint32_t nr = cpus_possible();

	for (uint32_t i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), CPU_DIR "cpu%u/cpufreq/scaling_governor", i);
		if (read_word(root, path, word))
			count_governor(&g, word);
	}
	if (!g.nr) {
		add(r, "Governor", xstrdup("none to be seen: the machine decides"), "");
		return;
	}
	for (size_t i = 0; i < g.nr; i++) {
		longer = g.nr == 1 ? xstrdup(g.v[i].name)
				   : xasprintf("%s%s%s of %zu CPUs", text ? text : "",
					       text ? ", " : "", g.v[i].name, g.v[i].nr);
		free(text);
		text = longer;
	}
	add(r, "Governor", text,
	    g.nr == 1 && !strcmp(g.v[0].name, "performance")
		    ? ""
		    : "cpupower frequency-set -g performance");
}

static void read_settings(struct stat_report *r, const char *root)
{
	const struct setting *s = settings, *end = s + sizeof(settings) / sizeof(*settings);
	const char *done = "";
	unsigned long value;
	char word[64];

	for (; s < end; s++) {
		if (!strcmp(done, s->name) || (*s->path && !read_word(root, s->path, word)))
			continue;
		done = s->name;
		value = *s->path ? strtoul(word, NULL, 10) : 3;
		if (value > 2 || !s->words[value])
			add(r, s->name, xstrdup("not to be seen here"), "");
		else
			add(r, s->name, xstrdup(s->words[value]),
			    value == s->quiet ? "" : s->advice);
	}
}

void stability_read(struct stat_report *r, const char *root)
{
	char word[64];

	read_governor(r, root);
	read_settings(r, root);
	if (read_word(root, "proc/sys/kernel/perf_event_paranoid", word))
		add(r, "kernel.perf_event_paranoid", xstrdup(word), "");
	if (read_word(root, "proc/loadavg", word))
		add(r, "Load average", xasprintf("%s (1 minute, with what is counted)", word), "");
}

void stability_read_pinning(struct stat_report *r, pid_t pid)
{
	struct cpus online = {}, may = {};
	cpu_set_t set;
	char *text;

	if (!cpus_online(&online) && !sched_getaffinity(pid, sizeof(set), &set)) {
		may.v = xcalloc(online.nr + 1, sizeof(*may.v));
		for (size_t i = 0; i < online.nr; i++)
			if (online.v[i] < CPU_SETSIZE && CPU_ISSET(online.v[i], &set))
				may.v[may.nr++] = online.v[i];
		text = cpus_text(&may);
		add(r, "Pinning",
		    may.nr < online.nr
			    ? xasprintf("to CPU%s %s", may.nr == 1 ? "" : "s", text)
			    : xasprintf("none: may run on CPU%s %s", may.nr == 1 ? "" : "s", text),
		    may.nr < online.nr || online.nr == 1 ? "" : "taskset -c 1 PROGRAM");
		free(text);
	}
	free(may.v);
	cpus_release(&online);
}
