/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What --audit found wrong (struct prof_disagreement). */
#ifndef BPFPROF_BPF_AUDIT_BPF_H
#define BPFPROF_BPF_AUDIT_BPF_H

#include "arena.bpf.h"

/*
 * Keeps that a half of the current thread's stack is another one than it was taken for; both are in
 * the arena, slots + 1. Does not count. Separately verified.
 */
int audit_disagrees(__u32 kind, __u32 remembered, __u32 walked);

#endif
