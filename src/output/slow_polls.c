/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ledger of slow polls. */
#include "output/slow_polls.h"

#include <json.h>

#include "base/text.h"
#include "output/grid.h"
#include "output/json_put.h"
#include "profile/slow_polls.h"

void slow_polls_put_sum(const struct profile *p, FILE *out)
{
	struct slow_polls s;

	slow_polls_init(&s, p);
	fprintf(out, "%s poll%s of %s or more", text_count(s.nr), s.nr == 1 ? "" : "s",
		text_ns(p->meta.slow_poll_ns));
	if (s.open)
		fprintf(out, "; %s had not returned", text_count(s.open));
	fputc('\n', out);
}

static void put_row(struct grid *g, const struct slow_polls *s, const char *what, uint64_t ns,
		    const char *note)
{
	grid_row(g, STYLE_PLAIN, what, text_ns(ns), text_pct(s->ns ? 100.0 * ns / s->ns : 0), note,
		 NULL);
}

void slow_polls_put(const struct profile *p, FILE *out)
{
	static const struct grid_column columns[] = {
		{ .head = "IN SLOW POLLS", .kind = GRID_TEXT },
		{ .head = "TIME" },
		{ .head = "SHARE" },
		{ .head = "", .kind = GRID_TEXT, .min = 8 },
	};
	struct slow_polls s;
	struct grid g;

	if (!slow_polls_init(&s, p))
		return;
	grid_init(&g, out, columns, 4);
	g.indent = 2;
	put_row(&g, &s, "all", s.ns, "polls within others once");
	put_row(&g, &s, "waiting", s.waiting_ns, "with stacks, by class below");
	put_row(&g, &s, "running, sampled", s.sampled_ns, "with stacks");
	if (s.unsampled_ns)
		put_row(&g, &s, "running, not sampled", s.unsampled_ns, "raise -F");
	if (s.missing_ns)
		put_row(&g, &s, "not covered", s.missing_ns, "the last lines say why");
	grid_end(&g);
}

struct json_object *slow_polls_json(const struct profile *p)
{
	struct json_object *o;
	struct slow_polls s;

	if (!slow_polls_init(&s, p))
		return NULL;
	o = json_object_new_object();
	json_put_number(o, "least_us", p->meta.slow_poll_ns / 1e3);
	json_put_count(o, "polls", s.nr);
	json_put_count(o, "open", s.open);
	json_put_number(o, "total_us", s.ns / 1e3);
	json_put_number(o, "waiting_us", s.waiting_ns / 1e3);
	json_put_number(o, "running_sampled_us", s.sampled_ns / 1e3);
	json_put_number(o, "running_not_sampled_us", s.unsampled_ns / 1e3);
	json_put_number(o, "not_covered_us", s.missing_ns / 1e3);
	return o;
}
