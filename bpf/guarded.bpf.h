/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What programs at functions do while they cannot be preempted (guarded.bpf.c). */
#ifndef BPFPROF_BPF_GUARDED_BPF_H
#define BPFPROF_BPF_GUARDED_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

/* …_entered: whether somebody waits for the return of that call. */
__hidden int calls_entered(struct pt_regs *ctx);
__hidden int calls_returned(struct pt_regs *ctx);
__hidden int calls_left(struct pt_regs *ctx);
__hidden int alloc_entered(struct pt_regs *ctx);
__hidden int alloc_called(struct pt_regs *ctx); /* and its return can be seen */
__hidden int alloc_returned(struct pt_regs *ctx);
__hidden int alloc_left(struct pt_regs *ctx);

#endif
