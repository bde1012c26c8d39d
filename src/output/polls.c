/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lengths that matter, and how many polls exceed them. */
#include "output/polls.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "output/json_put.h"

#define NR(a) (sizeof(a) / sizeof(*(a)))

/*
 * One of Tokio's authors counts a task as blocking that takes more than 10 to 100 us between two
 * .await (https://ryhl.io/blog/async-what-is-blocking/).
 */
static const struct length {
	uint64_t ns;
	const char *text, *head, *key;
} lengths[] = {
	{ 100000, "100 us", ">100us", "over_100us" },
	{ 1000000, "1 ms", ">1ms", "over_1ms" },
	{ 10000000, "10 ms", ">10ms", "over_10ms" },
};

static double share(const struct prof_hist *h, uint64_t ns)
{
	uint64_t nr = runqlat_count(h);

	return nr ? 100.0 * runqlat_longer(h, ns) / nr : 0;
}

void polls_add_columns(struct grid *g)
{
	for (size_t i = 0; i < NR(lengths); i++)
		grid_add(g, (struct grid_column){ lengths[i].head, .rank = 8 });
}

void polls_put_cells(struct grid *g, const struct prof_hist *h)
{
	for (size_t i = 0; i < NR(lengths); i++)
		grid_cell(g, "%s", text_pct(share(h, lengths[i].ns)));
}

void polls_put_shares(const struct calls *c, const char *noun, FILE *out)
{
	struct prof_hist sum = {};
	struct grid g;
	char head[16];

	for (size_t i = 0; i < c->nr; i++)
		runqlat_add(&sum, c->rows[i].hist);
	snprintf(head, sizeof(head), "%s", *noun == 'r' ? "RUNS" : "POLLS");
	grid_init(&g, out, NULL, 0);
	grid_add(&g, (struct grid_column){ .head = "LONGER THAN" });
	grid_add(&g, (struct grid_column){ .head = head });
	grid_add(&g, (struct grid_column){ .head = "SHARE" });
	for (size_t i = 0; i < NR(lengths); i++) {
		grid_row(&g, STYLE_PLAIN, lengths[i].text, NULL);
		grid_cell(&g, "%s", text_count(runqlat_longer(&sum, lengths[i].ns)));
		grid_cell(&g, "%s", text_pct(share(&sum, lengths[i].ns)));
	}
	grid_end(&g);
}

void polls_put_json(struct json_object *o, const struct prof_hist *h)
{
	for (size_t i = 0; i < NR(lengths); i++)
		json_put_count(o, lengths[i].key, h ? runqlat_longer(h, lengths[i].ns) : 0);
}
