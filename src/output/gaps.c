/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who kept a runtime's driver from being polled: the innermost function of the program. */
#include "output/gaps.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "output/blockers.h"
#include "output/grid.h"
#include "output/json_put.h"
#include "profile/gaps.h"
#include "profile/trim.h"
#include "profile/waits.h"

#define MAX_ROWS 5 /* for people */

struct culprit {
	char *name; /* of the place, for people */
	struct blocker_place place;
	const char *kind;     /* of contexts, whose lifetime it has */
	struct waits_sum sum; /* nr: gaps */
	size_t gap1;	      /* the last one of them + 1 */
};

struct culprits {
	struct trim trim;
	struct gaps gaps;
	uint64_t least_ns;
	struct culprit *v; /* longest first */
	size_t nr, cap;
	size_t gap1; /* whose parts are added, + 1 */
};

/* What stands on the stack for waiting itself says less than its caller. */
static struct blocker_place place_of(struct trim *t, size_t sample)
{
	return blockers_place(t, contexts_at(&t->contexts, sample), t->p->samples[sample].ustack);
}

static void add(struct culprits *c, const struct gap_part *part)
{
	bool known = part->sample != GAP_UNKNOWN;
	const char *kind =
		part->ran ? "on-cpu" : contexts_at(&c->trim.contexts, part->sample)->kind;
	struct blocker_place place = {};
	char *name;
	size_t i = 0;

	if (known)
		place = place_of(&c->trim, part->sample);
	name = known ? blockers_name(&c->trim, &place) : xstrdup("[not sampled]");
	while (i < c->nr && (strcmp(c->v[i].name, name) || strcmp(c->v[i].kind, kind)))
		i++;
	if (i == c->nr) {
		c->v = xgrow(c->v, c->nr, &c->cap, sizeof(*c->v));
		c->v[c->nr++] =
			(struct culprit){ .name = xstrdup(name), .place = place, .kind = kind };
	}
	c->v[i].sum.ns += part->ns;
	c->v[i].sum.nr += c->v[i].gap1 != c->gap1;
	c->v[i].gap1 = c->gap1;
	free(name);
}

static int by_time(const void *x, const void *y)
{
	const struct culprit *a = x, *b = y;

	if (a->sum.ns != b->sum.ns)
		return a->sum.ns > b->sum.ns ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* False: none could have been found. */
static bool culprits_init(struct culprits *c, const struct profile *p, const struct view *v)
{
	*c = (struct culprits){ .least_ns = v->gap_ns ? v->gap_ns : GAP_NS };
	trim_init(&c->trim, p, v);
	if (!gaps_init(&c->gaps, &c->trim.contexts, c->least_ns))
		return false;
	for (size_t i = 0; i < c->gaps.nr; i++) {
		const struct gap *gap = &c->gaps.v[i];

		c->gap1 = i + 1;
		for (size_t k = 0; k < gap->nr; k++)
			add(c, &c->gaps.parts[gap->first + k]);
	}
	if (c->nr)
		qsort(c->v, c->nr, sizeof(*c->v), by_time);
	return true;
}

static void culprits_release(struct culprits *c)
{
	for (size_t i = 0; i < c->nr; i++)
		free(c->v[i].name);
	free(c->v);
	gaps_release(&c->gaps);
	trim_release(&c->trim);
}

static void put_rows(const struct culprits *c, FILE *out)
{
	static const struct grid_column columns[] = {
		{ .head = "TIME" },
		{ .head = "SHARE" },
		{ .head = "KIND", .kind = GRID_TEXT },
		{ .head = "WHO KEPT THE WORKER", .kind = GRID_TEXT, .min = 20 },
	};
	struct grid g;

	grid_init(&g, out, columns, 4);
	g.indent = 2;
	for (size_t i = 0; i < c->nr && i < MAX_ROWS; i++)
		grid_row(&g, STYLE_PLAIN, text_ns(c->v[i].sum.ns),
			 text_pct(100.0 * c->v[i].sum.ns / c->gaps.ns), c->v[i].kind, c->v[i].name,
			 NULL);
	grid_end(&g);
}

/* What is certain is told apart from what is the most that it can have been. */
static void put_ran(const struct culprits *c, FILE *out)
{
	if (!c->gaps.ran_ns)
		return;
	fprintf(out,
		"  %s of it while workers ran: at most, since one that always finds another task\n"
		"  polls in between without waiting, which nobody sees\n",
		text_ns(c->gaps.ran_ns));
}

/* While any are missing, whoever waits for events may have done so (collect/long_waits.h). */
static void put_missed(const struct profile *p, FILE *out)
{
	uint64_t nr = p->counters[PROF_MOMENTS_LOST];

	if (nr)
		fprintf(out, "  %s %s too fast to be noted; no gap is looked for meanwhile\n",
			text_count(nr), nr == 1 ? "wait came" : "waits came");
}

void gaps_put(const struct profile *p, const struct view *v, bool apart, FILE *out)
{
	struct culprits c;

	if (culprits_init(&c, p, v)) {
		fprintf(out, "%s  driver gap: %s%s", apart ? "\n" : "",
			c.gaps.nr ? text_ns(c.gaps.ns) : "none", c.gaps.nr ? "" : " of ");
		if (c.gaps.nr)
			fprintf(out, " in %s of ", text_count(c.gaps.nr));
		fprintf(out, "%s or more", text_ns(c.least_ns));
		if (c.gaps.nr)
			fprintf(out, ", longest %s", text_ns(c.gaps.longest_ns));
		fputs("\n", out);
		put_ran(&c, out);
		put_missed(p, out);
		if (c.gaps.nr)
			put_rows(&c, out);
	}
	culprits_release(&c);
}

static struct json_object *row(struct trim *t, const struct culprit *one)
{
	struct json_object *o = json_object_new_object();
	const struct blocker_place *place = &one->place;
	char *function =
		place->function.frame ? blockers_function(t, &place->function) : xstrdup(one->name);
	char *task = blockers_function(t, place->task.frame ? &place->task : &place->function);

	json_object_object_add(o, "function", json_text(function));
	json_object_object_add(o, "task", place->function.frame ? json_text(task) : NULL);
	json_object_object_add(o, "kind", json_text(one->kind));
	json_put_count(o, "us", waits_us(one->sum.ns));
	json_put_count(o, "gaps", one->sum.nr);
	free(task);
	free(function);
	return o;
}

static struct json_object *rows(struct culprits *c)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < c->nr; i++)
		json_object_array_add(list, row(&c->trim, &c->v[i]));
	return list;
}

struct json_object *gaps_json(const struct profile *p, const struct view *v)
{
	struct json_object *o = NULL;
	struct culprits c;

	if (culprits_init(&c, p, v)) {
		o = json_object_new_object();
		json_put_count(o, "least_us", waits_us(c.least_ns));
		json_put_count(o, "us", waits_us(c.gaps.ns));
		json_put_count(o, "ran_us", waits_us(c.gaps.ran_ns));
		json_put_count(o, "gaps", c.gaps.nr);
		json_put_count(o, "longest_us", waits_us(c.gaps.longest_ns));
		json_object_object_add(o, "culprits", rows(&c));
	}
	culprits_release(&c);
	return o;
}
