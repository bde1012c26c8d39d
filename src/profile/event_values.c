/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The functions of several trees joined by name. */
#include "profile/event_values.h"

#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "base/mem.h"
#include "profile/top.h"

struct named {
	const char *name;
	size_t row;
	UT_hash_handle hh;
};

static size_t row_get(struct event_values *v, struct named **index, const char *name,
		      const struct top_row *from)
{
	struct named *n;

	HASH_FIND_STR(*index, name, n);
	if (n)
		return n->row;
	n = xmalloc(sizeof(*n));
	*n = (struct named){ .name = name, .row = v->nr };
	HASH_ADD_KEYPTR(hh, *index, n->name, strlen(n->name), n);
	v->rows = xgrow(v->rows, v->nr, &v->cap, sizeof(*v->rows));
	v->rows[v->nr++] =
		(struct event_values_row){ .name = name,
					   .module = from->module,
					   .kind = from->kind,
					   .self = xcalloc(2 * v->nr_events, sizeof(uint64_t)) };
	v->rows[n->row].total = v->rows[n->row].self + v->nr_events;
	return n->row;
}

static void add_tree(struct event_values *v, struct named **index, size_t event)
{
	const struct tree *t = v->trees[event];
	size_t nr, row;
	struct top_row *rows = top_names(t, &nr);

	for (size_t i = 0; i < nr; i++) {
		row = row_get(v, index, t->names.bytes + rows[i].name, &rows[i]);
		v->rows[row].self[event] = rows[i].self;
		v->rows[row].total[event] = rows[i].total;
	}
	free(rows);
}

struct order {
	size_t nr_events;
	uint32_t event;
};

static int by_self(const void *x, const void *y, void *arg)
{
	const struct event_values_row *a = x, *b = y;
	const struct order *o = arg;

	if (a->self[o->event] != b->self[o->event])
		return a->self[o->event] > b->self[o->event] ? -1 : 1;
	for (size_t i = 0; i < 2 * o->nr_events; i++) /* totals follow */
		if (a->self[i] != b->self[i])
			return a->self[i] > b->self[i] ? -1 : 1;
	return strcmp(a->name, b->name);
}

void event_values_init(struct event_values *v, const struct profile *p, const struct view *view,
		       uint32_t event)
{
	struct named *index = NULL, *n, *tmp;
	struct order order;

	*v = (struct event_values){ .profile = p, .nr_events = p->nr_events ? p->nr_events : 1 };
	v->one = xcalloc(v->nr_events, sizeof(*v->one));
	v->trees = xcalloc(v->nr_events, sizeof(*v->trees));
	for (size_t i = 0; i < v->nr_events; i++) {
		v->one[i] = profile_of_event(p, i);
		v->trees[i] = tree_new(&v->one[i], view);
		add_tree(v, &index, i);
	}
	HASH_ITER (hh, index, n, tmp) {
		HASH_DEL(index, n);
		free(n);
	}
	order = (struct order){ v->nr_events, event };
	if (v->nr)
		qsort_r(v->rows, v->nr, sizeof(*v->rows), by_self, &order);
}

void event_values_release(struct event_values *v)
{
	for (size_t i = 0; i < v->nr; i++)
		free(v->rows[i].self);
	for (size_t i = 0; i < v->nr_events; i++) {
		tree_free(v->trees[i]);
		profile_of_event_release(&v->one[i]);
	}
	free(v->rows);
	free(v->trees);
	free(v->one);
}
