/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Self and total per function, in one walk of the tree. */
#include "profile/top.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/allocator.h"
#include "profile/kind.h"
#include "profile/module_names.h"

enum rows_by { BY_FUNCTION, BY_NAME, BY_MODULE };

/* Beside a row: how often it stands on the path from the root, and the next one of its key + 1. */
struct beside {
	uint32_t on_path, next;
};

struct top {
	const struct tree *t;
	enum rows_by by;
	uint32_t *row_of; /* key -> its first row + 1 */
	struct module_names names;
	struct beside *beside; /* per row */
	struct top_row *rows;
	size_t nr, cap, cap_beside;
};

/* A name of the tree, or the path of a module among the strings of the profile. */
static uint32_t key_of(const struct top *top, const struct tree_node *n)
{
	return top->by == BY_MODULE ? top->t->profile->modules[n->module].path : n->name;
}

static uint32_t add_row(struct top *top, const struct tree_node *n)
{
	top->rows = xgrow(top->rows, top->nr, &top->cap, sizeof(*top->rows));
	top->beside = xgrow(top->beside, top->nr, &top->cap_beside, sizeof(*top->beside));
	top->rows[top->nr] =
		(struct top_row){ .name = n->name, .module = n->module, .kind = n->kind };
	top->beside[top->nr] = (struct beside){};
	return ++top->nr;
}

/* Few modules have a function of the same name. */
static size_t row_get(struct top *top, const struct tree_node *n)
{
	uint32_t key = key_of(top, n), row = top->row_of[key], last = 0;

	while (row && top->by == BY_FUNCTION &&
	       top->names.of[top->rows[row - 1].module] != top->names.of[n->module]) {
		last = row;
		row = top->beside[row - 1].next;
	}
	if (row)
		return row - 1;
	row = add_row(top, n);
	if (last)
		top->beside[last - 1].next = row;
	else
		top->row_of[key] = row;
	return row - 1;
}

static bool is_function(const struct tree_node *n)
{
	return n->kind != FRAME_NONE && !n->waker;
}

static bool is_scheduler(const struct tree *t, const struct tree_node *n)
{
	const char *name = tree_name(t, n);

	return n->kind == FRAME_KERNEL &&
	       (!strncmp(name, "schedule", 8) || !strncmp(name, "__schedule", 10) ||
		!strncmp(name, "io_schedule", 11));
}

/* The node whose function waited, of one that stacks end at. */
static const struct tree_node *waiting_node(const struct tree *t, const struct tree_node *n)
{
	const struct tree_node *nodes = t->nodes, *kernel = NULL, *any = NULL;

	for (; n != nodes; n = &nodes[n->parent]) {
		if (!is_function(n))
			continue;
		if (n->kind != FRAME_KERNEL)
			return n;
		any = any ? any : n;
		kernel = kernel || is_scheduler(t, n) ? kernel : n;
	}
	return kernel ? kernel : any;
}

uint32_t top_owner(const struct tree *t, uint32_t node)
{
	const struct tree_node *n = &t->nodes[node];

	if (t->profile->meta.is_time)
		n = waiting_node(t, n);
	else if (kind_of_profile(t->profile)->memory)
		n = &t->nodes[allocator_caller(t, node)];
	return n && is_function(n) ? n - t->nodes : 0;
}

static void add_self(struct top *top, const struct tree_node *n)
{
	uint32_t to = n->self ? top_owner(top->t, n - top->t->nodes) : 0;
	size_t row;

	if (!to)
		return;
	row = row_get(top, &top->t->nodes[to]);
	top->rows[row].self += n->self;
}

static void enter(struct top *top, const struct tree_node *n)
{
	size_t row;

	add_self(top, n);
	if (!is_function(n))
		return;
	row = row_get(top, n);
	if (!top->beside[row].on_path++)
		top->rows[row].total += n->total;
}

static void leave(struct top *top, const struct tree_node *n)
{
	if (is_function(n))
		top->beside[row_get(top, n)].on_path--;
}

static void walk(struct top *top)
{
	const struct tree_node *nodes = top->t->nodes;
	uint32_t at = 0;

	for (;;) {
		enter(top, &nodes[at]);
		if (nodes[at].first_child) {
			at = nodes[at].first_child;
			continue;
		}
		while (at && !nodes[at].next) {
			leave(top, &nodes[at]);
			at = nodes[at].parent;
		}
		if (!at)
			return;
		leave(top, &nodes[at]);
		at = nodes[at].next;
	}
}

static int by_self(const void *x, const void *y, void *arg)
{
	const struct top_row *a = x, *b = y;
	const struct tree *t = arg;

	if (a->self != b->self)
		return a->self > b->self ? -1 : 1;
	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	if (a->name != b->name)
		return strcmp(t->names.bytes + a->name, t->names.bytes + b->name);
	return a->module < b->module ? -1 : a->module > b->module;
}

static struct top_row *make(const struct tree *t, enum rows_by by, size_t *nr)
{
	struct top top = { .t = t, .by = by };

	top.row_of = xcalloc(by == BY_MODULE ? t->profile->strings.len : t->names.len,
			     sizeof(*top.row_of));
	module_names_init(&top.names, t->profile);
	walk(&top);
	if (top.nr)
		qsort_r(top.rows, top.nr, sizeof(*top.rows), by_self, (void *)t);
	free(top.row_of);
	free(top.beside);
	module_names_release(&top.names);
	*nr = top.nr;
	return top.rows;
}

struct top_row *top_rows(const struct tree *t, size_t *nr)
{
	return make(t, BY_FUNCTION, nr);
}

struct top_row *top_names(const struct tree *t, size_t *nr)
{
	return make(t, BY_NAME, nr);
}

struct top_row *top_modules(const struct tree *t, size_t *nr)
{
	return make(t, BY_MODULE, nr);
}
