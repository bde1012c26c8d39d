/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * counted_ways BITS ROUNDS [CALLS_PER_S]: waits for a signal (SIGUSR1), then goes all 2^BITS ways
 * down a tree of two functions, ROUNDS times over, so fast at most. Then waits to be killed.
 */
#include <signal.h>
#include <unistd.h>

#include "ways.h"

#define PER_TURN 200u

volatile int calls;

static KEEP void way_end(void)
{
	calls++;
}

static void pace(uint64_t begin, uint64_t nr, unsigned int per_second)
{
	uint64_t now = wall_ns() - begin, due = nr * NS_PER_S / per_second;

	if (due > now)
		usleep((due - now) / 1000);
}

static void go(int bits, unsigned int rounds, unsigned int per_second)
{
	uint64_t begin = wall_ns(), nr = 0;

	for (unsigned int round = 0; round < rounds; round++)
		for (unsigned int way = 0; way < 1u << bits; way++) {
			if (!(nr++ % PER_TURN))
				pace(begin, nr, per_second);
			go_left(way << 1, bits);
		}
}

int main(int argc, char **argv)
{
	int bits = argc > 1 ? atoi(argv[1]) : 10, sig;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigwait(&set, &sig);
	go(bits, argc > 2 ? atoi(argv[2]) : 1, argc > 3 ? atoi(argv[3]) : 20000);
	printf("done\n");
	fflush(stdout);
	for (;;)
		pause();
}
