/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O1 -fomit-frame-pointer -momit-leaf-frame-pointer */
/*
 * waits_deep [KIB [CHILDREN [MS]]]: on a stack KIB deep, forks CHILDREN, all at once. Each naps
 * three times for MS in nap().
 */
#include <sys/wait.h>

#include "waits.h"

static unsigned long nr;
static uint64_t ns;

static CHAIN void nap(void)
{
	sleep_ns(ns);
	__asm__ volatile("" ::: "memory"); /* no tail call */
}

static CHAIN void at_the_bottom(void)
{
	for (unsigned long i = 0; i < nr; i++) {
		if (fork())
			continue;
		for (int k = 0; k < 3; k++)
			nap();
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
}

static CHAIN void down(unsigned long kib)
{
	char room[1024];

	memset(room, (int)kib, sizeof(room));
	__asm__ volatile("" ::"r"(room) : "memory");
	if (kib > 0)
		down(kib - 1);
	else
		at_the_bottom();
	__asm__ volatile("" ::"r"(room) : "memory");
}

int main(int argc, char **argv)
{
	unsigned long kib = arg_nr(argc, argv, 1, 440);

	nr = arg_nr(argc, argv, 2, 60);
	ns = arg_nr(argc, argv, 3, 500) * NS_PER_MS;
	down(kib);
	return 0;
}
