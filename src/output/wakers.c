/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who woke whom, for people: waiting time by the thread that ended it, and what that one did. */
#include "base/text.h"
#include "output/grid.h"
#include "output/output.h"
#include "profile/kind.h"
#include "profile/woken.h"

#define MAX_ROWS 10

static const char *name_of(const struct profile *p, uint32_t string, const char *otherwise)
{
	return string ? profile_str(p, string) : otherwise;
}

static bool is_known(const struct woken_row *r)
{
	return r->waker || r->irq;
}

static void put_row(struct grid *g, const struct profile *p, const struct woken_row *r,
		    const struct woken *w)
{
	grid_row(g, STYLE_PLAIN, NULL);
	grid_cell(g, "%s", text_ns(r->ns));
	grid_cell(g, "%s", text_pct(w->ns ? 100.0 * r->ns / w->ns : 0));
	grid_cell(g, "%s", text_count(r->nr));
	grid_cell(g, "%s", name_of(p, r->waiter, "[unknown]"));
	grid_cell(g, "%s", r->irq ? "[irq]" : name_of(p, r->waker, "[unknown]"));
	grid_cell(g, "%s", name_of(p, r->function, ""));
}

void wakers_put(const struct profile *p, const struct view *v, FILE *out)
{
	static const struct grid_column columns[] = {
		{ .head = "TIME" },
		{ .head = "SHARE", .rank = 2 },
		{ .head = "WAITS", .rank = 3 },
		{ .head = "WAITER", .kind = GRID_TEXT, .min = 8 },
		{ .head = "WOKEN BY", .kind = GRID_TEXT, .min = 8 },
		{ .head = "IN", .kind = GRID_FUNCTION, .min = 24 },
	};
	struct woken_row unknown = {};
	struct woken w;
	struct grid g;
	size_t nr = 0;

	if (!kind_of_profile(p)->wakers)
		return;
	woken_init(&w, p, v);
	grid_init(&g, out, columns, 6);
	for (size_t i = 0; i < w.nr; i++) {
		if (!is_known(&w.v[i])) {
			unknown.ns += w.v[i].ns;
			unknown.nr += w.v[i].nr;
		} else if (nr++ < MAX_ROWS) {
			put_row(&g, p, &w.v[i], &w);
		}
	}
	grid_end(&g);
	if (nr > MAX_ROWS)
		fprintf(out, "  … %s more pairs of waiter and waker\n", text_count(nr - MAX_ROWS));
	if (unknown.nr)
		fprintf(out, "  %s in %s wait%s without a known waker: most had not ended\n",
			text_ns(unknown.ns), text_count(unknown.nr), unknown.nr == 1 ? "" : "s");
	woken_release(&w);
}
