/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Columns of a recording: ratios of two counters, by the names of metrics and of events. The
 * metrics are those of stat, by the same rows: what a set means does not depend on the command.
 */
#ifndef BPFPROF_COLLECT_GROUP_COLUMNS_H
#define BPFPROF_COLLECT_GROUP_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#include "event/catalog.h"

/* A column of the result: per times the first event, by the second. */
struct group_column {
	char *name;
	struct event *terms; /* two */
	size_t nr_terms;
	uint64_t per;
};

/*
 * Comma-separated: "ipc", sets of metrics ("branch", "cache" …), or any event, of which it is so
 * many per 1,000 instructions. IPC is always the first. Of a set the metrics per 1,000 instructions
 * are taken, or, where it has none, its other ratios of two events. At most PROFILE_MAX_COLUMNS:
 * metrics beyond that are left out with a warning, events are a mistake. 0 or negative errno,
 * logged.
 */
int group_columns_find(const struct catalog *c, const char *list, struct group_column **v,
		       size_t *nr);
void group_columns_free(struct group_column *v, size_t nr);

#endif
