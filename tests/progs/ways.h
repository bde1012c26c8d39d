/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ways down a tree of two functions: each is a stack of its own, and ends in way_end(), which the
 * program defines. The bits of way above the lowest one tell where to turn.
 */
#ifndef BPFPROF_TESTS_WAYS_H
#define BPFPROF_TESTS_WAYS_H

#include "burn.h"

static KEEP void way_end(void);
static KEEP void go_left(unsigned int way, int depth);

static KEEP void go_right(unsigned int way, int depth)
{
	if (!depth)
		way_end();
	else if (way >> depth & 1)
		go_right(way, depth - 1);
	else
		go_left(way, depth - 1);
	__asm__ volatile("");
}

static KEEP void go_left(unsigned int way, int depth)
{
	if (!depth)
		way_end();
	else if (way >> depth & 1)
		go_right(way, depth - 1);
	else
		go_left(way, depth - 1);
	__asm__ volatile("");
}

#endif
