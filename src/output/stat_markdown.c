/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A report to hand on, in Markdown. Each section is made from the rows that are there; what is not
 * there is said at the end with its reason. stat_advice.c has the sections of what to do.
 */
#include "output/stat_markdown.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/text.h"
#include "metric/ratio.h"
#include "output/figures.h"
#include "output/markup.h"
#include "output/stat.h"

bool markdown_is_plain(const char *s)
{
	return *s && !s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				  "_-.,:=/@%+")];
}

void markdown_code(const char *before, const char *s, FILE *out)
{
	if (markdown_is_plain(s)) {
		fprintf(out, "`%s%s`", before, s);
		return;
	}
	markdown_put(before, out);
	markdown_put(s, out);
}

static void put_fact(const char *what, const char *value, FILE *out)
{
	if (!value || !*value)
		return;
	fputs("| ", out);
	markdown_put(what, out);
	fputs(" | ", out);
	markdown_put(value, out);
	fputs(" |\n", out);
}

/* "1.23 s", "5 runs, 1.23 s each (+- 0.42%)". */
static void put_duration(const struct stat_report *r, FILE *out)
{
	char text[128];

	if (isnan(r->seconds.mean))
		return;
	if (stat_number_nr(&r->seconds) > 1)
		snprintf(text, sizeof(text), "%zu runs, %s each (%s)", stat_number_nr(&r->seconds),
			 figure_seconds(r->seconds.mean), figure_error(&r->seconds));
	else
		snprintf(text, sizeof(text), "%s", figure_seconds(r->seconds.mean));
	put_fact("Measured for", text, out);
}

/* What can be made quiet, and what to type for it. */
static void put_restless(const struct stat_report *r, FILE *out)
{
	bool any = false;

	for (size_t i = 0; i < r->nr_facts; i++) {
		const struct stat_fact *f = &r->facts[i];

		if (!*f->advice)
			continue;
		fputs(any ? ""
			  : "\nWhat moves numbers from run to run here, and what stops it:\n\n",
		      out);
		any = true;
		fputs("- ", out);
		markdown_put(f->name, out);
		fputs(" ", out);
		markdown_put(f->value, out);
		fputs(": ", out);
		markdown_put(f->advice, out);
		fputs("\n", out);
	}
}

static void put_environment(const struct stat_report *r, FILE *out)
{
	time_t start = (time_t)(r->start_real_ns / 1000000000);
	char text[64];
	struct tm tm;

	fputs("# bpfprof stat\n\n## Environment and stability\n\n| | |\n|---|---|\n", out);
	put_fact("Target", r->target, out);
	put_fact("Command", r->command, out);
	put_duration(r, out);
	if (r->start_real_ns && gmtime_r(&start, &tm) &&
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm))
		put_fact("Started", text, out);
	put_fact("CPU", r->cpu, out);
	put_fact("Core", r->core_ident, out);
	snprintf(text, sizeof(text), "%" PRIu32, r->nr_cpus);
	put_fact("CPUs", text, out);
	snprintf(text, sizeof(text), "%" PRIu32 " programmable", r->counters);
	if (r->counters)
		put_fact("Free counters", text, out);
	put_fact("Kernel", r->kernel, out);
	put_fact("Architecture", r->arch, out);
	put_fact("Host", r->host, out);
	put_fact("bpfprof", r->version, out);
	for (size_t i = 0; i < r->nr_facts; i++)
		put_fact(r->facts[i].name, r->facts[i].value, out);
	put_restless(r, out);
}

static bool is_of(const struct stat_metric *m, const char *set)
{
	return !strcmp(m->set, set);
}

static bool has_set(const struct stat_report *r, const char *set)
{
	for (size_t i = 0; i < r->all.nr_metrics; i++)
		if (is_of(&r->all.metrics[i], set))
			return true;
	return false;
}

void markdown_value(const struct stat_metric *m, FILE *out)
{
	markdown_put(figure_value(m->number.mean, m->unit), out);
	if (!isnan(m->number.mean) && *figure_error(&m->number))
		fprintf(out, " (%s)", figure_error(&m->number));
}

void markdown_assessment(const struct stat_metric *m, FILE *out)
{
	char threshold[256];

	figure_threshold(m, threshold, sizeof(threshold));
	markdown_put(*metric_verdict_key(m->verdict) ? metric_verdict_key(m->verdict) : "-", out);
	if (*threshold) {
		fputs(", ", out);
		markdown_put(threshold, out);
	}
	if (!isnan(m->number.mean) && *m->why) {
		fputs("; ", out);
		markdown_put(m->why, out);
	}
}

