/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * roof: what the CPUs can do, found in another way than bpfprof finds it. On each CPU that it may
 * use a process copies memory with memcpy(), and then multiplies and adds single numbers, each for
 * half a second of its own CPU time. Prints what all of them did in a second: bytes read and
 * written, and operations.
 */
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_CPUS 1024
#define BYTES	 (48 << 20)
#define SECONDS	 0.5

struct found {
	double bytes, operations; /* a second */
};

static double cpu_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static double copy(void)
{
	char *from = malloc(BYTES), *to = malloc(BYTES);
	double begin, now, bytes = 0;

	memset(from, 1, BYTES);
	memset(to, 2, BYTES);
	begin = now = cpu_seconds();
	for (size_t i = 0; now - begin < SECONDS; now = cpu_seconds()) {
		memcpy(to, from, BYTES);
		from[i++ % BYTES] = to[bytes > 1e12];
		bytes += 2.0 * BYTES;
	}
	return bytes / (now - begin);
}

static double compute(void)
{
	volatile double factor = 0.999;
	double a = 1, b = 2, c = 3, d = 4, f = factor, begin = cpu_seconds(), now = begin, nr = 0;

	while (now - begin < SECONDS) {
		for (int i = 0; i < 100000; i++) {
			a = a * f + 1;
			b = b * f + 1;
			c = c * f + 1;
			d = d * f + 1;
		}
		nr += 8 * 100000;
		now = cpu_seconds();
	}
	factor = a + b + c + d;
	return nr / (now - begin);
}

static void on_cpu(int cpu, struct found *to)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		exit(1);
	to->bytes = copy();
	to->operations = compute();
	exit(0);
}

int main(void)
{
	struct found *all = mmap(NULL, MAX_CPUS * sizeof(*all), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0),
		     sum = {};
	cpu_set_t may;

	if (all == MAP_FAILED || sched_getaffinity(0, sizeof(may), &may))
		return 1;
	for (int i = 0; i < CPU_SETSIZE && i < MAX_CPUS; i++)
		if (CPU_ISSET(i, &may) && !fork())
			on_cpu(i, &all[i]);
	while (wait(NULL) > 0)
		;
	for (int i = 0; i < MAX_CPUS; i++) {
		sum.bytes += all[i].bytes;
		sum.operations += all[i].operations;
	}
	printf("%.0f %.0f\n", sum.bytes, sum.operations);
	return 0;
}
