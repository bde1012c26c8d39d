/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a collector does as stacks come, for some processes at once. */
#include "tables.h"

#include "proc/maps.h"
#include "proc/proc.h"

#define MAX_BYTES (64ull << 20)

static const struct store_ops ops = { kernel_segments_make, kernel_segments_drop };

static void give(struct store *store, struct proc_table *procs, pid_t pid, bool final)
{
	uint64_t start_stack;
	struct process *p;

	proc_snapshot(procs, pid, 1);
	p = proc_find(procs, pid);
	if (!p)
		return;
	store_warm(store, p, UINT64_MAX, UINT64_MAX / 2);
	if (final && !maps_read_start_stack(pid, &start_stack))
		store_publish(store, p, start_stack, true);
}

struct store *tables_give(struct session *s, const pid_t *pids, size_t nr, bool final)
{
	const struct session_maps *maps = session_maps(s);
	struct store_opts o = { .ops = &ops,
				.arg = session_segments(s),
				.exes = maps->exes,
				.procs = maps->procs,
				.epoch = maps->table_epoch,
				.max_bytes = MAX_BYTES };
	struct store *store = maps->exes ? store_new(&o) : NULL;
	struct proc_table procs;

	if (!store)
		return NULL;
	proc_init(&procs, false, false);
	for (size_t i = 0; i < nr; i++)
		give(store, &procs, pids[i], final);
	proc_release(&procs);
	return store;
}
