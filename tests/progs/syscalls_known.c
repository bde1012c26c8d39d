/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * syscalls_known [ROUNDS]: ROUNDS times nanosleep() of 10 ms in rest(), a getppid(), and a close()
 * of no file, which fails; half as many unlinkat() of nothing fail otherwise. "rest US" is how long
 * all of rest() took.
 * "syscalls_known others MS": how many ns a umask() takes, the least of many batches, for so long.
 */
#include "waits.h"

#define BATCH 1000

static uint64_t rested_ns;

static CHAIN void rest(void)
{
	uint64_t start = wall_ns();

	sleep_ns(10 * NS_PER_MS);
	rested_ns += wall_ns() - start;
}

static void known(unsigned long rounds)
{
	unsigned long i;

	for (i = 0; i < rounds; i++) {
		rest();
		syscall(SYS_getppid);
		syscall(SYS_close, -1);
		if (i % 2 == 0)
			syscall(SYS_unlinkat, -1, "/no/such/file", 0);
	}
	printf("rest %llu\n", (unsigned long long)(rested_ns / NS_PER_US));
}

static void others(unsigned long ms)
{
	uint64_t until = wall_ns() + ms * NS_PER_MS, least = ~0ull, start, ns;
	int i;

	while (wall_ns() < until) {
		start = wall_ns();
		for (i = 0; i < BATCH; i++)
			syscall(SYS_umask, 022);
		ns = wall_ns() - start;
		least = ns < least ? ns : least;
	}
	printf("umask %llu\n", (unsigned long long)least / BATCH);
}

int main(int argc, char **argv)
{
	if (arg_is(argc, argv, 1, "others"))
		others(arg_nr(argc, argv, 2, 1000));
	else
		known(arg_nr(argc, argv, 1, 100));
	return 0;
}
