/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * called FUNCTION SECONDS: calls a function all the time and prints the median of what a call
 * takes, in ns. padded begins with a landing pad and push, plain with push, deep is plain below 20
 * callers without frame pointers.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BATCH 200
#define MOST  100000

void padded(void);
void plain(void);

#if defined(__x86_64__)
#define PAD  "endbr64\n"
#define BODY "push %rbx\nmov %rsp, %rbx\npop %rbx\nret\n"
#else
#define PAD  "bti c\n"
#define BODY "stp x19, x30, [sp, #-16]!\nmov x19, sp\nldp x19, x30, [sp], #16\nret\n"
#endif
#define FUNCTION(name, first)                                                                      \
	".globl " name "\n.type " name ", %function\n" name ":\n.cfi_startproc\n" first BODY       \
	".cfi_endproc\n.size " name ", . - " name "\n"
__asm__(".text\n" FUNCTION("padded", PAD) FUNCTION("plain", ""));

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

__attribute__((noinline, noclone)) static void below(int depth)
{
	if (depth)
		below(depth - 1);
	else
		for (int i = 0; i < BATCH; i++)
			plain();
	__asm__ volatile("");
}

static void many_padded(int unused)
{
	for (int i = 0; i < BATCH; i++)
		padded();
}

static void many_plain(int unused)
{
	for (int i = 0; i < BATCH; i++)
		plain();
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
	void (*work)(int) = argc < 3			 ? NULL
			    : !strcmp(argv[1], "padded") ? many_padded
			    : !strcmp(argv[1], "plain")	 ? many_plain
							 : below;
	uint64_t start = now_ns(), until, before;
	static double took[MOST];
	size_t nr = 0;

	if (!work)
		return 2;
	until = start + strtod(argv[2], NULL) * 1e9;
	/* Who records has begun when half of the time is over. */
	while ((before = now_ns()) < until) {
		work(20);
		if (before < start + (until - start) / 2)
			continue;
		took[nr % MOST] = (double)(now_ns() - before) / BATCH;
		nr++;
	}
	nr = nr < MOST ? nr : MOST;
	qsort(took, nr, sizeof(*took), by_value);
	printf("%.1f\n", took[nr / 2]);
	return 0;
}
