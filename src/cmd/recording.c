/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From a command line to a recording and its results. */
#include "cmd/recording.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/outfile.h"
#include "base/text.h"
#include "cmd/selection.h"
#include "event/host.h"
#include "output/output.h"
#include "event/catalog.h"
#include "profile/expected.h"
#include "profile/gaps.h"
#include "symbol/debuginfod.h"

#define MAX_OVERHEAD_PCT 1	 /* by default */
#define EXITED_BEFORE_NS 2000000 /* a shorter recording saw nobody exit */

/* "dwarf,8192" is what perf calls it: the size means nothing here. */
static int parse_call_graph(struct recording_args *a)
{
	static const char *const names[] = { "auto", "fp", "dwarf" }; /* enum prof_call_graph */
	size_t len = a->call_graph ? strcspn(a->call_graph, ",") : 0;

	for (size_t i = 0; i < 3 && len; i++)
		if (len == strlen(names[i]) && !strncmp(a->call_graph, names[i], len)) {
			a->record.call_graph = i;
			return 0;
		}
	if (!a->call_graph)
		return 0;
	log_err(0, "--call-graph '%s': 'auto', 'dwarf' or 'fp'%s", a->call_graph,
		strcmp(a->call_graph, "lbr") ? ""
					     : " (bpfprof reads no branch records for stacks)");
	return -EINVAL;
}

static bool has_option(const struct opt *opts, const char *name)
{
	while (opts->type != OPT_TYPE_END && (!opts->name || strcmp(opts->name, name)))
		opts++;
	return opts->type != OPT_TYPE_END;
}

/* What it may cost: by the option, else as the environment says. Probes have other limits. */
static int parse_overhead(const struct command *self, struct recording_args *a)
{
	static const char variable[] = "BPFPROF_MAX_OVERHEAD";
	struct opt_number n = { "--max-overhead", 0, 100, "%" };
	const char *usual = getenv(variable);
	double pct = MAX_OVERHEAD_PCT;
	int err;

	if (!has_option(self->opts, "max-overhead"))
		return 0;
	if (!a->max_overhead && usual && *usual) {
		n.option = variable;
		a->max_overhead = usual;
	}
	err = opt_number(&n, a->max_overhead, &pct);
	a->record.max_overhead = pct / 100;
	a->record.ends_above = a->max_overhead;
	return err;
}

static int parse_strict(struct recording_args *a)
{
	struct opt_number n = { "--strict", 0, 100, "%" };

	a->strict_pct = -1;
	return opt_number(&n, a->strict, &a->strict_pct);
}

/* Task states by the letters of ps; the kernel's bits are stable. */
static const struct state {
	char letter;
	uint32_t bits;
	const char *text;
} states[] = {
	{ 'R', 1u << 31, "preempted" }, { 'S', 0x1, "sleeping" }, { 'D', 0x2, "uninterruptible" },
	{ 'T', 0x4, "stopped" },	{ 't', 0x8, "traced" },	  { 'P', 0x40, "parked" },
	{ 'I', 0x402, "idle" },
};

static int no_such_state(const char *given)
{
	char *known = xstrdup("");

	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
		char *more = xasprintf("%s%s%c (%s)", known, i ? ", " : "", states[i].letter,
				       states[i].text);

		free(known);
		known = more;
	}
	log_err(0, "--state '%s': use letters or the kernel's mask: %s", given, known);
	free(known);
	return -EINVAL;
}

static uint32_t state_bits(char letter)
{
	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++)
		if (states[i].letter == letter)
			return states[i].bits;
	return 0;
}

static int parse_state(struct recording_args *a)
{
	const char *s = a->state;
	char *end;
	unsigned long mask;

	if (!s)
		return 0;
	mask = strtoul(s, &end, 0);
	if (*s >= '0' && *s <= '9' && !*end && mask < 0x1000) {
		a->record.waits.state_mask = mask ? mask : 1u << 31;
		return 0;
	}
	for (; *s; s++) {
		if (*s == ',')
			continue;
		if (!state_bits(*s))
			return no_such_state(a->state);
		a->record.waits.state_mask |= state_bits(*s);
	}
	return a->record.waits.state_mask ? 0 : no_such_state(a->state);
}

/* Of -p, one that has user memory: -k would leave nothing of it. */
static uint32_t user_process(const struct opt_ids *pids)
{
	char path[64];
	struct stat st;

	for (size_t i = 0; i < pids->nr; i++) {
		char link[8];

		snprintf(path, sizeof(path), "/proc/%u/exe", pids->v[i]);
		if (!lstat(path, &st) && readlink(path, link, sizeof(link)) > 0)
			return pids->v[i];
	}
	return 0;
}

