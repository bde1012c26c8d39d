/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Images of processes: see proc.h, whose questions of addresses image.c answers. */
#ifndef BPFPROF_PROC_IMAGE_H
#define BPFPROF_PROC_IMAGE_H

#include "proc/proc.h"

/* A new image of p, the newest, empty. */
struct proc_image *image_push(struct process *p, uint64_t from_ns);
/* It and all older ones. */
void image_free(struct proc_image *image);
/*
 * Maps m in the newest image, in place of what was there. The same again (a snapshot and its
 * record, a JIT flipping protections) changes nothing.
 */
void image_map(struct process *p, const struct proc_mapping *m);
/* The present mappings. */
void image_copy(struct proc_image *to, const struct proc_image *from);

#endif
