/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * forker [SECONDS]: forks one child after the other; each spins 50 ms in child_spin and exits. The
 * parent only waits, so nearly all samples belong to processes that lived for 50 ms. Ends with
 * their number, and with CPU times in ms: in child_spin, and of all that the parent and the
 * children did.
 */
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

static KEEP void child_spin(void)
{
	burn_until(CLOCK_MONOTONIC, wall_ns() + NS_PER_S / 20);
	__asm__ volatile("");
}

static double used_ms(int who)
{
	struct rusage u;

	getrusage(who, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e3;
}

int main(int argc, char **argv)
{
	uint64_t end = wall_ns() + arg_ns(argc, argv, 1, 5), from;
	unsigned int nr = 0;
	uint64_t *spun = mmap(NULL, sizeof(*spun), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child;

	if (spun == MAP_FAILED)
		return 1;
	for (; wall_ns() < end; nr++) {
		child = fork();
		if (child < 0)
			return 1;
		if (!child) {
			from = cpu_ns();
			child_spin();
			*spun += cpu_ns() - from;
			_exit(0);
		}
		if (waitpid(child, NULL, 0) != child)
			return 1;
	}
	printf("%u children\n", nr);
	printf("ms %.1f %.1f\n", (double)*spun / 1e6,
	       used_ms(RUSAGE_SELF) + used_ms(RUSAGE_CHILDREN));
	return 0;
}
