/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer -momit-leaf-frame-pointer */
/*
 * nofp_drap [SECONDS]: main, outermost, realigned, below, realigned_leaf, which burns. The stack
 * of two of them is aligned to 64 bytes, and its size is known at run time only. On x86-64 gcc then
 * keeps the caller's stack pointer in the frame, and unwind data say so by an expression.
 */
#include <alloca.h>

#include "nofp.h"

static CHAIN void realigned_leaf(uint64_t ns, unsigned int bytes)
{
	_Alignas(64) volatile char line[64];
	volatile char *more = alloca(bytes);

	more[0] = line[0] = 1;
	__asm__ volatile("" : : "r"(line), "r"(more) : "memory");
	burn_until(CLOCK_MONOTONIC, wall_ns() + ns);
}

static CHAIN void below(uint64_t ns, unsigned int bytes)
{
	realigned_leaf(ns, bytes);
}

static CHAIN void realigned(uint64_t ns, unsigned int bytes)
{
	_Alignas(64) volatile char line[64];
	volatile char *more = alloca(bytes);

	more[0] = line[0] = 1;
	__asm__ volatile("" : : "r"(line), "r"(more) : "memory");
	below(ns, bytes);
}

static CHAIN void outermost(uint64_t ns, unsigned int bytes)
{
	realigned(ns, bytes);
}

int main(int argc, char **argv)
{
	outermost(arg_ns(argc, argv, 1, 5), 1000 * (unsigned int)argc);
	return 0;
}
