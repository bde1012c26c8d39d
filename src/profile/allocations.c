/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Walks from each leaf out of the allocator, and sums up by what it comes to. */
#include "profile/allocations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "base/mem.h"
#include "profile/allocator.h"

/* Children of node 0 are thread names. */
static bool is_function(const struct tree *t, uint32_t node)
{
	return node && t->nodes[node].parent;
}

static char *callers_of(const struct tree *t, uint32_t node)
{
	char *text = xstrdup(""), *longer;

	node = t->nodes[node].parent;
	for (int i = 0; i < ALLOCATIONS_CALLERS && is_function(t, node); i++) {
		longer = xasprintf("%s%s%s", text, i ? " < " : "", tree_name(t, &t->nodes[node]));
		free(text);
		text = longer;
		node = t->nodes[node].parent;
	}
	return text;
}

/* From what tells rows apart to their number. */
struct named {
	char *name;
	size_t row;
	UT_hash_handle hh;
};

static size_t row_get(struct allocations *a, struct named **index, const struct tree *t,
		      uint32_t node)
{
	char *callers = callers_of(t, node);
	char *name = xasprintf("%s < %s", tree_name(t, &t->nodes[node]), callers);
	struct named *n;

	HASH_FIND_STR(*index, name, n);
	if (n) {
		free(name);
		free(callers);
		return n->row;
	}
	n = xmalloc(sizeof(*n));
	*n = (struct named){ .name = name, .row = a->nr };
	HASH_ADD_KEYPTR(hh, *index, n->name, strlen(n->name), n);
	a->rows = xgrow(a->rows, a->nr, &a->cap, sizeof(*a->rows));
	a->rows[a->nr] =
		(struct allocations_row){ .function = xstrdup(tree_name(t, &t->nodes[node])),
					  .callers = callers,
					  .module = t->nodes[node].module };
	return a->nr++;
}

static void add_event(struct allocations *a, struct named **index, size_t event,
		      enum allocations_value as)
{
	const struct tree *t = a->values.trees[event];
	const struct profile *one = &a->values.one[event];
	size_t *rows = xcalloc(t->nr, sizeof(*rows)); /* of leaves, + 1 */

	for (size_t i = 0; i < one->nr_samples; i++) {
		uint32_t leaf = t->leaves[i].node;
		struct allocations_row *r;

		if (!leaf)
			continue;
		if (!rows[leaf])
			rows[leaf] = row_get(a, index, t, allocator_caller(t, leaf)) + 1;
		r = &a->rows[rows[leaf] - 1];
		r->value[as] += t->leaves[i].weight;
		r->samples[as] += one->samples[i].count;
		a->all.value[as] += t->leaves[i].weight;
		a->all.samples[as] += one->samples[i].count;
	}
	free(rows);
}

static int by_value(const void *x, const void *y, void *arg)
{
	const struct allocations_row *a = x, *b = y;
	enum allocations_value by = *(enum allocations_value *)arg;
	int order;

	if (a->value[by] != b->value[by])
		return a->value[by] > b->value[by] ? -1 : 1;
	if (a->value[ALLOCATIONS_BYTES] != b->value[ALLOCATIONS_BYTES])
		return a->value[ALLOCATIONS_BYTES] > b->value[ALLOCATIONS_BYTES] ? -1 : 1;
	order = strcmp(a->function, b->function);
	return order ? order : strcmp(a->callers, b->callers);
}

void allocations_init(struct allocations *a, const struct profile *p, const struct view *v)
{
	static const char *const names[] = { "live-bytes", "live-objects", "bytes", "objects" };
	uint32_t shown = view_event(v, p);
	struct named *index = NULL, *n, *tmp;

	*a = (struct allocations){};
	event_values_init(&a->values, p, v, shown);
	for (int i = 0; i < ALLOCATIONS_VALUES; i++) {
		int event = profile_find_event(p, names[i]);

		a->has[i] = event >= 0;
		if (!a->has[i])
			continue;
		add_event(a, &index, event, i);
		if ((uint32_t)event == shown)
			a->by = i;
	}
	HASH_ITER (hh, index, n, tmp) {
		HASH_DEL(index, n);
		free(n->name);
		free(n);
	}
	if (a->nr)
		qsort_r(a->rows, a->nr, sizeof(*a->rows), by_value, &a->by);
}

void allocations_release(struct allocations *a)
{
	for (size_t i = 0; i < a->nr; i++) {
		free(a->rows[i].function);
		free(a->rows[i].callers);
	}
	free(a->rows);
	event_values_release(&a->values);
}

double allocations_error(const struct allocations_row *r, enum allocations_value bytes)
{
	double n = r->samples[bytes], objects = r->value[bytes + 1];

	return n > 0 && objects > n ? 2 * sqrt((1 - n / objects) / n) : 0;
}
