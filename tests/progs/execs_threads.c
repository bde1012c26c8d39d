/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * /PATH/execs_threads ROUNDS MS: a thread that is not the first of its process runs for MS ms and
 * calls exec of this program, which makes it the first; so many times, each under another name.
 * Every third one sleeps for MS ms before it runs, and the first thread sleeps all the time. Ends
 * with the CPU time of the process in ms, which begins anew with no exec.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "burn.h"

static char **args;

static KEEP void burn(uint64_t ns)
{
	burn_until(CLOCK_THREAD_CPUTIME_ID, cpu_ns() + ns);
}

static void *run(void *arg)
{
	long rounds = atol(args[1]), ms = atol(args[2]);
	char left[32], name[16];

	snprintf(name, sizeof(name), "round-%ld", rounds);
	prctl(PR_SET_NAME, name);
	if (rounds % 3 == 0)
		usleep(ms * 1000);
	burn(ms * 1000000ull);
	snprintf(left, sizeof(left), "%ld", rounds - 1);
	args[1] = left;
	execv(args[0], args);
	_exit(1);
}

static double ms_of(struct timeval t)
{
	return t.tv_sec * 1e3 + t.tv_usec / 1e3;
}

int main(int argc, char **argv)
{
	struct rusage usage;
	pthread_t thread;

	if (argc < 3)
		return 2;
	args = argv;
	if (atol(argv[1]) > 0 && !pthread_create(&thread, NULL, run, NULL))
		for (;;)
			pause();
	getrusage(RUSAGE_SELF, &usage);
	printf("%.1f\n", ms_of(usage.ru_utime) + ms_of(usage.ru_stime));
	return 0;
}
