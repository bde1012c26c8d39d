/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Points at functions that a table names, in a child: one pass over the symbols of a file, however
 * many.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "collect/points_parts.h"

#define MOST_THUNKS 4 /* in a row */

static int by_name(const void *x, const void *y)
{
	const struct points_name *a = x, *b = y;

	return strcmp(a->name, b->name);
}

/* The row of any of a function's names. */
static const struct points_name *row_of(const struct uprobe_function *fn,
					const struct points_table *names)
{
	const struct points_name *found = NULL;

	for (size_t i = 0; i < fn->nr_names && !found; i++)
		found = bsearch(&(struct points_name){ .name = fn->names[i] }, names->v, names->nr,
				sizeof(*names->v), by_name);
	return found;
}

/* Each of its names, so that whoever sees one in a stack knows what it is. */
static void add_events(struct points *p, const struct uprobe_function *fn)
{
	for (size_t i = 0; i < fn->nr_names; i++)
		points_add_event(
			p, &(struct call_event){ .name = points_string(p, xstrdup(fn->names[i])) });
}

struct search {
	const struct points_file *file;
	const struct points_table *names;
	int depth;
};

/* One of them, or one that only goes on as some of them: each of its calls would be two. */
static bool is_thunk(const struct search *s, const struct uprobe_function *fn);

static bool is_one(void *arg, const struct uprobe_function *next)
{
	struct search deeper = *(struct search *)arg;

	deeper.depth++;
	return row_of(next, deeper.names) ||
	       (deeper.names->also && row_of(next, deeper.names->also)) ||
	       (deeper.depth < MOST_THUNKS && is_thunk(&deeper, next));
}

static bool is_thunk(const struct search *s, const struct uprobe_function *fn)
{
	return leaving_only_for(s->file->places, s->file->functions, fn, is_one, (void *)s);
}

/*
 * Functions that throw nothing may have a return probe in any file but one of Go. Who unwinds
 * within such a call, as heap profilers do, finds the trampoline: on x86-64 stacks end there, on
 * aarch64 its code may not be readable. There a probe on a return instruction is cheap anyway.
 */
static bool is_seen_by_probe(const struct points_file *f, const struct uprobe_function *fn,
			     const struct points_table *names)
{
	return leaving_by_probe(f->leaving, fn) ||
	       (names->throw_nothing && RETURN_IS_DEAR && f->leaving != LEAVING_GO);
}

static int add_function(struct points *p, struct points_file *f, const struct uprobe_function *fn,
			const struct points_table *names)
{
	const struct points_name *row = row_of(fn, names);
	struct uprobe_spec spec = { .kind = UPROBE_NAME };
	struct point point = { .kind = POINT_UPROBE, .event = p->nr_events, .args = row->args };
	bool by_probe = is_seen_by_probe(f, fn, names);
	bool wants_return = !row->no_return && (p->opts->timed || (p->opts->sessions && by_probe));
	struct place place;
	int err = points_choose_place(p, f, &spec, fn, &place);

	if (err || is_thunk(&(struct search){ f, names, 0 }, fn))
		return err;
	points_tell_place(f, row->name, &place);
	if (place.price == PLACE_REFUSED) {
		log_warn("the kernel takes no probe on \"%s\", where %s begins: its calls are not "
			 "seen",
			 place.insn, row->name);
		return 0;
	}
	point.offset = place.offset;
	point.is_dear = place.price == PLACE_STEPPED;
	add_events(p, fn);
	point.by_probe = wants_return && by_probe;
	points_add(p, &point);
	return wants_return && !point.by_probe ? points_add_returns(p, f, fn, point) : 0;
}

int points_find_names(struct points *p, struct points_file *f, const struct points_table *names)
{
	const struct points_name *row;
	size_t nr_fns;
	const struct uprobe_function *fns = functions_all(f->functions, &nr_fns);
	int err = 0;

	for (size_t i = 0; i < nr_fns && !err; i++) {
		row = row_of(&fns[i], names);
		if (row && (p->opts->timed || !row->no_return))
			err = add_function(p, f, &fns[i], names);
	}
	return err;
}
