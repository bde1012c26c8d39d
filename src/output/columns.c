/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions, a line each: the share of every event that happened in them, then the ratios of what
 * was counted between samples of them. What was never counted is n/a, never 0.
 */
#include "output/columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "output/output.h"
#include "profile/columns.h"
#include "profile/event_values.h"
#include "profile/shares.h"
#include "profile/waits.h"

#define MIN_HEAD 12

struct table {
	const struct profile *p;
	struct event_values values;
	struct columns columns;
	struct grid grid;
};

void columns_add_owner(struct grid *g, enum view_by by)
{
	grid_add(g, (struct grid_column){ shares_heads[by], GRID_TEXT, .min = 24 });
}

void columns_add_place(struct grid *g)
{
	grid_add(g, (struct grid_column){ "FUNCTION", GRID_FUNCTION, .min = 24 });
	grid_add(g, (struct grid_column){ "MODULE", GRID_TEXT, .rank = 1000, .min = 8 });
}

void columns_put_place(struct grid *g, const struct profile *p, const char *name, uint32_t module)
{
	grid_cell(g, "%s", name);
	grid_cell(g, "%s", output_base_name(profile_str(p, p->modules[module].path)));
}

void columns_put_share(struct grid *g, const struct tree *t, uint64_t weight)
{
	char *text = share_text(t, weight);

	grid_cell(g, "%s", text);
	free(text);
}

uint64_t columns_shown(const struct profile *p, uint64_t weight)
{
	return p->meta.is_time || p->meta.timed ? waits_us(weight) : weight;
}

const char *columns_unit(const struct profile *p)
{
	return p->meta.is_time || p->meta.timed ? "us" : profile_unit(p);
}

void columns_put_left_out(const struct tree *t, FILE *out)
{
	uint64_t all = t->nodes[0].total + t->left_out;

	if (t->left_out)
		fprintf(out, "shares are of the %.1f%% that --focus and --ignore leave\n",
			100.0 * t->nodes[0].total / all);
}

void columns_put_more(size_t nr, size_t most, FILE *out)
{
	if (nr > most)
		fprintf(out, "… %zu more functions\n", nr - most);
}

/* The first one, by which the table is sorted, stays; the last ones go first. */
static void add_column(struct table *t, uint32_t name)
{
	grid_add(&t->grid,
		 (struct grid_column){ profile_str(t->p, name),
				       .rank = t->grid.nr_columns ? t->grid.nr_columns + 1 : 0,
				       .min = MIN_HEAD });
}

static void put_row(struct table *t, const struct event_values_row *row)
{
	struct grid *g = &t->grid;
	uint64_t all;

	grid_row(g, STYLE_PLAIN, NULL);
	for (size_t i = 0; i < t->p->nr_events; i++) {
		all = t->values.trees[i]->nodes[0].total;
		grid_cell(g, "%s",
			  row->self[i] ? text_pct(all ? 100.0 * row->self[i] / all : 0) : "-");
	}
	for (size_t i = 0; i < t->p->nr_columns; i++) {
		struct columns_value v = columns_get(&t->columns, row->name, i);

		grid_cell(g, isnan(v.value) ? "n/a" : "%.2f", v.value);
	}
	columns_put_place(g, t->p, row->name, row->module);
}

static void put_table(struct table *t, FILE *out)
{
	const struct profile *p = t->p;

	grid_init(&t->grid, out, NULL, 0);
	for (size_t i = 0; i < p->nr_events; i++)
		add_column(t, p->events[i].name);
	for (size_t i = 0; i < p->nr_columns; i++)
		add_column(t, p->columns[i].name);
	columns_add_place(&t->grid);
	for (size_t i = 0; i < t->values.nr && i < VALUED_FUNCTIONS; i++)
		put_row(t, &t->values.rows[i]);
	grid_end(&t->grid);
	columns_put_more(t->values.nr, VALUED_FUNCTIONS, out);
}

/* "IPC 0.82 in all, counted 50.12% of the time": what the ratios above are worth. */
static void put_column(const struct table *t, size_t i, FILE *out)
{
	const struct profile *p = t->p;
	struct columns_value v = columns_get(&t->columns, NULL, i);
	const char *name = profile_str(p, p->columns[i].name);

	fputs(i ? "          " : "columns   ", out);
	text_clean(out, name, strlen(name));
	if (isnan(v.value))
		fputs(" n/a: never counted", out);
	else
		fprintf(out, " %.2f in all, counted %.2f%% of the time", v.value, 100 * v.coverage);
	if (p->columns[i].note) {
		name = profile_str(p, p->columns[i].note);
		fputs("; ", out);
		text_clean(out, name, strlen(name));
	}
	fputc('\n', out);
}

void columns_put(const struct profile *p, const struct view *view, FILE *out)
{
	struct table t = { .p = p };

	event_values_init(&t.values, p, view, view_event(view, p));
	columns_init(&t.columns, p, view);
	put_table(&t, out);
	if (p->nr_columns)
		fputc('\n', out);
	for (size_t i = 0; i < p->nr_columns; i++)
		put_column(&t, i, out);
	columns_release(&t.columns);
	event_values_release(&t.values);
}
