/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer -momit-leaf-frame-pointer -pthread */
/* LDLIBS: -lpthread */
/*
 * waits_lengths [ROUNDS]: naps 100 x 1 ms, 10 x 10 ms and 1 x 100 ms, ROUNDS times, in naps(). A
 * child, "others", waits at the same time for a pipe (30 x 5 ms), in poll() (40 x 3 ms), and for a
 * mutex (20 x 8 ms). Prints a line for each wait: "wait PROCESS FUNCTION NS NS", the least that it
 * takes, and what it took by the clock.
 */
#include <poll.h>
#include <sys/wait.h>

#include "waits.h"

struct line {
	const char *function;
	uint64_t least, took;
};

static struct line lines[65536];
static size_t nr_lines;

static void note(const char *function, uint64_t least, uint64_t from)
{
	if (nr_lines == sizeof(lines) / sizeof(*lines))
		fatal("too many");
	lines[nr_lines++] = (struct line){ function, least, wall_ns() - from };
}

static void print_lines(const char *process)
{
	for (size_t i = 0; i < nr_lines; i++)
		printf("wait %s %s %llu %llu\n", process, lines[i].function,
		       (unsigned long long)lines[i].least, (unsigned long long)lines[i].took);
	fflush(stdout);
}

static CHAIN void naps(unsigned long nr, uint64_t ns)
{
	uint64_t from;

	while (nr--) {
		from = wall_ns();
		sleep_ns(ns);
		note("naps", ns, from);
	}
}

static CHAIN void polls(unsigned long nr, int ms)
{
	uint64_t from;

	while (nr--) {
		from = wall_ns();
		if (poll(NULL, 0, ms))
			fatal("poll");
		note("polls", ms * NS_PER_MS, from);
	}
}

static int ends[2], asks[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *answer(void *arg)
{
	char c;

	(void)arg;
	while (read(asks[0], &c, 1) == 1 && c == 'p') {
		sleep_ns(5 * NS_PER_MS);
		if (write(ends[1], &c, 1) != 1)
			fatal("write");
	}
	for (; c == 'm'; c = read(asks[0], &c, 1) == 1 ? c : 'e') {
		pthread_mutex_lock(&mutex);
		if (write(ends[1], &c, 1) != 1)
			fatal("write");
		sleep_ns(8 * NS_PER_MS);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

/* What the answer takes is its part: so little that it does not matter is not waited for. */
static CHAIN void reads(unsigned long nr)
{
	uint64_t from;
	char c = 'p';

	while (nr--) {
		from = wall_ns();
		if (write(asks[1], &c, 1) != 1 || read(ends[0], &c, 1) != 1)
			fatal("pipe");
		note("reads", 5 * NS_PER_MS, from);
	}
}

static CHAIN void locks(unsigned long nr)
{
	uint64_t from;
	char c = 'm';

	while (nr--) {
		if (write(asks[1], &c, 1) != 1 || read(ends[0], &c, 1) != 1)
			fatal("pipe");
		from = wall_ns();
		pthread_mutex_lock(&mutex);
		note("locks", 0, from);
		pthread_mutex_unlock(&mutex);
	}
	c = 'e';
	if (write(asks[1], &c, 1) != 1)
		fatal("write");
}

static void others(void)
{
	pthread_t thread;

	prctl(PR_SET_NAME, "others");
	if (pipe(ends) || pipe(asks) || pthread_create(&thread, NULL, answer, NULL))
		fatal("cannot begin");
	reads(30);
	polls(40, 3);
	locks(20);
	pthread_join(thread, NULL);
	print_lines("others");
	_exit(0);
}

int main(int argc, char **argv)
{
	unsigned long rounds = arg_nr(argc, argv, 1, 1);
	pid_t child = fork();

	if (child < 0)
		fatal("fork");
	if (!child)
		others();
	while (rounds--) {
		naps(100, NS_PER_MS);
		naps(10, 10 * NS_PER_MS);
		naps(1, 100 * NS_PER_MS);
	}
	waitpid(child, NULL, 0);
	print_lines("waits_lengths");
	return 0;
}
