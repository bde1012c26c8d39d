/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory of other processes, by the child that stays: see reader_ask_each(). */
#ifndef BPFPROF_READER_PEEK_H
#define BPFPROF_READER_PEEK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "reader/reader.h"

/* A row of READER_MEMORY. It is answered by as many bytes from there on as can be read. */
struct peek {
	uint32_t pid, sz;
	uint64_t at;
};

/* One of them alone: how many bytes, or negative errno as in reader_ask_each(). */
ssize_t peek_read(struct reader *r, const struct peek *p, void *to);

/*
 * Does that process let itself be looked at? Nothing is read, so only the lock of its mappings is
 * waited for.
 */
bool peek_answers(struct reader *r, uint32_t pid);

/* In the child: a row. */
ssize_t peek_each(const void *row, void *answer, size_t max);
/* The same for tasks that follow pointers. */
ssize_t peek_memory(uint32_t pid, uint64_t at, void *to, size_t sz);
/* Behind the rows of an order: what the last process runs now may not be what it ran. */
void peek_end(void);

#endif
