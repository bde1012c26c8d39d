/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -shared -fPIC */
/* Not a program but the library that dlopener loads; it lies beside it under this name, without
 * ".so". */
#include "burn.h"

void burn_in_library(uint64_t ns);

static KEEP void library_inner(uint64_t ns)
{
	burn_until(CLOCK_THREAD_CPUTIME_ID, cpu_ns() + ns);
	__asm__ volatile("");
}

void burn_in_library(uint64_t ns)
{
	library_inner(ns);
	__asm__ volatile("");
}
