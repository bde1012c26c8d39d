/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer -momit-leaf-frame-pointer -pthread */
/* LDLIBS: -lpthread */
/*
 * waits_pingpong [threads|processes [ROUNDS [US]]]: "ping" writes into a pipe and waits in
 * await_pong(); "pong" waits in await_ping(), rests for so long in rest(), and answers by another
 * pipe.
 */
#include <signal.h>
#include <sys/wait.h>

#include "waits.h"

static struct truth pinged = { .name = "await_ping" };
static struct truth ponged = { .name = "await_pong" }, rested = { .name = "rest" };
static unsigned long rounds, us;
static int there[2], back[2];

static CHAIN void await_ping(void)
{
	struct mark from = mark_now();
	char c;

	if (read(there[0], &c, 1) != 1)
		fatal("read");
	truth_add(&pinged, from);
}

static CHAIN void await_pong(void)
{
	struct mark from = mark_now();
	char c;

	if (read(back[0], &c, 1) != 1)
		fatal("read");
	truth_add(&ponged, from);
}

static CHAIN void rest(void)
{
	struct mark from = mark_now();

	sleep_ns(us * NS_PER_US);
	truth_add(&rested, from);
}

static CHAIN void *ping_main(void *arg)
{
	unsigned long i;

	name_thread("ping");
	for (i = 0; i < rounds; i++) {
		if (write(there[1], "x", 1) != 1)
			fatal("write");
		await_pong();
	}
	truth_print(&ponged);
	return NULL;
}

static CHAIN void *pong_main(void *arg)
{
	unsigned long i;

	name_thread("pong");
	for (i = 0; i < rounds; i++) {
		await_ping();
		rest();
		if (write(back[1], "x", 1) != 1)
			fatal("write");
	}
	truth_print(&pinged);
	truth_print(&rested);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	int status = 0;
	pid_t child;

	rounds = arg_nr(argc, argv, 2, 300);
	us = arg_nr(argc, argv, 3, 2000);
	if (pipe(there) || pipe(back))
		fatal("pipe");
	if (!arg_is(argc, argv, 1, "processes")) {
		thread_start(&threads[0], ping_main, NULL);
		thread_start(&threads[1], pong_main, NULL);
		pthread_join(threads[0], NULL);
		pthread_join(threads[1], NULL);
		return 0;
	}
	child = fork();
	if (child < 0)
		fatal("fork");
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pong_main(NULL);
		return 0;
	}
	ping_main(NULL);
	return waitpid(child, &status, 0) != child || status;
}
