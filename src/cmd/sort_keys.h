/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* --sort of report: the order of a table, and what perf's keys of that name mean here. Keys of
 * timelines are taken as they are. */
#ifndef BPFPROF_CMD_SORT_KEYS_H
#define BPFPROF_CMD_SORT_KEYS_H

#include "cmd/results.h"

/* Keys by a comma; NULL = none. Sets the order, and what rows are by. 0 or -EINVAL, logged. */
int sort_keys_apply(const char *keys, struct results_opts *o);

/* An enum view_by of what --by says, also in perf's keys; NULL = functions. -EINVAL, logged. */
int sort_keys_by(const char *word);

#endif
