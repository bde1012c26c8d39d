/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * usdt_notes FILE: the USDT probes of a file, one place a line, as a script makes them of readelf's
 * words: "PROVIDER NAME LOCATION ARGUMENTS". Each place is a nop, and all arguments are understood.
 */
#include <stdio.h>
#include <stdlib.h>

#include "uprobe/functions.h"
#include "uprobe/usdt.h"

/* As the macros of both architectures leave them. */
static bool is_nop(const struct elf_file *f, uint64_t offset)
{
	uint8_t bytes[4] = {};

	elf_file_read(f, offset, bytes, sizeof(bytes));
	if (f->header.e_machine == EM_X86_64)
		return bytes[0] == 0x90;
	return bytes[0] == 0x1f && bytes[1] == 0x20 && bytes[2] == 0x03 && bytes[3] == 0xd5;
}

static int check(const struct elf_file *f, const struct usdt_probe *p,
		 const struct usdt_location *at)
{
	struct usdt_arg args[USDT_MAX_ARGS];
	size_t nr;
	char *why;

	printf("%s %s %#018lx %s\n", p->provider, p->name, at->address, at->args);
	if (!is_nop(f, at->offset)) {
		fprintf(stderr, "%s: no nop at offset 0x%lx\n", p->name, at->offset);
		return 1;
	}
	if (usdt_parse_args(f->header.e_machine, at->args, args, &nr, &why)) {
		fprintf(stderr, "%s: %s\n", p->name, why);
		free(why);
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct functions *fs = argc > 1 ? functions_open(argv[1]) : NULL;
	const struct usdt_probe *all;
	struct usdt *u;
	int bad = 0;
	size_t nr;

	if (!fs)
		return 2;
	u = usdt_open(functions_file(fs));
	all = usdt_all(u, &nr);
	for (size_t i = 0; i < nr; i++)
		for (size_t j = 0; j < all[i].nr_locations; j++)
			bad += check(functions_file(fs), &all[i], &all[i].locations[j]);
	bad += usdt_nr_bad(u);
	usdt_free(u);
	functions_free(fs);
	return bad ? 1 : 0;
}
