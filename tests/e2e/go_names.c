/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * go_names FILE: for each hexadecimal address on standard input a line of what .gopclntab says
 * about it, innermost first: ADDRESS FUNCTION FILE:LINE [FUNCTION FILE:LINE ...].
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

#include "elf/gopclntab.h"

#define MAX_CALLS 32

static void print(struct gopclntab *t, uint64_t address)
{
	struct gopclntab_call calls[MAX_CALLS];
	size_t nr = gopclntab_calls(t, address, calls, MAX_CALLS);

	printf("%" PRIx64, address);
	for (size_t i = 0; i < nr; i++)
		printf(" %s %s:%u", calls[i].name, calls[i].file ?: "?", calls[i].line);
	putchar('\n');
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
	struct elf_file *f = fd >= 0 ? elf_file_open(fd) : NULL;
	struct gopclntab *t = f ? gopclntab_open(f) : NULL;
	uint64_t address;

	if (!t)
		return 1;
	while (scanf("%" SCNx64, &address) == 1)
		print(t, address);
	gopclntab_close(t);
	elf_file_close(f);
	return 0;
}
