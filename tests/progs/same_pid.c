/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * same_pid TIMES MS [PAUSE_MS]: so many processes one after the other, each with the same PID as
 * the one before, which was waited for just now, or PAUSE_MS ago. Each runs for MS ms under a name
 * of two. Ends with how many had the PID of the one before, and their CPU time in ms. Exits with 77
 * where a PID cannot be asked for.
 */
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

static pid_t fork_as(pid_t pid)
{
	struct clone_args args = { .exit_signal = SIGCHLD,
				   .set_tid = pid ? (uintptr_t)&pid : 0,
				   .set_tid_size = pid != 0 };

	return syscall(SYS_clone3, &args, sizeof(args));
}

static void live(long i, uint64_t ns)
{
	prctl(PR_SET_NAME, i % 2 ? "same-odd" : "same-even");
	burn_until(CLOCK_THREAD_CPUTIME_ID, cpu_ns() + ns);
	_exit(0);
}

static double ms_of(struct timeval t)
{
	return t.tv_sec * 1e3 + t.tv_usec / 1e3;
}

int main(int argc, char **argv)
{
	long times = argc > 1 ? atol(argv[1]) : 10, ms = argc > 2 ? atol(argv[2]) : 10;
	long pause_ms = argc > 3 ? atol(argv[3]) : 0, nr_same = 0;
	struct rusage usage;
	pid_t pid = 0, child;

	for (long i = 0; i < times; i++) {
		/* Somebody else may have it just then: the next one has another number. */
		child = fork_as(pid);
		if (child < 0 && errno == EEXIST)
			child = fork_as(0);
		if (child < 0)
			return errno == EPERM || errno == ENOSYS ? 77 : 1;
		if (!child)
			live(i, ms * 1000000ull);
		if (waitpid(child, NULL, 0) != child)
			return 1;
		nr_same += pid == child;
		pid = child;
		usleep(pause_ms * 1000);
	}
	getrusage(RUSAGE_CHILDREN, &usage);
	printf("%ld %.1f\n", nr_same, ms_of(usage.ru_utime) + ms_of(usage.ru_stime));
	return 0;
}
