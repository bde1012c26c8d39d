/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * forks [SECONDS [RATE [MS]]]: makes processes that end at once, or burn MS of CPU, as fast as it
 * can, or RATE a second. Ends with their number.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

/* In a schedule of its own: what comes late is made up for. */
static void wait_turn(uint64_t begin, unsigned int nr, uint64_t rate)
{
	uint64_t now = wall_ns(), turn = begin + nr * NS_PER_S / (rate ? rate : NS_PER_S);

	if (rate && now < turn)
		usleep((turn - now) / 1000);
}

int main(int argc, char **argv)
{
	uint64_t begin = wall_ns(), end = begin + arg_ns(argc, argv, 1, 10);
	uint64_t rate = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	uint64_t burn_ns = arg_ns(argc, argv, 3, 0) / 1000;
	unsigned int nr = 0;
	pid_t child;

	for (; wall_ns() < end; nr++) {
		wait_turn(begin, nr, rate);
		child = fork();
		if (!child) {
			burn_until(CLOCK_THREAD_CPUTIME_ID, burn_ns);
			_exit(0);
		}
		if (waitpid(child, NULL, 0) != child)
			return 1;
	}
	printf("%u\n", nr);
	return 0;
}
