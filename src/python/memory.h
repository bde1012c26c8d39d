/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory of a running process: what it says may be anything, and may change while it is read. */
#ifndef BPFPROF_PYTHON_MEMORY_H
#define BPFPROF_PYTHON_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memory {
	int fd; /* of /proc/PID/mem, borrowed: it stays that of the program it was opened for */
};

/* Of all sz bytes, or false. */
bool memory_read(const struct memory *m, uint64_t at, void *to, size_t sz);
bool memory_word(const struct memory *m, uint64_t at, uint64_t *word);
bool memory_u32(const struct memory *m, uint64_t at, uint32_t *number);

/* Opens it: a descriptor or negative errno. */
int memory_open(uint32_t pid);

#endif
