/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * syscalls_known [ROUNDS]: ROUNDS times nanosleep() of 10 ms in rest(), a getppid(), and a close()
 * of no file, which fails; half as many unlinkat() of nothing fail otherwise. "rest US" is how long
 * all of rest() took.
 * "syscalls_known moves [ROUNDS]": ROUNDS times as "even" and as "odd" in turn, and where there is
 * more than one CPU on another one than before, ten getppid() and ten close() of no file.
 * "syscalls_known signals [ROUNDS]": handles ROUNDS signals that it sends to itself by tgkill().
 * "syscalls_known others MS": how many ns a umask() takes, the least of many batches, for so long.
 */
#include <signal.h>

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

static void move_to(unsigned long nr)
{
	static long nr_cpus;
	cpu_set_t cpus;

	if (!nr_cpus)
		nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	CPU_ZERO(&cpus);
	CPU_SET(nr % nr_cpus, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

static void moves(unsigned long rounds)
{
	unsigned long i;
	int k;

	for (i = 0; i < rounds; i++) {
		prctl(PR_SET_NAME, i % 2 ? "odd" : "even");
		for (k = 0; k < 10; k++) {
			if (k == 5)
				move_to(i);
			syscall(SYS_getppid);
			syscall(SYS_close, -1);
		}
	}
}

static void handle(int signal)
{
	syscall(SYS_getppid);
}

static void signals(unsigned long rounds)
{
	signal(SIGUSR1, handle);
	for (unsigned long i = 0; i < rounds; i++)
		syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR1);
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
	else if (arg_is(argc, argv, 1, "signals"))
		signals(arg_nr(argc, argv, 2, 100));
	else if (arg_is(argc, argv, 1, "moves"))
		moves(arg_nr(argc, argv, 2, 100));
	else
		known(arg_nr(argc, argv, 1, 100));
	return 0;
}
