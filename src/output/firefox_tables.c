/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The tables of the Firefox Profiler's format: functions by file, and stacks as a tree. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "output/firefox_parts.h"
#include "output/output.h"

const struct dictionary_place *firefox_place(const struct firefox *w, size_t line)
{
	return &w->d.places[w->place_of[line]];
}

const char *firefox_path(const struct firefox *w, size_t mapping)
{
	const struct profile *p = w->d.profile;

	return profile_str(p, p->modules[w->d.mappings[mapping].module].path);
}

static int by_function(const void *x, const void *y, void *arg)
{
	const struct firefox *w = arg;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	uint32_t f = w->d.lines[a].function, g = w->d.lines[b].function;

	if (f != g)
		return f < g ? -1 : 1;
	f = firefox_place(w, a)->module;
	g = firefox_place(w, b)->module;
	return f < g ? -1 : f > g;
}

static void find_funcs(struct firefox *w)
{
	size_t nr = w->d.nr_lines;
	uint32_t *order = xcalloc(nr + 1, sizeof(*order));

	w->place_of = xcalloc(nr + 1, sizeof(*w->place_of));
	w->func_of = xcalloc(nr + 1, sizeof(*w->func_of));
	w->line_of = xcalloc(nr + 1, sizeof(*w->line_of));
	for (size_t i = 0; i < w->d.nr_places; i++)
		for (uint32_t k = 0; k < w->d.places[i].nr; k++)
			w->place_of[w->d.places[i].first + k] = i;
	for (size_t i = 0; i < nr; i++)
		order[i] = i;
	qsort_r(order, nr, sizeof(*order), by_function, w);
	for (size_t i = 0; i < nr; i++) {
		if (!i || by_function(&order[i - 1], &order[i], w))
			w->line_of[w->nr_funcs++] = order[i];
		w->func_of[order[i]] = w->nr_funcs - 1;
	}
	free(order);
}

static void find_resources(struct firefox *w)
{
	w->resources = xcalloc(w->d.nr_mappings + 1, sizeof(*w->resources));
	for (size_t i = 0; i < w->d.nr_mappings; i++)
		w->resources[i] =
			numbered_add_cleaned(&w->d.strings, output_base_name(firefox_path(w, i)));
}

static void find_sources(struct firefox *w)
{
	w->source_of = xcalloc(w->d.strings.nr, sizeof(*w->source_of));
	w->sources = xcalloc(w->d.strings.nr, sizeof(*w->sources));
	for (size_t i = 0; i < w->d.nr_functions; i++) {
		uint32_t file = w->d.functions[i].file;

		if (!file || w->source_of[file])
			continue;
		w->sources[w->nr_sources++] = file;
		w->source_of[file] = w->nr_sources;
	}
}

struct wanted {
	const struct node *nodes, *node;
};

static bool is_node(const void *arg, uint32_t id)
{
	const struct wanted *want = arg;

	return !memcmp(&want->nodes[id], want->node, sizeof(*want->node));
}

static uint32_t node_of(struct firefox *w, uint32_t prefix1, uint32_t frame)
{
	struct node n = { prefix1, frame };
	const struct wanted want = { w->nodes, &n };
	uint32_t id, hash = index_hash(0, &n, sizeof(n));

	if (index_find(&w->node_index, hash, is_node, &want, &id))
		return id;
	index_add(&w->node_index, hash, w->nr_nodes);
	w->nodes = xgrow(w->nodes, w->nr_nodes, &w->cap_nodes, sizeof(n));
	w->nodes[w->nr_nodes] = n;
	return w->nr_nodes++;
}

static int by_thread(const void *x, const void *y, void *arg)
{
	const struct dictionary_sample *samples = arg;
	uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
	const struct dictionary_sample *a = &samples[i], *b = &samples[k];

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return i < k ? -1 : i > k;
}

static void find_stacks(struct firefox *w)
{
	w->stack_of = xcalloc(w->d.nr_samples + 1, sizeof(*w->stack_of));
	w->order = xcalloc(w->d.nr_samples + 1, sizeof(*w->order));
	for (size_t i = 0; i < w->d.nr_samples; i++) {
		const struct dictionary_sample *s = &w->d.samples[i];
		uint32_t prefix1 = 0;

		for (uint32_t k = s->nr; k > 0; k--) {
			const struct dictionary_place *p =
				&w->d.places[w->d.stack[s->first + k - 1] - 1];

			for (uint32_t f = p->nr; f > 0; f--)
				prefix1 = node_of(w, prefix1, p->first + f - 1) + 1;
		}
		w->stack_of[i] = prefix1 - 1;
		w->order[i] = i;
	}
	qsort_r(w->order, w->d.nr_samples, sizeof(*w->order), by_thread, w->d.samples);
}

void firefox_tables_init(struct firefox *w, const struct profile *p, const struct view *v)
{
	dictionary_init(&w->d, p, v);
	find_funcs(w);
	find_sources(w);
	find_resources(w);
	find_stacks(w);
}

void firefox_tables_release(struct firefox *w)
{
	index_release(&w->node_index);
	dictionary_release(&w->d);
	free(w->nodes);
	free(w->place_of);
	free(w->func_of);
	free(w->line_of);
	free(w->source_of);
	free(w->sources);
	free(w->resources);
	free(w->stack_of);
	free(w->order);
}
