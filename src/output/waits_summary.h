/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the summary says of a recording of waits, beside what it says of every recording. */
#ifndef BPFPROF_OUTPUT_WAITS_SUMMARY_H
#define BPFPROF_OUTPUT_WAITS_SUMMARY_H

#include <stdio.h>

#include "output/grid.h"
#include "profile/profile.h"
#include "profile/runqlat.h"
#include "profile/tree.h"

/* Behind "offcpu: 10 s of process 123 (x)": how much, and of how many threads. */
void waits_put_sum(const struct profile *p, const struct view *v, FILE *out);

/* Time by class, what of it is idleness, what the view leaves out. */
void waits_put_classes(const struct profile *p, const struct view *v, FILE *out);

/* How long waits were: columns of percentiles, and their cells, which are empty of none. */
void waits_add_lengths(struct grid *g);
void waits_put_lengths(struct grid *g, const struct prof_hist *h);
/* The same by powers of two. Nothing of none. */
void waits_put_hist(const struct view *v, const char *name, const struct prof_hist *h, FILE *out);

/* "waits 1,234 seen = …", and its parts. */
void waits_put_ledger(const struct profile *p, FILE *out);

/* How many stacks were walked, and how many were not. */
void waits_put_stacks(const struct profile *p, FILE *out);

#endif
