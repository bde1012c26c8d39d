/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What two metrics together say that neither says alone. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "metric/stat.h"

/* A metric that is to be watched or investigated, and one that tells why when it is, too. */
static const struct {
	const char *name, *evidence, *words;
} diagnoses[] = {
	{ "ipc", "backend_memory", "waits for memory" },
	{ "ipc", "memory_bound", "waits for memory" },
	{ "ipc", "backend_bound", "waits in the back end, for memory or long operations" },
	{ "ipc", "backend_stalls", "waits in the back end, for memory or long operations" },
	{ "ipc", "frontend_bound", "waits for instructions" },
	{ "ipc", "frontend_stalls", "waits for instructions" },
};

static bool is_flagged(const struct stat_metric *m)
{
	return m && !isnan(m->number.mean) &&
	       (m->verdict == METRIC_WATCH || m->verdict == METRIC_INVESTIGATE);
}

void stat_diagnosis(const struct stat_row *row, const struct stat_metric *m, char *to, size_t sz)
{
	*to = '\0';
	if (!is_flagged(m))
		return;
	for (size_t i = 0; i < sizeof(diagnoses) / sizeof(*diagnoses) && !*to; i++) {
		const struct stat_metric *other = stat_row_metric(row, diagnoses[i].evidence);

		if (!strcmp(diagnoses[i].name, m->name) && is_flagged(other))
			snprintf(to, sz, "%s (%s %.2f%s%s)", diagnoses[i].words, other->label,
				 other->number.mean, *other->unit ? " " : "", other->unit);
	}
}
