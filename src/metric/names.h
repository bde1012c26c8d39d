/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names without doubles, in the order in which they came. Only this folder includes it. */
#ifndef BPFPROF_METRIC_NAMES_H
#define BPFPROF_METRIC_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Names are copied, since formulas are parsed anew. */
struct names {
	char **v;
	size_t nr, cap;
};

bool names_have(const struct names *n, const char *name);

/* n is a struct names: the shape of a callback. A name that is there already is not added. */
void names_add(void *n, const char *name);
void names_release(struct names *n);

/* "a, b, c" */
void names_print(const struct names *n, FILE *to);

#endif
