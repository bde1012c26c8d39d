/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What somebody is called: names and values, in the order of names, each name once. */
#ifndef BPFPROF_BASE_LABELS_H
#define BPFPROF_BASE_LABELS_H

#include <stdbool.h>
#include <stddef.h>

struct label {
	char *name, *value;
};

/* All zero: none. Owns its strings. */
struct labels {
	struct label *v;
	size_t nr, cap;
};

/* Copies both. NULL or "": the name goes. */
void labels_set(struct labels *l, const char *name, const char *value);

/* NULL: no such name. Valid until l changes. */
const char *labels_get(const struct labels *l, const char *name);

/* Less than, equal to, or greater than 0, as for strcmp(). */
int labels_compare(const struct labels *a, const struct labels *b);

/* to has what it had no more. */
void labels_copy(struct labels *to, const struct labels *from);

void labels_release(struct labels *l);

#endif
