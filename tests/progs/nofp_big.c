/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer -momit-leaf-frame-pointer */
/*
 * nofp_big [SECONDS]: main, outermost, frame_40k, between, frame_300k, big_leaf, which burns. The
 * frames in the middle are larger than an unwind table's row, and a window of stack, can hold.
 */
#include "nofp.h"

static CHAIN void big_leaf(uint64_t ns)
{
	burn_until(CLOCK_MONOTONIC, wall_ns() + ns);
}

static CHAIN void frame_300k(uint64_t ns)
{
	TAKE_STACK(300 << 10);
	big_leaf(ns);
}

static CHAIN void between(uint64_t ns)
{
	frame_300k(ns);
}

static CHAIN void frame_40k(uint64_t ns)
{
	TAKE_STACK(40 << 10);
	between(ns);
}

static CHAIN void outermost(uint64_t ns)
{
	frame_40k(ns);
}

int main(int argc, char **argv)
{
	outermost(arg_ns(argc, argv, 1, 5));
	return 0;
}
