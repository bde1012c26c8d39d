/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of a runtime's workers, whose lines add up to the time that they were watched. */
#include "output/contexts.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "output/blockers.h"
#include "output/gaps.h"
#include "output/grid.h"
#include "output/json_put.h"
#include "profile/context_sums.h"
#include "profile/kind.h"

#define MAX_KINDS   4 /* beside a line */
#define MAX_NAMES   4
#define MAX_VERSION 78
#define MOVED	    100 /* of so many parts of the recording's length one is worth a table */
#define ESTIMATED   20	/* of so many parts of the recording's length one */

static const struct line {
	enum context context;
	const char *text;
} lines[] = {
	{ CONTEXT_IDLE_DRIVER, "idle: driver" },
	{ CONTEXT_IDLE_PARK, "idle: park" },
	{ CONTEXT_IDLE_POOL, "idle: pool" },
	{ CONTEXT_IDLE_BLOCK_ON, "idle: block_on" },
	{ CONTEXT_TASK, "BLOCKED IN TASKS" },
	{ CONTEXT_MAIN_FUTURE, "blocked in main future" },
	{ CONTEXT_RUNTIME, "blocked in runtime" },
	{ CONTEXT_POOL_JOB, "blocked in pool jobs" },
	{ CONTEXT_OTHER, "other code" },
	{ CONTEXT_NOT_SAMPLED, "stack not taken" },
};
#define NR_LINES (sizeof(lines) / sizeof(*lines))

static void put_line(struct grid *g, const struct context_table *t, const char *text, uint64_t ns,
		     const char *note)
{
	grid_row(g, STYLE_PLAIN, text, text_ns(ns), text_pct(t->ns ? 100.0 * ns / t->ns : 0), note,
		 NULL);
}

/* "lock 3.8 s, sleep 1.9 s". To be freed. */
static char *kinds_text(const struct context_kind_sums *k)
{
	char *text = NULL;
	size_t sz;
	FILE *f = open_memstream(&text, &sz);

	for (size_t i = 0; i < k->nr && i < MAX_KINDS; i++)
		fprintf(f, "%s%s %s", i ? ", " : "", k->v[i].kind, text_ns(k->v[i].sum.ns));
	if (k->nr > MAX_KINDS)
		fputs(", …", f);
	fclose(f);
	return text;
}

static void put_table(const struct context_sums *s, enum context_sort sort, const char *head,
		      const struct view *v, FILE *out)
{
	const struct context_table *t = &s->tables[sort];

	const struct grid_column columns[] = {
		{ .head = head, .kind = GRID_TEXT },
		{ .head = "TIME" },
		{ .head = "SHARE" },
		{ .head = "", .kind = GRID_TEXT, .min = 8 },
	};
	static const char *const notes[] = {
		[IDLE_FOLD] = "folded", [IDLE_HIDE] = "hidden", [IDLE_SHOW] = "shown"
	};
	char *kinds = kinds_text(&t->kinds), *mains = kinds_text(&t->mains);
	struct grid g;

	grid_init(&g, out, columns, 4);
	g.indent = 2;
	if (sort != SORT_MOVED || t->measured)
		put_line(&g, t, t->filtered ? "running or left out" : "running", t->running_ns,
			 t->measured	      ? ""
			 : t->residual_ns > 0 ? "at most: all CPUs"
					      : "what the others leave");
	put_line(&g, t, "run queue", t->queue.ns, "");
	for (size_t i = 0; i < NR_LINES; i++) {
		enum context of = lines[i].context;
		const struct waits_sum *sum = &t->by[of];

		if (sum->nr)
			put_line(&g, t, lines[i].text, sum->ns,
				 context_is_idle(of)	     ? notes[v->idle]
				 : of == CONTEXT_TASK	     ? kinds
				 : of == CONTEXT_MAIN_FUTURE ? mains
							     : "");
	}
	grid_end(&g);
	free(mains);
	free(kinds);
}

/* "tokio-rt-worker", or "tokio-rt-worker 8, mine 2". To be freed. */
static char *names_text(const struct context_table *s, const struct profile *p)
{
	char *text = NULL;
	size_t sz;
	FILE *f = open_memstream(&text, &sz);

	for (size_t i = 0; i < s->nr_names && i < MAX_NAMES; i++) {
		char *cut =
			xasprintf("%.*s", (int)s->names[i].shown, profile_str(p, s->names[i].name));
		char *name = text_cleaned(cut);

		fprintf(f, "%s%s", i ? ", " : "", name);
		if (s->nr_names > 1)
			fprintf(f, " %s", text_count(s->names[i].nr_threads));
		free(name);
		free(cut);
	}
	if (s->nr_names > MAX_NAMES)
		fputs(", …", f);
	fclose(f);
	return text;
}

