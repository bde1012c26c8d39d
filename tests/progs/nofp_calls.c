/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer -momit-leaf-frame-pointer */
/*
 * nofp_calls: waits for a signal (SIGUSR1), then calls called() 2300 times and sleeps 50 times in
 * nap(), both below main, outer, inner; then waits to be killed. None has a frame pointer.
 */
#include <signal.h>
#include <unistd.h>

#include "nofp.h"

#define CALLS 2300
#define NAPS  50

volatile int calls;

CHAIN void called(void)
{
	calls++;
}

CHAIN void nap(void)
{
	struct timespec ms = { .tv_nsec = 1000000 };

	nanosleep(&ms, NULL);
}

static CHAIN void inner(void)
{
	TAKE_STACK(200);
	for (int i = 0; i < CALLS; i++)
		called();
	for (int i = 0; i < NAPS; i++)
		nap();
}

static CHAIN void outer(void)
{
	TAKE_STACK(1000);
	inner();
}

int main(void)
{
	sigset_t set;
	int sig;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigwait(&set, &sig);
	outer();
	printf("done\n");
	fflush(stdout);
	for (;;)
		pause();
}
