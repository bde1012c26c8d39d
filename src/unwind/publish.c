/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows with a sequence number that is odd while they change. */
#include "unwind/publish.h"

#include <errno.h>
#include <stddef.h>

static void seq_begin(uint32_t *seq)
{
	__atomic_store_n(seq, *seq + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST); /* before anything else is written */
}

static void seq_end(uint32_t *seq)
{
	__atomic_store_n(seq, *seq + 1, __ATOMIC_RELEASE);
}

void publish_exe(struct table_exe *row, const struct table_exe *from)
{
	seq_begin(&row->seq);
	row->state = from->state;
	row->base = from->base;
	row->nr_pages = from->nr_pages;
	row->exceptions = from->exceptions;
	row->first_page = from->first_page;
	row->delta = from->delta;
	row->used = from->used;
	seq_end(&row->seq);
}

/* The row of a process; or, for the asking, one that is free. */
static struct table_proc *proc_row(struct table_proc *rows, uint32_t pid, struct table_proc **spare)
{
	struct table_proc *row = &rows[TABLE_PROC_HOME(pid)];

	*spare = NULL;
	for (uint32_t i = 0; i < TABLE_PROC_PROBES; i++, row++) {
		if (row->pid == pid)
			return row;
		if (!*spare && (!row->pid || row->pid == TABLE_PROC_GONE))
			*spare = row;
		if (!row->pid)
			break;
	}
	return NULL;
}

int publish_proc(struct table_proc *rows, const struct table_proc *from)
{
	struct table_proc *spare, *row = proc_row(rows, from->pid, &spare);

	if (!row)
		row = spare;
	if (!row)
		return -ENOSPC;
	seq_begin(&row->seq);
	row->pid = from->pid;
	row->start_stack = from->start_stack;
	row->list = from->list;
	row->python = from->python;
	row->nr_mappings = from->nr_mappings;
	row->space = from->space;
	row->final = from->final;
	row->defer = from->defer;
	seq_end(&row->seq);
	return 0;
}

void publish_proc_gone(struct table_proc *rows, uint32_t pid)
{
	struct table_proc *spare, *row = proc_row(rows, pid, &spare);

	if (!row)
		return;
	seq_begin(&row->seq);
	row->pid = TABLE_PROC_GONE;
	seq_end(&row->seq);
}