/* Of none that runs tasks anything is known. */
static void put_no_workers(const struct context_sums *s, FILE *out)
{
	fprintf(out, "  no workers: %s thread%s of block_on, %s pool thread%s\n",
		text_count(s->nr_threads[ROLE_BLOCK_ON]),
		s->nr_threads[ROLE_BLOCK_ON] == 1 ? "" : "s", text_count(s->nr_threads[ROLE_POOL]),
		s->nr_threads[ROLE_POOL] == 1 ? "" : "s");
}

static void put_threads(const struct context_sums *s, const struct profile *p, FILE *out)
{
	const struct context_table *t = &s->tables[SORT_WORKERS];
	char *names = names_text(t, p);

	fprintf(out, "  %s worker%s (%s) x %s = %s; %s pool thread%s, %s of block_on\n",
		text_count(t->nr_threads), t->nr_threads == 1 ? "" : "s", names,
		text_ns(p->meta.duration_ns), text_ns(t->ns), text_count(s->nr_threads[ROLE_POOL]),
		s->nr_threads[ROLE_POOL] == 1 ? "" : "s", text_count(s->nr_threads[ROLE_BLOCK_ON]));
	free(names);
}

/* block_in_place() hands what a worker does on to a thread of the pool, which is one then. */
static void put_moved(const struct context_sums *s, const struct profile *p, FILE *out)
{
	const struct context_table *t = &s->tables[SORT_MOVED];

	fprintf(out, "  %s thread%s of the pool %s worker%s for a while: %s, %.3g at a time\n",
		text_count(t->nr_threads), t->nr_threads == 1 ? "" : "s",
		t->nr_threads == 1 ? "was" : "were", t->nr_threads == 1 ? "" : "s", text_ns(t->ns),
		p->meta.duration_ns ? 1.0 * t->ns / p->meta.duration_ns : 0);
}

/* A runtime of one thread runs its tasks in block_on(), and the future of that, too. */
static void put_alone(const struct context_sums *s, const struct profile *p, FILE *out)
{
	const struct context_table *t = &s->tables[SORT_ALONE];
	char *names = names_text(t, p);

	fprintf(out, "  %s runtime%s of one thread (%s) x %s = %s", text_count(t->nr_threads),
		t->nr_threads == 1 ? "" : "s", names, text_ns(p->meta.duration_ns), text_ns(t->ns));
	if (s->tables[SORT_WORKERS].nr_threads)
		fputc('\n', out);
	else
		fprintf(out, "; %s pool thread%s\n", text_count(s->nr_threads[ROLE_POOL]),
			s->nr_threads[ROLE_POOL] == 1 ? "" : "s");
	free(names);
}

static void put_tables(const struct context_sums *s, const struct profile *p, const struct view *v,
		       FILE *out)
{
	if (s->tables[SORT_WORKERS].nr_threads) {
		put_threads(s, p, out);
		put_table(s, SORT_WORKERS, "WORKERS", v, out);
	}
	if (s->tables[SORT_ALONE].nr_threads) {
		put_alone(s, p, out);
		put_table(s, SORT_ALONE, "ONE THREAD", v, out);
	}
	if (!s->tables[SORT_WORKERS].nr_threads && !s->tables[SORT_ALONE].nr_threads)
		put_no_workers(s, out);
	if (s->tables[SORT_MOVED].ns > p->meta.duration_ns / MOVED) {
		put_moved(s, p, out);
		put_table(s, SORT_MOVED, "AS WORKERS", v, out);
	}
}

static const char *mangling(const struct context_sums *s)
{
	return s->legacy ? s->v0 ? "legacy and v0" : "legacy" : s->v0 ? "v0" : "";
}

static void put_head(const struct context_sums *s, const struct profile *p, FILE *out)
{
	char *version = text_cleaned(profile_str(p, p->meta.runtimes));

	fputc('\n', out);
	text_fit(out, *version ? version : context_runtime(s->runtime), MAX_VERSION, 0);
	if (*mangling(s))
		fprintf(out, "\n  symbols of Rust: %s", mangling(s));
	if (s->by_form)
		fputs("\n  stripped: contexts are by the form of stacks, kinds by system calls and "
		      "futexes.\n"
		      "  Tasks have addresses. Channels count as thread-park, writers of a "
		      "RwLock and\n  block_on in tasks as condvar, the main future as other code",
		      out);
	fputc('\n', out);
	free(version);
}

/* A program that has a runtime by its constants, and no names of functions. */
static void put_stripped(const struct profile *p, const struct view *v, FILE *out)
{
	char *version = text_cleaned(profile_str(p, p->meta.runtimes));

	if (*version && v->runtime != RUNTIME_OFF && p->meta.is_time) {
		fputc('\n', out);
		text_fit(out, version, MAX_VERSION, 0);
		fprintf(out,
			"\n  none of its functions has a name on a stack, and %s:\n"
			"  contexts are unknown\n",
			kind_of_profile(p)->locks ? "lock records no waits for events"
						  : "none of its threads waited for events");
	}
	free(version);
}

