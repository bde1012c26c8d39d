/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which package of the distribution has the debug symbols of a file: by dpkg's lists of files,
 * since no command is run for it. rpm keeps its own in a database.
 */
#ifndef BPFPROF_SYMBOL_DEBUG_PACKAGE_H
#define BPFPROF_SYMBOL_DEBUG_PACKAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEBUG_PACKAGE_MAX 96

struct debug_package {
	const char *path;	      /* of the file */
	char name[DEBUG_PACKAGE_MAX]; /* "" = not known */
};

/*
 * Fills in names, of a machine whose files are below root ("" for ours). One pass over the lists,
 * 10 MB on a host with 850 packages; nothing bounds how long the disk takes.
 */
void debug_packages_find(const char *root, struct debug_package *files, size_t nr);

/* Is the debug file of that build-id installed below root? */
bool debug_file_is_installed(const char *root, const uint8_t *build_id, size_t len);

/* Has the machine below root packages of rpm, and dnf, which finds their debug symbols? */
bool debug_package_asks_dnf(const char *root);

#endif
