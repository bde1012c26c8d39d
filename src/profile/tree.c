/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Building the call tree without a hash table: every sample becomes a path of name ids, the paths
 * are sorted, and equal prefixes of neighbours become shared nodes. Children are then put in order
 * of weight.
 */
#include "profile/tree_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/large.h"
#include "base/mem.h"

/* Names stand close together: comparing paths is what most of the time goes into. */
struct packed {
	const struct step *steps;
	uint32_t *names; /* of the steps */
};

/* Equal names of different modules are shown as one; the last comparison says which is named. */
static int by_steps(const void *x, const void *y, void *arg)
{
	const struct packed *packed = arg;
	const struct path *a = x, *b = y;
	const uint32_t *m = packed->names + a->first, *n = packed->names + b->first;
	uint32_t nr = a->nr < b->nr ? a->nr : b->nr;
	int diff;

	if (m == n)
		return a->nr < b->nr ? -1 : a->nr > b->nr;
	diff = memcmp(m, n, nr * sizeof(*m)); /* any order will do */
	if (diff)
		return diff;
	if (a->nr != b->nr)
		return a->nr < b->nr ? -1 : 1;
	return memcmp(packed->steps + a->first, packed->steps + b->first,
		      nr * sizeof(*packed->steps));
}

static void sort_paths(struct tree_paths *p)
{
	struct packed packed = { p->steps, xcalloc(p->nr_steps + 1, sizeof(uint32_t)) };

	for (size_t i = 0; i < p->nr_steps; i++)
		packed.names[i] = p->steps[i].name;
	if (p->nr_paths)
		qsort_r(p->paths, p->nr_paths, sizeof(*p->paths), by_steps, &packed);
	free(packed.names);
}

static uint32_t add_node(struct tree *t, uint32_t parent, const struct step *s)
{
	t->nodes = xgrow_large(t->nodes, t->nr, &t->cap, sizeof(*t->nodes));
	t->nodes[t->nr] = (struct tree_node){ .name = s->name,
					      .module = s->module,
					      .kind = s->kind,
					      .waker = s->waker,
					      .parent = parent,
					      .next = t->nodes[parent].first_child };
	t->nodes[parent].first_child = t->nr;
	return t->nr++;
}

static size_t longest_path(const struct tree_paths *p)
{
	size_t longest = 0;

	for (size_t i = 0; i < p->nr_paths; i++)
		if (p->paths[i].nr > longest)
			longest = p->paths[i].nr;
	return longest;
}

/* Paths that follow each other are often at the same place. */
static void add_line(struct tree *t, uint32_t node, const struct step *s, uint64_t weight,
		     size_t *last)
{
	struct source_line *row = *last < t->lines.nr ? &t->lines.rows[*last] : NULL;

	if (!s->file || !s->line)
		return;
	if (row && row->of == node && row->file == s->file && row->line == s->line) {
		row->weight += weight;
		return;
	}
	*last = t->lines.nr;
	source_lines_add(&t->lines, &(struct source_line){ node, s->file, s->line, weight });
}

/* What waits has the scheduler innermost: the code of the program that waited has it as its own. */
static void add_own(struct tree *t, const struct step *steps, uint32_t nr, uint64_t weight)
{
	const struct step *s = &steps[nr - 1];

	while (t->profile->meta.is_time && s > steps &&
	       (s->kind == FRAME_KERNEL || s->kind == FRAME_NONE))
		s--;
	if (s->file && s->line)
		source_lines_add(&t->own, &(struct source_line){ 0, s->file, s->line, weight });
}

/* spine holds the nodes of the path before, so a shared prefix is found by comparing with it. */
static void add_paths(struct tree *t, const struct tree_paths *p)
{
	size_t longest = longest_path(p), *last = xcalloc(longest + 1, sizeof(*last));
	uint32_t *spine = xcalloc(longest + 1, sizeof(*spine));
	uint32_t depth = 0;

	for (size_t i = 0; i < p->nr_paths; i++) {
		const struct path *path = &p->paths[i];
		const struct step *steps = p->steps + path->first;
		uint32_t same = 0;

		while (same < depth && same < path->nr &&
		       t->nodes[spine[same + 1]].name == steps[same].name)
			same++;
		for (uint32_t k = same; k < path->nr; k++)
			spine[k + 1] = add_node(t, spine[k], &steps[k]);
		depth = path->nr;
		t->nodes[spine[depth]].self += path->count;
		if (path->sample != PATH_LOST)
			t->leaves[path->sample] = (struct tree_leaf){ spine[depth], path->count };
		for (uint32_t k = 0; k <= depth; k++)
			t->nodes[spine[k]].total += path->count;
		for (uint32_t k = 0; k < depth; k++)
			add_line(t, spine[k + 1], &steps[k], path->count, &last[k]);
		if (depth)
			add_own(t, steps, depth, path->count);
	}
	source_lines_merge(&t->lines);
	source_lines_merge(&t->own);
	free(last);
	free(spine);
}

static int compare(uint64_t a, uint64_t b)
{
	return a > b ? -1 : a < b;
}

struct sorting {
	const struct tree *t;
	enum tree_order order;
};

