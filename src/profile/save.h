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