static uint64_t all_ns(const struct context_sums *s)
{
	return s->tables[SORT_WORKERS].ns + s->tables[SORT_ALONE].ns + s->tables[SORT_MOVED].ns;
}

/* Where it is much: which function blocks whom is an estimate then. */
static void put_estimated(const struct context_sums *s, const struct profile *p, FILE *out)
{
	if (p->meta.spread_ns > p->meta.duration_ns / ESTIMATED && all_ns(s))
		fprintf(out,
			"  %s of waits are shown by other stacks of their threads, so "
			"functions are\n"
			"  estimates: to have all stacks, record with --max-overhead 0\n",
			text_ns(p->meta.spread_ns));
}

void contexts_put(const struct profile *p, const struct view *v, FILE *out)
{
	struct context_sums s;
	bool apart;

	if (kind_of_profile(p)->slow_polls) /* in which workers are only at times */
		return;
	if (!context_sums_init(&s, p, v)) {
		put_stripped(p, v, out);
		return;
	}
	put_head(&s, p, out);
	put_tables(&s, p, v, out);
	put_estimated(&s, p, out);
	apart = blockers_put(p, v, all_ns(&s), out);
	gaps_put(p, v, apart, out);
	for (size_t i = 0; i < NR_SORTS; i++) {
		int64_t ns = s.tables[i].residual_ns;

		if (ns)
			fprintf(out, "  %s%s in no line: threads that began or ended meanwhile\n",
				ns < 0 ? "-" : "", text_ns(llabs(ns)));
	}
}

static void put_sum(struct json_object *o, const char *key, const struct waits_sum *sum)
{
	struct json_object *pair = json_object_new_object();

	json_put_count(pair, "us", waits_us(sum->ns));
	json_put_count(pair, "waits", sum->nr);
	json_object_object_add(o, key, pair);
}

static struct json_object *table_json(const struct context_table *s, const struct profile *p)
{
	struct json_object *o = json_object_new_object(), *by = json_object_new_object();

	json_put_count(o, "threads", s->nr_threads);
	json_put_string(o, "name", p, s->nr_names ? s->names[0].name : 0);
	json_put_count(o, "us", waits_us(s->ns));
	json_put_count(o, "running_us", waits_us(s->running_ns));
	json_object_object_add(o, "running_measured", json_object_new_boolean(s->measured));
	json_object_object_add(o, "running_or_filtered", json_object_new_boolean(s->filtered));
	json_put_number(o, "residual_us", s->residual_ns / 1e3);
	put_sum(o, "run_queue", &s->queue);
	for (uint32_t i = CONTEXT_TASK; i < CONTEXT_NR; i++)
		put_sum(by, context_names[i], &s->by[i]);
	json_object_object_add(o, "contexts", by);
	return o;
}

struct json_object *contexts_json(const struct profile *p, const struct view *v)
{
	struct json_object *o, *all, *kinds, *gaps;
	struct context_sums s;

	if (kind_of_profile(p)->slow_polls || !context_sums_init(&s, p, v))
		return NULL;
	o = json_object_new_object();
	all = json_object_new_object();
	kinds = json_object_new_object();
	json_object_object_add(o, "name", json_text(context_runtime(s.runtime)));
	json_put_string(o, "versions", p, p->meta.runtimes);
	json_object_object_add(o, "by_form", json_object_new_boolean(s.by_form));
	json_object_object_add(o, "mangling", json_text(mangling(&s)));
	json_put_count(o, "pool_threads", s.nr_threads[ROLE_POOL]);
	json_put_count(o, "block_on_threads", s.nr_threads[ROLE_BLOCK_ON]);
	json_object_object_add(o, "workers", table_json(&s.tables[SORT_WORKERS], p));
	if (s.tables[SORT_ALONE].nr_threads)
		json_object_object_add(o, "one_thread", table_json(&s.tables[SORT_ALONE], p));
	if (s.tables[SORT_MOVED].nr_threads)
		json_object_object_add(o, "moved", table_json(&s.tables[SORT_MOVED], p));
	for (uint32_t i = CONTEXT_TASK; i < CONTEXT_NR; i++)
		put_sum(all, context_names[i], &s.all[i]);
	json_object_object_add(o, "contexts", all);
	for (size_t i = 0; i < s.kinds.nr; i++)
		put_sum(kinds, s.kinds.v[i].kind, &s.kinds.v[i].sum);
	json_object_object_add(o, "task_kinds", kinds);
	gaps = gaps_json(p, v);
	if (gaps)
		json_object_object_add(o, "driver_gaps", gaps);
	return o;
}
