/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpfprof stat: what the hardware and the kernel count, as metrics with a verdict. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/outfile.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/results.h"
#include "cmd/selection.h"
#include "cmd/stat_args.h"
#include "collect/peaks.h"
#include "collect/stat.h"
#include "metric/diff.h"
#include "metric/history.h"

/* clang-format off */
const struct opt stat_opts[] = {
	OPT_GROUP("What to count (default: metrics of ipc, topdown and branch)"),
	OPT_STRINGS('M', "metrics", struct stat_args, sets, "SETS",
		    "sets of metrics: topdown, cache, tlb, branch, mix, backend-memory, ipc, "
		    "roofline, or all"),
	OPT_FLAG(0, "topdown", struct stat_args, topdown, "the same as -M topdown"),
	OPT_U32('l', "level", struct stat_args, level, 1, 3, "N",
		"topdown down to level N, 1 to 3, as toplev -lN has it (also --td-level)"),
	OPT_ALIAS(0, "td-level", "level"),
	OPT_STRINGS('e', "event", struct stat_args, events, "EVENTS",
		    "events by name, as 'bpfprof list' has them, with :u and :k; or tracepoints: "
		    "sched:sched_switch, 'sched:*'"),
	OPT_STRING(0, "peak-gflops", struct stat_args, peak_gflops, "N",
		   "of roofline: billions of operations a second that the machine can do"),
	OPT_STRING(0, "peak-gbps", struct stat_args, peak_gbps, "N",
		   "of roofline: billions of bytes a second that its memory can bring"),
	OPT_FLAG(0, "measure-peaks", struct stat_args, measure_peaks,
		 "of roofline: measure both for 2 s first, on the CPUs of -C or all"),
	OPT_GROUP("Target (default: system-wide; of '-- PROGRAM', the program)"),
	OPT_FLAG('a', "all-cpus", struct stat_args, counting.all_cpus,
		 "the whole machine, also while a program runs"),
	OPT_STRINGS('p', "pid", struct stat_args, processes, "LIST",
		    "only these processes, by number or name, and their children"),
	OPT_TIDS('t', "tid", struct stat_args, counting.tids, "LIST",
		 "only these threads (also -L)"),
	OPT_ALIAS('L', NULL, "tid"),
	OPT_STRING(0, "cgroup", struct stat_args, counting.cgroup, "PATH",
		   "only this cgroup (v2) and those below it"),
	OPT_ALIAS('G', NULL, "cgroup"),
	OPT_CPUS('C', "cpu", struct stat_args, counting.cpus, "LIST", "only on these CPUs"),
	OPT_FLAG(0, "no-children", struct stat_args, counting.no_children,
		 "leave out threads and processes born later"),
	OPT_ALIAS(0, "no-inherit", "no-children"),
	OPT_GROUP("Rows"),
	OPT_FLAG(0, "per-thread", struct stat_args, per_thread,
		 "a row for each thread, by one set of counters per CPU"),
	OPT_FLAG(0, "per-process", struct stat_args, per_process, "a row for each process"),
	OPT_FLAG(0, "per-cgroup", struct stat_args, per_cgroup, "a row for each cgroup"),
	OPT_FLAG('A', "per-cpu", struct stat_args, per_cpu, "a row for each CPU"),
	OPT_U32(0, "max-rows", struct stat_args, counting.max_rows, 16, 1 << 22, "N",
		"track at most N threads (default: twice those running); the rest is reported as "
		"lost"),
	OPT_GROUP("Time"),
	OPT_TIME('d', "duration", struct stat_args, counting.duration_ns, 1000000000, 1,
		 7 * 24 * 3600 * 1000000000ull, "TIME", "how long, as DURATION: 10, 500ms, 2m"),
	OPT_TIME('I', "interval", struct stat_args, counting.interval_ns, 1000000, 10000000,
		 86400000000000, "TIME",
		 "a result each TIME: milliseconds, or with a unit, as in 1s"),
	OPT_ALIAS(0, "interval-print", "interval"),
	OPT_U32('r', "repeat", struct stat_args, counting.repeats, 1, 10000, "N",
		"run the program (or count for DURATION) N times: mean and standard error"),
	OPT_GROUP("Output"),
	FORMS_ROWS(struct stat_args, results, STAT_EXTENSIONS),
	CSV_ROW(struct stat_args, results),
	OPT_STRING('x', "field-separator", struct stat_args, separator, "CHAR",
		   "CSV, in the spelling of perf; only -x, is known"),
	REPORT_ROW(struct stat_args, results,
		   "md: a report in Markdown, with the hottest functions and next steps"),
	OPT_GROUP("Comparison"),
	OPT_STRING(0, "baseline", struct stat_args, baseline, "FILE",
		   "an earlier result (--json) to compare with"),
	OPT_STRING(0, "fail-on", struct stat_args, fail_on, "RULES",
		   "exit status 4 if a change is real and larger: 'ipc<-5%,l2_mpki>15%,time>5%'"),
	OPT_STRING(0, "junit", struct stat_args, junit, "FILE", "the comparison as JUnit XML"),
	OPT_STRING(0, "history", struct stat_args, history, "FILE.csv",
		   "append the result to FILE.csv, for 'bpfprof history'"),
	OPT_STRING(0, "label", struct stat_args, label, "TEXT",
		   "what the history calls this run: a commit, a version"),
	OPT_FLAG(0, "force", struct stat_args, force,
		 "compare with another CPU model all the same"),
	OPT_GROUP("Other"),
	OPT_COUNT('v', "verbose", struct stat_args, verbose, "say more on stderr"),
	OPT_PROGRAM(struct stat_args, counting.program),
	OPT_END,
};
/* clang-format on */

