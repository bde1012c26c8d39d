/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Flame graphs: one call tree in, one self-contained file out. Both outputs carry the same data and
 * the same script (flame_script.c); the svg also holds the picture itself, for places where scripts
 * do not run. Here is what both draw: symbols, files, and the two lines above.
 */
#include "output/flame.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "output/changes.h"
#include "output/output.h"
#include "profile/nameless.h"

/* --- symbols --- */

static int by_symbol(const void *x, const void *y, void *arg)
{
	const struct tree_node *nodes = arg;
	const struct tree_node *a = &nodes[*(const uint32_t *)x], *b = &nodes[*(const uint32_t *)y];

	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	return a->kind - b->kind;
}

/* The commonest get the short numbers. */
static int by_uses(const void *x, const void *y, void *arg)
{
	const struct flame_symbol *a = x, *b = y;
	struct flame *f = arg;

	if (a->uses != b->uses)
		return a->uses > b->uses ? -1 : 1;
	return by_symbol(&a->node, &b->node, f->t->nodes);
}

static void find_symbols(struct flame *f)
{
	uint32_t *order = xcalloc(f->t->nr, sizeof(*order)), at = 0;

	for (size_t i = 0; i < f->t->nr; i++)
		order[i] = i;
	qsort_r(order, f->t->nr, sizeof(*order), by_symbol, f->t->nodes);
	for (size_t first = 0, i = 0; i < f->t->nr; first = i) {
		while (i < f->t->nr && !by_symbol(&order[first], &order[i], f->t->nodes))
			i++;
		f->symbols = xgrow(f->symbols, f->nr_symbols, &f->cap_symbols, sizeof(*f->symbols));
		f->symbols[f->nr_symbols++] = (struct flame_symbol){ order[first], i - first, 0 };
	}
	qsort_r(f->symbols, f->nr_symbols, sizeof(*f->symbols), by_uses, f);

	/* The run of equal nodes that symbol i names is found by its first node. */
	f->symbol_of = xcalloc(f->t->nr, sizeof(*f->symbol_of));
	for (size_t i = 0; i < f->nr_symbols; i++)
		f->symbol_of[f->symbols[i].node] = i;
	for (size_t i = 0; i < f->t->nr; i++) {
		if (i && !by_symbol(&order[at], &order[i], f->t->nodes))
			f->symbol_of[order[i]] = f->symbol_of[order[at]];
		else
			at = i;
	}
	free(order);
}

static void find_modules(struct flame *f)
{
	uint32_t *index = xcalloc(f->p->nr_modules, sizeof(*index));

	f->modules = xgrow(NULL, 0, &f->cap_modules, sizeof(*f->modules));
	f->modules[f->nr_modules++] = 0;
	for (size_t i = 0; i < f->nr_symbols; i++) {
		uint32_t id = f->t->nodes[f->symbols[i].node].module;

		if (id && !index[id]) {
			f->modules = xgrow(f->modules, f->nr_modules, &f->cap_modules,
					   sizeof(*f->modules));
			f->modules[index[id] = f->nr_modules++] = id;
		}
		f->symbols[i].module = index[id];
	}
	free(index);
}

static int by_string(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	return a < b ? -1 : a > b;
}

/* Sorted by their string, so that one is found among them. */
static void find_files(struct flame *f)
{
	const struct source_lines *lines = &f->t->lines;
	size_t nr = 0;

	f->files = xcalloc(lines->nr + 1, sizeof(*f->files));
	for (size_t i = 0; i < lines->nr; i++)
		f->files[i + 1] = lines->rows[i].file;
	qsort(f->files, lines->nr + 1, sizeof(*f->files), by_string);
	for (size_t i = 1; i <= lines->nr; i++)
		if (f->files[i] != f->files[nr])
			f->files[++nr] = f->files[i];
	f->nr_files = nr + 1;
}

size_t flame_file(const struct flame *f, uint32_t file)
{
	const uint32_t *at = bsearch(&file, f->files, f->nr_files, sizeof(file), by_string);

	return at ? at - f->files : 0;
}

uint32_t flame_next(const struct flame *f, uint32_t i, bool descend, uint32_t *up)
{
	const struct tree_node *nodes = f->t->nodes;

	*up = 0;
	if (descend && nodes[i].first_child)
		return nodes[i].first_child;
	for (*up = 1; i && !nodes[i].next; i = nodes[i].parent)
		++*up;
	return nodes[i].next;
}

/* --- one graph --- */

/* Where user code has no names; the text output has all of it, with what would bring them. */
static void put_nameless(const struct profile *p, FILE *out)
{
	const struct nameless_row *most;
	struct nameless n;
	char *name;

	nameless_init(&n, p);
	most = n.nr ? &n.rows[0] : NULL;
	if (most && 100.0 * most->weight / n.all >= NAMELESS_LISTED) {
		bool is_file = most->module && p->modules[most->module].kind == MODULE_FILE;

		name = text_cleaned(
			profile_str(p, is_file ? p->modules[most->module].path : most->process));
		fprintf(out, ", %.0f%% without names (%s%s)", 100.0 * n.weight / n.all,
			output_base_name(name), n.nr > 1 ? " and others" : "");
		free(name);
	}
	nameless_release(&n);
}

