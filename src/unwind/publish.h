/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writing rows that the kernel reads at the same time (bpf/table.h, seq): whoever reads one while
 * it is written can tell. One thread writes.
 */
#ifndef BPFPROF_UNWIND_PUBLISH_H
#define BPFPROF_UNWIND_PUBLISH_H

#include <stdint.h>

#include "bpf/table.h"

/* All of an executable's row but for what BPF writes. */
void publish_exe(struct table_exe *row, const struct table_exe *from);

/*
 * The row of a process, by its pid, in TABLE_PROC_ROWS rows; the one it has, or a free one. 0, or
 * -ENOSPC when all that it may have are taken: its stacks are walked in user space.
 */
int publish_proc(struct table_proc *rows, const struct table_proc *from);

/* Frees the row of a process, if it has one. */
void publish_proc_gone(struct table_proc *rows, uint32_t pid);

#endif
