/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of outputs. */
#include "output/output.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/text.h"
#include "output/call_stacks.h"
#include "output/calls.h"
#include "profile/save.h"

#define MIN_WIDTH 60
#define MAX_WIDTH 200

static int save_write(const struct profile *p, const struct view *v, FILE *out)
{
	profile_save(p, out);
	return 0;
}

/* The report is kept in a profile. */
static int save_runqlat(const struct runqlat_report *r, const struct view *v, FILE *out)
{
	profile_save(r->profile, out);
	return 0;
}

static const char *no_threads(const struct result *r)
{
	return r->profile->nr_threads ? NULL
				      : "the time of threads was not recorded (bpfprof wall does)";
}

/* Of a recording that is empty, all is missing. */
static const char *no_branches(const struct result *r)
{
	const struct profile *p = r->profile;

	return p->nr_branches || !p->nr_samples
		       ? NULL
		       : "the recording has no branches (bpfprof pmu --branches records them)";
}

static const char *no_bolt(const struct result *r)
{
	return bolt_lacks(r->profile);
}

static const char *no_autofdo(const struct result *r)
{
	return autofdo_lacks(r->profile);
}

static const char *no_stacks(const struct result *r)
{
	return r->profile->nr_stacks > 1 ? NULL
					 : "calls were recorded without stacks (-g takes them)";
}

static const char *no_timed_stacks(const struct result *r)
{
	return r->profile->meta.timed ? no_stacks(r) : "calls were not timed (-l does)";
}

static const char *not_whole(const struct result *r)
{
	return r->stat->by == STAT_BY_ALL && !r->stat->interval
		       ? NULL
		       : "a report in Markdown is of the whole: "
			 "it does not go with rows of threads";
}

