/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpfprof pmu: where events happen, by stack: of the hardware, or of the kernel. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/text.h"
#include "cmd/recording.h"
#include "collect/group_columns.h"
#include "collect/hits.h"
#include "collect/sampling.h"
#include "event/catalog.h"

const struct opt pmu_opts[] = {
	OPT_GROUP("Events"),
	OPT_STRINGS('e', "event", struct recording_args, events, "LIST",
		    "events by name, as bpfprof list shows them, with perf's spellings, or "
		    "tracepoints such as sched:sched_switch (repeatable; default: cycles)"),
	OPT_U64('c', "count", struct recording_args, record.sampling.period, 1, 1ull << 62,
		"PERIOD",
		"sample every PERIOD events (default 1 for tracepoints, and for software events "
		"such as page-faults)"),
	OPT_U32_UPTO(
		'F', "freq", struct recording_args, record.sampling.rate_hz, 1, host_max_rate,
		"kernel.perf_event_max_sample_rate", "HZ",
		"or take HZ samples per second and CPU (default for hardware events and clocks: "
		"99 with a target, 49 without)"),
	OPT_ALIAS(0, "frequency", "freq"),
	OPT_FLAG(0, "precise", struct recording_args, record.sampling.precise,
		 "as precisely as the hardware can; where it cannot, the result says so"),
	OPT_STRING('M', "metrics", struct recording_args, columns, "SETS",
		   "add columns per function: IPC, and misses per 1,000 instructions of SETS of "
		   "metrics (branch, cache, tlb …, as stat has them) or of any event"),
	BRANCHES_ROW(struct recording_args, results,
		     "which branches are taken and mispredicted, from where to where; where the "
		     "hardware does not record them, stacks of mispredicted ones"),
	TARGET_ROWS,
	OPT_CPUS('C', "cpu", struct recording_args, record.cpus, "LIST", "only these CPUs: 0-3,8"),
	OPT_FLAG('I', "include-idle", struct recording_args, record.idle, "the idle task too"),
	OPT_GROUP("How"),
	STACK_ROWS,
	AUDIT_ROW,
	COST_ROWS,
	STRICT_ROW,
	UNSAFE_ROW,
	RESULTS_ROWS(struct recording_args, results),
	HEATMAP_ROW(struct recording_args, results),
	VALUE_ROW(struct recording_args, results),
	VERBOSE_ROWS,
	OPT_END,
};

static int check_number(size_t nr)
{
	if (nr <= PROF_MAX_EVENTS)
		return 0;
	log_err(0, "-e: %zu events; at most %d can be sampled at a time", nr, PROF_MAX_EVENTS);
	return -EINVAL;
}

/* Values of a stack are told apart by the names of their events. */
static int check_each(const struct event *v, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (!v[i].per_task) {
			log_err(0,
				"%s counts for whole parts of the machine, so no stack has to do "
				"with it: it can be counted (bpfprof stat), but not sampled",
				v[i].name);
			return -EINVAL;
		}
		for (size_t k = 0; k < i; k++)
			if (!strcmp(v[i].name, v[k].name)) {
				log_err(0, "-e: %s is given twice", v[i].name);
				return -EINVAL;
			}
	}
	return 0;
}

/* A program counts their hits, so there is no rate to keep to. */
static int check_tracepoints(struct recording_args *a, const struct event *v, size_t nr)
{
	const struct sample_opts *o = &a->record.sampling;
	const struct event *first = NULL;

	a->record.sampling.nr_tracepoints = 0;
	for (size_t i = 0; i < nr; i++)
		if (hits_is_tracepoint(&v[i]) && !a->record.sampling.nr_tracepoints++)
			first = &v[i];
	if (!first)
		return 0;
	if (o->rate_hz)
		return log_as(-EINVAL,
			      "-F: %s is a tracepoint, which is sampled every so many "
			      "hits (-c), not at a rate",
			      first->name);
	if (o->period > HITS_MOST_PERIOD)
		return log_as(-EINVAL, "-c %llu: of %s, a tracepoint, %u is the most",
			      (unsigned long long)o->period, first->name, HITS_MOST_PERIOD);
	return 0;
}

static int check_value(const char *value, const struct event *v, size_t nr)
{
	const char *names[PROF_MAX_EVENTS];
	char *hint;

	for (size_t i = 0; i < nr; i++) {
		names[i] = v[i].name;
		if (!value || !strcmp(value, names[i]))
			return 0;
	}
	hint = text_meant("", text_nearest(value, names, nr));
	log_err(0, "--value: '%s' is not an event of -e%s", value, hint);
	free(hint);
	return -EINVAL;
}

