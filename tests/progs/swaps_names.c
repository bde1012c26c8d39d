/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For as long as it lives, x.folded in a folder is by turns a link to a file, one to a name that is
 * free, a FIFO, and nothing:
 *
 *	swaps_names FOLDER FILE FREE
 */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static void put(int kind, const char *file, const char *free_name)
{
	unlink(".n");
	if (kind == 2 ? mkfifo(".n", 0666) : symlink(kind ? free_name : file, ".n"))
		perror("cannot make it");
	if (rename(".n", "x.folded"))
		perror("cannot put it there");
}

int main(int argc, char **argv)
{
	if (argc != 4 || chdir(argv[1])) {
		fprintf(stderr, "usage: swaps_names FOLDER FILE FREE\n");
		return 2;
	}
	for (int i = 0;; i = (i + 1) % 4) {
		if (i == 3)
			unlink("x.folded");
		else
			put(i, argv[2], argv[3]);
		for (int spin = 0; spin < 2000; spin++)
			__asm__ volatile("");
	}
}