/* clang-format off */
#define STACKS(writer) .kind = RESULT_STACKS, .write.profile = writer, .help
#define CALLS(writer) .kind = RESULT_CALLS, .write.profile = writer, .help
#define RUNQLAT(writer) .kind = RESULT_RUNQLAT, .write.runqlat = writer, .help
#define TIMELINE(writer) .kind = RESULT_TIMELINE, .write.profile = writer, .help
#define SCHED(writer) .kind = RESULT_SCHED, .write.profile = writer, .help
#define STAT(writer) .kind = RESULT_STAT, .write.stat = writer, .help
#define DIFF(writer) .kind = RESULT_DIFF, .write.diff = writer, .help
#define CHANGES(writer) .kind = RESULT_CHANGES, .write.changes = writer, .help
#define EVENTS(writer) .kind = RESULT_EVENTS, .write.events = writer, .help
#define ANNOTATIONS(writer) .kind = RESULT_ANNOTATIONS, .write.annotations = writer, .help
#define HISTORY(writer) .kind = RESULT_HISTORY, .write.history = writer, .help
#define CHECKS(writer) .kind = RESULT_CHECKS, .write.checks = writer, .help
#define NAMED(writer)  .kind = RESULT_NAMED, .write.named = writer, .help
static const struct output outputs[] = {
	{ "folded", ".folded", STACKS(folded_write) =
	  "one line per stack, for flamegraph.pl and inferno" },
	{ "svg", ".svg", STACKS(svg_write) = "flame graph, one picture" },
	{ "html", ".html", STACKS(html_write) = "flame graph, interactive page",
	  .all_events = true },
	{ "json", ".json", STACKS(json_write) = "the summary, for programs", .all_events = true },
	{ "speedscope", ".speedscope.json", STACKS(speedscope_write) =
	  "stacks by thread, for speedscope.app" },
	{ "firefox", ".firefox.json", STACKS(firefox_write) =
	  "stacks by thread, for profiler.firefox.com" },
	{ "pprof", ".pb.gz", STACKS(pprof_write) = "samples with their places, for go tool pprof",
	  .all_events = true },
	{ "pprof-file", ".pprof", STACKS(pprof_write) = "the same", .all_events = true },
	{ "bolt", ".fdata", STACKS(bolt_write) =
	  "branches or samples by address, for perf2bolt", .lacks = no_bolt },
	{ "autofdo", ".afdo.txt", STACKS(autofdo_write) =
	  "samples by line, for clang -fprofile-sample-use", .lacks = no_autofdo },
	{ "summary", ".txt", STACKS(summary_write) = "the summary, for people",
	  .all_events = true },
	{ "bpfprof", ".bpfprof", STACKS(save_write) = "everything, for bpfprof report",
	  .all_events = true },
	{ "broken", NULL, STACKS(broken_write) = "where stacks break, for people" },
	{ "broken-json", NULL, STACKS(broken_json_write) = "where stacks break, for programs" },
	{ "branches", NULL, STACKS(branched_write) = "branches from where to where, for people",
	  .all_events = true, .lacks = no_branches },
	{ "branches-folded", NULL, STACKS(branched_write_folded) = "branches, one line each",
	  .all_events = true, .lacks = no_branches },
	{ "branches-json", NULL, STACKS(json_write) = "the summary, which has branches",
	  .all_events = true, .lacks = no_branches },
	{ "tree", NULL, STACKS(call_tree_write) = "the call tree, for people" },
	{ "tree-json", NULL, STACKS(call_tree_write_json) = "the same, for programs" },
	{ "by", NULL, STACKS(shares_write) = "shares by what was asked for, for people" },
	{ "by-json", NULL, STACKS(shares_write_json) = "the same, for programs" },
	{ "by-csv", NULL, STACKS(shares_write_csv) = "the same, for spreadsheets" },
	{ "csv", NULL, STACKS(shares_write_csv) = "shares of functions, for spreadsheets" },
	{ "peek", NULL, STACKS(peek_write) = "functions with callers and callees, for people" },
	{ "peek-json", NULL, STACKS(peek_write_json) = "the same, for programs" },
	{ "table", NULL, STACKS(budget_write) = "where the time of threads went, for people",
	  .lacks = no_threads },
	{ "table-json", NULL, STACKS(budget_json_write) =
	  "where the time of threads went, for programs", .lacks = no_threads },

	{ "folded", ".folded", CALLS(folded_write) =
	  "one line per stack, for flamegraph.pl and inferno", .lacks = no_stacks },
	{ "svg", ".svg", CALLS(svg_write) = "flame graph, one picture", .lacks = no_stacks },
	{ "html", ".html", CALLS(html_write) = "flame graph, interactive page",
	  .lacks = no_stacks },
	{ "json", ".json", CALLS(json_write) = "the table and the summary, for programs" },
	{ "speedscope", ".speedscope.json", CALLS(speedscope_write) =
	  "stacks by thread, for speedscope.app", .lacks = no_stacks },
	{ "firefox", ".firefox.json", CALLS(firefox_write) =
	  "stacks by thread, for profiler.firefox.com",
	  .lacks = no_stacks },
	{ "pprof", ".pb.gz", CALLS(pprof_write) = "samples with their places, for go tool pprof",
	  .lacks = no_stacks },
	{ "pprof-file", ".pprof", CALLS(pprof_write) = "the same", .lacks = no_stacks },
	{ "csv", ".csv", CALLS(calls_write_csv) = "the table, for spreadsheets" },
	{ "stacks", ".stacks.csv", CALLS(call_stacks_write_csv) =
	  "timed calls by stack, for spreadsheets", .lacks = no_timed_stacks },
	{ "bpfprof", ".bpfprof", CALLS(save_write) = "everything, for bpfprof report" },
	{ "summary", ".txt", CALLS(summary_write) = "the table and the summary, for people" },
	{ "tree", NULL, CALLS(call_tree_write) = "the call tree, for people",
	  .lacks = no_stacks },
	{ "tree-json", NULL, CALLS(call_tree_write_json) = "the same, for programs",
	  .lacks = no_stacks },
	{ "by", NULL, CALLS(shares_write) = "shares by what was asked for, for people",
	  .lacks = no_stacks },
	{ "by-json", NULL, CALLS(shares_write_json) = "the same, for programs",
	  .lacks = no_stacks },
	{ "by-csv", NULL, CALLS(shares_write_csv) = "the same, for spreadsheets",
	  .lacks = no_stacks },
	{ "peek", NULL, CALLS(peek_write) = "functions with callers and callees, for people",
	  .lacks = no_stacks },
	{ "peek-json", NULL, CALLS(peek_write_json) = "the same, for programs",
	  .lacks = no_stacks },
	{ "broken", NULL, CALLS(broken_write) = "where stacks break, for people",
	  .lacks = no_stacks },
	{ "broken-json", NULL, CALLS(broken_json_write) = "where stacks break, for programs",
	  .lacks = no_stacks },

	{ "json", ".json", RUNQLAT(runqlat_write_json) = "histograms, for programs" },
	{ "csv", ".csv", RUNQLAT(runqlat_write_csv) = "percentiles, for spreadsheets" },
	{ "bpfprof", ".bpfprof", RUNQLAT(save_runqlat) = "everything, for bpfprof report" },
	{ "summary", ".txt", RUNQLAT(runqlat_write_text) = "histograms, for people" },

	{ "trace", ".trace.json", TIMELINE(timeline_write_trace) =
	  "what each thread did when, for ui.perfetto.dev" },
	{ "json", ".json", TIMELINE(timeline_write_json) =
	  "threads and all they did, for programs" },
	{ "csv", ".csv", TIMELINE(timeline_write_csv) = "all that threads did, for spreadsheets" },
	{ "bpfprof", ".bpfprof", TIMELINE(save_write) = "everything, for bpfprof report" },
	{ "summary", ".txt", TIMELINE(timeline_write_text) = "a line for each run, for people" },
	{ "table", NULL, TIMELINE(sched_write_text) = "delays of threads, for people" },
	{ "table-json", NULL, TIMELINE(sched_write_json) = "delays of threads, for programs" },

	{ "trace", ".trace.json", SCHED(timeline_write_trace) =
	  "what each thread did when, for ui.perfetto.dev" },
	{ "json", ".json", SCHED(sched_write_json) = "delays of threads, for programs" },
	{ "csv", ".csv", SCHED(sched_write_csv) = "delays of threads, for spreadsheets" },
	{ "bpfprof", ".bpfprof", SCHED(save_write) = "everything, for bpfprof report" },
	{ "summary", ".txt", SCHED(sched_write_text) = "delays of threads, for people" },

	{ "json", ".json", STAT(stat_write_json) = "everything, for programs and bpfprof diff" },
	{ "csv", ".csv", STAT(stat_write_csv) = "a line for each number, for spreadsheets" },
	{ "md", ".md", STAT(stat_write_markdown) = "a report to hand on", .lacks = not_whole },
	{ "bpfprof", ".bpfprof", STAT(stat_write_json) = "the same as JSON, for bpfprof report" },
	{ "summary", ".txt", STAT(stat_write_text) = "metrics and events, for people" },

	{ "json", ".json", DIFF(diff_write_json) = "every row, for programs" },
	{ "junit", ".xml", DIFF(diff_write_junit) = "a test case for each rule, for CI" },
	{ "summary", ".txt", DIFF(diff_write_text) = "what changed, for people" },

	{ "folded", ".folded", CHANGES(changes_write_folded) =
	  "stacks with two numbers, for flamegraph.pl" },
	{ "svg", ".svg", CHANGES(changes_write_svg) = "differential flame graph, one picture" },
	{ "html", ".html", CHANGES(changes_write_html) =
	  "differential flame graph, interactive page" },
	{ "json", ".json", CHANGES(changes_write_json) = "every function, for programs" },
	{ "junit", ".xml", CHANGES(changes_write_junit) =
	  "a test case for each function, for CI" },
	{ "md", ".md", CHANGES(changes_write_markdown) = "a comment for a pull request" },
	{ "summary", ".txt", CHANGES(changes_write_text) = "what changed, for people" },

	{ "json", ".json", EVENTS(events_write_json) = "all of each event, for programs" },
	{ "csv", ".csv", EVENTS(events_write_csv) = "a line for each event, for spreadsheets" },
	{ "summary", ".txt", EVENTS(events_write_text) = "the table, for people" },

	{ "json", ".json", ANNOTATIONS(annotations_write_json) =
	  "all lines and instructions, for programs" },
	{ "summary", ".txt", ANNOTATIONS(annotations_write_text) = "hot lines, for people" },

	{ "json", ".json", HISTORY(history_write_json) = "every run, for programs" },
	{ "summary", ".txt", HISTORY(history_write_text) = "what is unusual, for people" },

	{ "json", ".json", CHECKS(checks_write_json) = "every row, for programs" },
	{ "summary", ".txt", CHECKS(checks_write_text) = "the table, for people" },
	{ "json", ".json", NAMED(named_write_json) = "all labels, for programs" },
	{ "summary", ".txt", NAMED(named_write_text) = "the table, for people" },
};
/* clang-format on */
#define NR_OUTPUTS (sizeof(outputs) / sizeof(outputs[0]))

