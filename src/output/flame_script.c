/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What flame graph files carry beside a picture: the viewer and its data. The data is JSON whose
 * long columns are packed into strings, one number after the other:
 *
 *	symbols  per symbol: module, kind, colour class  (names stand beside it, commonest first)
 *	frames   per node, depth first: symbol
 *	up       per node: levels up from the node before, then one down
 *	self     per node: its own, in that unit: "samples", "ns", or an event's name
 *	values   others than self: how many nodes lie between those that have any, and their own
 *	before   of two recordings: self in the one before; and what shades are made of
 *	lines    per node: file of its source code, 0 = not known; else behind it the line that
 *	         has most of it, and how many percent these are
 *	moments  of a heat map (flame_moments.c)
 *
 * A number takes 5 bits per letter, lowest first; letters from the 33rd on say that more follow.
 * Names are hostile: all that came from outside passes flame_put_text() or flame_put_json().
 */
#include "output/flame.h"

#include <math.h>
#include <stdlib.h>

#include "base/text.h"

/*
 * The viewer as it stands in the tree; the compiler runs at the root of the tree. Its scripts
 * are one function, so within somebody else's page they leave no names behind.
 */
__asm__(".pushsection .rodata\n"
	"flame_js: .ascii \"(function () {\\n'use strict';\\n\"\n"
	"\t.incbin \"src/output/flame_data.js\"\n"
	"\t.incbin \"src/output/flame_trees.js\"\n"
	"\t.incbin \"src/output/flame_pane.js\"\n"
	"\t.incbin \"src/output/flame_table.js\"\n"
	"\t.incbin \"src/output/flame_heat.js\"\n"
	"\t.incbin \"src/output/flame_tools.js\"\n"
	"\t.incbin \"src/output/flame.js\"\n"
	"\t.asciz \"})();\\n\"\n"
	"flame_css: .incbin \"src/output/flame_heat.css\"\n"
	"\t.incbin \"src/output/flame.css\"\n\t.byte 0\n"
	".popsection\n");
extern const char flame_js[], flame_css[];

#define MIN_WIDTH 0.5 /* pixels; the viewer does not draw frames that are narrower */

static const char *const schemes[] = {
	[VIEW_COLORS_CPU] = "kind",	 [VIEW_COLORS_IO] = "io",     [VIEW_COLORS_CLASS] = "class",
	[VIEW_COLORS_MODULE] = "module", [VIEW_COLORS_DIFF] = "diff",
};

/* As flame_data.js calls them, by enum frame_kind. */
static const char *const kinds[FRAME_NR_KINDS] = {
	[FRAME_NONE] = "none", [FRAME_USER] = "user",	    [FRAME_KERNEL] = "kernel",
	[FRAME_ANON] = "jit",  [FRAME_UNKNOWN] = "unknown", [FRAME_PYTHON] = "python",
};

void flame_put_number(FILE *out, uint64_t n)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (; n >= 32; n >>= 5)
		fputc(letters[32 + (n & 31)], out);
	fputc(letters[n], out);
}

/* A saved file may say more of a line than of its function. */
static double line_pct(uint64_t weight, uint64_t total)
{
	return weight < total ? 100 * (double)weight / total : 100;
}

/* The first file is none, so that what is not known is 0. */
static void put_lines(const struct flame *f, FILE *out)
{
	const struct source_line *most;
	uint32_t i = 0, up;
	char *path;

	if (f->changes)
		return; /* both sides have their own */
	fputs(",\n\"files\":[\"\"", out);
	for (size_t k = 1; k < f->nr_files; k++) {
		path = text_cleaned(profile_str(f->p, f->files[k]));
		fputs(",\n", out);
		flame_put_json(out, path);
		free(path);
	}
	fputs("],\n\"lines\":\"", out);
	do {
		most = source_lines_find(&f->t->lines, i);
		flame_put_number(out, most ? flame_file(f, most->file) : 0);
		if (most) {
			flame_put_number(out, most->line);
			flame_put_number(out, line_pct(most->weight, f->t->nodes[i].total));
		}
		i = flame_next(f, i, true, &up);
	} while (i);
	fputc('"', out);
}

enum column { COLUMN_FRAMES, COLUMN_UP, COLUMN_SELF, COLUMN_BEFORE };

static uint64_t column_value(const struct flame *f, enum column column, uint32_t i, uint32_t up)
{
	switch (column) {
	case COLUMN_FRAMES:
		return f->symbol_of[i];
	case COLUMN_UP:
		return up;
	case COLUMN_SELF:
		return f->t->nodes[i].self;
	case COLUMN_BEFORE:
		return f->changes->self[0][i];
	}
	return 0;
}

static void put_column(const struct flame *f, FILE *out, const char *name, enum column column)
{
	uint32_t i = 0, up = 0;

	fprintf(out, ",\n\"%s\":\"", name);
	do {
		flame_put_number(out, column_value(f, column, i, up));
		i = flame_next(f, i, true, &up);
	} while (i);
	fputc('"', out);
}

