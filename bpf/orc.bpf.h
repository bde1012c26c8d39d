/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel's half of a sample's stack, walked by the kernel's own unwind tables. */
#ifndef BPFPROF_BPF_ORC_BPF_H
#define BPFPROF_BPF_ORC_BPF_H

#include "tables.bpf.h"

/*
 * Walks from scratch->at, registers of the kernel that an interrupt has left, into scratch->kernel,
 * with the hash. 0: there is a frame that only the kernel can leave; it has to be asked for the
 * whole stack. Separately verified.
 */
int orc_walk(__u32 id);

#endif