static int write_profile(const struct output *o, const struct profile *p, const struct view *v,
			 FILE *out)
{
	struct profile one;
	int err;

	if (o->all_events || !profile_is_mixed(p))
		return o->write.profile(p, v, out);
	one = profile_of_event(p, view_event(v, p));
	err = o->write.profile(&one, v, out);
	profile_of_event_release(&one);
	return err;
}

int output_write(const struct output *o, const struct result *r, const struct view *v, FILE *out)
{
	assert(o->kind == r->kind);
	switch (r->kind) {
	case RESULT_STACKS:
	case RESULT_CALLS:
		return write_profile(o, r->profile, v, out);
	case RESULT_TIMELINE:
	case RESULT_SCHED:
		return o->write.profile(r->profile, v, out);
	case RESULT_RUNQLAT:
		return o->write.runqlat(r->runqlat, v, out);
	case RESULT_STAT:
		return o->write.stat(r->stat, out);
	case RESULT_DIFF:
		return o->write.diff(r->diff, out);
	case RESULT_CHANGES:
		return o->write.changes(r->changes, v, out);
	case RESULT_EVENTS:
		return o->write.events(r->events, out);
	case RESULT_ANNOTATIONS:
		return o->write.annotations(r->annotations, v, out);
	case RESULT_HISTORY:
		return o->write.history(r->history, out);
	case RESULT_CHECKS:
		return o->write.checks(r->checks, out);
	case RESULT_NAMED:
		return o->write.named(r->named, out);
	}
	return -EINVAL;
}

