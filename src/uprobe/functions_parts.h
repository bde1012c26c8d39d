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
	bool are_go;
};

/* A function as it is handed out: with one of its names in front. */
struct uprobe_function function_named(const struct uprobe_function *f, const char *name);

#endif
