/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* forks [SECONDS]: makes processes that end at once, as fast as it can. Ends with their number. */
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

int main(int argc, char **argv)
{
	uint64_t end = wall_ns() + arg_ns(argc, argv, 1, 10);
	unsigned int nr = 0;
	pid_t child;

	for (; wall_ns() < end; nr++) {
		child = fork();
		if (!child)
			_exit(0);
		if (waitpid(child, NULL, 0) != child)
			return 1;
	}
	printf("%u\n", nr);
	return 0;
}
