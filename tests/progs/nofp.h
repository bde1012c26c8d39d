/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the programs without frame pointers share: functions that stay what they are, whatever the
 * optimizer thinks of them. "CFLAGS:" in their first lines takes the frame pointers away.
 */
#ifndef BPFPROF_TESTS_NOFP_H
#define BPFPROF_TESTS_NOFP_H

#include "burn.h"

#define CHAIN __attribute__((noipa)) /* not inlined, not cloned, not merged with its like */

/* A local array of so many bytes, of which the optimizer cannot get rid. */
#define TAKE_STACK(bytes)                                                                          \
	volatile char room[bytes];                                                                 \
	room[0] = room[(bytes)-1] = 1

#endif
