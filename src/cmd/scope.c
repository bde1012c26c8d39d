/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of options that are for some results only. */
#include "cmd/scope.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "profile/context.h"
#include "profile/kind.h"

enum scope { OF_STACKS, OF_EVENTS, OF_WAITS, OF_TIMES, OF_TIMELINES };

static const char *const scope_texts[] = {
	[OF_STACKS] = "recordings of stacks",
	[OF_EVENTS] = "recordings of samples and waits",
	[OF_WAITS] = "recordings of waits (offcpu, wall, wakeup)",
	[OF_TIMES] = "recordings of runqlat, and of calls with --latency",
	[OF_TIMELINES] = "recordings of timeline and sched",
};

static bool is_in(enum scope scope, const struct result *r)
{
	if (scope == OF_TIMELINES)
		return r->kind == RESULT_TIMELINE || r->kind == RESULT_SCHED;
	if (scope == OF_TIMES)
		return r->kind == RESULT_RUNQLAT ||
		       (r->kind == RESULT_CALLS && r->profile->meta.timed);
	if (r->kind == RESULT_CALLS)
		return scope == OF_STACKS;
	if (r->kind != RESULT_STACKS)
		return false;
	return scope == OF_STACKS || scope == OF_EVENTS || kind_of_profile(r->profile)->waits;
}

/* "a recording of oncpu". To be freed. */
static char *result_text(const struct result *r)
{
	char *command, *text;

	if (r->kind != RESULT_STACKS && r->kind != RESULT_CALLS)
		return xstrdup(output_kind_text(r->kind));
	command = text_cleaned(profile_str(r->profile, r->profile->meta.command));
	text = xasprintf("a recording of %s", command);
	free(command);
	return text;
}

static int refuse(const char *option, enum scope scope, const struct result *r)
{
	char *text = result_text(r);

	log_err(0, "%s is for %s; this is %s", option, scope_texts[scope], text);
	free(text);
	return -EINVAL;
}

static bool wants_context(const struct view *v)
{
	return v->by == VIEW_BY_CONTEXT || v->by == VIEW_BY_KIND || v->by == VIEW_BY_ROLE ||
	       v->by == VIEW_BY_TASK;
}

static uint64_t nr_user_stacks(const struct profile *p)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < p->nr_samples; i++)
		nr += p->samples[i].ustack != 0;
	return nr;
}

static char *no_function(const struct profile *p, const char *name)
{
	uint64_t nr = nr_user_stacks(p);

	return xasprintf(
		"no stack has a function of %s (looked at %s stack%s, for names that begin "
		"with %s)",
		name, text_count(nr), nr == 1 ? "" : "s", context_needle(name));
}

/* How it was looked for: a program without names may well have one. To be freed. */
static char *no_runtime(const struct profile *p, const char *name)
{
	char *versions = text_cleaned(profile_str(p, p->meta.runtimes)), *text;

	if (!strncmp(versions, name, strlen(name)))
		text = xasprintf(
			"%s, but no stack has a name that begins with %s: it is stripped, and "
			"%s, which would tell contexts without names. A debug file brings the "
			"names",
			versions, context_needle(name),
			kind_of_profile(p)->locks ? "lock records no waits for events"
						  : "none of its threads waited for events");
	else
		text = no_function(p, name);
	free(versions);
	return text;
}
static bool has_runtime(const struct view *v, const struct profile *p)
{
	struct contexts c;
	bool has = false;

	contexts_init(&c, p);
	for (uint32_t r = 0; r < context_nr_runtimes(); r++)
		if (v->runtime >= RUNTIME_FIRST ? v->runtime == RUNTIME_FIRST + r
						: context_is_automatic(r))
			has |= contexts_have(&c, r);
	contexts_release(&c);
	return has;
}

int scope_check_words(const struct view *v)
{
	if (v->runtime != RUNTIME_OFF || !wants_context(v))
		return 0;
	return log_as(-EINVAL,
		      "--runtime=none and --by context, kind, role or task exclude each other");
}

/* A recording that lacks what was asked for is shown without; a table of it cannot be. */
static int check_runtime(const struct view *v, const struct profile *p)
{
	bool named = v->runtime >= RUNTIME_FIRST;
	char *why;

	if (!named && !wants_context(v) && !v->gaps)
		return 0;
	if (has_runtime(v, p))
		return 0;
	why = no_runtime(p, named ? context_runtime(v->runtime - RUNTIME_FIRST) : "tokio");
	if (wants_context(v))
		log_err(0, "--by: %s", why);
	else
		log_warn("%s: %s", named ? "--runtime" : "--gaps", why);
	free(why);
	return wants_context(v) ? -EINVAL : 0;
}

/* Of a recording that did not look for driver gaps, or for such short ones, nothing is known. */
static int check_gaps(const struct view *v, const struct profile *p)
{
	uint64_t least_ns = 4 * p->meta.long_wait_ns;

	if (!v->gaps && !v->gap_ns)
		return 0;
	if (!least_ns)
		return log_as(-EINVAL,
			      "%s: the recording does not say when waits began (bpfprof offcpu "
			      "--gaps does)",
			      v->gaps ? "--gaps" : "--gap");
	if (v->gap_ns && v->gap_ns < least_ns)
		return log_as(-EINVAL,
			      "--gap: the recording has gaps of %s or more (record it with "
			      "a shorter --gap)",
			      text_ns(least_ns));
	return 0;
}

int scope_check_options(const struct results_opts *o, const struct result *r)
{
	const struct view *v = &o->view;
	const struct {
		const char *option;
		bool given;
		enum scope scope;
	} rows[] = {
		{ "-U", v->user_only, OF_STACKS },
		{ "-K", v->kernel_only, OF_STACKS },
		{ "-D", v->delimiter, OF_STACKS },
		{ "-A", v->annotations, OF_STACKS },
		{ "--per-thread", v->per_thread, OF_STACKS },
		{ "--merge-threads", v->merge_threads, OF_STACKS },
		{ "--no-demangle", v->no_demangle, OF_STACKS },
		{ "--no-inline", v->no_inline, OF_STACKS },
		{ "--focus", v->focus, OF_STACKS },
		{ "--ignore", v->ignore, OF_STACKS },
		{ "--value", v->value, OF_EVENTS },
		{ "--heatmap", v->heatmap, OF_EVENTS },
		{ "--by-class", v->by_class, OF_WAITS },
		{ "--by class", v->by == VIEW_BY_CLASS, OF_WAITS },
		{ "--class", o->classes, OF_WAITS },
		{ "--idle", o->idle, OF_WAITS },
		{ "--histogram", v->histogram && !is_in(OF_TIMES, r), OF_WAITS },
		{ "--gaps", v->gaps, OF_WAITS },
		{ "--gap", v->gap_ns != 0, OF_WAITS },
		{ "--sort", o->sort, OF_TIMELINES },
		{ "-P", v->per_process, OF_TIMELINES },
		{ "-m", v->milliseconds, OF_TIMES },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].given && !is_in(rows[i].scope, r))
			return refuse(rows[i].option, rows[i].scope, r);
	return 0;
}

int scope_check(const struct results_opts *o, const struct result *r)
{
	const struct view *v = &o->view;

	/* Before they were made, the options were looked at. */
	if (r->kind == RESULT_CHANGES)
		return check_runtime(v, r->changes->both);
	if (scope_check_options(o, r))
		return -EINVAL;
	if (r->kind != RESULT_STACKS)
		return 0;
	return check_gaps(v, r->profile) ? -EINVAL : check_runtime(v, r->profile);
}
