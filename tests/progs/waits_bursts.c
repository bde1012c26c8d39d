/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer -momit-leaf-frame-pointer -pthread */
/* LDLIBS: -lpthread */
/*
 * waits_bursts [SECONDS]: two processes on one CPU hand each other a byte by pipes for 200 ms, then
 * the first one sleeps for 30 ms in nap(), and so on: very many short waits, and a few long ones
 * between them. It begins with one second in which it only naps. Truth lines (waits.h) are of the
 * first process.
 *
 * waits_bursts SECONDS yield: four threads on one CPU that give way to each other all the time, in
 * give_way(), and never block.
 */
#include <signal.h>
#include <sys/wait.h>

#include "waits.h"

#define BURST_NS (200 * NS_PER_MS)
#define NAP_NS	 (30 * NS_PER_MS)

static int there[2], back[2];
static struct truth naps = { .name = "nap" }, chats = { .name = "chat" };
static struct truth yields = { .name = "give_way" };

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

static __attribute__((noreturn)) void answer(void)
{
	for (;;) {
		wait_turn(there[0]);
		hand_over(back[1]);
	}
}

static CHAIN void nap(void)
{
	struct timespec ts = { .tv_nsec = NAP_NS };
	struct mark from = mark_now();

	nanosleep(&ts, NULL);
	truth_add(&naps, from);
}

static CHAIN void chat(void)
{
	struct mark from = mark_now();
	uint64_t end = from.wall + BURST_NS;

	while (wall_ns() < end)
		for (int i = 0; i < 64; i++) {
			hand_over(there[1]);
			wait_turn(back[0]);
			chats.blocks++;
		}
	truth_add(&chats, from);
}

static uint64_t yield_ns;

static CHAIN void *give_way(void *arg)
{
	struct mark from = mark_now();
	uint64_t end = from.wall + yield_ns;

	(void)arg;
	while (wall_ns() < end)
		for (int i = 0; i < 64; i++)
			sched_yield();
	truth_add(&yields, from);
	return NULL;
}

static int yield(uint64_t ns)
{
	pthread_t threads[4];

	yield_ns = ns;
	pin(0, cpu_of(0));
	for (int i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, give_way, NULL))
			fatal("pthread_create");
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	truth_print(&yields);
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t start, end;
	pid_t child;

	if (argc > 2 && !strcmp(argv[2], "yield"))
		return yield(arg_ns(argc, argv, 1, 4));
	if (pipe(there) || pipe(back))
		fatal("pipe");
	pin(0, cpu_of(0));
	child = fork();
	if (child < 0)
		fatal("fork");
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		answer();
	}
	start = wall_ns();
	end = start + arg_ns(argc, argv, 1, 4);
	while (wall_ns() < start + NS_PER_S)
		nap();
	while (wall_ns() < end) {
		chat();
		nap();
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	truth_print(&naps);
	truth_print(&chats);
	printf("operations %llu\n", (unsigned long long)chats.blocks);
	return 0;
}