const char *output_lacks(const struct output *o, const struct result *r)
{
	return o->lacks ? o->lacks(r) : NULL;
}

static bool ends_in(const char *path, const char *extension)
{
	size_t len = strlen(path), end = strlen(extension);

	return len >= end && !strcmp(path + len - end, extension);
}

/* Who writes x.afdo.txt means no other .txt, so a kind without the longest has no form for it. */
const struct output *output_find(enum result_kind kind, const char *path)
{
	const struct output *best = NULL;
	size_t longest = 0;

	for (const struct output *o = outputs; o < outputs + NR_OUTPUTS; o++) {
		size_t len = o->extension ? strlen(o->extension) : 0;

		if (len < longest || !len || !ends_in(path, o->extension))
			continue;
		if (len > longest)
			best = NULL;
		longest = len;
		if (o->kind == kind)
			best = o;
	}
	return best;
}

bool output_is_known(const char *path)
{
	for (size_t i = 0; i < NR_OUTPUTS; i++)
		if (outputs[i].extension && ends_in(path, outputs[i].extension))
			return true;
	return false;
}

const struct output *output_get(enum result_kind kind, const char *name)
{
	for (size_t i = 0; i < NR_OUTPUTS; i++)
		if (outputs[i].kind == kind && !strcmp(name, outputs[i].name))
			return &outputs[i];
	return NULL;
}

static size_t extensions_of(enum result_kind kind, const char *words[NR_OUTPUTS])
{
	size_t nr = 0;

	for (size_t i = 0; i < NR_OUTPUTS; i++)
		if (outputs[i].kind == kind && outputs[i].extension)
			words[nr++] = outputs[i].extension;
	return nr;
}

const char *output_extensions(enum result_kind kind)
{
	static char text[128];
	const char *words[NR_OUTPUTS];
	size_t nr = extensions_of(kind, words), len = 0;

	for (size_t i = 0; i < nr && len < sizeof(text); i++)
		len += snprintf(text + len, sizeof(text) - len, "%s%s", i ? " " : "", words[i]);
	return text;
}

/* An extension may have two dots: what follows the last one is tried first. */
const char *output_nearest(enum result_kind kind, const char *path)
{
	const char *base = output_base_name(path), *near = NULL, *words[NR_OUTPUTS];
	size_t nr = extensions_of(kind, words);

	for (const char *s = base + strlen(base); s > base && !near; s--)
		if (s[-1] == '.')
			near = text_nearest(s - 1, words, nr);
	return near;
}

const char *output_kind_text(enum result_kind kind)
{
	static const char *const texts[] = {
		[RESULT_STACKS] = "a recording of stacks",
		[RESULT_CALLS] = "a recording of calls",
		[RESULT_RUNQLAT] = "a recording of runqlat",
		[RESULT_TIMELINE] = "a timeline",
		[RESULT_SCHED] = "a recording of sched",
		[RESULT_STAT] = "a result of stat",
		[RESULT_DIFF] = "a comparison",
		[RESULT_CHANGES] = "a comparison of recordings",
		[RESULT_EVENTS] = "a list of events",
		[RESULT_ANNOTATIONS] = "an annotation",
		[RESULT_HISTORY] = "a history",
		[RESULT_CHECKS] = "a list of checks",
		[RESULT_NAMED] = "a list of processes",
	};

	return texts[kind];
}

size_t output_width(FILE *out)
{
	struct winsize w;
	int fd = fileno(out);

	if (fd < 0 || ioctl(fd, TIOCGWINSZ, &w) || !w.ws_col)
		return 80;
	return w.ws_col < MIN_WIDTH ? MIN_WIDTH : w.ws_col > MAX_WIDTH ? MAX_WIDTH : w.ws_col;
}

const char *output_base_name(const char *path)
{
	return text_base_name(path);
}
