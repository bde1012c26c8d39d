/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the parts of the store share: store.c has the executables, builds.c their tables and the
 * room for these, lists.c what processes have mapped. Only they include it.
 */
#ifndef BPFPROF_UNWIND_STORE_PARTS_H
#define BPFPROF_UNWIND_STORE_PARTS_H

#include <uthash.h>

#include "elf/elf_file.h"
#include "unwind/segments.h"
#include "unwind/store.h"
#include "unwind/table.h"

/* A table, shared by all files with the same build-id. */
struct build {
	uint8_t id[20];
	bool has_id;
	uint32_t word;
	struct table table; /* its words are those that the kernel reads */
	uint32_t nr_exes;
	UT_hash_handle hh;
};

struct exe_key {
	const struct proc_file *file;
	uint64_t offset; /* of the mapping, all of which was linked at one distance */
};

struct exe {
	struct exe_key key;
	uint32_t index; /* of the kernel's row */
	uint32_t wanted;
	struct build *build;
	uint64_t not_before_ns; /* evicted */
	uint32_t refusals;	/* for want of room */
	UT_hash_handle hh;
};

struct list {
	uint32_t pid;
	uint32_t word, nr_words;
	uint64_t start_stack;
	uint32_t changes; /* of the process, when it was written */
	bool deferred;
	bool checked;
	UT_hash_handle hh;
};

struct store {
	struct store_opts o;
	struct segments segments;
	struct build *builds; /* by id; those without one are in no table */
	struct exe *exes;     /* by key */
	struct exe *by_index[TABLE_MAX_EXES];
	uint32_t nr_exes, nr_wanted;
	uint32_t missing; /* the index of the one that was wanted last */
	/* Built, and waiting for room that is on its way. */
	struct build *unplaced;
	struct list *lists; /* by pid */
	uint32_t next_space;
	uint64_t next_thaw_ns; /* 0 = nothing is refused */
	unsigned int turn;
	uint32_t no_room_words; /* of the table that was tried last, 0 = there is or will be */
	uint32_t epochs[2];	/* when ages were last asked for: this time, the time before */
	struct store_stats stats;
};

/* The row of an executable, of a mapping's file; NULL when the kernel's rows are used up: such code
 * is walked by frame pointer. */
struct exe *store_exe(struct store *s, const struct proc_mapping *m);
void store_set_state(struct store *s, const struct exe *x, enum table_state state);

/*
 * The table of a file: one that is there, or a new one, placed where the kernel reads it. 0, or
 * negative errno: -EINPROGRESS: it waits for room that is on its way; -ENOSPC: there is none, and
 * s->no_room_words says of how much.
 */
int builds_get(struct store *s, const struct elf_file *f, bool vdso, struct build **out,
	       uint64_t now);
/* One that was never placed: from then on its words are the kernel's. NULL is fine. */
void builds_drop(struct build *b);
/*
 * For a while, longer each time, walks end in an executable, rather than being deferred for a table
 * that has no room.
 */
void builds_refuse(struct store *s, struct exe *x, uint64_t now);
/* Those for which the while is over. */
void builds_thaw(struct store *s, uint64_t now);
/* Evicts what keeps nr_words from having room. False: nothing that may go would make any. */
bool builds_evict_for(struct store *s, uint32_t nr_words, bool any, uint64_t now);

/* Writes lists that have changed anew, and drops those of processes that are gone. */
void lists_refresh(struct store *s, struct proc_table *procs, uint64_t now);

#endif
