/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Timelines for people: a line each time that a thread ran, as perf sched timehist has them. */
#include "output/timeline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "output/grid.h"
#include "output/output.h"
#include "profile/kind.h"

#define MOST_RAN 10 /* threads that are shown to have run meanwhile */

/* What a thread did since its last run. */
struct since {
	uint64_t wait_ns, delay_ns;
	uint32_t wait;			    /* of the wait for something */
	const struct timeline_span *queued; /* NULL: it did not wait for a CPU */
};

/* What is shown: all runs, or those around an outlier. */
struct range {
	uint64_t from_ns, end_ns;
	const struct timeline_span *outlier; /* NULL: all */
	uint16_t cpu;			     /* of it */
};

char *timeline_numbers(uint32_t pid, uint32_t tid)
{
	if (!tid || pid == tid)
		return xasprintf("%" PRIu32, pid);
	return xasprintf("%" PRIu32 "/%" PRIu32, pid, tid);
}

const char *timeline_waker(const struct timeline *t, const struct timeline_span *s,
			   char name[PROF_COMM_LEN + 1])
{
	const struct timeline_event *e = &t->profile->timeline[s->waker1 - 1];

	if (!s->waker1)
		return "";
	if (!e->tid2)
		return "interrupt";
	memcpy(name, e->comm2, PROF_COMM_LEN);
	name[PROF_COMM_LEN] = 0;
	return name;
}

static size_t nr_selected(const struct timeline *t)
{
	size_t nr = 0;

	for (size_t i = 0; i < t->nr_threads; i++)
		nr += t->threads[i].selected;
	return nr;
}

static uint64_t nr_switches(const struct timeline *t)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < t->nr_threads; i++)
		nr += t->threads[i].selected ? t->threads[i].switches : 0;
	return nr;
}

void timeline_put_head(const struct timeline *t, FILE *out)
{
	const struct profile *p = t->profile;
	const struct profile_meta *m = &p->meta;
	char *target = text_cleaned(profile_str(p, m->target));
	uint64_t nr = nr_switches(t);
	size_t nr_threads = nr_selected(t);

	fprintf(out, "%s: %s of ", kind_of_profile(p)->table ? "sched" : "timeline",
		text_ns(t->end_ns - t->from_ns));
	text_fit(out, target, output_width(out) - 45, 0);
	fprintf(out, "; %s switch%s of %s thread%s\n", text_count(nr), nr == 1 ? "" : "es",
		text_count(nr_threads), nr_threads == 1 ? "" : "s");
	free(target);
	if (!m->timeline_short_cpu)
		return;
	style_put(out, STYLE_BAD);
	fprintf(out,
		"the ring of CPU %" PRIu64 " reaches back %s of %s: what is older is LOST "
		"(--ring)\n",
		m->timeline_short_cpu - 1, text_ns(m->timeline_end_ns - m->timeline_from_ns),
		text_ns(m->timeline_end_ns - m->timeline_wanted_ns));
	style_put(out, STYLE_PLAIN);
}

static void put_ms(struct grid *g, uint64_t ns)
{
	grid_cell(g, "%.3f", ns / 1e6);
}

static const struct grid_column columns[] = {
	{ .head = "TIME" },
	{ "CPU", .rank = 4 },
	{ "THREAD", GRID_TEXT, .min = 8 },
	{ "PID/TID", GRID_TEXT, .rank = 3 },
	{ .head = "WAIT ms" },
	{ .head = "DELAY ms" },
	{ .head = "RUN ms" },
	{ "THEN", GRID_TEXT, .rank = 2 },
	{ "WOKEN BY", GRID_TEXT, .rank = 1, .min = 8 },
};

/* The line of a run, at its end, as perf has it. */
static void put_run(struct grid *g, const struct timeline *t, const struct timeline_span *s,
		    const struct since *since, bool marked)
{
	const struct timeline_thread *thread = &t->threads[s->thread];
	char *numbers = timeline_numbers(thread->pid, thread->tid), name[PROF_COMM_LEN + 1];

	grid_row(g, marked ? STYLE_BAD : STYLE_PLAIN, NULL);
	grid_cell(g, "%.6f", s->end_ns / 1e9);
	grid_cell(g, "%" PRIu16, s->cpu);
	grid_cell(g, "%s", thread->name);
	grid_cell(g, "%s", numbers);
	put_ms(g, since->wait_ns);
	put_ms(g, since->delay_ns);
	put_ms(g, s->end_ns - s->start_ns);
	grid_cell(g, "%s", s->open ? "" : timeline_word(t, s->thread, s->wait));
	grid_cell(g, "%s", since->queued ? timeline_waker(t, since->queued, name) : "");
	free(numbers);
}

static void note(struct since *since, const struct timeline_span *s)
{
	uint64_t ns = s->end_ns - s->start_ns;

	if (s->state == TIMELINE_RUNNABLE) {
		since->delay_ns += ns;
		since->queued = s;
	} else {
		since->wait_ns += ns;
		since->wait = s->wait;
	}
}

