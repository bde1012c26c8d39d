/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the makers of points share: points.c those of files, kernel_points.c those of the kernel. */
#ifndef BPFPROF_COLLECT_POINTS_PARTS_H
#define BPFPROF_COLLECT_POINTS_PARTS_H

#include "collect/points.h"

/* Takes over s. */
const char *points_string(struct points *p, char *s);
/* These return numbers. */
uint32_t points_add_event(struct points *p, const struct call_event *e);
uint32_t points_add_args(struct points *p, const struct call_args *a);
void points_add(struct points *p, const struct point *point);

#endif
