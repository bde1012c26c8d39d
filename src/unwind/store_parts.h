/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the parts of the store share: store.c builds and publishes, exes.c has
 * the executables, sources.c the files they are of,
 * builds.c their tables and the room for these, lists.c what processes have mapped. Only they
 * include it.
 */
#ifndef BPFPROF_UNWIND_STORE_PARTS_H
#define BPFPROF_UNWIND_STORE_PARTS_H

#include <uthash.h>

#include "elf/elf_file.h"
#include "unwind/segments.h"
#include "unwind/store.h"
#include "unwind/table.h"

/* A table that the kernel reads. */
struct build {
	uint32_t word;
	struct table table; /* its words are the kernel's */
};

/* An executable segment: bytes of the file, and the address they were linked to. */
struct source_code {
	uint64_t offset, size, vaddr;
};

/*
 * A mapped file, and what its headers say. Tables are shared by all that map the same file, and by
 * nobody else: a build-id is a claim that anybody can make.
 */
struct source {
	struct proc_file *file;
	bool held; /* opened, or tried to */
	bool read; /* or tried to */
	struct source_code *code;
	size_t nr_code;	     /* 0: it has none that we could unwind */
	uint64_t words;	     /* that its table will take, about */
	bool has_python;     /* it holds an interpreter */
	struct build *build; /* NULL = not built, or evicted */
	uint32_t nr_rows;    /* executables that are of it */
	UT_hash_handle hh;
};

/* What a user has of the rows. */
#define EXES_OF_USER (TABLE_MAX_EXES / 4)
#define EXES_NOBODY  UINT32_MAX /* whoever owned a process that is gone */
struct share {
	uint32_t uid, nr_rows;
	UT_hash_handle hh;
};

struct exe_key {
	struct proc_file *file;
	uint64_t offset; /* of the mapping, all of which was linked at one distance */
};

struct exe {
	struct exe_key key;
	uint32_t index; /* of the kernel's row */
	uint32_t wanted;
	struct source *source;
	struct build *build;	/* that the kernel was told of */
	uint64_t not_before_ns; /* evicted */
	uint32_t refusals;	/* for want of room */
	struct share *share;	/* of whoever was seen to map it first */
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
	struct source *sources;		      /* by file */
	struct exe *exes;		      /* by key */
	struct exe *by_index[TABLE_MAX_EXES]; /* NULL = it has no row */
	uint64_t left_ns[TABLE_MAX_EXES];     /* when it was last freed */
	struct share *shares;		      /* by uid */
	bool sweep;			      /* rows are short */
	uint64_t swept_ns;
	uint32_t nr_exes, nr_wanted;
	uint32_t missing; /* the index of the one that was wanted last */
	/* Built, and waiting for room that is on its way; and of which file. */
	struct build *unplaced;
	const struct source *unplaced_of;
	struct list *lists; /* by pid */
	uint32_t next_space;
	uint64_t next_thaw_ns; /* 0 = nothing is refused */
	unsigned int turn;
	uint32_t no_room_words; /* of the table that was tried last, 0 = there is or will be */
	uint32_t epochs[2];	/* when ages were last asked for: this time, the time before */
	struct store_stats stats;
	uint32_t nr_told; /* files that could not be read */
};

/* exes.c */

/*
 * The row of an executable, of a file that a process has mapped; NULL when the kernel's rows, or
 * those of its user, are used up: such code is walked by frame pointer.
 */
struct exe *store_exe(struct store *s, uint32_t pid, const struct proc_mapping *m);
/* Frees the rows that no list names, and the tables that no row has any more. */
void exes_sweep(struct store *s, uint64_t now);
void exes_release(struct store *s);

/* store.c */

void store_set_state(struct store *s, const struct exe *x, enum table_state state);

/* sources.c */

/* Of a file, made when it is new. */
struct source *source_get(struct store *s, struct proc_file *file);
void source_drop(struct store *s, struct source *src);
bool source_is_vdso(const struct source *src);
/* Opens it while a process that has mapped it is there. */
void source_hold(struct source *src, uint32_t pid, const struct proc_mapping *m);
/*
 * Reads the headers at the first call, of a file that is held; others run meanwhile, so mappings
 * and what is deferred change. False: there is no code to unwind.
 */
bool source_read(struct store *s, struct source *src);
/*
 * The same file on the shelf, or in the earlier store; NULL = it is in neither, or may not be
 * believed to be the same.
 */
const struct source *source_earlier(const struct store *s, const struct source *src);
/* What the headers of a file say. */
void source_take_headers(struct source *src, const struct elf_file *f);
/* Once more, for its table. NULL when it is no ELF file, or cannot be opened. */
struct elf_file *source_open(const struct source *src);
/*
 * Link address minus file offset, in the segment that a mapping from an offset on holds. Mappings
 * begin at the page that the segment begins in.
 */
bool source_delta(const struct source *src, uint64_t offset, uint64_t *delta);

/* builds.c */

/*
 * Sees to it that a file has its table, placed where the kernel reads it. 0, or negative errno:
 * -EINPROGRESS: it waits for room that is on its way; -ENOSPC: there is none, and s->no_room_words
 * says of how much.
 */
int builds_get(struct store *s, struct source *src, uint64_t now);
/* One that was never placed: from then on its words are the kernel's. NULL is fine. */
void builds_drop(struct build *b);
/*
 * For a while, longer each time, walks end in an executable, rather than being deferred for a table
 * that has no room.
 */
void builds_refuse(struct store *s, struct exe *x, uint64_t now);
/* Those for which the while is over. */
void builds_thaw(struct store *s, uint64_t now);
/* Gives up the table of all executables that have it. The kernel looks it up anew from then on. */
void builds_evict(struct store *s, struct build *b, uint64_t now);
/* Evicts what keeps nr_words from having room. False: nothing that may go would make any. */
bool builds_evict_for(struct store *s, uint32_t nr_words, bool any, uint64_t now);

/* lists.c */

/* Writes lists that have changed anew, and drops those of processes that are gone. */
void lists_refresh(struct store *s, struct proc_table *procs, uint64_t now);
/* Marks the executables that lists name, by their index. */
void lists_mark(const struct store *s, bool used[TABLE_MAX_EXES]);

#endif