/*
 * "cpu-clock at 99 Hz · 10 s · 12,345 samples, 6 lost · host · Linux 6.1.0"; of waits
 * "10 s · 42 s in all, 1 ms lost · …"
 */
static char *note_of(const struct flame *f)
{
	const struct profile_meta *m = &f->p->meta;
	bool time = !strcmp(f->unit, "ns");
	uint64_t lost = m->is_time ? f->p->counters[PROF_LOST_NS] : profile_sum(f->p, COUNTER_LOST);
	uint64_t found = f->t->nodes[0].total;
	char *event = text_cleaned(profile_str(f->p, m->event)),
	     *host = text_cleaned(profile_str(f->p, m->host));
	char *kernel = text_cleaned(profile_str(f->p, m->kernel)), *note = NULL;
	struct expected x;
	size_t sz;
	FILE *mem = open_memstream(&note, &sz);

	if (!mem)
		abort();
	if (f->t->left_out)
		lost = 0; /* or not: focus is on what was found */
	else
		found = m->by_weight ? profile_weight(f->p) : found - lost;
	if (*event)
		fputs(event, mem);
	if (*event && m->rate_hz)
		fprintf(mem, " at %s Hz", text_count(m->rate_hz));
	else if (*event && f->p->nr_events && f->p->events->period > 1)
		fprintf(mem, " every %s", text_count(f->p->events->period));
	if (m->duration_ns)
		fprintf(mem, "%s%s", *event ? " · " : "", text_ns(m->duration_ns));
	fprintf(mem, "%s%s %s", *event || m->duration_ns ? " · " : "",
		time ? text_ns(found) : text_count(found), time ? "in all" : f->unit);
	if (f->t->left_out)
		fprintf(mem, ", %.1f%% of it left out",
			100.0 * f->t->left_out / (found + f->t->left_out));
	if (lost)
		fprintf(mem, ", %s%s lost", m->is_time ? text_ns(lost) : text_count(lost),
			m->by_weight ? " samples" : "");
	if (!f->t->left_out && expected_init(&x, f->p) &&
	    expected_difference_pct(&x) <= -EXPECTED_LITTLE)
		fprintf(mem, ", %.2f%% missing", -expected_difference_pct(&x));
	if (!f->t->left_out)
		put_nameless(f->p, mem);
	fprintf(mem, "%s%s%s%s", *host ? " · " : "", host, *kernel ? " · Linux " : "", kernel);
	fclose(mem);
	free(event);
	free(host);
	free(kernel);
	return note;
}

static char *title_of(const struct profile *p, const struct view *v)
{
	char *command = text_cleaned(profile_str(p, p->meta.command)),
	     *target = text_cleaned(profile_str(p, p->meta.target));
	char *title = xasprintf("%s%s%s%s", *command ? command : "bpfprof",
				v->gaps ? ", driver gaps" : "", *target ? ": " : "", target);

	free(command);
	free(target);
	return title;
}

static void find_parts(struct flame *f)
{
	find_symbols(f);
	find_modules(f);
	find_files(f);
}

void flame_init(struct flame *f, const struct profile *p, const struct view *v)
{
	*f = (struct flame){
		.p = p, .t = tree_new_turned(p, v), .colors = v->colors, .min_width = v->min_width
	};
	if (f->colors == VIEW_COLORS_CLASS && !p->meta.is_time)
		f->colors = VIEW_COLORS_CPU;
	if (profile_is_mixed(p)) {
		f->one = profile_of_event(p, view_event(v, p));
		f->p = &f->one;
		flame_values_of_events(f, p, view_event(v, p));
	}
	f->title = v->title ? text_cleaned(v->title) : title_of(f->p, v);
	f->unit = text_cleaned(profile_unit(f->p));
	f->note = note_of(f);
	if (!f->nr_values)
		flame_values_init(f, v);
	if (v->heatmap && p->meta.moment_ns)
		flame_moments_init(f, p, v);
	find_parts(f);
	flame_colours_init(f);
}

void flame_init_changes(struct flame *f, const struct changes *c, const struct view *v)
{
	const char *command = profile_str(c->both, c->both->meta.command);
	char *sides[2], *names[2];

	*f = (struct flame){ .p = c->both,
			     .t = c->tree,
			     .changes = c,
			     .colors = v->colors,
			     .min_width = v->min_width };
	for (int side = 0; side < 2; side++) {
		sides[side] = changes_side_text(c, side);
		names[side] = text_cleaned(output_base_name(c->sides[side].name));
	}
	f->title = v->title ? text_cleaned(v->title)
			    : xasprintf("%s: %s → %s", *command ? command : "bpfprof", names[0],
					names[1]);
	f->note = xasprintf("red: more, blue: less, grey: no change beyond noise · before: %s · "
			    "after: %s",
			    sides[0], sides[1]);
	f->unit = text_cleaned(profile_unit(c->both));
	for (int side = 0; side < 2; side++) {
		free(sides[side]);
		free(names[side]);
	}
	find_parts(f);
}

void flame_release(struct flame *f)
{
	if (!f->changes)
		tree_free(f->t);
	flame_values_release(f);
	if (f->p == &f->one)
		profile_of_event_release(&f->one);
	free(f->title);
	free(f->note);
	free(f->unit);
	free(f->class_of);
	free(f->symbol_of);
	free(f->symbols);
	free(f->modules);
	free(f->moments);
	free(f->files);
}
