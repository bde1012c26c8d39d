/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the time of each thread went, for people: a line per process, below it one per thread, all
 * that is known next to what there was, and the difference. Idle threads of the kernel come last.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "output/figures.h"
#include "output/grid.h"
#include "output/output.h"
#include "profile/budget.h"
#include "profile/titles.h"

#define IDLE_SHARE 1000 /* who was running or runnable for less than one part in so many is idle */

struct budget_table {
	const struct profile *p;
	struct budget b;
	struct grid grid;
};

/* Running, runnable and its parts always stand first; of the others those that occur at all. */
static bool is_column(const struct budget_table *l, uint32_t class)
{
	return (class == WAIT_THROTTLED || budget_is_blocked(class)) && l->b.all.ns[class];
}

/* The least of a class goes first, of all columns that are classes. */
static unsigned int rank_of(const struct budget_table *l, uint32_t class)
{
	unsigned int rank = 4;

	for (uint32_t i = 0; i < WAITS_NR; i++)
		if (is_column(l, i) && (l->b.all.ns[i] > l->b.all.ns[class] ||
					(l->b.all.ns[i] == l->b.all.ns[class] && i < class)))
			rank++;
	return rank;
}

static void init_columns(struct budget_table *l, FILE *out)
{
	static const struct grid_column first[] = {
		{ "PROCESS, THREAD", GRID_TEXT, .min = 18 },
		{ "ID", .rank = 3 },
		{ "WALL", .rank = 2 },
		{ "ON-CPU", .rank = 1 },
		{ "RUNNABLE", .rank = 1 },
		{ "(woken", .rank = 100 },
		{ "preempted)", .rank = 100 },
	};

	grid_init(&l->grid, out, first, sizeof(first) / sizeof(*first));
	grid_whole(&l->grid);
	for (uint32_t class = 0; class < WAITS_NR; class ++)
		if (is_column(l, class))
			grid_add(&l->grid, (struct grid_column){ .head = waits_name(class),
								 .rank = rank_of(l, class) });
	grid_add(&l->grid, (struct grid_column){ "RESIDUAL us", .rank = 101 });
	grid_add(&l->grid, (struct grid_column){ "%", .rank = 101 });
}

/* Seconds to the millisecond. */
static void put_time(struct budget_table *l, uint64_t ns)
{
	grid_cell(&l->grid, "%.3f", ns / 1e9);
}

/* A saved figure may be the smallest there is: nothing is added to it. */
static int64_t to_us(int64_t ns)
{
	int64_t rest = ns % 1000;

	return ns / 1000 + (rest >= 500) - (rest <= -500);
}

static void put_numbers(struct budget_table *l, const struct budget_row *row)
{
	int64_t residual = budget_residual(row);

	put_time(l, row->wall_ns);
	put_time(l, row->ns[WAITS_ON_CPU]);
	put_time(l, budget_runnable(row));
	put_time(l, row->ns[WAIT_WOKEN]);
	put_time(l, row->ns[WAIT_PREEMPTED]);
	for (uint32_t class = 0; class < WAITS_NR; class ++)
		if (is_column(l, class))
			put_time(l, row->ns[class]);
	grid_cell(&l->grid, "%" PRId64, to_us(residual));
	grid_cell(&l->grid, "%.3f%%", row->wall_ns ? 100.0 * residual / row->wall_ns : 0);
}

/* A thread of the kernel that did nothing. */
static bool is_idle(const struct budget_row *row)
{
	return !row->has_user &&
	       (row->ns[WAITS_ON_CPU] + budget_runnable(row)) < row->wall_ns / IDLE_SHARE;
}

static void put_row(struct budget_table *l, const char *indent, const char *name, uint32_t id,
		    const struct budget_row *row)
{
	grid_row(&l->grid, is_idle(row) ? STYLE_IDLE : STYLE_PLAIN, NULL);
	grid_cell(&l->grid, "%s%s", indent, name);
	grid_cell(&l->grid, id ? "%" PRIu32 : "", id);
	put_numbers(l, row);
}

static void put_thread(struct budget_table *l, const struct budget_row *t)
{
	const char *name = profile_str(l->p, t->thread);
	/* 0: those that had this name have another one now. */
	char *several = t->tid || !t->nr_threads
				? NULL
				: xasprintf("%s (%" PRIu32 ")", name, t->nr_threads);

	put_row(l, "  ", several ? several : name, t->tid, t);
	free(several);
}

/* A process of one thread is one line. */
static bool is_alone(const struct budget_table *l, const struct budget_process *process)
{
	const struct budget_row *t = &l->b.threads[process->first];

	return process->nr == 1 && t->tid == process->sum.pid && t->thread == process->sum.process;
}

static void put_process(struct budget_table *l, const struct budget_process *process)
{
	uint32_t title = titles_find(l->p, process->sum.pid);

	put_row(l, "", profile_str(l->p, title ? title : process->sum.process), process->sum.pid,
		&process->sum);
	for (size_t k = 0; k < process->nr && !is_alone(l, process); k++)
		put_thread(l, &l->b.threads[process->first + k]);
}

int budget_write(const struct profile *p, const struct view *v, FILE *out)
{
	struct budget_table l = { .p = p };

	budget_init(&l.b, p);
	figure_wrap("seconds; runnable = woken + preempted; residual: wall time that nothing "
		    "accounts for, in us and percent",
		    0, 0, output_width(out), out);
	init_columns(&l, out);
	for (int idle = 0; idle < 2; idle++)
		for (size_t i = 0; i < l.b.nr_processes; i++)
			if (is_idle(&l.b.processes[i].sum) == idle)
				put_process(&l, &l.b.processes[i]);
	put_row(&l, "", "all", 0, &l.b.all);
	grid_end(&l.grid);
	budget_release(&l.b);
	return 0;
}
