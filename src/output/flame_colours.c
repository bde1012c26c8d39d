/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What colours of flame graphs say, by --colors: the kind of code, nothing (shades of blue), the
 * class of waits, the module, or what changed.
 */
#include "output/flame.h"

#include <stdlib.h>

#include "base/mem.h"
#include "output/changes.h"
#include "profile/waits.h"

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

/* Neighbours differ, and mean nothing by it. */
static const struct flame_colour blues[] = {
	{ "none", "#d3d8de" }, { "io0", "#9fc5ea" }, { "io1", "#8dbae4" },
	{ "io2", "#b3d3f1" },  { "io3", "#8fd0dc" }, { "io4", "#a9dfe6" },
};
#define NR_BLUES (sizeof(blues) / sizeof(blues[0]))

/* Of modules; with more of them colours come again. */
static const struct flame_colour of_modules[] = {
	{ "none", "#d3d8de" },	  { "module0", "#f7b267" }, { "module1", "#9fc5ea" },
	{ "module2", "#9bd6a5" }, { "module3", "#f2a0a8" }, { "module4", "#d5b0e8" },
	{ "module5", "#f0ce62" }, { "module6", "#8fd0dc" }, { "module7", "#c9c3b8" },
};
#define NR_OF_MODULES (sizeof(of_modules) / sizeof(of_modules[0]))

/* Of waits: by class plus 1, then those without work. */
static const struct flame_colour of_classes[] = {
	{ "none", "#d3d8de" },	  { "class1", "#f5d97f" },  { "class2", "#e6b93c" },
	{ "class3", "#d9a05b" },  { "class4", "#f2a0a8" },  { "class5", "#b3d3f1" },
	{ "class6", "#c9c3b8" },  { "class7", "#8dbae4" },  { "class8", "#8fd0dc" },
	{ "class9", "#9bd6a5" },  { "class10", "#d5b0e8" }, { "class11", "#b9c0c9" },
	{ "class12", "#f7b267" }, { "class13", "#e3e6ea" },
};
#define NR_OF_CLASSES (sizeof(of_classes) / sizeof(of_classes[0]))
_Static_assert(NR_OF_CLASSES == WAITS_NR + 2, "one for each class, none, and idle");

/* FNV-1a: colours only need to differ, and to stay the same from run to run. */
static uint32_t hash(const char *s)
{
	uint32_t h = 2166136261u;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 16777619u;
	return h ^ h >> 15;
}

static unsigned int by_kind(const struct flame *f, uint32_t node)
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

static unsigned int by_hash(const struct flame *f, uint32_t node)
{
	const struct tree_node *n = &f->t->nodes[node];

	return n->kind == FRAME_NONE ? 0 : 1 + hash(tree_name(f->t, n)) % (NR_BLUES - 1);
}

/* The commonest modules come first, and have colours of their own. */
static unsigned int by_module(const struct flame *f, uint32_t node)
{
	uint32_t module = f->symbols[f->symbol_of[node]].module;

	return !module ? 0 : 1 + (module - 1) % (NR_OF_MODULES - 1);
}

static unsigned int by_class(const struct flame *f, uint32_t node)
{
	return f->class_of ? f->class_of[node] : 0;
}

static const struct scheme {
	const struct flame_colour *colours;
	size_t nr;
	unsigned int (*of)(const struct flame *f, uint32_t node);
} schemes[] = {
	[VIEW_COLORS_CPU] = { colours, NR_COLOURS, by_kind },
	[VIEW_COLORS_IO] = { blues, NR_BLUES, by_hash },
	[VIEW_COLORS_CLASS] = { of_classes, NR_OF_CLASSES, by_class },
	[VIEW_COLORS_MODULE] = { of_modules, NR_OF_MODULES, by_module },
	[VIEW_COLORS_DIFF] = { colours, NR_COLOURS, by_kind },
};

size_t flame_nr_colours(const struct flame *f)
{
	return schemes[f->colors].nr;
}

const char *flame_colour_name(const struct flame *f, size_t i)
{
	return schemes[f->colors].colours[i].name;
}

unsigned int flame_colour_of(const struct flame *f, uint32_t node)
{
	return schemes[f->colors].of(f, node);
}

const struct flame_colour *flame_colour(const struct flame *f, uint32_t node)
{
	if (f->changes && f->colors == VIEW_COLORS_DIFF)
		return &shades[NR_CHANGES + changes_shade(f->changes, node)];
	return &schemes[f->colors].colours[flame_colour_of(f, node)];
}

/* A parent stands before what it has. */
static uint64_t *totals_of(const struct tree *t, const uint64_t *self)
{
	uint64_t *total = xcalloc(t->nr, sizeof(*total));

	for (size_t i = 0; i < t->nr; i++)
		total[i] = self[i];
	for (size_t i = t->nr - 1; i > 0; i--)
		total[t->nodes[i].parent] += total[i];
	return total;
}

/* Of each node, the class that most of it waited for. */
void flame_colours_init(struct flame *f)
{
	uint64_t *most, *total;

	if (f->colors != VIEW_COLORS_CLASS)
		return;
	f->class_of = xcalloc(f->t->nr, sizeof(*f->class_of));
	most = xcalloc(f->t->nr, sizeof(*most));
	for (size_t v = 0; v < f->nr_values; v++) {
		if (!f->values[v].class)
			continue;
		total = totals_of(f->t, f->values[v].self);
		for (size_t i = 0; i < f->t->nr; i++)
			if (total[i] > most[i]) {
				most[i] = total[i];
				f->class_of[i] = f->values[v].class;
			}
		free(total);
	}
	free(most);
}
