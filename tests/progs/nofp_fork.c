/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer -momit-leaf-frame-pointer */
/*
 * nofp_fork [SECONDS]: two children at a time, each of which burns 200 ms and is no other program
 * than this one. The stack is main, bear, child_main, child_spin.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "nofp.h"

static CHAIN void child_spin(uint64_t ns)
{
	burn_until(CLOCK_MONOTONIC, wall_ns() + ns);
}

static CHAIN void child_main(void)
{
	TAKE_STACK(500);
	child_spin(NS_PER_S / 5);
	_exit(0);
}

static CHAIN void bear(void)
{
	if (!fork())
		child_main();
}

int main(int argc, char **argv)
{
	uint64_t end = wall_ns() + arg_ns(argc, argv, 1, 5);

	bear();
	while (wall_ns() < end) {
		bear();
		wait(NULL);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
