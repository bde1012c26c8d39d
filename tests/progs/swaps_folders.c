/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For as long as it lives, the folders "sub" and "way/in" in a folder are by turns folders and
 * links to another one, in one step each, so whoever looks twice sees one, then the other:
 *
 *	swaps_folders FOLDER VICTIM
 *
 * FOLDER/swaps holds how often, in 64 bits.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXCHANGE 2

static int swap(const char *a, const char *b)
{
	return syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, EXCHANGE);
}

int main(int argc, char **argv)
{
	volatile uint64_t *swaps;
	int fd;

	if (argc != 3 || chdir(argv[1])) {
		fprintf(stderr, "usage: swaps_folders FOLDER VICTIM\n");
		return 2;
	}
	fd = open("swaps", O_RDWR | O_CREAT | O_TRUNC, 0644);
	if (ftruncate(fd, sizeof(*swaps)) || mkdir("sub", 0777) || symlink(argv[2], ".link") ||
	    mkdir("way", 0777) || mkdir("way/in", 0777) || symlink(argv[2], "way/.link")) {
		perror("cannot prepare it");
		return 1;
	}
	swaps = mmap(NULL, sizeof(*swaps), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (swaps == MAP_FAILED)
		return 1;
	for (;; ++*swaps) {
		if (*swaps & 1 ? swap("sub", ".link") : swap("way/in", "way/.link"))
			perror("cannot swap");
		for (int spin = 0; spin < 500; spin++)
			__asm__ volatile("");
	}
}
