/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the values of series are called, so that each engine shows them as what they are: running
 * code, waits, the run queue, and what commands count.
 */
#ifndef BPFPROF_PUSH_FORMS_H
#define BPFPROF_PUSH_FORMS_H

#include "push/series.h"

/* The class that series of a profile are told apart by: profile/waits.h, or one for all. */
uint32_t form_class(const struct profile *p, uint32_t class);

/* Name, class, types and columns of a series of that class. */
void form_series(struct series *s, const struct profile *p, uint32_t class);

/* Of numbers that bpfprof has of itself. */
void form_figures(struct value_types *t, const char *type, const char *unit);

#endif
