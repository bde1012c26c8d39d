/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The flame graph as a picture: frames wide enough to be seen on a page, drawn here, for places
 * where scripts do not run (an image in a README). Opened by itself in a browser, the viewer behind
 * the picture replaces it with the whole graph.
 */
#include "output/output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "output/changes.h"
#include "output/flame.h"

#define WIDTH	   1200
#define MARGIN	   10
#define HEADER	   52
#define ROW	   17
#define CHAR_WIDTH 7.3 /* of the label font, 12 px monospace, rounded up */
#define MIN_WIDTH  0.3 /* narrower frames are left to the viewer */
#define MIN_LABEL  3   /* columns */
#define FONT	   "ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace"

struct picture {
	struct flame f;
	FILE *out;
	uint64_t *start;  /* per node: samples to the left of it */
	double scale;	  /* pixels per sample */
	double min_width; /* of frames that are drawn */
	uint32_t rows;
};

/* At most two decimals, with a point whatever the locale. */
static void put_number(FILE *out, const char *before, double value)
{
	long long hundredths = llround(value * 100);

	fprintf(out, "%s%lld", before, hundredths / 100);
	if (hundredths % 100)
		fprintf(out, ".%02lld", hundredths % 100);
}

static void put_tooltip(const struct picture *pic, const struct tree_node *n)
{
	uint64_t total = pic->f.t->nodes[0].total;

	fputs("<title>", pic->out);
	flame_put_text(pic->out, tree_name(pic->f.t, n));
	if (!strcmp(pic->f.unit, "ns")) {
		fprintf(pic->out, ": %s", text_ns(n->total));
	} else {
		fprintf(pic->out, ": %s ", text_count(n->total));
		flame_put_text(pic->out, pic->f.unit);
	}
	put_number(pic->out, ", ", total ? 100.0 * n->total / total : 0);
	fputs("%", pic->out);
	if (pic->f.changes) {
		put_number(pic->out, ", before ",
			   changes_pct(pic->f.changes,
				       pic->f.changes->total[0][n - pic->f.t->nodes], 0));
		fputs("%", pic->out);
	}
	fputs("</title>", pic->out);
}

static void put_label(const struct picture *pic, const struct tree_node *n, double x, double y)
{
	double columns = (n->total * pic->scale - 6) / CHAR_WIDTH;

	if (columns < MIN_LABEL)
		return;
	if (columns > WIDTH / CHAR_WIDTH) /* sums of a file made to hurt may have wrapped */
		columns = WIDTH / CHAR_WIDTH;
	put_number(pic->out, "<text x=\"", x + 3);
	put_number(pic->out, "\" y=\"", y + 12);
	fputs("\">", pic->out);
	flame_put_text_cut(pic->out, tree_name(pic->f.t, n), columns);
	fputs("</text>", pic->out);
}

static void put_frame(const struct picture *pic, uint32_t i, uint32_t depth)
{
	const struct tree_node *n = &pic->f.t->nodes[i];
	const struct flame_colour *colour = flame_colour(&pic->f, i);
	double x = MARGIN + pic->start[i] * pic->scale, width = n->total * pic->scale;
	double y = HEADER + (double)(pic->rows - 1 - depth) * ROW;

	fputs("<g>", pic->out);
	put_tooltip(pic, n);
	fprintf(pic->out, "<rect class=\"%s\" fill=\"%s\"", colour->name, colour->fill);
	put_number(pic->out, " x=\"", x);
	put_number(pic->out, "\" y=\"", y);
	put_number(pic->out, "\" width=\"", width > 1.5 ? width - 0.7 : width);
	fprintf(pic->out, "\" height=\"%d\"/>", ROW - 1);
	put_label(pic, n, x, y);
	fputs("</g>\n", pic->out);
}

/* All frames that can be seen, and with draw unset only how many rows they take. */
static uint32_t walk_visible(const struct picture *pic, bool draw)
{
	const struct tree_node *nodes = pic->f.t->nodes;
	uint32_t i = 0, up, depth = 0, deepest = 0;

	do {
		bool visible = !i || nodes[i].total * pic->scale >= pic->min_width;

		if (visible && depth > deepest)
			deepest = depth;
		if (visible && draw)
			put_frame(pic, i, depth);
		i = flame_next(&pic->f, i, visible, &up);
		depth = depth + 1 - up;
	} while (i);
	return deepest + 1;
}

/* Children stand side by side from the left end of their parent; its own samples are the rest. */
static uint64_t *find_starts(const struct flame *f)
{
	const struct tree_node *nodes = f->t->nodes;
	uint64_t *start = xcalloc(f->t->nr, sizeof(*start)), at;
	uint32_t i = 0, up;

	do {
		at = start[i];
		for (uint32_t c = nodes[i].first_child; c; c = nodes[c].next) {
			start[c] = at;
			at += nodes[c].total;
		}
		i = flame_next(f, i, true, &up);
	} while (i);
	return start;
}

static void put_head(const struct picture *pic, uint32_t height)
{
	fprintf(pic->out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
		"viewBox=\"0 0 %d %u\" font-family=\"%s\" font-size=\"12\">\n<title>",
		WIDTH, height, WIDTH, height, FONT);
	flame_put_text(pic->out, pic->f.title);
	fputs("</title>\n", pic->out);
	flame_put_style(pic->out);
	fprintf(pic->out,
		"<g id=\"flame-picture\">\n"
		"<rect class=\"page\" fill=\"#ffffff\" width=\"%d\" height=\"%u\"/>\n"
		"<text class=\"title\" x=\"%d\" y=\"22\" font-size=\"15\">",
		WIDTH, height, MARGIN);
	flame_put_text_cut(pic->out, pic->f.title, 125);
	fprintf(pic->out, "</text>\n<text class=\"note\" x=\"%d\" y=\"40\">", MARGIN);
	flame_put_text_cut(pic->out, pic->f.note, 160);
	fputs("</text>\n", pic->out);
}

static void put(struct picture *pic)
{
	const struct flame *f = &pic->f;

	pic->start = find_starts(f);
	pic->min_width = f->min_width > 0 ? f->min_width : MIN_WIDTH;
	pic->scale =
		(double)(WIDTH - 2 * MARGIN) / (f->t->nodes[0].total ? f->t->nodes[0].total : 1);
	pic->rows = walk_visible(pic, false);
	put_head(pic, HEADER + pic->rows * ROW + MARGIN);
	walk_visible(pic, true);
	fputs("</g>\n", pic->out);
	flame_put_script(f, pic->out);
	fputs("</svg>\n", pic->out);
	free(pic->start);
}

int svg_write(const struct profile *p, const struct view *v, FILE *out)
{
	struct picture pic = { .out = out };

	flame_init(&pic.f, p, v);
	put(&pic);
	flame_release(&pic.f);
	return 0;
}

int changes_write_svg(const struct changes *c, const struct view *v, FILE *out)
{
	struct picture pic = { .out = out };

	flame_init_changes(&pic.f, c, v);
	put(&pic);
	flame_release(&pic.f);
	return 0;
}
