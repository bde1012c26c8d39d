/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What to conclude from counts, and what to do: root cause, recommendations and how to validate
 * them. All of it comes from the rows of metrics; a cause stands beside the two numbers that it is
 * told from.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "metric/ratio.h"
#include "output/figures.h"
#include "output/markup.h"
#include "output/stat_markdown.h"

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
		fprintf(out, " %s", markdown_is_plain(r->selection[i]) ? r->selection[i] : "VALUE");
	fputs(r->program ? " -- PROGRAM ARGS" : " 10", out);
}

/* More of the good is not wrong: what is left is to do with less. */
static const char *goal(const struct stat_metric *m)
{
	if (!strcmp(m->name, "retiring") || !strcmp(m->name, "light_operations"))
		return "is best kept high; reduce the number of instructions";
	return m->ok > m->high ? "has to grow" : "has to fall";
}

static void put_step(const struct stat_report *r, const struct stat_metric *m, size_t rank,
		     FILE *out)
{
	struct ratio ratio = ratio_of(&r->all, m);
	char diagnosis[256];

	fprintf(out, "%zu. **", rank);
	markdown_put(m->label, out);
	fputs("**: ", out);
	markdown_value(m, out);
	fputs(", ", out);
	markdown_assessment(m, out);
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
		markdown_code("bpfprof pmu -e ", ratio.sample, out);
		fputs("\n", out);
	}
}

/* Those that need work, the worst first; the caller frees them. *judged: how many were judged. */
static const struct stat_metric **worst(const struct stat_report *r, size_t *nr, size_t *judged)
{
	const struct stat_metric **v = xcalloc(r->all.nr_metrics + 1, sizeof(*v));

	*nr = *judged = 0;
	for (size_t i = 0; i < r->all.nr_metrics; i++) {
		*judged += r->all.metrics[i].verdict != METRIC_NONE;
		if (needs_work(r, &r->all.metrics[i]))
			v[(*nr)++] = &r->all.metrics[i];
	}
	qsort(v, *nr, sizeof(*v), worst_first);
	return v;
}

static void put_evidence(const struct stat_metric *m, FILE *out)
{
	markdown_put(m->label, out);
	fputs(" ", out);
	markdown_value(m, out);
	fputs(" (", out);
	markdown_assessment(m, out);
	fputs(")", out);
}

/* Where a program was, by clocks that need no hardware counter. */
static bool put_clocks(const struct stat_report *r, FILE *out)
{
	const struct stat_metric *used = stat_row_metric(&r->all, "cpus_used");
	const struct stat_event *user = stat_row_event(&r->all, "user-time");
	const struct stat_event *kernel = stat_row_event(&r->all, "system-time");
	bool any = false;

	if (used && used->number.mean < 0.5) {
		any = true;
		fprintf(out,
			"- **Seldom on a CPU**: it used %.2f CPUs, so it was blocked, or queued "
			"for one. Counters say nothing of that; `bpfprof wall` does.\n",
			used->number.mean);
	}
	if (user && kernel && stat_event_value(kernel) > stat_event_value(user)) {
		any = true;
		fprintf(out, "- **Work of the kernel**: system time %s, user time %s. ",
			figure_amount(stat_event_value(kernel), "ns"),
			figure_amount(stat_event_value(user), "ns"));
		fputs("`bpfprof syscalls` and `bpfprof faults` tell for what.\n", out);
	}
	return any;
}

static void put_cause(const struct stat_report *r, size_t nr, size_t judged, FILE *out)
{
	const struct stat_metric *m, *evidence;
	const char *words, *last = "";
	bool any;

	fputs("\n## Root cause\n\n", out);
	any = put_clocks(r, out);
	for (size_t i = 0; stat_diagnoses(&r->all, &i, &m, &evidence, &words);) {
		any = true;
		if (!strcmp(words, last))
			continue;
		last = words;
		fprintf(out, "- **%c%s**: ", toupper(*words), words + 1);
		put_evidence(m, out);
		fputs(", and ", out);
		put_evidence(evidence, out);
		fputs(". See DIAGNOSES in bpfprof-stat(8).\n", out);
	}
	if (any)
		return;
	if (!judged)
		fputs("None can be told: no metric with a threshold has a value.\n", out);
	else if (!nr)
		fputs("None is seen: every metric with a threshold is within its limits.\n", out);
	else
		fputs("None is told: metrics are beyond their thresholds, but no second one agrees "
		      "on why.\n",
		      out);
}

static void put_steps(const struct stat_report *r, const struct stat_metric **v, size_t nr,
		      size_t judged, FILE *out)
{
	fputs("\n## Recommendations\n\n", out);
	if (!judged)
		fputs("Nothing could be judged: no metric with a threshold has a value.\n", out);
	else if (!nr && judged == 1)
		fputs("The only metric with a threshold is within its limits.\n", out);
	else if (!nr)
		fprintf(out, "All %zu metrics with a threshold are within limits.\n", judged);
	for (size_t i = 0; i < nr; i++)
		put_step(r, v[i], i + 1, out);
}

/* Sets of the metrics that have to change, each once; without any those that were measured. */
static void put_sets(const struct stat_metric **v, size_t nr, FILE *out)
{
	for (size_t i = 0, j; i < nr; i++) {
		for (j = 0; j < i && strcmp(v[j]->set, v[i]->set) != 0; j++)
			;
		if (j == i)
			fprintf(out, "%s%s", i ? "," : " -M ",
				markdown_is_plain(v[i]->set) ? v[i]->set : "SET");
	}
}

static void put_plan(const struct stat_report *r, const struct stat_metric **v, size_t nr,
		     FILE *out)
{
	static const char *const files[] = { "BEFORE.json", "AFTER.json" };

	fputs("\n## Validation plan\n\n", out);
	for (size_t i = 0; i < 2; i++) {
		fprintf(out, "%zu. %s the change: `bpfprof stat -r 5", i + 1,
			i ? "After" : "Before");
		put_sets(v, nr, out);
		fprintf(out, " -o %s", files[i]);
		put_target(r, out);
		fputs("`\n", out);
	}
	fputs("3. `bpfprof diff BEFORE.json AFTER.json` says what changed and whether it is real; "
	      "with `--fail-on 'time>5%'` a slower one ends with exit status 4.\n",
	      out);
	if (!nr)
		return;
	fputs("\n| Metric | Now | Expected |\n|---|---:|---|\n", out);
	for (size_t i = 0; i < nr; i++) {
		fputs("| **", out);
		markdown_put(v[i]->name, out);
		fputs("** | ", out);
		markdown_value(v[i], out);
		fprintf(out, " | %s |\n", goal(v[i]));
	}
}

void stat_markdown_advice(const struct stat_report *r, FILE *out)
{
	size_t nr, judged;
	const struct stat_metric **v = worst(r, &nr, &judged);

	put_cause(r, nr, judged, out);
	put_steps(r, v, nr, judged, out);
	put_plan(r, v, nr, out);
	free(v);
}
