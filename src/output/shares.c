/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shares of functions, modules, lines, threads (profile/shares.h), for people and spreadsheets. */
#include <ctype.h>
#include <inttypes.h>

#include "base/csv.h"
#include "base/text.h"
#include "output/calls.h"
#include "output/columns.h"
#include "output/json_put.h"
#include "output/output.h"
#include "output/runqlat.h"
#include "output/waits_summary.h"
#include "profile/lengths.h"
#include "profile/shares.h"

#define ROWS  40
#define HISTS 5

/* A table, and of threads, processes and classes how long their waits were. */
struct table {
	struct tree *t;
	struct shares s;
	struct owner_lengths *lengths;
	size_t nr_lengths;
	bool has_lengths;
};

static bool is_of_owners(enum view_by by)
{
	return by == VIEW_BY_THREAD || by == VIEW_BY_PROCESS || by == VIEW_BY_CLASS;
}

static void table_init(struct table *a, const struct profile *p, const struct view *v)
{
	*a = (struct table){ .t = tree_new(p, v) };
	shares_init(&a->s, a->t, v->by);
	shares_sort(&a->s, v->sort);
	a->has_lengths = is_of_owners(v->by) && lengths_known(p);
	if (a->has_lengths)
		a->lengths = owner_lengths_new(p, v, &a->nr_lengths);
}

static void table_release(struct table *a)
{
	owner_lengths_free(a->lengths, a->nr_lengths);
	shares_release(&a->s);
	tree_free(a->t);
}

/* NULL: it never waited. */
static const struct prof_hist *lengths_of(const struct table *a, const struct share *row)
{
	return owner_lengths_find(a->lengths, a->nr_lengths, row->name);
}

static void add_columns(struct grid *g, const struct table *a, enum view_by by)
{
	grid_add(g, (struct grid_column){ .head = a->s.has_total ? "SELF" : "SHARE" });
	if (a->s.has_total)
		grid_add(g, (struct grid_column){ .head = "TOTAL", .rank = 1 });
	if (a->has_lengths) {
		grid_add(g, (struct grid_column){ .head = "WAITS", .rank = 2 });
		waits_add_lengths(g);
	}
	if (by == VIEW_BY_FUNCTION)
		columns_add_place(g);
	else
		grid_add(g, (struct grid_column){ shares_heads[by], GRID_TEXT,
						  .min = a->has_lengths ? 12 : 24 });
}

static void put_row(struct grid *g, const struct table *a, const struct share *row)
{
	const struct prof_hist *lengths = lengths_of(a, row);

	grid_row(g, STYLE_PLAIN, NULL);
	columns_put_share(g, a->t, row->self);
	if (a->s.has_total)
		columns_put_share(g, a->t, row->total);
	if (a->has_lengths) {
		grid_cell(g, "%s", lengths ? text_count(runqlat_count(lengths)) : "");
		waits_put_lengths(g, lengths);
	}
	grid_cell(g, "%s", row->name);
	if (*row->module)
		grid_cell(g, "%s", output_base_name(row->module));
}

static void put_hists(const struct table *a, const struct view *v, size_t max, FILE *out)
{
	size_t nr = 0;

	for (size_t i = 0; i < a->s.nr; i++) {
		const struct prof_hist *lengths = lengths_of(a, &a->s.v[i]);

		if (lengths && runqlat_count(lengths) && nr++ < max)
			waits_put_hist(v, a->s.v[i].name, lengths, out);
	}
	calls_put_more(nr, max, "histograms", out);
}

/* Lines are not known of all code. */
static void put_unknown(const struct shares *s, FILE *out)
{
	uint64_t unknown = shares_unknown(s);

	if (unknown)
		fprintf(out, "%.1f%% is in code whose lines are not known\n",
			100.0 * unknown / s->t->nodes[0].total);
}

int shares_write(const struct profile *p, const struct view *v, FILE *out)
{
	size_t max = v->rows ? v->rows : ROWS;
	struct table a;
	struct grid g;

	table_init(&a, p, v);
	grid_init(&g, out, NULL, 0);
	grid_whole(&g);
	add_columns(&g, &a, v->by);
	for (size_t i = 0; i < a.s.nr && i < max; i++)
		put_row(&g, &a, &a.s.v[i]);
	grid_end(&g);
	if (a.s.nr > max)
		fprintf(out, "… %zu more: give a larger --rows\n", a.s.nr - max);
	if (v->by == VIEW_BY_FILE || v->by == VIEW_BY_LINE)
		put_unknown(&a.s, out);
	columns_put_left_out(a.t, out);
	if (v->histogram)
		put_hists(&a, v, v->rows ? v->rows : HISTS, out);
	table_release(&a);
	return 0;
}

static void put_value(const struct profile *p, uint64_t value, FILE *out)
{
	fprintf(out, ",%" PRIu64, columns_shown(p, value));
}

static void put_lengths_csv(const struct prof_hist *h, FILE *out)
{
	struct runqlat_stats stats;

	if (!h || !runqlat_count(h)) {
		fputs(",0,,,,,,,", out);
		return;
	}
	stats = runqlat_stats(h);
	fprintf(out, ",%" PRIu64 ",", stats.count);
	calls_put_csv_times(&stats, out);
}

int shares_write_csv(const struct profile *p, const struct view *v, FILE *out)
{
	struct table a;

	table_init(&a, p, v);
	fputs(a.s.has_total ? "name,module,self,total,unit" : "name,total,unit", out);
	fputs(a.has_lengths ? ",waits,mean_us,p50_us,p90_us,p99_us,p99_9_us,max_us,total_us\n"
			    : "\n",
	      out);
	for (size_t i = 0; i < a.s.nr && (!v->rows || i < v->rows); i++) {
		csv_put(a.s.v[i].name, out);
		if (a.s.has_total) {
			fputc(',', out);
			csv_put(a.s.v[i].module, out);
			put_value(p, a.s.v[i].self, out);
		}
		put_value(p, a.s.v[i].total, out);
		fputc(',', out);
		csv_put(columns_unit(p), out);
		if (a.has_lengths)
			put_lengths_csv(lengths_of(&a, &a.s.v[i]), out);
		fputc('\n', out);
	}
	table_release(&a);
	return 0;
}

static struct json_object *row_json(const struct table *a, const struct share *of)
{
	const struct prof_hist *lengths = lengths_of(a, of);
	struct json_object *row = json_object_new_object();

	json_object_object_add(row, "name", json_text(of->name));
	json_object_object_add(row, "module", json_text(of->module));
	json_put_count(row, "self", columns_shown(a->s.p, of->self));
	json_put_count(row, "total", columns_shown(a->s.p, of->total));
	if (lengths)
		json_object_object_add(row, "lengths", runqlat_hist_json(lengths));
	return row;
}

int shares_write_json(const struct profile *p, const struct view *v, FILE *out)
{
	struct json_object *o = json_document("bpfprof-shares"), *rows = json_object_new_array();
	char by[16] = "";
	struct table a;

	table_init(&a, p, v);
	for (size_t i = 0; shares_heads[v->by][i]; i++)
		by[i] = tolower((unsigned char)shares_heads[v->by][i]);
	json_object_object_add(o, "by", json_text(by));
	json_object_object_add(o, "unit", json_text(columns_unit(p)));
	json_put_count(o, "total", columns_shown(p, a.t->nodes[0].total));
	for (size_t i = 0; i < a.s.nr; i++)
		json_object_array_add(rows, row_json(&a, &a.s.v[i]));
	json_object_object_add(o, "rows", rows);
	json_print(o, true, out);
	table_release(&a);
	return 0;
}
