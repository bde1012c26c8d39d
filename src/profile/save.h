/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The .bpfprof file: magic, version, then sections (tag, checksum, length, bytes), little-endian.
 * Tables are stored as they are in memory; facts and counters as (name, value) pairs, so that both
 * can grow without a new version.
 */
#ifndef BPFPROF_PROFILE_SAVE_H
#define BPFPROF_PROFILE_SAVE_H

#include <stdio.h>

/* How a file begins, and one whose tables are packed (profile/packing.h). */
#define PROFILE_MAGIC	     "bpfprof\n"
#define PROFILE_PACKED_MAGIC "bpfprofp"

#include "profile/profile.h"

/* Write errors stay in out's error flag. */
void profile_save(const struct profile *p, FILE *out);

/* The same with its tables packed, compressed as xz does it: a fifth of the size. To be freed. */
void *profile_pack(const struct profile *p, size_t *len);

/*
 * Windows that follow each other have most of their strings, modules, frames and stacks in common.
 * A profile that only grows in these has a file of its own for them, which is appended to: what
 * came since a mark (all 0 at first), which moves on. The rest of it is a window, which says how
 * many bytes of that file it needs. To be freed.
 */
struct packed_stream;
struct save_mark {
	size_t strings, rows[40];     /* of save_tables */
	struct packed_stream *stream; /* of the bytes so far */
};
void save_mark_release(struct save_mark *m);
void *profile_pack_names(const struct profile *p, struct save_mark *since, size_t *len);
/* file: its name, in the folder of the window. */
void *profile_pack_window(const struct profile *p, const char *file, uint64_t bytes, size_t *len);
/* Before the first one: adds what facts and counters are called. */
void profile_name_facts(struct profile *p);

/* The file of names that was read last, so that it is read once for all of its windows. */
struct shared_names;
struct shared_names *shared_names_new(void);
void shared_names_free(struct shared_names *s);

/*
 * As profile_load(), of one window of many. It may have more strings, frames and stacks than it
 * refers to. NULL: nothing is logged, *why has it.
 */
struct profile *profile_load_window(const char *path, struct shared_names *names, const char **why);

/*
 * Reads a saved profile, compressed or not. Every id and range in it is checked, so the result is
 * as safe as one just recorded. NULL after one sentence that names the file and what is wrong with
 * it.
 */
struct profile *profile_load(const char *path);

/*
 * The same of a file that may end too early: then what is left of it, after a sentence that says
 * how much that is. Samples that are missing are lost in its ledger, and it is incomplete.
 */
struct profile *profile_load_left(const char *path);

#endif
