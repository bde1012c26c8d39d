/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where stacks break, for people: a line per module and reason, then a note per reason that says
 * what helps, then the sum.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "output/output.h"
#include "profile/breaks.h"

#define NUMBERS_WIDTH 18
#define MAX_MODULE    24
#define MIN_FUNCTION  10
#define NOTE_INDENT   4
#define REMEDY_INDENT 7

/* Notes are numbered in order of appearance: note[i] is the number of row i. */
struct table {
	const struct profile *p;
	const struct view *v;
	struct breaks b;
	size_t *note, nr_notes;
	size_t width, module_width, function_width;
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

/* Where code has no file, whose it is. To free(). */
static char *module_text(const struct table *t, const struct break_row *row)
{
	const char *module = output_base_name(break_module(t->p, row));
	char *text = row->module ? xstrdup(module)
				 : xasprintf("%s %s", module, profile_str(t->p, row->process));
	char *safe = text_cleaned(text);

	free(text);
	return safe;
}

static size_t max(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* Functions get what the other columns leave. */
static void set_widths(struct table *t)
{
	size_t module = strlen("MODULE"), why = strlen("WHY"), rest;
	char *text;

	for (size_t i = 0; i < t->b.nr; i++) {
		text = module_text(t, &t->b.rows[i]);
		module = max(module, text_width(text));
		free(text);
		why = max(why, strlen(unwind_end_keys[t->b.rows[i].end]) + strlen(" [99]"));
	}
	t->module_width = module < MAX_MODULE ? module : MAX_MODULE;
	rest = NUMBERS_WIDTH + t->module_width + 2 + 2 + why;
	t->function_width = t->width > rest ? max(t->width - rest, MIN_FUNCTION) : MIN_FUNCTION;
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
	set_widths(t);
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

static void print_function(const struct table *t, const struct break_row *row)
{
	char *safe = text_cleaned(view_frame_name(t->v, t->p, row->frame));

	text_fit(t->out, row->frame ? safe : "-", t->function_width, 1);
	free(safe);
}

static void print_row(const struct table *t, size_t i)
{
	const struct break_row *row = &t->b.rows[i];
	char *module = module_text(t, row);

	fprintf(t->out, "%6s %9s  ", share(t, row->weight), text_count(row->samples));
	text_fit(t->out, module, t->module_width, 1);
	fputs("  ", t->out);
	print_function(t, row);
	fprintf(t->out, "  %s [%zu]\n", unwind_end_keys[row->end], t->note[i]);
	free(module);
}

/* Text broken into lines that begin at column, where the first one stands already. */
static void print_words(const struct table *t, const char *text, size_t column)
{
	size_t at = column;

	while (*text) {
		size_t len = strcspn(text, " ");

		if (at > column && at + 1 + len > t->width) {
			fprintf(t->out, "\n%*s", (int)column, "");
			at = column;
		}
		at += fprintf(t->out, "%s%.*s", at > column ? " " : "", (int)len, text);
		text += len + (text[len] == ' ');
	}
	fputc('\n', t->out);
}

static void print_notes(const struct table *t)
{
	size_t nr = 0;

	for (size_t i = 0; i < t->b.nr; i++) {
		if (t->note[i] <= nr)
			continue;
		nr = t->note[i];
		fprintf(t->out, "\n[%zu] ", nr);
		print_words(t, unwind_end_texts[t->b.rows[i].end], NOTE_INDENT);
		fprintf(t->out, "%*s", REMEDY_INDENT, "-> ");
		print_words(t, t->b.rows[i].remedy, REMEDY_INDENT);
	}
}

static void print_table(const struct table *t)
{
	fprintf(t->out, " SHARE   %7s  ", t->p->meta.is_time ? "WAITS" : "SAMPLES");
	text_fit(t->out, "MODULE", t->module_width, 1);
	fputs("  ", t->out);
	text_fit(t->out, "STOPPED IN", t->function_width, 1);
	fputs("  WHY\n", t->out);
	for (size_t i = 0; i < t->b.nr; i++)
		print_row(t, i);
	print_notes(t);
	fprintf(t->out, "\n%s of the weight is broken, %s %s; %s reaches the root\n",
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
