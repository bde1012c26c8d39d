/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Values of the arguments of calls. */
#ifndef BPFPROF_BPF_CALL_VALUES_BPF_H
#define BPFPROF_BPF_CALL_VALUES_BPF_H

#include "arena.bpf.h"
#include "calls.h"

extern const volatile struct call_config call_cfg;

/* Is who calls a goroutine, by that way to read arguments? */
__hidden bool calls_by_goroutine(__u32 args);

/*
 * The values of the current call that are known when it begins, or when it returns: slot + 1, 0 =
 * there are none, or the table is full. args says how they are read, by way of scratch->ctx_at;
 * known: those of its begin. Separately verified.
 */
int calls_values(__u32 id, __u32 args, __u32 at_return, __u32 known);

/* The same of one word and what it is (struct call_values.args). */
int calls_word(__u64 word, __u32 what);

#endif
