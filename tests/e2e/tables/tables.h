/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Unwind tables for test programs that sample without a collector. */
#ifndef BPFPROF_TESTS_TABLES_H
#define BPFPROF_TESTS_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "collect/session.h"

struct tables;

/*
 * Gives the session all tables of what processes have mapped now, so that nothing is deferred for
 * them. final: what leads to no code is not left to user space either, but ends there. NULL: the
 * session goes by frame pointers. To be freed before the session is closed.
 */
struct tables *tables_give(struct session *s, const pid_t *pids, size_t nr, bool final);
void tables_free(struct tables *t);

#endif
