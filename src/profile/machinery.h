/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the kernel runs where a tracepoint is hit, until the sample is taken: innermost in each
 * stack, and nothing of what was asked.
 */
#ifndef BPFPROF_PROFILE_MACHINERY_H
#define BPFPROF_PROFILE_MACHINERY_H

#include "profile/profile.h"

/* How many frames of kstack, leaf side, are; 0 where the sample is of no tracepoint. */
uint32_t machinery_frames(const struct profile *p, const struct sample *s);

#endif
