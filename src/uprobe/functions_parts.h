/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What loads functions and what finds them share. */
#ifndef BPFPROF_UPROBE_FUNCTIONS_PARTS_H
#define BPFPROF_UPROBE_FUNCTIONS_PARTS_H

#include "uprobe/functions.h"

struct functions {
	int fd; /* -1 = image */
	struct elf_file *file;
	char *text; /* all names */
	struct uprobe_function *all;
	size_t nr;
	const char **names; /* of all functions, one after the other */
	char **shown;	    /* of each of names; NULL = as linked; made when first needed */
	size_t nr_names;
	uint64_t *labels; /* addresses of all symbols in code, ascending */
	size_t nr_labels;
	char **unnamed; /* texts that stand for names */
	size_t nr_unnamed, cap_unnamed;
	bool are_go, are_stripped;
};

/*
 * The function without a name that holds an address of code: from where the unwind table says that
 * one begins to the next one, or from the address itself to the end of the code. False: no code.
 */
bool function_unnamed(struct functions *fs, uint64_t address, struct uprobe_function *f);

/* A function as it is handed out: with one of its names in front. */
struct uprobe_function function_named(const struct uprobe_function *f, const char *name);

#endif