static int find_events(const struct catalog *c, const struct opt_strings *lists, struct event **v,
		       size_t *nr)
{
	int err = lists->nr ? 0 : catalog_find(c, "cycles", v, nr);

	for (size_t i = 0; i < lists->nr && !err; i++)
		err = catalog_find_list(c, lists->v[i], v, nr);
	return err;
}

/* A name that nobody knows is a mistake; one of hardware that is not there is none. */
static enum cmd_result not_found(int err)
{
	if (err == -ENOENT)
		return CMD_USAGE;
	return err == -ENODEV ? CMD_CANNOT : cmd_failed(err);
}

static enum cmd_result record_columns(struct recording_args *a, const struct catalog *c)
{
	struct group_column *v = NULL;
	enum cmd_result result;
	size_t nr = 0;
	int err = a->columns ? group_columns_find(c, a->columns, &v, &nr) : 0;

	a->record.sampling.columns = v;
	a->record.sampling.nr_columns = nr;
	result = err ? not_found(err) : recording_run(a);
	group_columns_free(v, nr);
	return result;
}

static enum cmd_result record_events(struct recording_args *a, const struct catalog *c,
				     struct event *v, size_t nr)
{
	if (check_number(nr) || check_each(v, nr) || check_tracepoints(a, v, nr) ||
	    check_value(a->results.view.value, v, nr))
		return CMD_USAGE;
	a->record.sampling.events = v;
	a->record.sampling.nr_events = nr;
	return record_columns(a, c);
}

/* --- branches --- */

static bool has_spe(void)
{
	return !access("/sys/bus/event_source/devices/arm_spe_0", F_OK);
}

static enum cmd_result no_branches(int why)
{
	log_err(why, "this machine neither records branches nor counts mispredicted ones%s",
		has_spe() ? " (its Statistical Profiling Extension, arm_spe_0, could: perf record "
			    "-e arm_spe// reads it, bpfprof does not)"
			  : "");
	return CMD_CANNOT;
}

/* Mispredicted branches, by the name that tells most. The PMU must let it be sampled. */
static const char *misses_event(const struct catalog *c)
{
	static const char *const names[] = { "br_mis_pred_retired", "branch-misses" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (catalog_has(c, names[i]))
			return names[i];
	return NULL;
}

/* What is sampled instead: the result says so, and is of stacks. */
static enum cmd_result fall_back(struct recording_args *a, const struct catalog *c, int why)
{
	const char *name = misses_event(c);
	struct event *v = NULL;
	enum cmd_result result;
	size_t nr = 0;
	int err;

	if (!name)
		return no_branches(why);
	log_warn("this machine records no branches (%s): %s is sampled instead", strerror(-why),
		 name);
	a->results.branches = false;
	a->record.sampling.note = "this machine records no branches";
	err = catalog_find(c, name, &v, &nr);
	result = err ? not_found(err) : record_events(a, c, v, nr);
	events_free(v, nr);
	return result;
}

static bool means_none(int err)
{
	return err == -EOPNOTSUPP || err == -ENOENT || err == -ENODEV || err == -EINVAL;
}

static enum cmd_result record_branches(struct recording_args *a, const struct catalog *c,
				       struct event *v, size_t nr)
{
	int err;

	if (nr > 1 && a->events.nr) {
		log_err(0, "--branches goes with one event of -e at a time");
		return CMD_USAGE;
	}
	if (hits_is_tracepoint(v)) {
		log_err(0,
			"--branches: %s is a tracepoint; branches are recorded with events of "
			"the hardware",
			v->name);
		return CMD_USAGE;
	}
	err = sampling_try_branches(v);
	if (means_none(err))
		return fall_back(a, c, err);
	a->record.sampling.branches = true;
	return record_events(a, c, v, nr);
}

static enum cmd_result run(struct recording_args *a)
{
	enum cmd_result result;
	struct event *v = NULL;
	struct catalog *c;
	size_t nr = 0;
	int err;

	if (a->record.sampling.period && a->record.sampling.rate_hz) {
		log_err(0, "-c and -F exclude each other: a sample every so many events, or so "
			   "many a second");
		return CMD_USAGE;
	}
	c = catalog_open("/");
	if (!c)
		return cmd_failed(-errno);
	err = find_events(c, &a->events, &v, &nr);
	if (err)
		result = not_found(err);
	else if (a->results.branches)
		result = record_branches(a, c, v, nr);
	else
		result = record_events(a, c, v, nr);
	events_free(v, nr);
	catalog_close(c);
	return result;
}

enum cmd_result cmd_pmu(const struct command *self, int argc, char **argv)
{
	struct recording_args a = { .parse_words = recording_duration };

	return recording_main(self, argc, argv, &a, run);
}
