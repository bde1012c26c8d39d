/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -shared -fPIC -O2 -fomit-frame-pointer -momit-leaf-frame-pointer */
/* One of the two libraries that nofp_churn loads; it lies beside it under this name, without ".so".
 * The frames of b are large, at addresses where those of a are small. */
#include "nofp.h"

void burn_in_b(uint64_t ns);

static CHAIN void inner_b(uint64_t ns)
{
	TAKE_STACK(3000);
	burn_until(CLOCK_THREAD_CPUTIME_ID, cpu_ns() + ns);
}

void burn_in_b(uint64_t ns)
{
	TAKE_STACK(3000);
	inner_b(ns);
}
