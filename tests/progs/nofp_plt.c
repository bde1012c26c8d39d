/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer -momit-leaf-frame-pointer -fno-builtin -fplt */
/*
 * nofp_plt [SECONDS]: call_often() calls a very short function of a library again and again, by way
 * of the procedure linkage table, so that many samples fall into its stubs.
 */
#include "nofp.h"

static CHAIN unsigned int call_often(uint64_t until)
{
	unsigned int i, sum = 0;

	while (wall_ns() < until)
		for (i = 0; i < 20000; i++)
			sum += (unsigned int)abs((int)i);
	return sum;
}

static CHAIN unsigned int outermost(uint64_t until)
{
	return call_often(until) + 1;
}

int main(int argc, char **argv)
{
	return outermost(wall_ns() + arg_ns(argc, argv, 1, 5)) == 1;
}
