/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From counts to reports: what was counted, how, and of whom. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/mem.h"
#include "collect/stability.h"
#include "collect/stat_parts.h"
#include "event/cpus.h"

static void put_program(const struct stat_opts *o, FILE *f)
{
	for (char **a = o->program; *a; a++)
		fprintf(f, "%s%s", a == o->program ? "" : " ", *a);
}

static char *describe_target(const struct stat_opts *o)
{
	char *text = NULL, *cpus;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (stat_counts_program(o))
		put_program(o, f);
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
		fputs("the whole machine", f);
	if (o->program && !stat_counts_program(o)) {
		fputs(" while this ran: ", f);
		put_program(o, f);
	}
	fclose(f);
	return text;
}

/* Takes value over. */
static void select_by(struct stat_report *r, const char *option, char *value)
{
	r->selection = xreallocarray(r->selection, r->nr_selection + 2, sizeof(*r->selection));
	r->selection[r->nr_selection++] = xstrdup(option);
	if (value)
		r->selection[r->nr_selection++] = value;
}

static void select_ids(struct stat_report *r, const char *option, const struct opt_ids *ids)
{
	char *text = NULL, *longer;

	for (size_t i = 0; i < ids->nr; i++) {
		longer = xasprintf("%s%s%u", text ? text : "", text ? "," : "", ids->v[i]);
		free(text);
		text = longer;
	}
	if (text)
		select_by(r, option, text);
}

static void describe_selection(const struct stat_opts *o, struct stat_report *r)
{
	select_ids(r, "-p", &o->pids);
	select_ids(r, "-t", &o->tids);
	select_ids(r, "-C", &o->cpus);
	if (o->cgroup)
		select_by(r, "--cgroup", xstrdup(o->cgroup));
	if (o->all_cpus)
		select_by(r, "-a", NULL);
	r->program = o->program != NULL;
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
	if (c->opts->peaks_note)
		stat_plan_note(r, c->opts->peaks_note);
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
	describe_selection(c->opts, r);
	r->counters = c->budget;
	r->failed_runs = c->nr_bad;
	r->by = c->opts->by;
	r->nr_named = c->opts->events || !c->sets ? c->stat_plan.nr_named : 0;
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

static void add_time(const struct counting *c, struct stat_row *all, const char *name,
		     const char *meaning, bool user)
{
	struct stat_event *e;

	all->events = xreallocarray(all->events, all->nr_events + 1, sizeof(*all->events));
	e = &all->events[all->nr_events++];
	*e = (struct stat_event){ .name = xstrdup(name),
				  .unit = xstrdup("ns"),
				  .meaning = xstrdup(meaning),
				  .why = xstrdup("") };
	e->number.runs = xcalloc(c->nr_runs, sizeof(double));
	e->number.nr_runs = c->nr_runs;
	for (size_t i = 0; i < c->nr_runs; i++) {
		e->number.runs[i] = user ? c->cpu_times[i].user_ns : c->cpu_times[i].system_ns;
		e->count.value += e->number.runs[i];
	}
	e->count.raw = (uint64_t)e->count.value;
	stat_number_finish(&e->number);
}

/* Behind what was counted, where there is any: alone it would be no result. */
static void add_times(const struct counting *c, struct stat_row *all)
{
	bool any = false;

	for (size_t i = 0; i < all->nr_events; i++)
		any |= count_is_there(&all->events[i].count);
	for (size_t i = 0; i < c->nr_runs; i++)
		any &= !isnan(c->cpu_times[i].user_ns);
	/* Rows have no such times, and all of theirs add up. */
	if (!any || c->opts->by != STAT_BY_ALL)
		return;
	add_time(c, all, "user-time", "in user mode, with children that have ended", true);
	add_time(c, all, "system-time", "in the kernel, likewise", false);
}

/* Who is counted: one process, or the program; else there is nobody to ask about. */
static void add_facts(const struct counting *c, struct stat_report *r)
{
	const struct stat_opts *o = c->opts;
	bool program = stat_counts_program(o), process = o->pids.nr == 1;
	char path[64];

	stability_read(r, "/");
	if (program || process)
		stability_read_pinning(r, process ? (pid_t)o->pids.v[0] : 0);
	if (!o->hotspots || !(program || process))
		return;
	snprintf(path, sizeof(path), "/proc/%u/exe", process ? o->pids.v[0] : 0);
	stability_read_build(r, program ? o->program[0] : path);
}

void stat_report_runs(struct counting *c)
{
	struct stat_plan_runs runs = { c->counts, c->seconds, c->nr_runs };
	struct stat_report *r = new_report(c);

	set_seconds(r, c->seconds, c->nr_runs);
	stat_plan_fill(&c->stat_plan, &runs, &r->all);
	add_times(c, &r->all);
	add_facts(c, r);
	if (c->breakdown)
		c->err = breakdown_fill(c->breakdown, r, c->seconds[0], true);
	if (c->opts->by == STAT_BY_CPU)
		stat_cpus_fill(c, r, c->seconds[0]);
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

	counters_read(c->counters, -1, c->now);
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
	if (c->opts->by == STAT_BY_CPU) {
		stat_cpus_read(c);
		stat_cpus_fill(c, r, seconds);
	}
	free(counts);
	if (!hand_out(c, r))
		c->stopped = true;
}