static int check(const struct recording_args *a)
{
	const struct record_opts *o = &a->record;
	const char *name = o->sampling.event;
	uint32_t pid = o->kernel_threads ? user_process(&o->pids) : 0;

	if (o->user_threads && o->kernel_threads)
		log_err(0, "-u and -k exclude each other: nothing would be left");
	else if (o->user_stacks && o->kernel_stacks)
		log_err(0, "-U and -K exclude each other: nothing would be left");
	else if (o->waits.no_stacks && (o->user_stacks || o->kernel_stacks))
		log_err(0, "--no-stacks leaves nothing for -%c", o->user_stacks ? 'U' : 'K');
	else if (o->kernel_threads && o->program)
		log_err(0, "-k leaves nothing of %s: a program has no kernel threads",
			o->program[0]);
	else if (pid)
		log_err(0, "-k leaves nothing of process %" PRIu32 ": it is no kernel thread", pid);
	else if (o->waits.max_ns && o->waits.min_ns > o->waits.max_ns)
		log_err(0, "-m %s is above -M %s: nothing would be left", text_ns(o->waits.min_ns),
			text_ns(o->waits.max_ns));
	else if (o->all && (o->pids.nr || o->tids.nr || o->comm || o->cgroup))
		log_err(0, "-a is the whole machine: it does not go with -p, -t, -n or --cgroup");
	else if (kind_of(o->command)->waits &&
		 (results_wants(&a->results, "bolt") || results_wants(&a->results, "autofdo")))
		log_err(0, "-o FILE.%s wants samples of running code (oncpu, pmu --branches)",
			results_wants(&a->results, "bolt") ? "fdata" : "afdo.txt");
	else if (o->symbols.debuginfod && debuginfod_check())
		return -EINVAL;
	else if (name && strcmp(name, "cycles") && strcmp(name, "cpu-clock"))
		log_err(0, "-e '%s': %s samples 'cycles' or 'cpu-clock'", name, o->command);
	else
		return 0;
	return -EINVAL;
}

static int parse_count(const char *word, uint32_t *count)
{
	unsigned long nr;
	char *end;

	nr = strtoul(word, &end, 10);
	if (*end || end == word || !nr || nr > RECORDING_MAX_COUNT)
		return log_err(0, "'%s' is not a count of intervals, from 1 to %d", word,
			       RECORDING_MAX_COUNT);
	*count = nr;
	return 0;
}

int recording_intervals(char **words, int nr, uint64_t *interval_ns, uint32_t *count)
{
	int err;

	if (nr > 2)
		return log_err(0,
			       "'%s': an interval and a count are enough (a program to start goes "
			       "after '--')",
			       words[2]);
	err = nr ? opt_seconds(words[0], interval_ns) : 0;
	if (err == -ERANGE)
		return log_err(0, "'%s': an interval must be above 0 and at most 7 days", words[0]);
	if (err)
		return log_err(0,
			       "'%s' is not an interval in seconds (a program to start goes after "
			       "'--')",
			       words[0]);
	return nr < 2 ? 0 : parse_count(words[1], count);
}

int recording_duration(struct recording_args *a, char **words, int nr)
{
	return opt_duration(words, nr, &a->record.duration_ns);
}

static void list_counters(const struct profile *p)
{
	for (size_t i = 0; i < PROF_NR_COUNTERS; i++)
		if (p->counters[i] && (profile_counters[i].kind == COUNTER_FILTER ||
				       profile_counters[i].kind == COUNTER_LOST))
			fprintf(stderr, "  %12s %s: %s\n", text_count(p->counters[i]),
				profile_counters[i].kind == COUNTER_LOST ? "lost" : "filtered",
				profile_counters[i].text);
}

/* Whatever is selected by who it is may just have slept; then its waits are the answer. */
static bool has_slept(const struct record_opts *o, const struct profile *p)
{
	static const enum prof_counter others[] = { PROF_FILTER_COMM, PROF_FILTER_CGROUP,
						    PROF_FILTER_KTHREAD, PROF_FILTER_UTHREAD };

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (p->counters[others[i]])
			return false;
	return !p->meta.is_time && !p->meta.by_weight && !o->all && !o->cpus.nr &&
	       (o->pids.nr || o->tids.nr || o->program);
}

