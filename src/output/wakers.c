/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Waiting time by the thread that ended it, and what that one did. */
#include "output/wakers.h"

#include <json-c/json.h>

#include "base/text.h"
#include "output/grid.h"
#include "output/json_put.h"
#include "profile/kind.h"
#include "profile/woken.h"

#define MAX_ROWS 10

static const char *name_of(const struct profile *p, uint32_t string, const char *otherwise)
{
	return string ? profile_str(p, string) : otherwise;
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
	struct woken w;
	struct grid g;

	if (!kind_of_profile(p)->wakers || kind_of_profile(p)->locks)
		return;
	woken_init(&w, p, v);
	grid_init(&g, out, columns, 6);
	for (size_t i = 0; i < w.nr && i < MAX_ROWS; i++)
		put_row(&g, p, &w.v[i], &w);
	grid_end(&g);
	if (w.nr > MAX_ROWS)
		fprintf(out, "  … %s more pairs of waiter and waker (--json has all)\n",
			text_count(w.nr - MAX_ROWS));
	for (size_t i = 0; i < WOKEN_NR_NONE; i++)
		if (w.none[i].nr)
			fprintf(out, "  %s in %s wait%s without a waker: %s\n",
				text_ns(w.none[i].ns), text_count(w.none[i].nr),
				w.none[i].nr == 1 ? "" : "s", woken_none_texts[i]);
	woken_release(&w);
}

static struct json_object *pair_json(const struct profile *p, const struct woken_row *r)
{
	struct json_object *o = json_object_new_object();

	json_put_count(o, "us", waits_us(r->ns));
	json_put_count(o, "waits", r->nr);
	json_put_string(o, "waiter", p, r->waiter);
	json_put_string(o, "waker", p, r->waker);
	json_put_string(o, "function", p, r->function);
	json_object_object_add(o, "irq", json_object_new_boolean(r->irq));
	return o;
}

struct json_object *wakers_json(const struct profile *p, const struct view *v)
{
	struct json_object *o, *pairs, *none, *sum;
	struct woken w;

	if (!kind_of_profile(p)->wakers || kind_of_profile(p)->locks)
		return NULL;
	o = json_object_new_object();
	pairs = json_object_new_array();
	none = json_object_new_object();
	woken_init(&w, p, v);
	for (size_t i = 0; i < w.nr; i++)
		json_object_array_add(pairs, pair_json(p, &w.v[i]));
	for (size_t i = 0; i < WOKEN_NR_NONE; i++) {
		sum = json_object_new_object();
		json_put_count(sum, "us", waits_us(w.none[i].ns));
		json_put_count(sum, "waits", w.none[i].nr);
		json_object_object_add(none, woken_none_keys[i], sum);
	}
	woken_release(&w);
	json_object_object_add(o, "pairs", pairs);
	json_object_object_add(o, "none", none);
	return o;
}
