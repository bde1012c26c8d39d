/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * /proc/PID/maps is read by a child: a process can keep the lock of its mappings for as long as it
 * likes, and who wants to read them waits.
 */
#ifndef BPFPROF_COLLECT_MAPPINGS_H
#define BPFPROF_COLLECT_MAPPINGS_H

#include <stddef.h>
#include <stdint.h>

#include "reader/reader.h"

/* As in struct proc_mapper; arg is a struct reading. */
int mappings_read(void *arg, const uint32_t *pids, size_t nr, void *to);

/* In the child. */
int mappings_do_read(struct reader_work *w);

#endif
