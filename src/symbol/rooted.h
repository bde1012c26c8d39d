/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which stacks are complete, once their frames have names. */
#ifndef BPFPROF_SYMBOL_ROOTED_H
#define BPFPROF_SYMBOL_ROOTED_H

#include <stdbool.h>

#include "profile/profile.h"

/* Sets STACK_ROOTED. is_entry: of each frame, whether threads begin there, known by its place. */
void rooted_mark(struct profile *p, const bool *is_entry);

#endif