/* NULL: the note is of something else. */
static const char *sets_without(const char *note)
{
	return strstr(note, "no metrics of ");
}

/* Why there are no metrics of a set: the note that says so names it. NULL: nobody asked for it. */
static const char *why_without(const struct stat_report *r, const char *set)
{
	const char *list;

	for (size_t i = 0; i < r->nr_notes; i++) {
		list = sets_without(r->notes[i]);
		if (list && strstr(list, set))
			return r->notes[i];
	}
	return NULL;
}

/* A section that has nothing to show says why. */
static void put_without(const struct stat_report *r, const char *set, const char *title, FILE *out)
{
	const char *why = why_without(r, set);

	if (!why)
		return;
	fprintf(out, "\n## %s\n\nNot measured: ", title);
	markdown_put(why, out);
	fputs(".\n", out);
}

/* Sets without a form of their own. */
static void put_set(const struct stat_report *r, const char *set, const char *title, FILE *out)
{
	if (!has_set(r, set)) {
		put_without(r, set, title, out);
		return;
	}
	fputs("\n## ", out);
	markdown_put(title, out);
	fputs("\n\n| Metric | Value | Assessment | From |\n|---|---:|---|---|\n", out);
	for (size_t i = 0; i < r->all.nr_metrics; i++) {
		const struct stat_metric *m = &r->all.metrics[i];

		if (!is_of(m, set))
			continue;
		fputs("| ", out);
		markdown_put(m->label, out);
		fputs(" | ", out);
		markdown_value(m, out);
		fputs(" | ", out);
		markdown_assessment(m, out);
		fputs(" | ", out);
		markdown_put(m->inputs, out);
		fputs(" |\n", out);
	}
}

static void put_count(double x, FILE *out)
{
	fputs(isnan(x) ? "-" : figure_count(x), out);
}

/* Caches and TLBs, level by level. */
static void put_levels(const struct stat_report *r, const char *set, const char *title, FILE *out)
{
	struct ratio ratio;

	if (!has_set(r, set)) {
		put_without(r, set, title, out);
		return;
	}
	fprintf(out,
		"\n## %s\n\n| Level | Accesses | Misses | Rate | Assessment |\n"
		"|---|---:|---:|---:|---|\n",
		title);
	for (size_t i = 0; i < r->all.nr_metrics; i++) {
		const struct stat_metric *m = &r->all.metrics[i];

		if (!is_of(m, set))
			continue;
		ratio = ratio_of(&r->all, m);
		fputs("| ", out);
		markdown_put(m->label, out);
		fputs(" | ", out);
		put_count(ratio.accesses, out);
		fputs(" | ", out);
		put_count(ratio.misses, out);
		fputs(" | ", out);
		markdown_value(m, out);
		fputs(" | ", out);
		markdown_assessment(m, out);
		fputs(" |\n", out);
	}
}

/* Those that have no place of their own, in the order in which they come. */
static void put_other_sets(const struct stat_report *r, FILE *out)
{
	static const char *const placed[] = { "topdown", "cache", "tlb", "branch" };

	for (size_t i = 0; i < r->all.nr_metrics; i++) {
		const char *set = r->all.metrics[i].set;
		bool done = false;

		for (size_t j = 0; j < sizeof(placed) / sizeof(*placed); j++)
			done = done || !strcmp(set, placed[j]);
		for (size_t j = 0; j < i; j++)
			done = done || is_of(&r->all.metrics[j], set);
		if (!done)
			put_set(r, set, set, out);
	}
}

/*
 * How far a share of so few samples may be off, in points, with 95 % confidence (Wilson); *least is
 * its lower end.
 */
static double doubt_of(double pct, uint64_t samples, double *least)
{
	const double z = 1.96;
	double n = samples, p = pct / 100, middle, half;

	if (!samples) {
		*least = 0;
		return NAN;
	}
	middle = (p + z * z / (2 * n)) / (1 + z * z / n);
	half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n);
	*least = 100 * (middle - half);
	return 100 * half;
}

