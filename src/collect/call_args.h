/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Arguments of calls, as people ask for them, and where they are. */
#ifndef BPFPROF_COLLECT_CALL_ARGS_H
#define BPFPROF_COLLECT_CALL_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/opt.h"
#include "bpf/calls.h"

struct usdt_probe;

/*
 * Words are NUMBER[:TYPE] or ret[:TYPE], with TYPE one of int, uint, long (the default), i8 … i64,
 * u8 … u64, str. Fills in a. 0 or -EINVAL, logged.
 */

/* By the calling convention of this machine, and by that of Go (ABIInternal, since 1.17). */
int call_args_of_go(struct call_args *a, const struct opt_strings *words);
int call_args_of_function(struct call_args *a, const struct opt_strings *words);
/* As the note of one of its places says. */
int call_args_of_usdt(struct call_args *a, const struct opt_strings *words,
		      const struct usdt_probe *u, size_t location);
/* Fields of a tracepoint, NAME[:TYPE]. format: the text that tracefs has of it. */
int call_args_of_tracepoint(struct call_args *a, const struct opt_strings *words,
			    const char *format);
/* Of Tokio's polls, behind bytes of the entry: which task, and where it was spawned. */
void call_args_of_tokio(struct call_args *a, uint64_t behind);
/* Is any of them what a call returned? */
bool call_args_want_result(const struct opt_strings *words);

#endif
