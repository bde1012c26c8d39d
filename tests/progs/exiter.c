/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* exiter [SECONDS]: spins in doomed_spin and is gone: its samples must still get their names. */
#include "burn.h"

static KEEP void doomed_spin(uint64_t until)
{
	burn_until(CLOCK_MONOTONIC, until);
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	doomed_spin(wall_ns() + arg_ns(argc, argv, 1, 1));
	return 0;
}
