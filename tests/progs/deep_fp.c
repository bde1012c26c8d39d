/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * deep_fp [FRAMES] [SECONDS]: descend() calls itself until FRAMES frames of it are on the stack;
 * then deep_spin burns. All have frame pointers. The stack is main, FRAMES x descend, deep_spin.
 */
#include "burn.h"

static KEEP void deep_spin(uint64_t ns)
{
	burn_until(CLOCK_MONOTONIC, wall_ns() + ns);
	__asm__ volatile("");
}

static KEEP void descend(int frames, uint64_t ns)
{
	if (frames > 1)
		descend(frames - 1, ns);
	else
		deep_spin(ns);
	__asm__ volatile("" : : "r"(frames));
}

int main(int argc, char **argv)
{
	descend(argc > 1 ? atoi(argv[1]) : 100, arg_ns(argc, argv, 2, 5));
	return 0;
}
