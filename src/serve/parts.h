/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A window as readers of one question want it: its running code or its waits, as recordings of
 * oncpu and offcpu have them.
 */
#ifndef BPFPROF_SERVE_PARTS_H
#define BPFPROF_SERVE_PARTS_H

#include "profile/profile.h"

enum part { PART_RUNNING, PART_WAITS, PART_NR };

/* Has the window that part? */
bool part_is_in(const struct profile *window, enum part part);

/*
 * Adds that part of a window behind what to has, which may be empty; its duration is the sum of
 * theirs. 0, or -EFBIG.
 */
int part_add(struct profile *to, const struct profile *window, enum part part);

#endif
