/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From counts to reports: what was counted, how, and of whom. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/mem.h"
#include "collect/stat_parts.h"
#include "event/cpus.h"

static char *describe_target(const struct stat_opts *o)
{
	char *text = NULL, *cpus;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	for (char **a = o->program; a && *a; a++)
		fprintf(f, "%s%s", a == o->program ? "" : " ", *a);
	for (size_t i = 0; i < o->pids.nr; i++)
		fprintf(f, "%s%u", i ? ", " : "process ", o->pids.v[i]);
	for (size_t i = 0; i < o->tids.nr; i++)
		fprintf(f, "%s%u", i ? ", " : o->pids.nr ? ", thread " : "thread ", o->tids.v[i]);
	if (o->cgroup)
		fprintf(f, "cgroup %s", o->cgroup);
	if (o->cpus.nr) {
		cpus = cpus_text(&(struct cpus){ .v = o->cpus.v, .nr = o->cpus.nr });
		fprintf(f, "%sCPU%s %s", ftell(f) ? " on " : "", o->cpus.nr == 1 ? "" : "s", cpus);
		free(cpus);
	}
	if (!ftell(f))
		fputs("system-wide", f);
	fclose(f);
	return text;
}

/* One reason for all metrics, so it is told once, with the names of their sets. */
static void note_no_hardware(const struct counting *c, struct stat_report *r)
{
	const char *sets = c->sets;
	char *note = xasprintf("this machine shows no hardware counters (a virtual machine without "
			       "a PMU?)%s%s: software events only",
			       sets ? ", so there are no metrics of " : "", sets ? sets : "");

	stat_plan_note(r, note);
	free(note);
}

static void note_how(const struct counting *c, struct stat_report *r)
{
	char note[160];

	if (!catalog_core_pmu(c->catalog))
		note_no_hardware(c, r);
	if (c->user_only)
		stat_plan_note(r, "counted in user mode only: kernel.perf_event_paranoid does not "
				  "let us count the kernel (needs CAP_PERFMON)");
	if (c->nr_bad) {
		snprintf(note, sizeof(note),
			 "%u of %zu runs of the program failed, the last one by %s %d", c->nr_bad,
			 c->nr_runs, WIFSIGNALED(c->bad_status) ? "signal" : "exit status",
			 WIFSIGNALED(c->bad_status) ? WTERMSIG(c->bad_status)
						    : WEXITSTATUS(c->bad_status));
		stat_plan_note(r, note);
	}
	if (c->cut) {
		snprintf(note, sizeof(note), "ended early: %zu of %u runs", c->nr_runs,
			 c->opts->repeats);
		stat_plan_note(r, note);
	}
	if (c->missed_threads) {
		snprintf(note, sizeof(note),
			 "%u threads began while counters were being opened: some may be missing",
			 c->missed_threads);
		stat_plan_note(r, note);
	}
}

static struct stat_report *new_report(const struct counting *c)
{
	struct stat_report *r = xcalloc(1, sizeof(*r));

	stat_plan_describe(&c->stat_plan, r);
	r->command = xstrdup(c->opts->command_line);
	r->target = describe_target(c->opts);
	r->counters = c->budget;
	r->failed_runs = c->nr_bad;
	r->by = c->opts->by;
	r->start_real_ns = c->begin_real_ns;
	note_how(c, r);
	return r;
}

static bool hand_out(struct counting *c, struct stat_report *r)
{
	bool more = c->opts->on_report(c->opts->arg, r);

	stat_report_release(r);
	free(r);
	return more;
}

static void set_seconds(struct stat_report *r, const double *seconds, size_t nr)
{
	r->seconds.runs = xcalloc(nr, sizeof(double));
	r->seconds.nr_runs = nr;
	memcpy(r->seconds.runs, seconds, nr * sizeof(double));
	stat_number_finish(&r->seconds);
}

void stat_report_runs(struct counting *c)
{
	struct stat_plan_runs runs = { c->counts, c->seconds, c->nr_runs };
	struct stat_report *r = new_report(c);

	set_seconds(r, c->seconds, c->nr_runs);
	stat_plan_fill(&c->stat_plan, &runs, &r->all);
	if (c->breakdown)
		c->err = breakdown_fill(c->breakdown, r, c->seconds[0], true);
	if (c->opts->hotspots)
		hotspots_finish(&c->hotspots, r);
	hand_out(c, r);
}

/* What was counted since the last tick. */
void stat_report_interval(struct counting *c)
{
	size_t nr = c->stat_plan.nr_events;
	struct count *counts = xcalloc(nr ? nr : 1, sizeof(*counts));
	uint64_t now = now_ns();
	double seconds = (now - c->tick_ns) / 1e9;
	struct stat_plan_runs runs = { counts, &seconds, 1 };
	struct stat_report *r = new_report(c);
	struct counter_value *swap = c->before;

	counters_read(c->counters, c->now);
	for (size_t i = 0; i < nr; i++)
		counts[i] = counters_count(c->counters, i, c->now, c->before);
	c->before = c->now;
	c->now = swap;
	c->tick_ns = now;
	r->interval = ++c->interval;
	r->elapsed_s = (now - c->begin_ns) / 1e9;
	set_seconds(r, &seconds, 1);
	stat_plan_fill(&c->stat_plan, &runs, &r->all);
	if (c->breakdown)
		c->err = breakdown_fill(c->breakdown, r, seconds, c->ended);
	free(counts);
	if (!hand_out(c, r))
		c->stopped = true;
}
