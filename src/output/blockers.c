/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waits in tasks, merged by frames first, which are numbers; of those with most of the time by
 * names, since calls of one function come from several places.
 */
#include "output/blockers.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "output/grid.h"
#include "profile/waits.h"

#define MAX_ROWS   8   /* for people */
#define MAX_NAMED  256 /* places */
#define WORTH_PART 1000

struct blocker {
	struct blocker_place place;
	const char *kind;
	uint64_t ns;
	char *name;
};

struct blockers {
	struct trim trim;
	struct blocker *v;
	size_t nr, cap;
	uint64_t ns;
};

struct blocker_place blockers_place(struct trim *t, const struct context_of *of, uint32_t stack)
{
	const struct trimmed *f = stack ? trim_function(t, of, stack) : NULL;
	struct blocker_place place = {};

	if (!f)
		return place;
	place.function = *f;
	f = trim_task(t, of, stack);
	if (f && f->frame != place.function.frame)
		place.task = *f;
	return place;
}

char *blockers_function(struct trim *t, const struct trimmed *f)
{
	uint32_t first;

	if (!f->frame)
		return xstrdup("[unknown]");
	view_functions(t->v, t->p, f->frame, &first);
	return view_short_function(t->v, t->p, f->frame, first, f->poll);
}

/* How long the names of the modules are that two paths share. */
static size_t shared_modules(const char *path, const char *other)
{
	size_t len = 0;

	for (size_t i = 0; path[i] && path[i] == other[i] && !strchr("<{ ", path[i]); i++)
		if (i && path[i] == ':' && path[i - 1] == ':')
			len = i + 1;
	return len;
}

char *blockers_name(struct trim *t, const struct blocker_place *place)
{
	char *function = blockers_function(t, &place->function), *task, *both;
	size_t shared;

	if (!place->task.frame)
		return function;
	task = blockers_function(t, &place->task);
	shared = shared_modules(function, task);
	both = strcmp(function, task) ? xasprintf("%s in %s", function + shared, task + shared)
				      : xstrdup(function);
	free(function);
	free(task);
	return both;
}

static int by_place(const void *x, const void *y)
{
	const struct blocker *a = x, *b = y;

	if (a->place.function.frame != b->place.function.frame)
		return a->place.function.frame < b->place.function.frame ? -1 : 1;
	if (a->place.task.frame != b->place.task.frame)
		return a->place.task.frame < b->place.task.frame ? -1 : 1;
	return strcmp(a->kind, b->kind);
}

static int by_time(const void *x, const void *y)
{
	const struct blocker *a = x, *b = y;

	return a->ns != b->ns ? (a->ns > b->ns ? -1 : 1) : by_place(x, y);
}

static int by_names(const void *x, const void *y)
{
	const struct blocker *a = x, *b = y;
	int order = strcmp(a->name, b->name);

	return order ? order : strcmp(a->kind, b->kind);
}

static void add(struct blockers *b, size_t sample, const struct context_of *of)
{
	const struct sample *s = &b->trim.p->samples[sample];
	struct blocker one = { .kind = of->kind, .ns = s->weight };

	one.place = blockers_place(&b->trim, of, s->ustack);
	b->v = xgrow(b->v, b->nr, &b->cap, sizeof(*b->v));
	b->v[b->nr++] = one;
	b->ns += one.ns;
}

static void merge(struct blockers *b, int (*order)(const void *x, const void *y))
{
	size_t nr = 0;

	qsort(b->v, b->nr, sizeof(*b->v), order);
	for (size_t i = 0; i < b->nr; i++) {
		if (nr && !order(&b->v[nr - 1], &b->v[i])) {
			b->v[nr - 1].ns += b->v[i].ns;
			free(b->v[i].name);
		} else {
			b->v[nr++] = b->v[i];
		}
	}
	b->nr = nr;
	qsort(b->v, b->nr, sizeof(*b->v), by_time);
}

static void name_most(struct blockers *b)
{
	b->nr = b->nr < MAX_NAMED ? b->nr : MAX_NAMED;
	for (size_t i = 0; i < b->nr; i++)
		b->v[i].name = blockers_name(&b->trim, &b->v[i].place);
}

static void put_rows(const struct blockers *b, FILE *out)
{
	static const struct grid_column columns[] = {
		{ .head = "TIME" },
		{ .head = "SHARE" },
		{ .head = "KIND", .kind = GRID_TEXT },
		{ .head = "WHO BLOCKED A TASK", .kind = GRID_TEXT, .min = 20 },
	};
	struct grid g;

	grid_init(&g, out, columns, 4);
	g.indent = 2;
	for (size_t i = 0; i < b->nr && i < MAX_ROWS; i++)
		grid_row(&g, STYLE_PLAIN, text_ns(b->v[i].ns), text_pct(100.0 * b->v[i].ns / b->ns),
			 b->v[i].kind, b->v[i].name, NULL);
	grid_end(&g);
}

bool blockers_put(const struct profile *p, const struct view *v, uint64_t watched_ns, FILE *out)
{
	struct blockers b = {};
	bool put = false;

	trim_init(&b.trim, p, v);
	for (size_t i = 0; i < p->nr_samples; i++) {
		const struct context_of *of = trim_context(&b.trim, i);

		if (of && PROF_WAIT_KIND(p->samples[i].wait) == PROF_BLOCKED &&
		    p->samples[i].weight &&
		    (of->context == CONTEXT_TASK || of->context == CONTEXT_MAIN_FUTURE))
			add(&b, i, of);
	}
	if (b.nr && b.ns >= watched_ns / WORTH_PART) {
		merge(&b, by_place);
		name_most(&b);
		merge(&b, by_names);
		put_rows(&b, out);
		put = true;
	}
	for (size_t i = 0; i < b.nr; i++)
		free(b.v[i].name);
	free(b.v);
	trim_release(&b.trim);
	return put;
}
