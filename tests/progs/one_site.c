/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * one_site WAITS [NEXT]: waits of 1 ms, all from one place in the program, the stack pointer the
 * same: so many by nanosleep() as "one-first", as many as "one-second", then by nanosleep() and
 * ppoll() in turn, as "one-both". Then it becomes NEXT, another name of the same file, which does
 * the same once more, under its own name in the place of "one-first". Prints what it did and how
 * many ms that took.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "burn.h"

static const long by[2] = { SYS_nanosleep, SYS_ppoll };
static uint64_t took_ns[2];

KEEP void at_one_site(long first, long last, unsigned alternate)
{
	struct timespec t;
	const long args[2][3] = { { (long)&t, 0, 0 }, { 0, 0, (long)&t } };

	for (long i = first; i < last; i++) {
		unsigned which = i & alternate;
		uint64_t begin = wall_ns();

		t = (struct timespec){ 0, 1000000 }; /* ppoll() writes what is left of it */
		syscall(by[which], args[which][0], args[which][1], args[which][2], 0, 0);
		took_ns[which] += wall_ns() - begin;
	}
}

int main(int argc, char **argv)
{
	long waits = argc > 1 ? strtol(argv[1], NULL, 10) : 100;
	char names[3][16] = { "one-first", "one-second", "one-both" };

	if (argc <= 2)
		prctl(PR_GET_NAME, names[0]);
	for (unsigned i = 0; i < 3; i++) {
		took_ns[0] = took_ns[1] = 0;
		prctl(PR_SET_NAME, names[i]);
		at_one_site(0, i == 2 ? 2 * waits : waits, i == 2);
		printf("%s nanosleep %.3f ppoll %.3f\n", names[i], took_ns[0] / 1e6,
		       took_ns[1] / 1e6);
		fflush(stdout);
	}
	if (argc > 2)
		execl(argv[2], argv[2], argv[1], NULL);
	return argc > 2;
}
