/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * called [wait]: calls its functions so many times as their names say, and prints "done":
 * called_23 23 times with (i % 3, "odd" or "even"), naps 20 times for 10 ms, deep 41 times in each
 * other, jumps 10 times of which it leaves 5 by longjmp(), ends 30 times by jumping to another
 * function, many 4 × 1,000 times in threads. wait: SIGUSR1 begins it, and a child does the same.
 */
/* CFLAGS: -O2 -fomit-frame-pointer -foptimize-sibling-calls */
/* LDLIBS: -pthread */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static jmp_buf back;
static volatile int sink;
static long nap_us; /* as we see it */

static long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000L + t.tv_nsec / 1000;
}

NOINLINE int called_23(int n, const char *word)
{
	sink += n + word[0];
	return n * 2;
}

NOINLINE void naps(int ms)
{
	struct timespec t = { 0, ms * 1000000L };

	nanosleep(&t, NULL);
	sink++;
}

NOINLINE int deep(int n)
{
	int below = n ? deep(n - 1) : 0;

	/* The innermost call takes long enough for a time in us. */
	for (int i = 0; !n && i < 20000; i++)
		__asm__ volatile("" : "+r"(below));
	__asm__ volatile("" : "+r"(below));
	return below + 1;
}

NOINLINE void jumps(int i)
{
	if (i % 2)
		longjmp(back, 1);
	sink++;
}

NOINLINE int ended(int i)
{
	sink += i;
	return sink;
}

NOINLINE int ends(int i)
{
	sink++;
	return ended(i + 1);
}

NOINLINE void many(void)
{
	__asm__ volatile("nop" ::: "memory"); /* the kernel takes no probe on what is locked */
	__atomic_fetch_add(&sink, 1, __ATOMIC_RELAXED);
}

static void *thread(void *arg)
{
	for (int i = 0; i < 1000; i++)
		many();
	return arg;
}

static void work(void)
{
	pthread_t threads[4];

	/* In memory from now on: probes read no other. */
	sink += *(volatile const char *)"odd" + *(volatile const char *)"even";
	for (int i = 0; i < 23; i++)
		called_23(i % 3, i % 2 ? "odd" : "even");
	nap_us -= now_us();
	for (int i = 0; i < 20; i++)
		naps(10);
	nap_us += now_us();
	deep(40);
	for (volatile int i = 0; i < 10; i++)
		if (!setjmp(back))
			jumps(i);
	for (int i = 0; i < 30; i++)
		ends(i);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, thread, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	sigset_t set;
	int signal;

	if (argc > 1 && !strcmp(argv[1], "wait")) {
		sigemptyset(&set);
		sigaddset(&set, SIGUSR1);
		sigprocmask(SIG_BLOCK, &set, NULL);
		puts("ready");
		fflush(stdout);
		sigwait(&set, &signal);
		if (!fork()) {
			usleep(500000); /* the recorder hears of it meanwhile */
			work();
			_exit(0);
		}
		work();
		wait(NULL);
	} else {
		work();
	}
	printf("naps took %ld us\n", nap_us);
	puts("done");
	fflush(stdout);
	if (argc > 1)
		sleep(1);
	return 0;
}
