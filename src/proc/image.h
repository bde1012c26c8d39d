/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Images of processes: see proc.h, whose questions of addresses image.c answers. */
#ifndef BPFPROF_PROC_IMAGE_H
#define BPFPROF_PROC_IMAGE_H

#include "proc/proc.h"

/* A new image of p, the newest, empty. */
struct proc_image *image_push(struct process *p, uint64_t from_ns);
/* Forgets those that were over long before settled_ns, of which nobody will ask. */
void image_forget_older(struct proc_image *image, uint64_t settled_ns);
/* It and all older ones. */
void image_free(struct proc_image *image);
/*
 * Maps m in the newest image, in place of what was there. The same again (a snapshot and its
 * record, a JIT flipping protections) changes nothing. What was replaced before settled_ns may be
 * forgotten.
 */
void image_map(struct process *p, const struct proc_mapping *m, uint64_t settled_ns);
/*
 * Forgets what was replaced, in all images, if nobody referred to its file. How many mappings these
 * were.
 */
size_t image_cut_old(struct proc_image *image);
/* The present mappings. */
void image_copy(struct proc_image *to, const struct proc_image *from);

#endif
