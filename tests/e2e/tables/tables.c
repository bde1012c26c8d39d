/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a collector does as stacks come, for some processes at once. */
#include "tables.h"

#include <stdlib.h>

#include "base/mem.h"
#include "proc/maps.h"
#include "proc/proc.h"
#include "unwind/store.h"

#define MAX_BYTES (64ull << 20)

/* The store holds files of the processes: it goes first. */
struct tables {
	struct store *store;
	struct proc_table procs;
};

static const struct store_ops ops = { kernel_segments_make, kernel_segments_drop };

static void give(struct tables *t, pid_t pid, bool final)
{
	uint64_t start_stack;
	struct process *p;

	proc_snapshot(&t->procs, pid, 1);
	p = proc_find(&t->procs, pid);
	if (!p)
		return;
	store_warm(t->store, p, UINT64_MAX, UINT64_MAX / 2);
	if (final && !maps_read_start_stack(pid, &start_stack))
		store_publish(t->store, p, start_stack, true);
}

struct tables *tables_give(struct session *s, const pid_t *pids, size_t nr, bool final)
{
	const struct session_maps *maps = session_maps(s);
	struct store_opts o = { .ops = &ops,
				.arg = session_segments(s),
				.exes = maps->exes,
				.procs = maps->procs,
				.epoch = maps->table_epoch,
				.max_bytes = MAX_BYTES };
	struct store *store = maps->exes ? store_new(&o) : NULL;
	struct tables *t;

	if (!store)
		return NULL;
	t = xcalloc(1, sizeof(*t));
	t->store = store;
	proc_init(&t->procs, false, false);
	for (size_t i = 0; i < nr; i++)
		give(t, pids[i], final);
	return t;
}

void tables_free(struct tables *t)
{
	if (!t)
		return;
	store_free(t->store);
	proc_release(&t->procs);
	free(t);
}
