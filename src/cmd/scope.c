/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of options that are for some results only. */
#include "cmd/scope.h"

#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"

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
	if (r->kind == RESULT_CHANGES)
		return scope != OF_WAITS || kind_of_profile(r->changes->both)->waits;
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

int scope_check(const struct results_opts *o, const struct result *r)
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
		{ "--by-class", v->by_class, OF_WAITS },
		{ "--by class", v->by == VIEW_BY_CLASS, OF_WAITS },
		{ "--class", o->classes, OF_WAITS },
		{ "--idle", o->idle, OF_WAITS },
		{ "--sort", o->sort, OF_TIMELINES },
		{ "-P", v->per_process, OF_TIMELINES },
		{ "-m", v->milliseconds, OF_TIMES },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].given && !is_in(rows[i].scope, r))
			return refuse(rows[i].option, rows[i].scope, r);
	return 0;
}