static bool is_shown(const struct range *r, const struct timeline_span *s)
{
	if (!r->outlier)
		return true;
	return s->end_ns >= r->from_ns && s->start_ns <= r->end_ns &&
	       (s->cpu == r->cpu || s->thread == r->outlier->thread);
}

static void put_runs(const struct timeline *t, const struct range *r, FILE *out)
{
	struct since *since = xcalloc(t->nr_threads + 1, sizeof(*since));
	struct grid g;

	grid_init(&g, out, columns, sizeof(columns) / sizeof(*columns));
	grid_whole(&g);
	for (size_t i = 0; i < t->nr_spans; i++) {
		const struct timeline_span *s = &t->spans[i];

		if (s->state != TIMELINE_RUNS) {
			note(&since[s->thread], s);
			continue;
		}
		if (is_shown(r, s))
			put_run(&g, t, s, &since[s->thread],
				r->outlier && since[s->thread].queued == r->outlier);
		since[s->thread] = (struct since){};
	}
	grid_end(&g);
	free(since);
}

/* Where it ran in the end, or at the end of all would have. */
static uint16_t cpu_after(const struct timeline *t, const struct timeline_span *outlier)
{
	for (const struct timeline_span *s = outlier; s < t->spans + t->nr_spans; s++)
		if (s->thread == outlier->thread && s->state == TIMELINE_RUNS)
			return s->cpu;
	return outlier->cpu;
}

struct ran {
	uint32_t thread;
	uint64_t ns;
};

static int longest_first(const void *pa, const void *pb)
{
	const struct ran *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return a->thread < b->thread ? -1 : a->thread > b->thread;
}

/* For how long each thread ran on the CPU of the outlier while that waited. To be freed. */
static struct ran *ran_meanwhile(const struct timeline *t, const struct range *r)
{
	struct ran *ran = xcalloc(t->nr_threads + 1, sizeof(*ran));
	const struct timeline_span *o = r->outlier;

	for (size_t i = 0; i < t->nr_threads; i++)
		ran[i].thread = i;
	for (size_t i = 0; i < t->nr_spans; i++) {
		const struct timeline_span *s = &t->spans[i];
		uint64_t from = s->start_ns > o->start_ns ? s->start_ns : o->start_ns;
		uint64_t end = s->end_ns < o->end_ns ? s->end_ns : o->end_ns;

		if (s->state == TIMELINE_RUNS && s->cpu == r->cpu && end > from)
			ran[s->thread].ns += end - from;
	}
	qsort(ran, t->nr_threads, sizeof(*ran), longest_first);
	return ran;
}

static void put_ran(const struct timeline *t, const struct range *r, FILE *out)
{
	static const struct grid_column ran_columns[] = {
		{ .head = "RAN" },
		{ .head = "MEANWHILE", .kind = GRID_TEXT },
		{ .head = "PID/TID", .kind = GRID_TEXT },
	};
	struct ran *ran = ran_meanwhile(t, r);
	struct grid g;

	grid_init(&g, out, ran_columns, 3);
	for (size_t i = 0; i < t->nr_threads && i < MOST_RAN && ran[i].ns; i++) {
		const struct timeline_thread *thread = &t->threads[ran[i].thread];
		char *numbers = timeline_numbers(thread->pid, thread->tid);

		grid_row(&g, STYLE_PLAIN, text_ns(ran[i].ns), thread->name, numbers, NULL);
		free(numbers);
	}
	grid_end(&g);
	free(ran);
}

static void put_outlier(const struct timeline *t, FILE *out)
{
	const struct timeline_span *o = &t->spans[t->outlier1 - 1];
	const struct timeline_thread *thread = &t->threads[o->thread];
	uint64_t around = t->profile->meta.timeline_around_ns;
	struct range r = { .from_ns = o->start_ns > around ? o->start_ns - around : 0,
			   .end_ns = o->end_ns + around,
			   .outlier = o,
			   .cpu = cpu_after(t, o) };
	char *name = text_cleaned(thread->name), *numbers;

	numbers = timeline_numbers(thread->pid, thread->tid);
	fprintf(out, "\n%s [%s] waited %s for CPU %" PRIu16 ", from %.6f to %.6f s (%s)\n", name,
		numbers, text_ns(o->end_ns - o->start_ns), r.cpu, o->start_ns / 1e9,
		o->end_ns / 1e9, timeline_word(t, o->thread, o->wait));
	put_ran(t, &r, out);
	put_runs(t, &r, out);
	free(numbers);
	free(name);
}

int timeline_write_text(const struct profile *p, const struct view *v, FILE *out)
{
	struct range all = {};
	struct timeline t;

	timeline_init(&t, p);
	timeline_put_head(&t, out);
	if (t.outlier1)
		put_outlier(&t, out);
	else if (p->meta.timeline_outlier_ns)
		fprintf(out, "no thread waited for a CPU for %s\n",
			text_ns(p->meta.timeline_outlier_ns));
	else
		put_runs(&t, &all, out);
	summary_put_ledger(p, out);
	summary_put_cost(p, out);
	timeline_release(&t);
	return 0;
}
