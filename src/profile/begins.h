/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * At which source line a function begins: what lines are counted from where a program may have
 * changed since it was profiled (output/autofdo.c).
 */
#ifndef BPFPROF_PROFILE_BEGINS_H
#define BPFPROF_PROFILE_BEGINS_H

#include "profile/profile.h"

/* Those that are added are found once they are sorted. */
void profile_add_begin(struct profile *p, const struct begin *b);
void profile_sort_begins(struct profile *p);
/* 0 = not known. */
uint32_t profile_begin_line(const struct profile *p, uint32_t module, uint32_t name);

#endif