static int by_order(const void *x, const void *y, void *arg)
{
	const struct sorting *s = arg;
	const struct tree_node *a = &s->t->nodes[*(const uint32_t *)x],
			       *b = &s->t->nodes[*(const uint32_t *)y];
	int order = 0;

	if (s->order == TREE_BY_SELF)
		order = compare(a->self, b->self);
	if (s->order != TREE_BY_NAME)
		order = order ? order : compare(a->total, b->total);
	return order ? order : strcmp(tree_name(s->t, a), tree_name(s->t, b));
}

/* kids is for use, again and again. */
static uint32_t *sort_children(struct tree *t, uint32_t node, enum tree_order order, uint32_t *kids,
			       size_t *cap)
{
	struct sorting sorting = { t, order };
	size_t nr = 0;

	for (uint32_t c = t->nodes[node].first_child; c; c = t->nodes[c].next) {
		kids = xgrow(kids, nr, cap, sizeof(*kids));
		kids[nr++] = c;
	}
	t->nodes[node].order = order;
	if (nr < 2)
		return kids;
	qsort_r(kids, nr, sizeof(*kids), by_order, &sorting);
	t->nodes[node].first_child = kids[0];
	for (size_t k = 0; k < nr; k++)
		t->nodes[kids[k]].next = k + 1 < nr ? kids[k + 1] : 0;
	return kids;
}

void tree_sort_children(struct tree *t, uint32_t node, enum tree_order order)
{
	uint32_t *kids = NULL;
	size_t cap = 0;

	if (t->nodes[node].order != order)
		kids = sort_children(t, node, order, kids, &cap);
	free(kids);
}

void tree_sort(struct tree *t)
{
	uint32_t *kids = NULL;
	size_t cap = 0;

	for (size_t i = 0; i < t->nr; i++)
		kids = sort_children(t, i, TREE_BY_TOTAL, kids, &cap);
	free(kids);
}

/* Each step once: those that a path shares are of one before it. */
static void turn(struct tree_paths *p)
{
	size_t turned = 0;

	for (size_t i = 0; i < p->nr_paths; i++) {
		struct step *first = p->steps + p->paths[i].first;
		struct step *last = first + p->paths[i].nr - 1, step;

		if (p->paths[i].first < turned)
			continue;
		turned = p->paths[i].first + p->paths[i].nr;
		for (; first < last; first++, last--) {
			step = *first;
			*first = *last;
			*last = step;
		}
	}
}

static struct tree *new_tree(const struct profile *p)
{
	struct tree *t = xcalloc(1, sizeof(*t));

	t->profile = p;
	strings_init(&t->names);
	t->leaves = xcalloc(p->nr_samples + 1, sizeof(*t->leaves));
	t->nodes = xgrow(NULL, 0, &t->cap, sizeof(*t->nodes));
	t->nodes[t->nr++] = (struct tree_node){ .name = strings_add(&t->names, "all", 3) };
	return t;
}

static struct tree *make(const struct profile *p, const struct view *v, bool bottom_up)
{
	struct tree *t = new_tree(p);
	struct tree_paths paths = { 0 };

	tree_paths_of(t, v, &paths);
	if (bottom_up)
		turn(&paths);
	sort_paths(&paths);
	add_paths(t, &paths);
	tree_sort(t);
	tree_paths_release(&paths);
	return t;
}

struct tree *tree_paths_new(const struct profile *p, const struct view *v, struct tree_paths *paths)
{
	struct tree *t = new_tree(p);

	*paths = (struct tree_paths){ .with_frames = true };
	tree_paths_of(t, v, paths);
	return t;
}

void tree_paths_free(struct tree *t, struct tree_paths *paths)
{
	tree_paths_release(paths);
	tree_free(t);
}

struct tree *tree_new(const struct profile *p, const struct view *v)
{
	return make(p, v, false);
}

struct tree *tree_new_turned(const struct profile *p, const struct view *v)
{
	return make(p, v, v->bottom_up);
}

void tree_free(struct tree *t)
{
	if (!t)
		return;
	strings_release(&t->names);
	source_lines_release(&t->lines);
	source_lines_release(&t->own);
	free(t->leaves);
	free(t->nodes);
	free(t);
}

/* A node stands behind its parent. */
void tree_weigh(struct tree *t, const uint64_t *self)
{
	for (size_t i = 0; i < t->nr; i++)
		t->nodes[i].self = t->nodes[i].total = self[i];
	for (size_t i = t->nr - 1; i > 0; i--)
		t->nodes[t->nodes[i].parent].total += t->nodes[i].total;
}

/* Depth-first without recursion: hostile stacks are as deep as they like. */
void tree_for_each_stack(const struct tree *t,
			 void (*fn)(const struct tree *t, const uint32_t *path, size_t nr,
				    void *arg),
			 void *arg)
{
	uint32_t *path = NULL, at = t->nodes[0].first_child;
	size_t nr = 0, cap = 0;

	while (at) {
		path = xgrow(path, nr, &cap, sizeof(*path));
		path[nr++] = at;
		if (t->nodes[at].self)
			fn(t, path, nr, arg);
		if (t->nodes[at].first_child) {
			at = t->nodes[at].first_child;
			continue;
		}
		while (nr && !t->nodes[path[nr - 1]].next)
			nr--;
		at = nr ? t->nodes[path[--nr]].next : 0;
	}
	free(path);
}