/* To be freed: who exited, and when. */
static char *who_exited(const struct record_opts *o, const struct profile *p)
{
	bool one = o->program || o->pids.nr == 1;
	char *who = o->program ? xstrdup(o->program[0])
		    : one      ? xasprintf("process %u", o->pids.v[0])
			       : xstrdup("all of these processes"),
	     *text;

	if (!o->program && p->meta.duration_ns < EXITED_BEFORE_NS)
		text = xasprintf("%s had exited before the recording began", who);
	else
		text = xasprintf("%s %sexited %s after the recording began", who, one ? "" : "had ",
				 text_ns(p->meta.duration_ns));
	free(who);
	return text;
}

/* The result is of less time than was asked for. */
static void warn_of_exit(const struct record_opts *o, const struct profile *p)
{
	char *exited = who_exited(o, p);

	log_warn("%s, and with that it ended", exited);
	free(exited);
}

/* An empty result says what was seen, so that the reason is plain. */
static enum cmd_result explain_empty(const struct recording_args *a, const struct profile *p,
				     bool outlived)
{
	const struct record_opts *o = &a->record;
	char *exited;

	if (has_slept(o, p))
		log_err(0,
			"nothing was recorded: %s used no CPU time in %s ('bpfprof wall' shows "
			"where its time went)",
			o->program ? o->program[0] : "the target", text_ns(p->meta.duration_ns));
	else
		log_err(0, "nothing was recorded: %" PRIu64 " %ss seen", p->counters[PROF_SEEN],
			profile_noun(p));
	list_counters(p);
	/* A program of ours was watched from its beginning: that it ended is no reason. */
	if (!p->counters[PROF_SEEN] && o->alloc.live && (!outlived || o->program))
		fputs("  --live sees memory that is freed by a call, as malloc()'s is: not Go's"
		      " (without --live it is seen), nor that of functions without symbols\n",
		      stderr);
	else if (!p->counters[PROF_SEEN] && !p->meta.is_time && !outlived)
		fputs(p->meta.by_weight
			      ? "  the events did not happen, or the kernel withheld them:"
				" try longer\n"
			      : "  no CPU was busy, or the kernel withheld the event: try longer,"
				" or -e cpu-clock\n",
		      stderr);
	if (outlived) {
		exited = who_exited(o, p);
		fprintf(stderr, "  %s\n", exited);
		free(exited);
	}
	return CMD_EMPTY;
}

static void warn_of_losses(const struct profile *p)
{
	for (size_t i = 0; i < PROF_NR_COUNTERS; i++)
		if (profile_counters[i].kind == COUNTER_LOST && p->counters[i])
			log_warn("%s %s%s lost: %s", text_count(p->counters[i]), profile_noun(p),
				 p->counters[i] == 1 ? "" : "s", profile_counters[i].text);
	if (profile_was_throttled(p))
		log_warn("the kernel throttled the event for %s of CPU time, which was not "
			 "sampled: lower -F, or raise kernel.perf_event_max_sample_rate (%ld now)",
			 text_ns(p->meta.throttled_ns),
			 host_sysctl("kernel/perf_event_max_sample_rate", 0));
}

/* What nobody should have to ask for a second time: it may not come again. */
static void tell_audit(const struct profile *p, const struct view *v)
{
	uint64_t nr = p->counters[PROF_AUDIT_WRONG];

	if (!nr)
		return;
	log_warn("%s stack%s %s; an example of each kind, innermost function first:",
		 text_count(nr), nr == 1 ? " was" : "s were",
		 p->meta.is_time ? "found unchanged that a walk said had changed"
				 : "walked otherwise than by the kernel");
	audited_put(p, v, stderr);
}

static void tell_finish(const struct profile *p)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	log_info("finished %.1f ms after the end of sampling, peak memory %.1f MB",
		 ((double)clock_ns(CLOCK_REALTIME) - p->meta.start_ns - p->meta.duration_ns) / 1e6,
		 usage.ru_maxrss / 1024.0);
}

enum cmd_result recording_judge(const struct recording_args *a, const struct profile *p)
{
	struct expected x;
	bool known = expected_init(&x, p);
	double pct = expected_lack_pct(&x);

	if (a->strict_pct < 0)
		return CMD_OK;
	if (!known)
		log_warn("--strict: nobody but bpfprof counts %s, so it judges by what was lost",
			 profile_str(p, p->meta.event));
	if (pct <= a->strict_pct)
		return CMD_OK;
	log_err(0, "--strict %.3g: %.3g %% of what was expected is lost or missing (%s lost%s%s%s)",
		a->strict_pct, pct, text_count(x.lost), known ? ", " : "",
		known ? text_count(x.seen < x.least ? x.least - x.seen : 0) : "",
		known ? " missing" : "");
	return CMD_FAILED;
}

