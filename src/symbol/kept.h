/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What files were found to say of their code, kept by whoever names for a long time: it is asked
 * for again in each window of an agent, and in each recording that takes over from another.
 *
 *	device, inode, size, time of change -> ranges of offsets -> answer
 *
 * Which file it is the kernel says, see base/file_id.h: one that changes has another time of
 * change, so what was kept of it is not found again.
 *
 * Memory has a bound: files that were not asked for the longest go first. After an hour all is read
 * anew, so that a debug file that was installed meanwhile is found.
 */
#ifndef BPFPROF_SYMBOL_KEPT_H
#define BPFPROF_SYMBOL_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/file_id.h"
#include "symbol/answers.h"

struct kept;
struct kept_file;
struct reader_left;

struct kept *kept_new(size_t max_bytes);
void kept_free(struct kept *k);

/* Of a file, empty when it is new; it stays until kept_end(). NULL: nothing may be kept of it. */
struct kept_file *kept_get(struct kept *k, const struct file_id *id);

/* What it said of itself; NULL = it was not asked so far. */
const struct answers_head *kept_head(const struct kept_file *f);
void kept_set_head(struct kept_file *f, const struct answers_head *head);

/* What it said of an offset. False: it was not asked. Strings stay until the next kept_add(). */
bool kept_find(const struct kept_file *f, uint64_t offset, struct answer *a);
/* The answer holds for the range that it names, or for the offset alone. */
void kept_add(struct kept_file *f, uint64_t offset, const struct answer *a);

/*
 * How many bytes of answers that nobody asked for so far it may have besides, so that the file is
 * not read for each function that runs for the first time. Once for each file: 0 from then on, and
 * of one that nothing was kept of yet.
 */
size_t kept_claim(struct kept_file *f);
/* So many answers follow. */
void kept_expect(struct kept_file *f, size_t nr);

/* A pass over files is over: what is too much goes. */
void kept_end(struct kept *k);

/* Copies that hang on, from one pass to the next: see reader/fork.h. */
struct reader_left *kept_left(struct kept *k);

/* All of them, with what they stand for. */
size_t kept_bytes(const struct kept *k);

#endif
