/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From what is known of a process to its labels: which source of a name counts. Pure. */
#ifndef BPFPROF_WHO_NAMING_H
#define BPFPROF_WHO_NAMING_H

#include <stdbool.h>

#include "base/labels.h"
#include "who/container.h"
#include "who/fact.h"

struct naming {
	const char *facts[FACT_NR]; /* NULL = not known */
	const struct container_place *place;
	bool is_kernel;		       /* a kernel thread */
	const char *comm, *exe, *host; /* NULL or "" = not known; exe without its folders */
};

/* Labels of who.h; to is empty. */
void naming_labels(const struct naming *n, struct labels *to);

#endif