struct stat_run {
	const struct stat_args *args;
	struct results *results;
	struct outfile *junit;
	int history; /* descriptor, -1 = none */
	struct stat_report baseline;
	struct diff_rules rules;
	bool counted, failed, regressed, no_hardware;
	bool wrong;	   /* there is no comparison */
	size_t nr_unknown; /* rules that could not be judged */
	bool program_failed;
};

static int open_files(struct stat_run *s)
{
	s->results = results_open(&s->args->results);
	if (!s->results)
		return errno == EINVAL ? -EINVAL : -EIO;
	if (s->args->junit) {
		s->junit = outfile_open(s->args->junit);
		if (!s->junit)
			return -EIO;
	}
	if (s->args->history)
		s->history = history_open(s->args->history);
	return s->args->history && s->history < 0 ? -EIO : 0;
}

/* Whatever can be found wrong with a comparison is found before anything runs. */
static int open_baseline(struct stat_run *s)
{
	const struct stat_args *a = s->args;
	struct core core;
	char *ident;
	int err = a->fail_on ? diff_rules_parse(&s->rules, a->fail_on) : 0;

	if (err || !a->baseline)
		return err;
	err = stat_read_json(&s->baseline, a->baseline);
	if (err)
		return err == -EINVAL ? -EIO : err;
	core_read(&core, "/");
	if (a->force || !strcmp(core.ident, s->baseline.core_ident))
		return 0;
	ident = text_cleaned(s->baseline.core_ident);
	log_err(0,
		"%s was counted on another CPU model (%s, this is %s): numbers do not compare "
		"(--force does it all the same)",
		a->baseline, ident, core.ident);
	free(ident);
	return -EIO;
}

static void look(struct stat_run *s, const struct stat_report *r)
{
	bool any = false, can = false;

	for (size_t i = 0; i < r->all.nr_events; i++) {
		any |= count_is_there(&r->all.events[i].count);
		can |= r->all.events[i].count.state != COUNT_NOT_SUPPORTED &&
		       r->all.events[i].count.state != COUNT_NOT_AVAILABLE;
	}
	s->counted |= any && (r->by == STAT_BY_ALL || r->nr_rows);
	s->no_hardware |= !can;
}

static void compare(struct stat_run *s, const struct stat_report *r)
{
	const struct results_opts *o = &s->args->results;
	struct diff c = {};

	if (diff_make(&c, &s->baseline, r, &s->rules, s->args->force)) {
		s->wrong = true;
		return;
	}
	diff_write_text(&c, o->json || o->csv || o->report ? stderr : stdout);
	if (s->junit)
		diff_write_junit(&c, outfile_stream(s->junit));
	s->regressed |= c.nr_failed != 0;
	s->nr_unknown += c.nr_unknown;
	diff_release(&c);
}

static bool on_report(void *arg, struct stat_report *r)
{
	struct stat_run *s = arg;
	struct result result = { RESULT_STAT, .stat = r };

	log_progress(NULL);
	look(s, r);
	s->program_failed |= r->failed_runs != 0;
	s->failed |= results_show(s->results, &result) != 0;
	s->failed |= results_add(s->results, &result) != 0;
	if (s->args->baseline)
		compare(s, r);
	if (s->history >= 0 && !r->failed_runs)
		s->failed |= history_append(s->history, s->args->history, r, s->args->label) != 0;
	return !ferror(stdout); /* whoever read has had enough */
}

/* What could not be judged has not passed. */
static enum cmd_result judge(const struct stat_run *s)
{
	if (s->regressed)
		return CMD_REGRESSION;
	if (s->nr_unknown)
		log_err(0, DIFF_NOT_EVALUATED, s->nr_unknown, s->nr_unknown == 1 ? "" : "s");
	else if (s->program_failed && s->rules.nr)
		log_err(0, "the program failed, so what it counted has not passed");
	else
		return CMD_OK;
	return CMD_FAILED;
}

static enum cmd_result finish(struct stat_run *s)
{
	s->failed |= results_commit(s->results) != 0;
	if (s->junit && !s->wrong) {
		s->failed |= outfile_commit(s->junit) != 0;
		s->junit = NULL;
	}
	if (!s->counted) {
		log_err(0, s->no_hardware
				   ? "none of the requested events can be counted on this machine "
				     "('bpfprof list' shows what can)"
				   : "nothing was counted: none of the selected threads ran, or "
				     "others have all counters");
		return s->no_hardware ? CMD_CANNOT : CMD_EMPTY;
	}
	if (s->failed || s->wrong)
		return CMD_FAILED;
	return judge(s);
}

