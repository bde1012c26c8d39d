/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of stacks, most time first. */
#include "output/call_stacks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/round.h"
#include "base/text.h"
#include "output/calls.h"
#include "output/grid.h"
#include "output/json_put.h"
#include "profile/call_stacks.h"

#define TOP_STACKS 20

/* Root first, as in folded lines, or leaf first, as people read it. To be freed. */
static char *text_of(const struct call_stacks *c, const struct call_stack *row, bool leaf_first)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	for (size_t i = 0; i < row->nr_names; i++) {
		size_t at = leaf_first ? row->nr_names - 1 - i : i;

		fprintf(f, "%s%s",
			!i	     ? ""
			: leaf_first ? " < "
				     : ";",
			call_stacks_name(c, row, at));
	}
	fclose(f);
	return text;
}

/* Functions are the first frames of their stacks; tracepoints and system calls are not. */
static void put_row(struct grid *g, const struct call_stacks *c, const struct call_stack *row,
		    bool estimated)
{
	bool is_leaf = !strcmp(row->function, call_stacks_name(c, row, row->nr_names - 1));
	char *stack = text_of(c, row, true);

	grid_row(g, STYLE_PLAIN, NULL);
	grid_cell(g, "%s%s", estimated ? "~" : "", text_count(row->stats.count));
	for (size_t i = 0; i < 3; i++)
		grid_cell(g, "%s", text_ns(round_u64(row->stats.pct_ns[i])));
	grid_cell(g, "%s", text_ns(row->stats.max_ns));
	grid_cell(g, "%s%s", estimated ? "~" : "", text_ns(row->stats.total_ns));
	grid_cell(g, "%s", is_leaf ? "" : row->function);
	grid_cell(g, "%s", stack);
	free(stack);
}

void call_stacks_put(const struct profile *p, const struct view *v, FILE *out)
{
	static const struct grid_column columns[] = {
		{ .head = "CALLS" },
		{ "P50", .rank = 4 },
		{ "P90", .rank = 5 },
		{ "P99", .rank = 3 },
		{ "MAX", .rank = 2 },
		{ "TOTAL", .rank = 1 },
		{ "FUNCTION", GRID_TEXT, .rank = 2, .min = 8 },
		{ "STACK, INNERMOST FIRST", GRID_TEXT, .min = 30 },
	};
	size_t most = v->rows ? v->rows : TOP_STACKS;
	bool estimated = p->nr_events && p->events[0].period > 1;
	struct call_stacks c;
	struct grid g;

	call_stacks_init(&c, p, v);
	grid_init(&g, out, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < c.nr && i < most; i++)
		put_row(&g, &c, &c.rows[i], estimated);
	grid_end(&g);
	calls_put_more(c.nr, most, "stacks", out);
	call_stacks_release(&c);
}

static struct json_object *row_json(const struct call_stacks *c, const struct call_stack *row)
{
	struct json_object *o = json_object_new_object(), *stack = json_object_new_array();

	json_object_object_add(o, "function", json_text(row->function));
	json_put_count(o, "calls", row->stats.count);
	json_put_number(o, "per_s", row->per_s);
	calls_put_times(o, &row->stats);
	for (size_t i = 0; i < row->nr_names; i++)
		json_object_array_add(stack, json_text(call_stacks_name(c, row, i)));
	json_object_object_add(o, "stack", stack);
	return o;
}

struct json_object *call_stacks_json(const struct profile *p, const struct view *v)
{
	struct json_object *list = NULL;
	struct call_stacks c;

	call_stacks_init(&c, p, v);
	if (c.nr)
		list = json_object_new_array();
	for (size_t i = 0; i < c.nr; i++)
		json_object_array_add(list, row_json(&c, &c.rows[i]));
	call_stacks_release(&c);
	return list;
}

int call_stacks_write_csv(const struct profile *p, const struct view *v, FILE *out)
{
	struct call_stacks c;
	char *stack;

	fputs("function,calls,per_s,mean_us,p50_us,p90_us,p99_us,p99_9_us,max_us,total_us,stack\n",
	      out);
	call_stacks_init(&c, p, v);
	for (size_t i = 0; i < c.nr; i++) {
		stack = text_of(&c, &c.rows[i], false);
		csv_put(c.rows[i].function, out);
		fprintf(out, ",%" PRIu64 ",%.3f,", c.rows[i].stats.count, c.rows[i].per_s);
		calls_put_csv_times(&c.rows[i].stats, out);
		fputc(',', out);
		csv_put(stack, out);
		fputc('\n', out);
		free(stack);
	}
	call_stacks_release(&c);
	return 0;
}
