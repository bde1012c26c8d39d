/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shares, from a call tree. */
#include "profile/shares.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "profile/top.h"

const char *const shares_heads[VIEW_NR_BY] = {
	[VIEW_BY_FUNCTION] = "FUNCTION", [VIEW_BY_MODULE] = "MODULE",
	[VIEW_BY_FILE] = "FILE",	 [VIEW_BY_LINE] = "LINE",
	[VIEW_BY_THREAD] = "THREAD",	 [VIEW_BY_PROCESS] = "PROCESS",
	[VIEW_BY_CLASS] = "CLASS",	 [VIEW_BY_CONTEXT] = "CONTEXT",
	[VIEW_BY_KIND] = "KIND",	 [VIEW_BY_ROLE] = "ROLE",
	[VIEW_BY_TASK] = "TASK",
};

static void add(struct shares *s, const struct share *row)
{
	s->v = xgrow(s->v, s->nr, &s->cap, sizeof(*s->v));
	s->v[s->nr++] = *row;
}

static const char *module_path(const struct shares *s, const struct top_row *row)
{
	return profile_str(s->p, s->p->modules[row->module].path);
}

static void add_functions(struct shares *s)
{
	size_t nr;
	struct top_row *rows = top_rows(s->t, &nr);

	for (size_t i = 0; i < nr; i++)
		add(s, &(struct share){ .name = xstrdup(s->t->names.bytes + rows[i].name),
					.module = module_path(s, &rows[i]),
					.self = rows[i].self,
					.total = rows[i].total,
					.id = rows[i].name,
					.group = s->p->modules[rows[i].module].path });
	s->has_total = true;
	free(rows);
}

static void add_modules(struct shares *s)
{
	size_t nr;
	struct top_row *rows = top_modules(s->t, &nr);

	for (size_t i = 0; i < nr; i++) {
		const char *path = module_path(s, &rows[i]);
		const char *none = rows[i].kind == FRAME_PYTHON ? "[python]" : "[none]";

		add(s, &(struct share){ .name = text_cleaned(*path ? path : none),
					.module = "",
					.self = rows[i].self,
					.total = rows[i].total,
					.group = s->p->modules[rows[i].module].path });
	}
	s->has_total = true;
	free(rows);
}

static int by_file(const void *x, const void *y)
{
	const struct source_line *a = x, *b = y;

	return a->file < b->file ? -1 : a->file > b->file;
}

static void add_line(struct shares *s, const struct source_line *l, bool whole_file)
{
	char *file = text_cleaned(profile_str(s->p, l->file));

	add(s, &(struct share){ .name = whole_file ? xstrdup(file)
						   : xasprintf("%s:%" PRIu32, file, l->line),
				.module = "",
				.self = l->weight,
				.total = l->weight,
				.group = l->file });
	free(file);
}

static void add_lines(struct shares *s, bool whole_files)
{
	const struct source_lines *own = &s->t->own;
	struct source_line *rows = xcalloc(own->nr + 1, sizeof(*rows));
	size_t nr = 0;

	for (size_t i = 0; i < own->nr; i++)
		rows[i] = own->rows[i];
	if (whole_files)
		qsort(rows, own->nr, sizeof(*rows), by_file);
	for (size_t i = 0; i < own->nr; i++) {
		if (whole_files && nr && rows[nr - 1].file == rows[i].file)
			rows[nr - 1].weight += rows[i].weight;
		else
			rows[nr++] = rows[i];
	}
	for (size_t i = 0; i < nr; i++)
		add_line(s, &rows[i], whole_files);
	free(rows);
}

/* Threads, processes, or classes: the first frames. */
static void add_owners(struct shares *s)
{
	const struct tree_node *nodes = s->t->nodes;

	for (uint32_t i = nodes[0].first_child; i; i = nodes[i].next)
		add(s, &(struct share){ .name = xstrdup(tree_name(s->t, &nodes[i])),
					.module = "",
					.self = nodes[i].total,
					.total = nodes[i].total,
					.id = i });
}

/* Who has nothing to do is no answer to what takes the time, and comes last. */
static bool is_idle(const struct share *s)
{
	return !strncmp(s->name, "[idle", 5);
}

static int by_self(const void *x, const void *y)
{
	const struct share *a = x, *b = y;

	if (is_idle(a) != is_idle(b))
		return is_idle(a) ? 1 : -1;
	if (a->self != b->self)
		return a->self > b->self ? -1 : 1;
	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int by_total(const void *x, const void *y)
{
	const struct share *a = x, *b = y;

	if (is_idle(a) != is_idle(b))
		return is_idle(a) ? 1 : -1;
	return a->total != b->total ? (a->total > b->total ? -1 : 1) : by_self(x, y);
}

static int by_name(const void *x, const void *y)
{
	const struct share *a = x, *b = y;
	int order = strcmp(a->name, b->name);

	return order ? order : by_self(x, y);
}

void shares_sort(struct shares *s, enum view_sort sort)
{
	static int (*const orders[])(const void *x, const void *y) = {
		[VIEW_SORT_SELF] = by_self,
		[VIEW_SORT_TOTAL] = by_total,
		[VIEW_SORT_NAME] = by_name,
	};

	if (s->nr)
		qsort(s->v, s->nr, sizeof(*s->v), orders[sort]);
}

void shares_init(struct shares *s, const struct tree *t, enum view_by by)
{
	*s = (struct shares){ .p = t->profile, .t = t };
	if (by == VIEW_BY_FUNCTION)
		add_functions(s);
	else if (by == VIEW_BY_MODULE)
		add_modules(s);
	else if (by == VIEW_BY_FILE || by == VIEW_BY_LINE)
		add_lines(s, by == VIEW_BY_FILE);
	else
		add_owners(s);
	shares_sort(s, VIEW_SORT_SELF);
}

void shares_release(struct shares *s)
{
	for (size_t i = 0; i < s->nr; i++)
		free(s->v[i].name);
	free(s->v);
	*s = (struct shares){};
}

uint64_t shares_unknown(const struct shares *s)
{
	uint64_t all = s->t->nodes[0].total, known = 0;

	for (size_t i = 0; i < s->nr; i++)
		known += s->v[i].self;
	return known < all ? all - known : 0;
}

char *share_text(const struct tree *t, uint64_t weight)
{
	uint64_t all = t->nodes[0].total;
	double pct = all ? 100.0 * weight / all : 0;

	if (!t->profile->meta.is_time)
		return xasprintf("%.1f%%", pct);
	if (weight)
		return xasprintf("%s %5.1f%%", text_ns(weight), pct);
	return xasprintf("- %6s", "");
}
