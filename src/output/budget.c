/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the time of each thread went, for people: a line per process, below it one per thread, all
 * that is known next to what there was, and the difference.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "output/output.h"
#include "profile/budget.h"

#define NAME_WIDTH 18

struct budget_table {
	const struct profile *p;
	struct budget b;
	FILE *out;
};

/* Seconds to the millisecond. */
static void put_time(const struct budget_table *l, uint64_t ns)
{
	fprintf(l->out, " %10.3f", ns / 1e9);
}

/* Running, runnable and its parts always stand first; of the others those that occur at all. */
static bool is_column(const struct budget_table *l, uint32_t class)
{
	return (class == WAIT_THROTTLED || budget_is_blocked(class)) && l->b.all.ns[class];
}

static void put_numbers(const struct budget_table *l, const struct budget_row *row)
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
	fprintf(l->out, " %11" PRId64 " %7.3f%%\n", (residual + (residual < 0 ? -500 : 500)) / 1000,
		row->wall_ns ? 100.0 * residual / row->wall_ns : 0);
}

static void put_row(const struct budget_table *l, const char *indent, const char *name, uint32_t id,
		    const struct budget_row *row)
{
	char *safe = text_cleaned(name);

	fputs(indent, l->out);
	text_fit(l->out, safe, NAME_WIDTH - strlen(indent), 1);
	if (id)
		fprintf(l->out, " %8" PRIu32, id);
	else
		fprintf(l->out, " %8s", "");
	put_numbers(l, row);
	free(safe);
}

static void put_head(const struct budget_table *l)
{
	fputs("seconds; runnable = woken + preempted; residual: wall time that nothing accounts "
	      "for, in us and percent\n\n",
	      l->out);
	fprintf(l->out, "%-*s %8s %10s %10s %10s %10s %10s", NAME_WIDTH, "PROCESS, THREAD", "ID",
		"WALL", "ON-CPU", "RUNNABLE", "(woken", "preempted)");
	for (uint32_t class = 0; class < WAITS_NR; class ++)
		if (is_column(l, class))
			fprintf(l->out, " %10s", waits_name(class));
	fprintf(l->out, " %11s %8s\n", "RESIDUAL us", "%");
}

static void put_thread(const struct budget_table *l, const struct budget_row *t)
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

int budget_write(const struct profile *p, const struct view *v, FILE *out)
{
	struct budget_table l = { .p = p, .out = out };

	budget_init(&l.b, p);
	put_head(&l);
	for (size_t i = 0; i < l.b.nr_processes; i++) {
		const struct budget_process *process = &l.b.processes[i];

		put_row(&l, "", profile_str(p, process->sum.process), process->sum.pid,
			&process->sum);
		for (size_t k = 0; k < process->nr && !is_alone(&l, process); k++)
			put_thread(&l, &l.b.threads[process->first + k]);
	}
	put_row(&l, "", "all", 0, &l.b.all);
	budget_release(&l.b);
	return 0;
}
