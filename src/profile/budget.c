/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Samples added up by thread, threads by process. */
#include "profile/budget.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/threads.h"

uint64_t budget_runnable(const struct budget_row *row)
{
	return row->ns[WAIT_WOKEN] + row->ns[WAIT_PREEMPTED];
}

bool budget_is_blocked(uint32_t class)
{
	return class < WAIT_NR_CLASSES && class != WAIT_THROTTLED && !(WAIT_RUNNABLE & 1u << class);
}

uint64_t budget_known(const struct budget_row *row)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < WAITS_NR; i++)
		sum += row->ns[i];
	return sum;
}

int64_t budget_residual(const struct budget_row *row)
{
	return row->wall_ns - budget_known(row);
}

static void add_row(struct budget_row *sum, const struct budget_row *row)
{
	sum->nr_threads += row->nr_threads;
	sum->has_user |= row->has_user;
	sum->wall_ns += row->wall_ns;
	for (size_t i = 0; i < WAITS_NR; i++)
		sum->ns[i] += row->ns[i];
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_process(const void *x, const void *y, void *profile)
{
	const struct budget_row *a = x, *b = y;
	int order = compare(a->pid, b->pid);

	if (!order)
		order = compare(b->wall_ns, a->wall_ns);
	if (!order)
		order = compare(budget_known(b), budget_known(a));
	if (!order)
		order = compare(a->tid, b->tid);
	return order ? order
		     : strcmp(profile_str(profile, a->thread), profile_str(profile, b->thread));
}

static int by_wall(const void *x, const void *y)
{
	const struct budget_row *a = &((const struct budget_process *)x)->sum,
				*b = &((const struct budget_process *)y)->sum;
	int order = compare(b->wall_ns, a->wall_ns);

	return order ? order : compare(a->pid, b->pid);
}

static void add_samples(struct budget *b, const struct profile *p, const struct thread_groups *g)
{
	const struct waits *w = &b->waits;

	waits_init(&b->waits, p, &(struct view){});
	for (size_t i = 0; i < p->nr_samples; i++) {
		struct budget_row *row = &b->threads[g->of_sample[i]];

		row->ns[w->class_of[i]] += w->ns[i];
		row->has_user |= p->samples[i].ustack != 0;
	}
}

static void add_threads(struct budget *b, const struct profile *p)
{
	struct thread_groups g;

	thread_groups_init(&g, p);
	b->nr_threads = g.nr;
	b->threads = xcalloc(g.nr, sizeof(*b->threads));
	for (size_t i = 0; i < g.nr; i++)
		b->threads[i] = (struct budget_row){
			.pid = g.v[i].pid,
			.tid = g.v[i].tid,
			.process = g.v[i].process,
			.thread = g.v[i].thread,
			.nr_threads = g.v[i].nr_threads,
			.wall_ns = g.v[i].wall_ns,
		};
	add_samples(b, p, &g);
	thread_groups_release(&g);
}

static void add_processes(struct budget *b)
{
	for (size_t i = 0; i < b->nr_threads; i++) {
		const struct budget_row *t = &b->threads[i];
		struct budget_process *last;

		if (!i || t->pid != b->threads[i - 1].pid) {
			b->processes = xgrow(b->processes, b->nr_processes, &b->cap_processes,
					     sizeof(*b->processes));
			b->processes[b->nr_processes++] = (struct budget_process){
				.sum = { .pid = t->pid,
					 .process = t->process,
					 .thread = t->process },
				.first = i,
			};
		}
		last = &b->processes[b->nr_processes - 1];
		last->nr++;
		add_row(&last->sum, t);
		add_row(&b->all, t);
	}
}

void budget_init(struct budget *b, const struct profile *p)
{
	*b = (struct budget){};
	add_threads(b, p);
	if (b->nr_threads)
		qsort_r(b->threads, b->nr_threads, sizeof(*b->threads), by_process, (void *)p);
	add_processes(b);
	if (b->nr_processes)
		qsort(b->processes, b->nr_processes, sizeof(*b->processes), by_wall);
}

void budget_release(struct budget *b)
{
	waits_release(&b->waits);
	free(b->threads);
	free(b->processes);
}
