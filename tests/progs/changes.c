/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* LDLIBS: -lpthread */
/*
 * changes KIND COUNT [MS]: so many processes, one after the other, that spin in before_it(), for MS
 * of CPU time (2), change, and spin in after_it(), for as long. KIND is what they do in between:
 * exit (there is no after), exec (themselves), fork (the child spins, and who forked is gone),
 * setuid (to nobody, where we may) or leader (the main thread ends, and another one spins). Prints
 * how many ended as they should.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

static const char *ms = "2";

static KEEP void before_it(void)
{
	burn_until(CLOCK_THREAD_CPUTIME_ID, cpu_ns() + strtoull(ms, NULL, 10) * 1000000);
	__asm__ volatile("");
}

static KEEP void after_it(void)
{
	burn_until(CLOCK_THREAD_CPUTIME_ID, cpu_ns() + strtoull(ms, NULL, 10) * 1000000);
	__asm__ volatile("");
}

static void *spin_and_end(void *unused)
{
	after_it();
	_exit(0);
}

static void change(const char *self, const char *kind)
{
	pthread_t thread;
	pid_t pid;

	if (!strcmp(kind, "exit"))
		_exit(0);
	if (!strcmp(kind, "exec"))
		_exit(execl(self, self, "after", "1", ms, NULL));
	if (!strcmp(kind, "fork")) {
		pid = fork();
		if (pid)
			_exit(pid < 0);
	}
	if (!strcmp(kind, "setuid") && !getuid() && setresuid(65534, 65534, 65534))
		_exit(1);
	if (!strcmp(kind, "leader")) {
		if (pthread_create(&thread, NULL, spin_and_end, NULL))
			_exit(1);
		pthread_exit(NULL);
	}
	after_it();
	_exit(0);
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "exit";
	unsigned int count = argc > 2 ? atoi(argv[2]) : 1, right = 0;
	int status;

	if (argc > 3)
		ms = argv[3];
	if (!strcmp(kind, "after")) {
		after_it();
		return 0;
	}
	/* Whom a forked process has left is ours to wait for, too. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (unsigned int i = 0; i < count; i++) {
		pid_t pid = fork();

		if (!pid) {
			before_it();
			change("/proc/self/exe", kind);
		}
		right += waitpid(pid, &status, 0) == pid && !status;
		while (waitpid(-1, &status, 0) > 0)
			;
	}
	printf("changed %u\n", right);
	return right != count;
}