static enum cmd_result record(struct recording_args *a, struct results *results)
{
	enum cmd_result result = CMD_OK;
	struct profile *p;
	struct record *r;
	int err;

	a->record.foreign_folder = results_need_rights(results);
	r = record_open(&a->record);
	err = r ? record_run(r) : -errno;
	if (err) {
		record_close(r);
		return cmd_failed(err);
	}
	p = record_take(r);
	warn_of_losses(p);
	if (!p->nr_samples && !p->nr_timeline && !profile_sum(p, COUNTER_LOST))
		result = explain_empty(a, p, record_has_outlived(r));
	else if (results_write(results, p))
		result = CMD_FAILED;
	if (result == CMD_OK)
		result = recording_judge(a, p);
	if (result == CMD_OK && record_has_outlived(r) && !a->record.program &&
	    a->record.duration_ns)
		warn_of_exit(&a->record, p);
	tell_audit(p, &a->results.view);
	tell_finish(p);
	record_is_done(r); /* before who reads it knows */
	if (outfile_end_stdout() && result == CMD_OK)
		result = CMD_FAILED;
	profile_free(p);
	record_close(r);
	return result;
}

enum cmd_result recording_run(struct recording_args *a)
{
	struct results *results = results_open(&a->results);
	enum cmd_result result;

	if (!results)
		return errno == EINVAL ? CMD_USAGE : CMD_FAILED;
	result = record(a, results);
	results_close(results);
	return result;
}

/* Who is meant by -p and by the words behind the options. */
static int select_processes(struct recording_args *a, char ***words, int *nr)
{
	struct record_opts *o = &a->record;
	struct selection s = { &a->processes, &o->pids,
			       o->tids.nr || o->comm || o->cgroup || o->program || o->all };

	return selection_make(&s, words, nr);
}

/* Driver gaps are looked for where somebody asks for them or for a runtime that has a driver. */
static uint64_t gap_of(const struct view *v)
{
	uint32_t runtime = v->runtime - RUNTIME_FIRST;

	if (v->gaps || v->gap_ns || (v->runtime >= RUNTIME_FIRST && context_has_driver(runtime)))
		return v->gap_ns ? v->gap_ns : GAP_NS;
	return 0;
}

enum cmd_result recording_main(const struct command *self, int argc, char **argv,
			       struct recording_args *a,
			       enum cmd_result (*run)(struct recording_args *a))
{
	enum cmd_result result = CMD_USAGE;
	char **words;
	int nr, err;

	record_tell_early(true);
	a->record.command = self->name;
	a->record.max_depth = a->record.max_depth ? a->record.max_depth : 1000;
	a->record.start_ns = now_ns();
	a->record.symbols.time_ns = UINT64_MAX;
	results_default(&a->results, kind_of(self->name));
	err = opt_parse(self->name, self->opts, argc, argv, a, &words, &nr);
	if (err == OPT_HELP) {
		cmd_help(self);
		result = CMD_OK;
	} else if (!err && (err = select_processes(a, &words, &nr))) {
		result = cmd_failed(err);
	} else if (!err && !check(a) && !parse_call_graph(a) && !parse_state(a) &&
		   !parse_overhead(self, a) && !parse_strict(a) && !results_check(&a->results) &&
		   !a->parse_words(a, words, nr) &&
		   !selection_check_end(&a->record.pids,
					a->record.duration_ns || a->record.program)) {
		log_verbosity = a->verbose;
		a->record.symbols.time_given = a->record.symbols.time_ns != UINT64_MAX;
		if (!a->record.symbols.time_given)
			a->record.symbols.time_ns = SYMBOL_TIME_NS;
		a->record.per_thread |= a->results.view.per_thread;
		a->record.moments = a->results.view.heatmap;
		a->record.waits.gap_ns = gap_of(&a->results.view);
		a->record.symbols.no_inline = a->results.view.no_inline;
		result = run(a);
	}
	opt_release(self->opts, a);
	opt_ids_release(&a->record.pids);
	return result;
}

enum cmd_result recording_of_events(struct recording_args *a, const char *list)
{
	struct catalog *c = catalog_open("/");
	enum cmd_result result;
	struct event *v = NULL;
	size_t nr = 0;
	int err;

	if (!c)
		return cmd_failed(-errno);
	err = catalog_find_list(c, list, &v, &nr);
	a->record.sampling.events = v;
	a->record.sampling.nr_events = nr;
	result = err ? cmd_failed(err) : recording_run(a);
	events_free(v, nr);
	catalog_close(c);
	return result;
}
