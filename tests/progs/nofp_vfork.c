/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer -momit-leaf-frame-pointer */
/*
 * nofp_vfork [SECONDS]: child after child burns 100 ms on the stack of its parent, which vfork()
 * holds up for so long. The stack is main, spawn, child_spin.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "nofp.h"

static CHAIN void child_spin(uint64_t ns)
{
	burn_until(CLOCK_MONOTONIC, wall_ns() + ns);
}

static CHAIN void spawn(void)
{
	pid_t pid = vfork();

	if (!pid) {
		child_spin(NS_PER_S / 10);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	uint64_t end = wall_ns() + arg_ns(argc, argv, 1, 5);

	while (wall_ns() < end)
		spawn();
	return 0;
}
