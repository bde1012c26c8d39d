/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where stacks break, for people: a line per module and reason, then a note per reason that says
 * what helps, then the sum.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "output/figures.h"
#include "output/grid.h"
#include "output/output.h"
#include "profile/breaks.h"

#define NOTE_INDENT   4
#define REMEDY_INDENT 7

/* Notes are numbered in order of appearance: note[i] is the number of row i. */
struct table {
	const struct profile *p;
	const struct view *v;
	struct breaks b;
	size_t *note, nr_notes;
	size_t width;
	FILE *out;
};

static size_t note_of(const struct table *t, size_t i)
{
	const struct break_row *rows = t->b.rows;

	for (size_t k = 0; k < i; k++)
		if (rows[k].end == rows[i].end && !strcmp(rows[k].remedy, rows[i].remedy))
			return t->note[k];
	return t->nr_notes + 1;
}

static void table_init(struct table *t, const struct profile *p, const struct view *v, FILE *out)
{
	*t = (struct table){ .p = p, .v = v, .width = output_width(out), .out = out };
	breaks_init(&t->b, p);
	t->note = xcalloc(t->b.nr, sizeof(*t->note));
	for (size_t i = 0; i < t->b.nr; i++) {
		t->note[i] = note_of(t, i);
		if (t->note[i] > t->nr_notes)
			t->nr_notes = t->note[i];
	}
}

static void table_release(struct table *t)
{
	breaks_release(&t->b);
	free(t->note);
}

static const char *share(const struct table *t, uint64_t weight)
{
	return text_pct(t->b.all ? 100.0 * weight / t->b.all : 0);
}

/* Where code has no file, whose it is. */
static void put_row(struct grid *g, const struct table *t, size_t i)
{
	const struct break_row *row = &t->b.rows[i];

	grid_row(g, STYLE_PLAIN, share(t, row->weight), text_count(row->samples), NULL);
	grid_cell(g, "%s%s%s", output_base_name(break_module(t->p, row)), row->module ? "" : " ",
		  row->module ? "" : profile_str(t->p, row->process));
	grid_cell(g, "%s", row->frame ? view_frame_name(t->v, t->p, row->frame) : "-");
	grid_cell(g, "%s [%zu]", unwind_end_keys[row->end], t->note[i]);
}

static void print_notes(const struct table *t)
{
	size_t nr = 0;

	for (size_t i = 0; i < t->b.nr; i++) {
		if (t->note[i] <= nr)
			continue;
		nr = t->note[i];
		fprintf(t->out, "\n[%zu] ", nr);
		figure_wrap(unwind_end_texts[t->b.rows[i].end], NOTE_INDENT, NOTE_INDENT, t->width,
			    t->out);
		fprintf(t->out, "%*s", REMEDY_INDENT, "-> ");
		figure_wrap(t->b.rows[i].remedy, REMEDY_INDENT, REMEDY_INDENT, t->width, t->out);
	}
}

static void print_table(const struct table *t)
{
	const struct grid_column columns[] = {
		{ .head = "SHARE" },
		{ t->p->meta.is_time ? "WAITS" : "SAMPLES", .rank = 2 },
		{ "MODULE", GRID_TEXT, .rank = 1, .min = 12 },
		{ "STOPPED IN", GRID_FUNCTION, .min = 12 },
		{ .head = "WHY", .kind = GRID_TEXT },
	};
	struct grid g;

	grid_init(&g, t->out, columns, sizeof(columns) / sizeof(*columns));
	g.first = true;
	for (size_t i = 0; i < t->b.nr; i++)
		put_row(&g, t, i);
	grid_end(&g);
	print_notes(t);
	fprintf(t->out, "\n%s of the weight in broken stacks, %s %s; %s in complete ones\n",
		share(t, t->b.weight), text_count(t->b.samples),
		t->p->meta.is_time ? "waits" : "samples", share(t, t->b.all - t->b.weight));
}

int broken_write(const struct profile *p, const struct view *v, FILE *out)
{
	struct table t;

	table_init(&t, p, v, out);
	if (!p->nr_samples)
		fputs("no stacks were recorded\n", out);
	else if (!t.b.nr)
		fputs("every stack reaches its root\n", out);
	else
		print_table(&t);
	table_release(&t);
	return 0;
}
