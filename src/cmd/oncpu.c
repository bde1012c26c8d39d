/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpfprof oncpu: where running code spends its time. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/log.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/results.h"
#include "collect/record.h"
#include "event/host.h"

struct oncpu_args {
	int verbose;
	const char *call_graph;
	struct record_opts record;
	struct results_opts results;
};

const struct opt oncpu_opts[] = {
	OPT_GROUP("What to profile (default: everything)"),
	OPT_PIDS('p', "pid", struct oncpu_args, record.pids, "LIST",
		 "only these processes, and what they start"),
	OPT_TIDS('t', "tid", struct oncpu_args, record.tids, "LIST",
		 "only these threads (also -L)"),
	OPT_ALIAS('L', NULL, "tid"),
	OPT_STRING('n', "comm", struct oncpu_args, record.comm, "GLOB",
		   "only threads so named: 'nginx', 'worker-*,gc*'"),
	OPT_STRING(0, "cgroup", struct oncpu_args, record.cgroup, "PATH",
		   "only this cgroup (v2) and those below it"),
	OPT_CPUS('C', "cpu", struct oncpu_args, record.cpus, "LIST", "only these CPUs: 0-3,8"),
	OPT_FLAG('u', "user-threads-only", struct oncpu_args, record.user_threads,
		 "no kernel threads"),
	OPT_FLAG('k', "kernel-threads-only", struct oncpu_args, record.kernel_threads,
		 "only kernel threads"),
	OPT_FLAG('I', "include-idle", struct oncpu_args, record.idle, "the idle task too"),
	OPT_FLAG(0, "no-children", struct oncpu_args, record.no_children,
		 "leave out threads (of -t) and processes born later"),
	OPT_GROUP("How"),
	OPT_U32_UPTO('F', "freq", struct oncpu_args, record.rate_hz, 1, host_max_rate,
		     "kernel.perf_event_max_sample_rate", "HZ",
		     "samples per second and CPU (default 99 with a target, 49 without)"),
	OPT_ALIAS(0, "frequency", "freq"),
	OPT_STRING('e', "event", struct oncpu_args, record.event, "NAME",
		   "cycles or cpu-clock (default: cycles where the machine has them)"),
	OPT_FLAG('U', "user-stacks-only", struct oncpu_args, record.user_stacks,
		 "no kernel frames"),
	OPT_FLAG('K', "kernel-stacks-only", struct oncpu_args, record.kernel_stacks,
		 "no user frames"),
	OPT_STRING(0, "call-graph", struct oncpu_args, call_graph, "HOW",
		   "walk user stacks by unwind tables (dwarf), by frame pointers (fp), or by "
		   "tables and by frame pointers where there are none (auto, the default)"),
	OPT_SIZE(0, "unwind-mem", struct oncpu_args, record.unwind_bytes, 1 << 20, 4 << 20,
		 1ull << 30, "MB", "kernel memory for unwind tables (default 64)"),
	OPT_U32(0, "max-depth", struct oncpu_args, record.max_depth, 1, PROF_MAX_FRAMES, "N",
		"user frames per stack (default 1000)"),
	OPT_ALIAS(0, "perf-max-stack-depth", "max-depth"),
	OPT_U32(0, "max-stacks", struct oncpu_args, record.max_stacks, 1, 1 << 24, "N",
		"distinct stacks to keep, rounded up to a power of two (default 65536; more "
		"above 16 CPUs)"),
	OPT_ALIAS(0, "stack-storage-size", "max-stacks"),
	OPT_SIZE(0, "max-mem", struct oncpu_args, record.max_bytes, 1 << 20, 1 << 20, 1ull << 34,
		 "MB", "kernel memory for stacks (default 32 on up to 16 CPUs)"),
	RESULTS_ROWS(struct oncpu_args, results),
	OPT_COUNT('v', "verbose", struct oncpu_args, verbose,
		  "say more on stderr (-vv: libbpf too)"),
	OPT_PROGRAM(struct oncpu_args, record.program),
	OPT_END,
};

/* "dwarf,8192" is what perf calls it: the size means nothing here. */
static int parse_call_graph(struct oncpu_args *a)
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
		strcmp(a->call_graph, "lbr") ? "" : " (branch records have no place in BPF maps)");
	return -EINVAL;
}

