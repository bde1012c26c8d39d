/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer -momit-leaf-frame-pointer -pthread */
/* LDLIBS: -lpthread */
/*
 * waits_switcher [SECONDS]: two processes on one CPU hand each other a byte by pipes and do nothing
 * else, which is two switches an operation. Ends with how many: "ops N", "ops_per_s N", and
 * "ops_per_cpu_s N", by the CPU time that both had: others on that CPU do not count.
 */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "waits.h"

#define OPS_PER_LOOK 64

static int there[2], back[2];

static CHAIN void hand_over(int fd)
{
	if (write(fd, "x", 1) != 1)
		fatal("write");
	__asm__ volatile("");
}

static CHAIN void wait_turn(int fd)
{
	char c;

	if (read(fd, &c, 1) != 1)
		exit(0);
	__asm__ volatile("");
}

#ifndef FRAMES
#define FRAMES 0
#endif

/* Does it below so many frames of more than 100 bytes. */
static __attribute__((noinline)) void below(int frames, void (*what)(void))
{
	volatile char room[100];

	room[0] = (char)frames;
	if (frames)
		below(frames - 1, what);
	else
		what();
	room[1] = room[0];
}

static void do_below(void (*what)(void))
{
	if (FRAMES)
		below(FRAMES - 1, what);
	else
		what();
}

static void answer(void)
{
	for (;;) {
		wait_turn(there[0]);
		hand_over(back[1]);
	}
}

static double cpu_s(int who)
{
	struct rusage u;

	getrusage(who, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static uint64_t end, ops;

static void ask(void)
{
	while (wall_ns() < end)
		for (int i = 0; i < OPS_PER_LOOK; i++, ops++) {
			hand_over(there[1]);
			wait_turn(back[0]);
		}
}

int main(int argc, char **argv)
{
	uint64_t start;
	pid_t child;

	if (pipe(there) || pipe(back))
		fatal("pipe");
	pin(0, cpu_of(0));
	child = fork();
	if (child < 0)
		fatal("fork");
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		do_below(answer);
	}
	start = wall_ns();
	end = start + arg_ns(argc, argv, 1, 2);
	do_below(ask);
	end = wall_ns();
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	printf("ops %llu\nops_per_s %.0f\nops_per_cpu_s %.0f\n", (unsigned long long)ops,
	       (double)ops * (double)NS_PER_S / (double)(end - start),
	       (double)ops / (cpu_s(RUSAGE_SELF) + cpu_s(RUSAGE_CHILDREN)));
	return 0;
}
