/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * in_kernel [SECONDS]: nearly all its time goes into one function of the kernel, under one system
 * call.
 */
#include <fcntl.h>
#include <unistd.h>

#include "burn.h"

static KEEP void read_zeros(int fd)
{
	static char zeros[1 << 20];

	if (read(fd, zeros, sizeof(zeros)) < 0)
		exit(1);
}

int main(int argc, char **argv)
{
	uint64_t end = wall_ns() + arg_ns(argc, argv, 1, 10);
	int fd = open("/dev/zero", O_RDONLY);

	while (wall_ns() < end)
		read_zeros(fd);
	return 0;
}
