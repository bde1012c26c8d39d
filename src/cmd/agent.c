/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpfprof agent: always on, in windows that are kept in a folder, sent, or shown. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/keep.h"
#include "agent/trigger.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/recording.h"

#define RATE_HZ	     19
#define OVERHEAD     "0.5"
#define MAX_STACKS   (1u << 18)
#define MOST_STACKS  (1u << 19)
#define USUAL_DISK   (1ull << 30)
#define LEAST_WINDOW 1000000000ull
#define MAX_SINKS    8
#define MAX_TRIGGERS 32

struct agent_args {
	struct recording_args common; /* first */
	uint64_t interval_ns, max_disk;
	const char *keep;
	struct opt_strings on;
};

const struct opt agent_opts[] = {
	TARGET_ROWS,
	OPT_GROUP("Windows"),
	OPT_TIME('i', "interval", struct agent_args, interval_ns, 1000000000, LEAST_WINDOW,
		 3600 * 1000000000ull, "TIME", "length of a window (default 10s)"),
	OPT_STRING(0, "keep", struct agent_args, keep, "DIR",
		   "keep windows in this folder, for report DIR and diff DIR@A DIR@B"),
	OPT_SIZE(0, "max-disk", struct agent_args, max_disk, 1 << 20, 1 << 20, 1ull << 50, "MB",
		 "the oldest windows go when they take more (default 1G)"),
	OPT_STRINGS(0, "on", struct agent_args, on, "CONDITION",
		    "keep the windows around one that meets it apart: 'runq_p99>20ms', "
		    "'cpu>90%', 'lost>0', 'blocked>2'"),
	OPT_GROUP("How"),
	SAMPLING_ROWS,
	COST_ROWS,
	OPT_STRING(
		0, "call-graph", struct recording_args, call_graph, "HOW",
		"walk user stacks by unwind tables (dwarf), by frame pointers (fp), or by tables "
		"and by frame pointers where there are none (auto, the default)"),
	OPT_FLAG(0, "no-python", struct recording_args, record.no_python,
		 "show the interpreter of Python, not its functions"),
	OPT_U32(0, "max-stacks", struct recording_args, record.max_stacks, 1, 1 << 24, "N",
		"slots for distinct stacks, rounded up to a power of two (default 262144): when "
		"they are in use, another recording takes over"),
	OPT_U32(0, "walks", struct recording_args, record.waits.walks, 1, 1000000, "N",
		"walk at most N stacks per second and CPU (default 10000); other waits count as "
		"[not sampled]"),
	UNSAFE_ROW,
	OPT_GROUP("Output"),
	OPT_COUNT('v', "verbose", struct recording_args, verbose,
		  "a line for each window on stderr (-vv: libbpf too)"),
	OPT_END,
};

struct service {
	struct agent_args *args;
	struct keep *keep;
	struct trigger triggers[MAX_TRIGGERS];
	size_t nr_triggers;
	bool met; /* in the last window */
	struct agent_sink sinks[MAX_SINKS];
	size_t nr_sinks;
};

/* --- the recorder --- */

static void keep_it(void *arg, const struct profile *p, const struct agent_facts *f)
{
	keep_window(((struct service *)arg)->keep, p);
}

static void end_keeping(void *arg)
{
	struct service *s = arg;
	struct keep_counts c = keep_counts(s->keep);

	log_info("kept %s windows of %s each; %s could not be kept", text_count(c.kept),
		 text_bytes(c.kept ? c.bytes / c.kept : 0), text_count(c.not_kept));
}

static int open_keep(struct service *s)
{
	const struct agent_args *a = s->args;

	if (!a->keep)
		return 0;
	s->keep = keep_open(a->keep, a->max_disk ? a->max_disk : USUAL_DISK);
	if (!s->keep)
		return -errno;
	s->sinks[s->nr_sinks++] =
		(struct agent_sink){ "keep", s, .window = keep_it, .close = end_keeping };
	return 0;
}

/* --- triggers --- */

/* Said when it begins, not in each window while it lasts. */
static void judge(void *arg, const struct profile *p, const struct agent_facts *f)
{
	struct service *s = arg;
	char *why = NULL;

	for (size_t i = 0; i < s->nr_triggers && !why; i++)
		trigger_is_met(&s->triggers[i], p, f, &why);
	if (why && s->keep)
		keep_trigger(s->keep, why);
	else if (why && !s->met)
		log_warn("%s", why);
	s->met = why != NULL;
	free(why);
}

static int open_triggers(struct service *s)
{
	const struct opt_strings *on = &s->args->on;

	if (on->nr > MAX_TRIGGERS)
		return log_as(-EINVAL, "--on: at most %d conditions", MAX_TRIGGERS);
	for (; s->nr_triggers < on->nr; s->nr_triggers++)
		if (trigger_parse(&s->triggers[s->nr_triggers], on->v[s->nr_triggers]))
			return -EINVAL;
	if (s->nr_triggers)
		s->sinks[s->nr_sinks++] = (struct agent_sink){ "on", s, .window = judge };
	return 0;
}

/* --- the command --- */

static int open_sinks(struct service *s)
{
	int err = open_triggers(s);

	if (err)
		return err;
	err = open_keep(s);
	if (err)
		return err;
	/* The window that meets a condition is in the ring by then. */
	if (s->nr_sinks == 2) {
		struct agent_sink on = s->sinks[0];

		s->sinks[0] = s->sinks[1];
		s->sinks[1] = on;
	}
	return 0;
}

static enum cmd_result run(struct recording_args *common)
{
	struct service s = { .args = (struct agent_args *)common };
	struct record_opts *o = &common->record;
	struct agent_opts opts = { .record = o,
				   .interval_ns = s.args->interval_ns,
				   .duration_ns = o->duration_ns,
				   .most_stacks = o->max_stacks ? o->max_stacks : MOST_STACKS,
				   .sinks = s.sinks };
	int err = open_sinks(&s);

	o->max_stacks = o->max_stacks ? o->max_stacks : MAX_STACKS;
	o->duration_ns = 0;
	o->symbols.time_ns = 0;
	o->always_on = true;
	opts.nr_sinks = s.nr_sinks;
	if (!err)
		err = agent_run(&opts);
	keep_close(s.keep);
	return err ? cmd_failed(err) : CMD_OK;
}

/* There are no words but a duration, and nobody to show anything to without a sink. */
static int parse_words(struct recording_args *common, char **words, int nr)
{
	struct agent_args *a = (struct agent_args *)common;

	if (!a->interval_ns)
		a->interval_ns = 10000000000ull;
	if (a->max_disk && !a->keep)
		return log_as(-EINVAL, "--max-disk goes with --keep DIR");
	if (!a->keep && !a->on.nr)
		return log_as(-EINVAL, "windows go nowhere: say --keep DIR");
	return recording_duration(common, words, nr);
}

enum cmd_result cmd_agent(const struct command *self, int argc, char **argv)
{
	struct agent_args a = { .common = { .parse_words = parse_words,
					    .record.sampling.rate_hz = RATE_HZ } };

	if (!getenv("BPFPROF_MAX_OVERHEAD"))
		a.common.max_overhead = OVERHEAD;
	return recording_main(self, argc, argv, &a.common, run);
}