static int check(const struct oncpu_args *a)
{
	const char *name = a->record.event;

	if (a->record.user_threads && a->record.kernel_threads)
		log_err(0, "-u and -k exclude each other: nothing would be left");
	else if (a->record.user_stacks && a->record.kernel_stacks)
		log_err(0, "-U and -K exclude each other: nothing would be left");
	else if (name && strcmp(name, "cycles") && strcmp(name, "cpu-clock"))
		log_err(0, "-e '%s': oncpu samples 'cycles' or 'cpu-clock'", name);
	else
		return 0;
	return -EINVAL;
}

static int parse_duration(struct oncpu_args *a, char **words, int nr)
{
	int err = nr > 0 ? opt_seconds(words[0], &a->record.duration_ns) : 0;

	if (err == -EINVAL)
		log_err(0,
			"'%s' is not a duration in seconds (a program to start goes behind '--')",
			words[0]);
	else if (err)
		log_err(0, "'%s': a duration must be above 0 and at most 7 days", words[0]);
	else if (nr > 1)
		log_err(0, "'%s': one duration is enough (a program to start goes behind '--')",
			words[1]);
	else
		return 0;
	return -EINVAL;
}

/* An empty result says what was seen, so that the reason is plain. */
static enum cmd_result explain_empty(const struct profile *p)
{
	log_err(0, "nothing was recorded: %" PRIu64 " samples seen", p->counters[PROF_SEEN]);
	for (size_t i = 0; i < PROF_NR_COUNTERS; i++)
		if (p->counters[i] && (profile_counters[i].kind == COUNTER_FILTER ||
				       profile_counters[i].kind == COUNTER_LOST))
			fprintf(stderr, "  %12s %s: %s\n", text_count(p->counters[i]),
				profile_counters[i].kind == COUNTER_LOST ? "lost" : "filtered",
				profile_counters[i].text);
	if (!p->counters[PROF_SEEN])
		fputs("  no CPU was busy, or the kernel withheld the event: try longer,"
		      " or -e cpu-clock\n",
		      stderr);
	return CMD_EMPTY;
}

static void warn_of_losses(const struct profile *p)
{
	for (size_t i = 0; i < PROF_NR_COUNTERS; i++)
		if (profile_counters[i].kind == COUNTER_LOST && p->counters[i])
			log_warn("%s samples lost: %s", text_count(p->counters[i]),
				 profile_counters[i].text);
}

static void tell_finish(const struct profile *p)
{
	struct rusage usage;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	getrusage(RUSAGE_SELF, &usage);
	log_info("finished %.1f ms after the end of sampling, peak memory %.1f MB",
		 (now.tv_sec * 1e9 + now.tv_nsec - p->meta.start_ns - p->meta.duration_ns) / 1e6,
		 usage.ru_maxrss / 1024.0);
}

static enum cmd_result record(struct oncpu_args *a, struct results *results)
{
	struct record *r = record_open(&a->record);
	enum cmd_result result = CMD_OK;
	struct profile *p;
	int err = r ? record_run(r) : -errno;

	if (err) {
		record_close(r);
		return cmd_failed(err);
	}
	p = record_take(r);
	warn_of_losses(p);
	if (!p->nr_samples && !profile_sum(p, COUNTER_LOST))
		result = explain_empty(p);
	else if (results_write(results, p))
		result = CMD_FAILED;
	tell_finish(p);
	profile_free(p);
	record_close(r);
	return result;
}

static enum cmd_result run(struct oncpu_args *a, char **words, int nr)
{
	struct results *results;
	enum cmd_result result;

	if (check(a) || parse_call_graph(a) || parse_duration(a, words, nr))
		return CMD_USAGE;
	log_verbosity = a->verbose;
	results = results_open(&a->results);
	if (!results)
		return errno == EINVAL ? CMD_USAGE : CMD_FAILED;
	result = record(a, results);
	results_close(results);
	return result;
}

enum cmd_result cmd_oncpu(const struct command *self, int argc, char **argv)
{
	struct oncpu_args a = { .record = { .command = "oncpu", .max_depth = 1000 } };
	enum cmd_result result = CMD_USAGE;
	struct timespec ts;
	char **words;
	int nr, err;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	a.record.start_ns = ts.tv_sec * 1000000000ull + ts.tv_nsec;
	err = opt_parse("oncpu", oncpu_opts, argc, argv, &a, &words, &nr);
	if (err == OPT_HELP) {
		cmd_help(self);
		result = CMD_OK;
	} else if (!err) {
		result = run(&a, words, nr);
	}
	opt_release(oncpu_opts, &a);
	return result;
}
