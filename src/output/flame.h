/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the two flame graph files share: the tree laid out for drawing, and the viewer (flame.js and
 * the scripts that it names, flame.css) with its data, in a form that HTML and XML read alike. All
 * text is escaped here.
 */
#ifndef BPFPROF_OUTPUT_FLAME_H
#define BPFPROF_OUTPUT_FLAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "profile/changes.h"
#include "profile/profile.h"
#include "profile/tree.h"

/* What nodes of one name, module and kind share. */
struct flame_symbol {
	uint32_t node; /* one of them */
	uint32_t uses;
	uint32_t module; /* index among those written */
};

/* What widths stand for, the first one is shown first. */
struct flame_value {
	char *name, *unit;
	uint64_t *self;	    /* per node */
	unsigned int class; /* of waits: the class plus 1; 0 = not of one class */
};

/* In each of nr slices from first on a node had so much of a value. */
struct flame_moment {
	uint32_t first, nr, node, value;
	uint64_t amount;
	uint64_t other; /* of the value that is the number of all, or what it stands for */
};

struct flame {
	const struct profile *p;
	struct profile one;	       /* of several events, the one shown: p points here */
	const struct changes *changes; /* of two sides; NULL of one profile */
	struct tree *t;
	enum view_colors colors;
	double min_width;   /* of frames that are drawn, in pixels; 0 = as the file has it */
	uint8_t *class_of;  /* of VIEW_COLORS_CLASS: per node the class of waits plus 1 */
	char *title, *note; /* two lines that say what this is */
	char *unit;	    /* of self and total: "samples", "ns", or an event's name */

	uint32_t *symbol_of;	      /* per node */
	struct flame_symbol *symbols; /* commonest first */
	size_t nr_symbols, cap_symbols;
	uint32_t *modules; /* those written, ids of the profile; the first one is "none" */
	size_t nr_modules, cap_modules;
	struct flame_value *values; /* none of two sides */
	size_t nr_values, cap_values;
	size_t counted;		      /* which of them is that other number; 0 = none */
	bool counts;		      /* it is how many there are */
	struct flame_moment *moments; /* of heat maps, in the order of time */
	size_t nr_moments, nr_slices; /* nr_slices 0: no heat map */
	uint32_t *files; /* of source code, sorted strings of the profile; the first one is none */
	size_t nr_files;
};

/* A class of flame.css, and its light colour for programs that know no style sheets. */
struct flame_colour {
	const char *name, *fill;
};

void flame_init(struct flame *f, const struct profile *p, const struct view *v);
/* Widths are those after, colours say what changed. */
void flame_init_changes(struct flame *f, const struct changes *c, const struct view *v);
void flame_release(struct flame *f);

/* The values of one profile; of several events, where p has them all and f->p the one shown. */
void flame_values_init(struct flame *f, const struct view *v);
void flame_values_of_events(struct flame *f, const struct profile *p, uint32_t shown);
void flame_values_release(struct flame *f);

/* The heat map of p, which has all events. After the values; and as JSON, behind a comma. */
void flame_moments_init(struct flame *f, const struct profile *p, const struct view *v);
void flame_moments_put(const struct flame *f, FILE *out);

/* Of a picture. The viewer makes shades of changes by itself, and else has classes by number. */
const struct flame_colour *flame_colour(const struct flame *f, uint32_t node);
unsigned int flame_colour_of(const struct flame *f, uint32_t node);
size_t flame_nr_colours(const struct flame *f);
const char *flame_colour_name(const struct flame *f, size_t i);
/* What of them takes a walk of the tree; before, the flame has its symbols and values. */
void flame_colours_init(struct flame *f);

/* The place of a string among the files. */
size_t flame_file(const struct flame *f, uint32_t file);

/*
 * The node behind i, depth first, or 0 at the end; below i only with descend. *up is how many
 * levels it lies above a child of i.
 */
uint32_t flame_next(const struct flame *f, uint32_t i, bool descend, uint32_t *up);

/* A column of numbers, packed (flame_script.c). */
void flame_put_number(FILE *out, uint64_t n);

/* The <style> element; the <script> elements, which take the page over. */
void flame_put_style(FILE *out);
void flame_put_script(const struct flame *f, FILE *out);

/* For text and attributes, in HTML and XML. The second cuts to columns, the last one then a '…'. */
void flame_put_text(FILE *out, const char *s);
void flame_put_text_cut(FILE *out, const char *s, size_t columns);
/* A string of JSON within <script>. */
void flame_put_json(FILE *out, const char *s);

#endif
