/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind tables, and what headers say, of files whose recording is over, for the one that follows:
 * top begins another one when tables are full (collect/live.h), and nobody reads a compiler twice
 * for that.
 *
 *	store_free() -- puts --> shelf -- takes, when it first needs the file --> the next store
 *
 * Which file it is the kernel says (base/file_id.h). A table leaves the shelf when it is taken, so
 * none lies in memory twice. Memory has a bound: what was put first goes first.
 */
#ifndef BPFPROF_UNWIND_SHELF_H
#define BPFPROF_UNWIND_SHELF_H

#include <stddef.h>

#include "base/file_id.h"

struct shelf;
struct source;

struct shelf *shelf_new(size_t max_bytes);
void shelf_free(struct shelf *s);

/* A copy of what is known of a file: its headers, and its table if it is built. */
void shelf_put(struct shelf *s, const struct source *src);

/*
 * What was put of that file; NULL = nothing. It stays until the next shelf_put(). Who takes its
 * table (build->table.words, to free()) leaves NULL.
 */
struct source *shelf_find(const struct shelf *s, const struct file_id *id);

#endif
