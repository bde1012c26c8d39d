/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Flame graphs: one call tree in, one self-contained file out. Both outputs carry the same data and
 * the same script (flame_script.c); the svg also holds the picture itself, for places where scripts
 * do not run. Here is what both draw: symbols, their colours, and the two lines above.
 */
#include "output/flame.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "output/changes.h"
#include "output/output.h"

/*
 * The hue of a frame tells its kind, of user code also the module; the shade tells neighbours
 * apart. The names and fills of flame.css.
 */
enum { NR_SHADES = 3, NR_HUES = 4 };
enum { COLOUR_NONE, COLOUR_UNKNOWN, COLOUR_KERNEL, COLOUR_JIT = 5, COLOUR_USER = 8 };
enum { NR_CHANGES = 3 }; /* shades of more, and of less */
static const struct flame_colour colours[] = {
	{ "none", "#d3d8de" },	  { "unknown", "#c9c3b8" }, { "kernel0", "#9fc5ea" },
	{ "kernel1", "#8dbae4" }, { "kernel2", "#b3d3f1" }, { "jit0", "#9bd6a5" },
	{ "jit1", "#88cb95" },	  { "jit2", "#b0e0b8" },    { "user0", "#f7b267" },
	{ "user1", "#f3a550" },	  { "user2", "#f9c081" },   { "user3", "#f79d84" },
	{ "user4", "#f38f74" },	  { "user5", "#f9ae99" },   { "user6", "#f0ce62" },
	{ "user7", "#eac44c" },	  { "user8", "#f5d97f" },   { "user9", "#f2a0a8" },
	{ "user10", "#ec919a" },  { "user11", "#f6b3ba" },
};
/* From less to more. */
static const struct flame_colour shades[] = {
	{ "less3", "#6ba3d6" }, { "less2", "#9cc3e6" }, { "less1", "#c7ddf1" },
	{ "same", "#e3e6ea" },	{ "more1", "#f8cfc6" }, { "more2", "#f2a493" },
	{ "more3", "#e5735e" },
};
#define NR_SHADES_OF_CHANGE (sizeof(shades) / sizeof(shades[0]))
_Static_assert(NR_SHADES_OF_CHANGE == 2 * NR_CHANGES + 1, "one per shade");
#define NR_COLOURS (sizeof(colours) / sizeof(colours[0]))
_Static_assert(NR_COLOURS == COLOUR_USER + NR_HUES * NR_SHADES, "one per class");

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

/* FNV-1a: colours only need to differ, and to stay the same from run to run. */
static uint32_t hash(const char *s)
{
	uint32_t h = 2166136261u;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 16777619u;
	return h ^ h >> 15;
}

unsigned int flame_colour_of(const struct flame *f, uint32_t node)
{
	const struct tree_node *n = &f->t->nodes[node];
	unsigned int shade = hash(tree_name(f->t, n)) % NR_SHADES;

	switch (n->kind) {
	case FRAME_USER:
		return COLOUR_USER + shade +
		       NR_SHADES *
			       (hash(profile_str(f->p, f->p->modules[n->module].path)) % NR_HUES);
	case FRAME_KERNEL:
		return COLOUR_KERNEL + shade;
	case FRAME_ANON:
	case FRAME_PYTHON:
		return COLOUR_JIT + shade;
	case FRAME_UNKNOWN:
		return COLOUR_UNKNOWN;
	default:
		return COLOUR_NONE;
	}
}

size_t flame_nr_colours(void)
{
	return NR_COLOURS;
}

const char *flame_colour_name(size_t i)
{
	return colours[i].name;
}

const struct flame_colour *flame_colour(const struct flame *f, uint32_t node)
{
	if (f->changes)
		return &shades[NR_CHANGES + changes_shade(f->changes, node)];
	return &colours[flame_colour_of(f, node)];
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
	fprintf(mem, "%s%s%s%s", *host ? " · " : "", host, *kernel ? " · Linux " : "", kernel);
	fclose(mem);
	free(event);
	free(host);
	free(kernel);
	return note;
}

static char *title_of(const struct profile *p)
{
	char *command = text_cleaned(profile_str(p, p->meta.command)),
	     *target = text_cleaned(profile_str(p, p->meta.target));
	char *title =
		xasprintf("%s%s%s", *command ? command : "bpfprof", *target ? ": " : "", target);

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
	*f = (struct flame){ .p = p, .t = tree_new_turned(p, v) };
	if (profile_is_mixed(p)) {
		f->one = profile_of_event(p, view_event(v, p));
		f->p = &f->one;
		flame_values_of_events(f, p, view_event(v, p));
	}
	f->title = title_of(f->p);
	f->unit = text_cleaned(profile_unit(f->p));
	f->note = note_of(f);
	if (!f->nr_values)
		flame_values_init(f, v);
	find_parts(f);
}

void flame_init_changes(struct flame *f, const struct changes *c)
{
	const char *command = profile_str(c->both, c->both->meta.command);
	char *sides[2], *names[2];

	*f = (struct flame){ .p = c->both, .t = c->tree, .changes = c };
	for (int side = 0; side < 2; side++) {
		sides[side] = changes_side_text(c, side);
		names[side] = text_cleaned(output_base_name(c->sides[side].name));
	}
	f->title = xasprintf("%s: %s → %s", *command ? command : "bpfprof", names[0], names[1]);
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
	free(f->symbol_of);
	free(f->symbols);
	free(f->modules);
	free(f->files);
}