/* What the whole waits for is what a function waits for that is most of it. */
static void put_cause(const struct stat_report *r, const struct stat_hotspot *h, double least,
		      FILE *out)
{
	const char *does = stat_function_does(h->symbol), *words;
	const struct stat_metric *m, *evidence;
	size_t i = 0;

	if (does)
		fprintf(out, "%s (by its name)", does);
	else if (least >= 50 && stat_diagnoses(&r->all, &i, &m, &evidence, &words))
		fprintf(out, "%s (by the whole: see Root cause)", words);
	else
		fputs("-", out);
}

static void put_hotspot(const struct stat_report *r, size_t i, FILE *out)
{
	const struct stat_hotspot *h = &r->hotspots[i];
	double least, doubt = doubt_of(h->self_pct, r->nr_samples, &least);

	fprintf(out, "| %zu | ", i + 1);
	markdown_put(h->symbol, out);
	fprintf(out, " | %s", text_pct(h->self_pct));
	if (doubt >= 1)
		fprintf(out, " ± %.0f", doubt);
	fputs(" | ", out);
	fputs(r->nr_samples ? figure_count((double)h->samples) : "-", out);
	fputs(" | ", out);
	markdown_put(h->module, out);
	fputs(" | ", out);
	put_cause(r, h, least, out);
	fputs(" |\n", out);
}

static void put_hotspots(const struct stat_report *r, FILE *out)
{
	if (!r->hotspots_event)
		return;
	fputs("\n## Hot functions\n\n", out);
	if (!r->nr_hotspots) {
		fputs("None: ", out);
		markdown_put(r->hotspots_event, out);
		fputs(".\n", out);
		return;
	}
	fputs("By samples of ", out);
	markdown_code("", r->hotspots_event, out);
	if (r->nr_samples)
		fprintf(out, ", %s in all", figure_count((double)r->nr_samples));
	fputs(".\n\n| Rank | Symbol | Self | Samples | Module | Likely cause |\n"
	      "|---:|---|---:|---:|---|---|\n",
	      out);
	for (size_t i = 0; i < r->nr_hotspots; i++)
		put_hotspot(r, i, out);
	fputs("\nA cause is told by the name of a function, or by the counts of the whole where at "
	      "least half of the samples are in it; `bpfprof annotate` shows its lines.\n",
	      out);
}

static void put_missing(const char *name, const char *why, FILE *out)
{
	fputs("- ", out);
	markdown_put(name, out);
	if (*why) {
		fputs(": ", out);
		markdown_put(why, out);
	}
	fputs("\n", out);
}

static void put_limits(const struct stat_report *r, FILE *out)
{
	bool any = false;

	for (size_t i = 0; i < r->nr_notes; i++) {
		if (sets_without(r->notes[i]))
			continue;
		if (!any)
			fputs("\nHow it was measured, and what limits it:\n\n", out);
		any = true;
		put_missing(r->notes[i], "", out);
	}
}

static void put_unmeasured(const struct stat_report *r, FILE *out)
{
	bool any = false;

	fputs("\n## What could not be measured\n\n", out);
	for (size_t i = 0; i < r->all.nr_metrics; i++) {
		const struct stat_metric *m = &r->all.metrics[i];

		if (!isnan(m->number.mean))
			continue;
		put_missing(m->label, m->why, out);
		any = true;
	}
	for (size_t i = 0; i < r->all.nr_events; i++) {
		const struct stat_event *e = &r->all.events[i];

		if (count_is_there(&e->count))
			continue;
		put_missing(e->name, *e->why ? e->why : figure_state(e->count.state), out);
		any = true;
	}
	for (size_t i = 0; i < r->nr_notes; i++)
		if (sets_without(r->notes[i])) {
			put_missing(r->notes[i], "", out);
			any = true;
		}
	if (!any && !r->all.nr_metrics && !r->all.nr_events)
		fputs("Nothing was counted.\n", out);
	else if (!any)
		fputs("All that is listed above has a value.\n", out);
	put_limits(r, out);
}

int stat_write_markdown(const struct stat_report *r, FILE *out)
{
	put_environment(r, out);
	put_set(r, "topdown", "Topdown", out);
	put_levels(r, "cache", "Cache hierarchy", out);
	put_levels(r, "tlb", "TLBs", out);
	put_set(r, "branch", "Branches", out);
	put_other_sets(r, out);
	put_hotspots(r, out);
	stat_markdown_advice(r, out);
	put_unmeasured(r, out);
	return 0;
}
