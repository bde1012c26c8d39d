/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Callers and callees, in one walk over the nodes of a call tree. */
#include "profile/peek.h"

#include <stdlib.h>

#include "base/mem.h"

static void add_edge(struct peek_edges *e, const struct tree_node *n, uint64_t weight)
{
	e->v = xgrow(e->v, e->nr, &e->cap, sizeof(*e->v));
	e->v[e->nr++] = (struct peek_edge){ n->name, n->module, n->kind, weight };
}

static bool is_it(const struct peek *p, const struct tree_node *n)
{
	return n->name == p->name && n->kind != FRAME_NONE && !n->waker &&
	       (p->module == PEEK_ANY_MODULE ||
		p->modules.of[n->module] == p->modules.of[p->module]);
}

static bool is_outermost(const struct peek *p, const struct tree_node *n)
{
	const struct tree_node *nodes = p->t->nodes;

	while (n != nodes) {
		n = &nodes[n->parent];
		if (is_it(p, n))
			return false;
	}
	return true;
}

static void add_callees(struct peek *p, uint32_t outermost)
{
	const struct tree_node *nodes = p->t->nodes;
	size_t nr = 0;

	p->todo = xgrow(p->todo, nr, &p->cap_todo, sizeof(*p->todo));
	p->todo[nr++] = outermost;
	while (nr) {
		const struct tree_node *n = &nodes[p->todo[--nr]];

		p->self += n->self;
		for (uint32_t c = n->first_child; c; c = nodes[c].next) {
			if (!is_it(p, &nodes[c])) {
				add_edge(&p->callees, &nodes[c], nodes[c].total);
				continue;
			}
			p->todo = xgrow(p->todo, nr, &p->cap_todo, sizeof(*p->todo));
			p->todo[nr++] = c;
		}
	}
}

static int by_name(const void *x, const void *y, void *modules)
{
	const struct peek_edge *a = x, *b = y;
	const struct module_names *m = modules;

	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	if (m->of[a->module] != m->of[b->module])
		return m->of[a->module] < m->of[b->module] ? -1 : 1;
	return 0;
}

static int by_weight(const void *x, const void *y, void *modules)
{
	const struct peek_edge *a = x, *b = y;

	return a->weight > b->weight ? -1 : a->weight < b->weight ? 1 : by_name(x, y, modules);
}

/* One for each function, heaviest first. */
static void merge(struct peek_edges *e, struct module_names *modules)
{
	size_t nr = 0;

	if (!e->nr)
		return;
	qsort_r(e->v, e->nr, sizeof(*e->v), by_name, modules);
	for (size_t i = 0; i < e->nr; i++) {
		if (nr && !by_name(&e->v[nr - 1], &e->v[i], modules))
			e->v[nr - 1].weight += e->v[i].weight;
		else
			e->v[nr++] = e->v[i];
	}
	e->nr = nr;
	qsort_r(e->v, e->nr, sizeof(*e->v), by_weight, modules);
}

void peek_init(struct peek *p, const struct tree *t, uint32_t name, uint32_t module)
{
	const struct tree_node *nodes = t->nodes;
	uint32_t first = 0;

	*p = (struct peek){ .t = t, .name = name, .module = module };
	module_names_init(&p->modules, t->profile);
	for (uint32_t i = 1; i < t->nr; i++) {
		if (!is_it(p, &nodes[i]) || !is_outermost(p, &nodes[i]))
			continue;
		first = first ? first : i;
		p->total += nodes[i].total;
		add_edge(&p->callers, &nodes[nodes[i].parent], nodes[i].total);
		add_callees(p, i);
	}
	p->module = nodes[first].module;
	merge(&p->callers, &p->modules);
	merge(&p->callees, &p->modules);
}

void peek_release(struct peek *p)
{
	free(p->callers.v);
	free(p->callees.v);
	free(p->todo);
	module_names_release(&p->modules);
	*p = (struct peek){};
}
