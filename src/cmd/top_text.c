/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Heads, and pages where there is no screen. */
#include <stdlib.h>

#include "base/text.h"
#include "cmd/top_parts.h"
#include "output/grid.h"

static double seconds(const struct live_facts *f)
{
	return f->window_ns ? f->window_ns / 1e9 : 1;
}

static double pct_of_cpu(uint64_t ns, const struct live_facts *f)
{
	return ns / 1e7 / seconds(f);
}

/* The cause that lost most. */
static const char *main_cause(const struct live_facts *f)
{
	size_t most = 0;

	for (size_t i = 0; i < PROF_NR_COUNTERS; i++)
		if (f->lost[i] > f->lost[most])
			most = i;
	return profile_counters[most].text;
}

char *top_cost_text(const struct live_facts *f, uint64_t lost)
{
	char *text = NULL;
	size_t sz;
	FILE *out = open_memstream(&text, &sz);

	fprintf(out, "%.0f samples/s", f->samples / seconds(f));
	if (f->samples_one_in > 1)
		fprintf(out, " (1 in %s taken)", text_count(f->samples_one_in));
	else if (f->stacks_one_in > 1)
		fprintf(out, " (1 in %s stacks)", text_count(f->stacks_one_in));
	fputs(", ", out);
	if (lost)
		fprintf(out, "%s LOST (%s)", text_count(lost), main_cause(f));
	else
		fputs("none lost", out);
	fprintf(out, "; CPU: own %.2f%%, BPF %.2f%%", pct_of_cpu(f->cpu_ns, f),
		pct_of_cpu(f->bpf_ns, f));
	if (f->budget > 0)
		fprintf(out, ", max %s", text_pct(100 * f->budget * f->nr_cpus));
	fclose(out);
	return text;
}

char *top_load_text(const struct live_facts *f, uint32_t nr_restarts)
{
	char *text = NULL;
	size_t sz;
	FILE *out = open_memstream(&text, &sz);

	fprintf(out, "%.2f of %zu CPUs; run queue ", f->running_ns / 1e9 / seconds(f), f->nr_cpus);
	if (runqlat_count(&f->queue))
		fprintf(out, "p50 %s, p99 %s, max %s",
			text_ns(runqlat_percentile_ns(&f->queue, 50)),
			text_ns(runqlat_percentile_ns(&f->queue, 99)),
			text_ns(runqlat_max_ns(&f->queue)));
	else
		fputs("empty", out);
	if (nr_restarts)
		fprintf(out, "; tables renewed: %s", text_count(nr_restarts));
	fprintf(out, "; uses %s", text_bytes(f->rss_bytes));
	fclose(out);
	return text;
}

static enum grid_kind kind_of_column(enum overview_page page, enum overview_kind kind)
{
	if (kind == OVERVIEW_NAME && page == OVERVIEW_FUNCTIONS)
		return GRID_FUNCTION;
	return kind >= OVERVIEW_TEXT ? GRID_TEXT : GRID_NUMBER;
}

void top_print(struct overview_sums *sums, enum overview_page page, uint32_t rows, FILE *out)
{
	struct overview o;
	struct grid g;

	overview_init(&o, sums, page, &(struct overview_opts){ .sort = -1 });
	grid_init(&g, out, NULL, 0);
	grid_whole(&g);
	for (size_t i = 0; i < o.nr_columns; i++)
		grid_add(&g, (struct grid_column){
				     .head = o.columns[i].head,
				     .kind = kind_of_column(page, o.columns[i].kind),
				     .rank = o.columns[i].rank,
				     .min = o.columns[i].kind >= OVERVIEW_TEXT ? 8 : 0,
			     });
	for (size_t i = 0; i < o.nr && i < rows; i++) {
		grid_row(&g, o.rows[i].idle ? STYLE_IDLE : STYLE_PLAIN, NULL);
		for (size_t k = 0; k < o.nr_columns; k++) {
			char *cell = overview_text(&o, i, k);

			grid_cell(&g, "%s", cell);
			free(cell);
		}
	}
	grid_end(&g);
	overview_release(&o);
}
