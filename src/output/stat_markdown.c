/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A report to hand on, in Markdown. Each section is made from the rows that are there; what is not
 * there is said at the end with its reason. Advice comes from the rows of metrics alone.
 */
#include "output/stat.h"

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

/* Does a shell take it as it is? */
static bool is_plain(const char *s)
{
	return *s && !s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				  "_-.,:=/@%+")];
}

/* As code where it can be: names of events. */
static void put_code(const char *before, const char *s, FILE *out)
{
	if (is_plain(s)) {
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
	fprintf(out, "| %s | ", what);
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

static void put_environment(const struct stat_report *r, FILE *out)
{
	time_t start = (time_t)(r->start_real_ns / 1000000000);
	char text[64];
	struct tm tm;

	fputs("# bpfprof stat\n\n## Environment\n\n| | |\n|---|---|\n", out);
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

static void put_value(const struct stat_metric *m, FILE *out)
{
	markdown_put(figure_value(m->number.mean, m->unit), out);
	if (!isnan(m->number.mean) && *figure_error(&m->number))
		fprintf(out, " (%s)", figure_error(&m->number));
}

/* "investigate, above 20 % (bpfprof-stat(8))"; "-" where nothing was judged. */
static void put_assessment(const struct stat_metric *m, FILE *out)
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

/* Sets without a form of their own. */
static void put_set(const struct stat_report *r, const char *set, const char *title, FILE *out)
{
	if (!has_set(r, set))
		return;
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
		put_value(m, out);
		fputs(" | ", out);
		put_assessment(m, out);
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

	if (!has_set(r, set))
		return;
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
		put_value(m, out);
		fputs(" | ", out);
		put_assessment(m, out);
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
	put_code("", r->hotspots_event, out);
	fputs(".\n\n| Rank | Symbol | Self | Module |\n|---:|---|---:|---|\n", out);
	for (size_t i = 0; i < r->nr_hotspots; i++) {
		fprintf(out, "| %zu | ", i + 1);
		markdown_put(r->hotspots[i].symbol, out);
		fprintf(out, " | %s | ", text_pct(r->hotspots[i].self_pct));
		markdown_put(r->hotspots[i].module, out);
		fputs(" |\n", out);
	}
}

/* How far past its threshold, as a factor; 1 at it. */
static double excess(const struct stat_metric *m)
{
	bool beyond = m->verdict == METRIC_INVESTIGATE && !isnan(m->high);
	double past = beyond ? m->high : m->ok, value = m->number.mean;

	if (isnan(past) || isnan(value))
		return 1;
	if (m->ok > m->high)
		return value > 0 ? past / value : INFINITY;
	return past > 0 ? value / past : INFINITY;
}

static int worst_first(const void *pa, const void *pb)
{
	const struct stat_metric *a = *(const struct stat_metric *const *)pa;
	const struct stat_metric *b = *(const struct stat_metric *const *)pb;

	if (a->verdict != b->verdict)
		return a->verdict > b->verdict ? -1 : 1;
	if (excess(a) != excess(b))
		return excess(a) > excess(b) ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* Past a threshold, and not a second row of the same metric. */
static bool needs_work(const struct stat_report *r, const struct stat_metric *m)
{
	return (m->verdict == METRIC_INVESTIGATE || m->verdict == METRIC_WATCH) &&
	       stat_row_metric(&r->all, m->name) == m;
}

/* What was counted, for a command line: " -p 123 10", " -- PROGRAM ARGS". */
static void put_target(const struct stat_report *r, FILE *out)
{
	for (size_t i = 0; i < r->nr_selection; i++)
		fprintf(out, " %s", is_plain(r->selection[i]) ? r->selection[i] : "VALUE");
	fputs(r->program ? " -- PROGRAM ARGS" : " 10", out);
}

/* More of the good is not wrong: what is left is to do with less. */
static const char *goal(const struct stat_metric *m)
{
	if (!strcmp(m->name, "retiring") || !strcmp(m->name, "light_operations"))
		return "is best kept high; reduce the number of instructions";
	return m->ok > m->high ? "has to grow" : "has to fall";
}

static void put_validation(const struct stat_report *r, const struct stat_metric *m, FILE *out)
{
	fprintf(out, "   - Validate a change: `bpfprof stat -r 5 -M %s -o BEFORE.json",
		is_plain(m->set) ? m->set : "SET");
	put_target(r, out);
	fputs("` before it, the same with `-o AFTER.json` after it, then `bpfprof diff BEFORE.json "
	      "AFTER.json`: **",
	      out);
	markdown_put(m->name, out);
	fprintf(out, "** %s\n", goal(m));
}

static void put_step(const struct stat_report *r, const struct stat_metric *m, size_t rank,
		     FILE *out)
{
	struct ratio ratio = ratio_of(&r->all, m);
	char diagnosis[256];

	fprintf(out, "%zu. **", rank);
	markdown_put(m->label, out);
	fputs("**: ", out);
	put_value(m, out);
	fputs(", ", out);
	put_assessment(m, out);
	stat_diagnosis(&r->all, m, diagnosis, sizeof(diagnosis));
	fputs(*diagnosis ? "; " : "", out);
	markdown_put(diagnosis, out);
	fputs(".", out);
	if (*m->advice) {
		fputs(" Look at: ", out);
		markdown_put(m->advice, out);
		fputs(".", out);
	}
	fputs("\n", out);
	if (ratio.sample && count_is_there(&ratio.event->count)) {
		fputs("   - Which code: ", out);
		put_code("bpfprof pmu -e ", ratio.sample, out);
		fputs("\n", out);
	}
	put_validation(r, m, out);
}

static void put_steps(const struct stat_report *r, FILE *out)
{
	const struct stat_metric **v = xcalloc(r->all.nr_metrics + 1, sizeof(*v));
	size_t nr = 0, judged = 0;

	for (size_t i = 0; i < r->all.nr_metrics; i++) {
		judged += r->all.metrics[i].verdict != METRIC_NONE;
		if (needs_work(r, &r->all.metrics[i]))
			v[nr++] = &r->all.metrics[i];
	}
	qsort(v, nr, sizeof(*v), worst_first);
	fputs("\n## Next steps\n\n", out);
	if (!judged)
		fputs("Nothing could be judged: no metric with a threshold has a value.\n", out);
	else if (!nr && judged == 1)
		fputs("The only metric with a threshold is within its limits.\n", out);
	else if (!nr)
		fprintf(out, "All %zu metrics with a threshold are within limits.\n", judged);
	for (size_t i = 0; i < nr; i++)
		put_step(r, v[i], i + 1, out);
	free(v);
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
	if (!any && !r->all.nr_metrics && !r->all.nr_events)
		fputs("Nothing was counted.\n", out);
	else if (!any)
		fputs("All metrics and events of this report have a number.\n", out);
	if (r->nr_notes)
		fputs("\nHow it was measured:\n\n", out);
	for (size_t i = 0; i < r->nr_notes; i++)
		put_missing(r->notes[i], "", out);
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
	put_steps(r, out);
	put_unmeasured(r, out);
	return 0;
}
