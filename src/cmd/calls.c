/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From words to points, and a recording of calls there. */
#include "cmd/calls.h"

#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "collect/call_args.h"
#include "uprobe/spec.h"

/* Only the last word can be one. */
static bool is_duration(const char *word)
{
	uint64_t ns;

	return opt_seconds(word, &ns) != -EINVAL;
}

int calls_parse_words(struct recording_args *common, char **words, int nr)
{
	struct calls_args *a = (struct calls_args *)common;
	int nr_last = nr && is_duration(words[nr - 1]);

	a->words = (const char **)words;
	a->nr_words = nr - nr_last;
	if (!a->nr_words) {
		log_err(0, "nothing to probe was given (bpfprof help %s has examples)",
			common->record.command);
		return -EINVAL;
	}
	return recording_duration(common, words + nr - nr_last, nr_last);
}

/* Who asks for a flame graph need not say what it is made of. */
static bool wants_stacks(const struct results_opts *o)
{
	static const char *const forms[] = { "folded",	   "svg",     "html",  "stacks",
					     "speedscope", "firefox", "pprof", "pprof-file" };

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		if (results_wants(o, forms[i]))
			return true;
	return o->folded || o->broken;
}

static void configure(struct calls_args *a, const struct points *p)
{
	struct calls_opts *o = &a->common.record.calls;

	o->events = p->events;
	o->nr_events = p->nr_events;
	o->args = p->args;
	o->nr_args = p->nr_args;
	o->points = p->v;
	o->nr_points = p->nr;
	o->timed = a->points.timed;
	o->stacks = a->stacks || a->arg_frame || wants_stacks(&a->common.results);
	o->arg_frame = a->arg_frame;
	o->by_process = a->per_process;
	o->nr_dear = p->nr_dear;
	o->force = a->force;
}

/* What a call returned, and where it does, is known when its return is seen. */
static bool wants_returns(const struct calls_args *a)
{
	if (a->are_fields)
		return false;
	for (size_t i = 0; i < a->nr_words; i++)
		if (uprobe_spec_is_return(a->words[i]))
			return true;
	return call_args_want_result(&a->args);
}

static int check(struct calls_args *a)
{
	if (a->until && a->nr_words > 1)
		return log_as(-EINVAL, "--until: one tracepoint to begin at, not %zu", a->nr_words);
	if (a->arg_frame && !a->args.nr)
		return log_as(-EINVAL, "--arg-frame: which argument? Add --arg");
	a->points.timed =
		a->latency || a->until || a->common.record.calls.min_ns || wants_returns(a);
	a->points.args = &a->args;
	if (!a->points.pids)
		a->points.pids = &a->common.record.pids;
	if (!a->points.timed && results_wants(&a->common.results, "stacks"))
		return log_as(-EINVAL, "-o FILE.stacks.csv: calls are not timed: add --latency, or "
				       "of tracepoints --until");
	return 0;
}

static int add_until(struct points *p, const char *until)
{
	if (p->nr_events > 1)
		return log_as(-EINVAL, "--until: one tracepoint to begin at, not %zu",
			      p->nr_events);
	return points_add_tracepoint(p, until, true);
}

enum cmd_result calls_run(struct calls_args *a, int (*add)(struct points *p, const char *word))
{
	enum cmd_result result;
	struct points points;
	int err = check(a);

	points_init(&points, &a->points);
	for (size_t i = 0; i < a->nr_words && !err; i++)
		err = add(&points, a->words[i]);
	if (!err && points.nr_events > CALL_MAX_EVENTS)
		err = log_as(-EINVAL, "%zu places are meant, and %d can be recorded at a time",
			     points.nr_events, CALL_MAX_EVENTS);
	if (!err && a->until)
		err = add_until(&points, a->until);
	points_end(&points);
	configure(a, &points);
	if (err)
		result = err == -EINVAL || err == -ENOENT ? CMD_USAGE : cmd_failed(err);
	else
		result = recording_run(&a->common);
	points_release(&points);
	return result;
}
