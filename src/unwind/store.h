/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the kernel unwinds by: the unwind tables of executables, shared by all processes that map
 * the same file, and each process's list of mappings. Tables are built when a walk first needs
 * them, the most wanted one first, within a budget; the least recently used one goes when room is
 * short.
 *
 *	process -> list of mappings -> executable (file, offset) -> table (file)
 *
 * Files and processes belong to the proc table; the store hangs its numbers on them.
 */
#ifndef BPFPROF_UNWIND_STORE_H
#define BPFPROF_UNWIND_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/table.h"
#include "proc/proc.h"
#include "reader/reader.h"
#include "unwind/segments.h"
#include "unwind/shelf.h"
#include "unwind/table.h"
#include "unwind/walk.h"

/* The kernel's side, see session.h. */
struct store_ops {
	segment_make segment_make;
	segment_drop segment_drop;
};

struct store_opts {
	const struct store_ops *ops;
	void *arg;
	/* What the kernel reads: */
	struct table_exe *exes;		 /* TABLE_MAX_EXES rows */
	struct table_proc *procs;	 /* TABLE_PROC_ROWS rows */
	uint32_t *epoch;		 /* prof_table_epoch */
	uint64_t max_bytes;		 /* of all tables and lists */
	const struct table_pause *pause; /* or NULL; must not come back to the store */
	struct reader *reader;		 /* who reads strangers' files; NULL = we do */
	bool reads_none;		 /* or all that tables are made from: memory is bounded */
	bool python;			 /* frames of interpreters are looked for */
	/*
	 * Another one, whose tables are taken until store_go_alone(); or NULL. Until then there is
	 * room for what it leaves of max_bytes, but for a quarter at least.
	 */
	const struct store *earlier;
	struct shelf *shelf; /* of recordings that are over, and for the next one; or NULL */
};

struct store;

/* NULL with errno set. */
struct store *store_new(const struct store_opts *o);
void store_free(struct store *s);

/* The earlier one is about to end. */
void store_go_alone(struct store *s);

/*
 * The rule at an address of a mapping of a process. False when its table is not built: it is wanted
 * from now on, and its file is open while the process still lives.
 */
bool store_rule(struct store *s, uint32_t pid, const struct proc_mapping *m, uint64_t pc,
		struct walk_rule *rule);

/* Which table store_rule() found missing last, and whether one still is. */
uint32_t store_missing(const struct store *s);
bool store_is_missing(const struct store *s, uint32_t table);

/* Wants the tables that walks in the kernel found missing, of what a process has mapped. */
void store_want(struct store *s, const struct process *p);

/*
 * Builds the table that is wanted most. 0, -ENOENT when none is wanted, -EINPROGRESS when memory
 * for it is on its way.
 */
int store_build(struct store *s, uint64_t now_ns);

/*
 * Before the first walk of a process: asks for the memory that the tables of all it has mapped will
 * need, builds the small ones, of up to max_words, the smallest first, until the clock says
 * until_ns, and tells the kernel of its mappings.
 */
void store_warm(struct store *s, struct process *p, uint64_t max_words, uint64_t until_ns);

/*
 * Tells the kernel of a process and its present mappings, if they are those of the image whose
 * stack began at start_stack. checked: /proc was asked, so that what is not there is no code.
 */
void store_publish(struct store *s, struct process *p, uint64_t start_stack, bool checked);

/* The same of one that the kernel knows already, of which something else has changed. */
void store_refresh(struct store *s, struct process *p);

/*
 * Ten times a second: lists of processes that changed or ended, memory that can be used again.
 */
void store_turn(struct store *s, struct proc_table *procs, uint64_t now_ns);

struct store_stats {
	size_t nr_hung; /* files that could not be read in time */
	size_t nr_tables, nr_processes, nr_evicted, nr_failed;
	size_t nr_taken;	       /* of the tables: from the earlier store */
	size_t nr_no_room;	       /* files whose tables found none */
	size_t nr_no_row;	       /* times that a file found none */
	uint64_t nr_rows, table_bytes; /* of tables that are there now */
	uint64_t segment_bytes;
	uint64_t build_ns; /* spent building */
};
struct store_stats store_stats(const struct store *s);

#endif