/* Few nodes have any: how many lie between these, and what they have. */
static void put_sparse(const struct flame *f, const struct flame_value *v, FILE *out, bool places)
{
	uint32_t i = 0, up, nr = 0;

	do {
		if (v->self[i]) {
			flame_put_number(out, places ? nr : v->self[i]);
			nr = 0;
		} else {
			nr++;
		}
		i = flame_next(f, i, true, &up);
	} while (i);
}

static void put_value(const struct flame *f, const struct flame_value *v, FILE *out)
{
	fputs("{\"name\":", out);
	flame_put_json(out, v->name);
	fputs(",\"unit\":", out);
	flame_put_json(out, v->unit);
	fprintf(out, ",\"class\":%u,\"gaps\":\"", v->class);
	put_sparse(f, v, out, true);
	fputs("\",\"self\":\"", out);
	put_sparse(f, v, out, false);
	fputs("\"}", out);
}

/* Without the first one, which all nodes have. */
static void put_values(const struct flame *f, FILE *out)
{
	fputs(",\n\"values\":[", out);
	for (size_t i = 1; i < f->nr_values; i++) {
		fputs(i > 1 ? ",\n" : "\n", out);
		put_value(f, &f->values[i], out);
	}
	fputs("]", out);
}

static void put_symbols(const struct flame *f, FILE *out)
{
	fputs(",\n\"names\":[", out);
	for (size_t i = 0; i < f->nr_symbols; i++) {
		fputs(i ? ",\n" : "\n", out);
		flame_put_json(out, tree_name(f->t, &f->t->nodes[f->symbols[i].node]));
	}
	fputs("],\n\"modules\":[", out);
	for (size_t i = 0; i < f->nr_modules; i++) {
		char *path = text_cleaned(profile_str(f->p, f->p->modules[f->modules[i]].path));

		fputs(i ? ",\n" : "\n", out);
		flame_put_json(out, path);
		free(path);
	}
	fputs("],\n\"colours\":[", out);
	for (size_t i = 0; i < flame_nr_colours(f); i++)
		fprintf(out, "%s\"%s\"", i ? "," : "", flame_colour_name(f, i));
	fputs("],\n\"kinds\":[", out);
	for (size_t i = 0; i < FRAME_NR_KINDS; i++)
		fprintf(out, "%s\"%s\"", i ? "," : "", kinds[i]);
	fputs("],\n\"symbols\":\"", out);
	for (size_t i = 0; i < f->nr_symbols; i++) {
		uint32_t node = f->symbols[i].node;

		flame_put_number(out, f->symbols[i].module);
		flame_put_number(out, f->t->nodes[node].kind);
		flame_put_number(out, flame_colour_of(f, node));
	}
	fputc('"', out);
}

/* What shades of changes are made of, in the terms of profile/changes.c. */
static void put_changes(const struct changes *c, FILE *out)
{
	fprintf(out,
		",\n\"changes\":{\"scale\":%.17g,\"of\":[%.17g,%.17g],\"unit\":%.17g,"
		"\"noise\":%.17g,\"changed\":%s,\"absolute\":%s}",
		changes_scale(c), changes_of_side(c, 0), changes_of_side(c, 1), c->unit,
		c->shade_noise, c->nr_real ? "true" : "false", c->opts.absolute ? "true" : "false");
}

/* Comments hide the CDATA marks from CSS and JavaScript, and CDATA hides '<' and '&' from XML. */
static void put_verbatim(FILE *out, const char *element, const char *text)
{
	fprintf(out, "<%s id=\"flame-%s\">/*<![CDATA[*/\n", element, element);
	fputs(text, out);
	fprintf(out, "/*]]>*/</%s>\n", element);
}

void flame_put_style(FILE *out)
{
	put_verbatim(out, "style", flame_css);
}

void flame_put_script(const struct flame *f, FILE *out)
{
	fputs("<script type=\"application/json\" id=\"flame-data\">{\"title\":", out);
	flame_put_json(out, f->title);
	fputs(",\n\"note\":", out);
	flame_put_json(out, f->note);
	fputs(",\n\"unit\":", out);
	flame_put_json(out, f->unit);
	fputs(",\n\"value\":", out);
	flame_put_json(out, f->changes ? "after" : f->values[0].name);
	fprintf(out, ",\n\"waits\":%s,\n\"minWidth\":%g", f->p->meta.is_time ? "true" : "false",
		f->min_width > 0 ? f->min_width : MIN_WIDTH);
	fprintf(out, ",\n\"colouring\":\"%s\"", schemes[f->colors]);
	put_symbols(f, out);
	put_column(f, out, "frames", COLUMN_FRAMES);
	put_column(f, out, "up", COLUMN_UP);
	put_column(f, out, "self", COLUMN_SELF);
	if (f->changes) {
		put_column(f, out, "before", COLUMN_BEFORE);
		put_changes(f->changes, out);
	}
	put_values(f, out);
	put_lines(f, out);
	flame_moments_put(f, out);
	fputs("}</script>\n", out);
	put_verbatim(out, "script", flame_js);
}
