/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * forker [SECONDS]: forks one child after the other; each spins 50 ms in child_spin and exits. The
 * parent only waits, so nearly all samples belong to processes that lived for 50 ms. Ends with
 * their number.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

static KEEP void child_spin(void)
{
	burn_until(CLOCK_MONOTONIC, wall_ns() + NS_PER_S / 20);
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	uint64_t end = wall_ns() + arg_ns(argc, argv, 1, 5);
	unsigned int nr = 0;
	pid_t child;

	for (; wall_ns() < end; nr++) {
		child = fork();
		if (child < 0)
			return 1;
		if (!child) {
			child_spin();
			_exit(0);
		}
		if (waitpid(child, NULL, 0) != child)
			return 1;
	}
	printf("%u children\n", nr);
	return 0;
}