static void release(struct stat_run *s)
{
	results_close(s->results);
	outfile_abort(s->junit);
	if (s->history >= 0)
		close(s->history);
	stat_report_release(&s->baseline);
	diff_rules_release(&s->rules);
}

static enum cmd_result run(struct stat_args *a)
{
	struct stat_run s = { .args = a, .history = -1 };
	enum cmd_result result;
	char *note = NULL;
	int err;

	a->counting.on_report = on_report;
	a->counting.arg = &s;
	err = open_baseline(&s);
	if (!err)
		err = open_files(&s);
	if (!err && a->measure_peaks)
		err = peaks_measure(&a->counting.cpus, &a->counting.peaks, &note);
	a->counting.peaks_note = note;
	if (!err)
		err = stat_run(&a->counting);
	result = err ? cmd_failed(err) : finish(&s);
	release(&s);
	free(note);
	return result;
}

/* A list of lists, as one. */
static char *join(const struct opt_strings *words, const char *first)
{
	char *text = first ? xstrdup(first) : NULL, *longer;

	for (size_t i = 0; i < words->nr; i++) {
		longer = text ? xasprintf("%s,%s", text, words->v[i]) : xstrdup(words->v[i]);
		free(text);
		text = longer;
	}
	return text;
}

/* What perf calls the tree down to a level. */
static const char *const levels[] = { "", "TopdownL1", "TopdownL2", "TopdownL3" };

static char *command_line(int argc, char **argv)
{
	char *text = xstrdup("bpfprof"), *longer;

	for (int i = 0; i < argc; i++) {
		longer = xasprintf("%s %s", text, argv[i]);
		free(text);
		text = longer;
	}
	return text;
}

/* perf's habit for CSV. Another separator would need no quotes where ours have them. */
static int take_separator(struct stat_args *a)
{
	char *shown;

	if (!a->separator)
		return 0;
	a->results.csv = true;
	if (!strcmp(a->separator, ","))
		return 0;
	shown = text_cleaned(a->separator);
	log_err(0, "-x '%s': CSV is separated by commas here (-x, or --csv)", shown);
	free(shown);
	return -EINVAL;
}

static int take_peaks(struct stat_args *a)
{
	struct metric_peaks *p = &a->counting.peaks;
	int err = opt_number(&(struct opt_number){ "--peak-gflops", 1e-3, 1e9, NULL },
			     a->peak_gflops, &p->flops);

	if (!err)
		err = opt_number(&(struct opt_number){ "--peak-gbps", 1e-3, 1e9, NULL },
				 a->peak_gbps, &p->bandwidth);
	p->flops *= 1e9;
	p->bandwidth *= 1e9;
	return err;
}

static int check(struct stat_args *a, char **words, int nr)
{
	struct selection s = { &a->processes, &a->counting.pids,
			       a->counting.tids.nr || a->counting.cgroup || a->counting.cpus.nr ||
				       a->counting.program || a->counting.all_cpus || a->per_cpu };
	int err = selection_make(&s, &words, &nr);
	const char *why;

	if (err)
		return err;
	if (opt_duration(words, nr, &a->counting.duration_ns) || take_separator(a) ||
	    take_peaks(a) || results_check(&a->results) ||
	    selection_check_end(&a->counting.pids, a->counting.duration_ns || a->counting.program))
		return -EINVAL;
	a->counting.by = a->per_thread	  ? STAT_BY_THREAD
			 : a->per_process ? STAT_BY_PROCESS
			 : a->per_cgroup  ? STAT_BY_CGROUP
			 : a->per_cpu	  ? STAT_BY_CPU
					  : STAT_BY_ALL;
	a->counting.hotspots = results_wants(&a->results, "md");
	why = stat_refused(a);
	return why ? log_err(0, "%s", why) : 0;
}

enum cmd_result cmd_stat(const struct command *self, int argc, char **argv)
{
	struct stat_args a = { .counting.repeats = 1, .results.kind = RESULT_STAT };
	char *line = command_line(argc, argv), *sets = NULL, *events = NULL;
	enum cmd_result result = CMD_USAGE;
	char **words;
	int nr, err;

	a.counting.start_ns = now_ns();
	err = opt_parse(self->name, self->opts, argc, argv, &a, &words, &nr);
	if (err == OPT_HELP) {
		cmd_help(self);
		result = CMD_OK;
	} else if (!err && (err = check(&a, words, nr))) {
		result = err == -ESRCH ? CMD_FAILED : CMD_USAGE;
	} else if (!err) {
		log_verbosity = a.verbose;
		sets = join(&a.sets, a.level ? levels[a.level] : a.topdown ? "topdown" : NULL);
		events = join(&a.events, NULL);
		a.counting.command_line = line;
		a.counting.sets = sets;
		a.counting.events = events;
		result = run(&a);
	}
	opt_release(self->opts, &a);
	opt_ids_release(&a.counting.pids);
	free(sets);
	free(events);
	free(line);
	return result;
}
