/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * execs SECONDS PROGRAM [ARGS]: starts PROGRAM again and again, one after the other. Ends with how
 * many there were ("execs N").
 */
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>

#include "burn.h"

int main(int argc, char **argv)
{
	uint64_t end = wall_ns() + arg_ns(argc, argv, 1, 1);
	char *env[] = { NULL };
	unsigned long nr = 0;
	pid_t child;

	for (; argc > 2 && wall_ns() < end; nr++)
		if (posix_spawn(&child, argv[2], NULL, NULL, argv + 2, env) ||
		    waitpid(child, NULL, 0) != child)
			return 1;
	printf("execs %lu\n", nr);
	return 0;
}
