/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions, a line each: the share of every event that happened in them, then the ratios of what
 * was counted between samples of them. What was never counted is n/a, never 0.
 */
#include "output/columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "output/output.h"
#include "profile/columns.h"
#include "profile/event_values.h"

#define MIN_COLUMN   7
#define MAX_COLUMN   12 /* of a name above its values */
#define MIN_FUNCTION 16

/* Of "[module+0x1234]" the number tells one from another, and the module stands in a column too. */
static void put_function(FILE *out, const char *name, size_t width, int pad)
{
	const char *number = *name == '[' ? strstr(name, "+0x") : NULL;
	char *head;

	if (!number || text_width(name) <= width || text_width(number) + 3 > width) {
		text_fit(out, name, width, pad);
		return;
	}
	head = xstrndup(name, number - name);
	text_fit(out, head, width - text_width(number), 0);
	fputs(number, out);
	free(head);
}

void columns_put_place(const struct profile *p, const char *name, uint32_t module, size_t width,
		       FILE *out)
{
	char *safe = text_cleaned(output_base_name(profile_str(p, p->modules[module].path)));

	put_function(out, name, width, module != 0);
	if (module) {
		fputs("  ", out);
		text_fit(out, safe, VALUED_MODULE_WIDTH, 0);
	}
	fputc('\n', out);
	free(safe);
}

struct table {
	const struct profile *p;
	struct event_values values;
	struct columns columns;
	size_t nr_events, nr_columns; /* that have room */
	size_t width;		      /* of the function's name */
	FILE *out;
};

static size_t width_of(const struct profile *p, uint32_t name)
{
	size_t width = text_width(profile_str(p, name));

	return width < MIN_COLUMN ? MIN_COLUMN : width > MAX_COLUMN ? MAX_COLUMN : width;
}

/* As many as fit; events come first. */
static void fit(struct table *t)
{
	const struct profile *p = t->p;
	size_t room = output_width(t->out) - 3 - VALUED_MODULE_WIDTH, w;

	while (t->nr_events < p->nr_events) {
		w = width_of(p, p->events[t->nr_events].name) + 2;
		if (room < w + MIN_FUNCTION)
			break;
		room -= w;
		t->nr_events++;
	}
	while (t->nr_columns < p->nr_columns) {
		w = width_of(p, p->columns[t->nr_columns].name) + 2;
		if (room < w + MIN_FUNCTION)
			break;
		room -= w;
		t->nr_columns++;
	}
	t->width = room;
}

static void put_title(const struct table *t, uint32_t name)
{
	char *safe = text_cleaned(profile_str(t->p, name));
	size_t columns = width_of(t->p, name), used = text_width(safe);

	fprintf(t->out, "%*s", used < columns ? (int)(columns - used) + 1 : 1, "");
	text_fit(t->out, safe, columns, 0);
	fputc(' ', t->out);
	free(safe);
}

static void put_titles(const struct table *t)
{
	fputc('\n', t->out);
	for (size_t i = 0; i < t->nr_events; i++)
		put_title(t, t->p->events[i].name);
	for (size_t i = 0; i < t->nr_columns; i++)
		put_title(t, t->p->columns[i].name);
	text_fit(t->out, " FUNCTION", t->width + 1, 1);
	fputs("  MODULE\n", t->out);
}

static double pct(uint64_t part, uint64_t all)
{
	return all ? 100.0 * part / all : 0;
}

static void put_ratio(const struct table *t, const char *name, size_t i)
{
	struct columns_value v = columns_get(&t->columns, name, i);
	int width = (int)width_of(t->p, t->p->columns[i].name) + 1;

	if (isnan(v.value))
		fprintf(t->out, "%*s ", width, "n/a");
	else
		fprintf(t->out, "%*.2f ", width, v.value);
}

static void put_row(const struct table *t, const struct event_values_row *row)
{
	for (size_t i = 0; i < t->nr_events; i++)
		fprintf(t->out, "%*s ", (int)width_of(t->p, t->p->events[i].name) + 1,
			row->self[i]
				? text_pct(pct(row->self[i], t->values.trees[i]->nodes[0].total))
				: "-");
	for (size_t i = 0; i < t->nr_columns; i++)
		put_ratio(t, row->name, i);
	fputc(' ', t->out);
	columns_put_place(t->p, row->name, row->module, t->width, t->out);
}

/* "IPC 0.82 in all, counted 50.12% of the time": what the ratios above are worth. */
static void put_column(const struct table *t, size_t i)
{
	const struct profile *p = t->p;
	struct columns_value v = columns_get(&t->columns, NULL, i);
	const char *name = profile_str(p, p->columns[i].name);

	fputs(i ? "          " : "columns   ", t->out);
	text_clean(t->out, name, strlen(name));
	if (isnan(v.value))
		fputs(" n/a: never counted", t->out);
	else
		fprintf(t->out, " %.2f in all, counted %.2f%% of the time", v.value,
			100 * v.coverage);
	if (p->columns[i].note) {
		name = profile_str(p, p->columns[i].note);
		fputs("; ", t->out);
		text_clean(t->out, name, strlen(name));
	}
	fputc('\n', t->out);
}

void columns_put(const struct profile *p, const struct view *view, FILE *out)
{
	struct table t = { .p = p, .out = out };
	size_t left;

	fit(&t);
	event_values_init(&t.values, p, view, view_event(view, p));
	columns_init(&t.columns, p, view);
	if (t.values.nr)
		put_titles(&t);
	for (size_t i = 0; i < t.values.nr && i < VALUED_FUNCTIONS; i++)
		put_row(&t, &t.values.rows[i]);
	if (t.values.nr > VALUED_FUNCTIONS)
		fprintf(out, "  … %zu more functions\n", t.values.nr - VALUED_FUNCTIONS);
	left = p->nr_events - t.nr_events + p->nr_columns - t.nr_columns;
	if (left)
		fprintf(out, "  … %zu more column%s (--json has all)\n", left, left > 1 ? "s" : "");
	if (p->nr_columns)
		fputc('\n', out);
	for (size_t i = 0; i < p->nr_columns; i++)
		put_column(&t, i);
	columns_release(&t.columns);
	event_values_release(&t.values);
}
