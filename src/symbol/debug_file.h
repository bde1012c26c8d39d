/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The separate debug file of a stripped one, and the file that this one shares with others (dwz).
 * Found by companion.h, believed only with the same build-id or, of one found by its link, the
 * checksum that the link tells.
 */
#ifndef BPFPROF_SYMBOL_DEBUG_FILE_H
#define BPFPROF_SYMBOL_DEBUG_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "elf/elf_file.h"
#include "symbol/companion.h"
#include "symbol/debuginfod.h"

/* The addresses of a file and its debug file are the same, but only the file converts offsets. */
struct debug_files {
	struct elf_file *debug; /* NULL: there is none */
	struct elf_file *alt;	/* of the debug file, or of the file when there is none; or NULL */
	char *no_alt;		/* there should be one: where; NULL = none is missing */
	bool link_is_other;	/* what its link names is there, and of another build */
	char link[COMPANION_MAX_LINK]; /* its link, when that gave no debug file; "" = it did */
	enum debuginfod_answer answer; /* of servers */
	uint16_t status;	       /* code of HTTP, of one that failed */
	int debug_fd, alt_fd;
	/* What may have the halves of its split units (.dwp); which it has, its index says. */
	struct elf_file *packages[COMPANION_MAX_FILES];
	int package_fds[COMPANION_MAX_FILES];
	size_t nr_packages;
};

/* f is a file at a path ("" = not known); dir SYMBOL_DEBUG_DIR, NULL = there are none anywhere. */
void debug_files_open(struct debug_files *d, const struct elf_file *f, const char *path,
		      const char *dir);
/* The debug file from a server (debuginfod.h), when there is none yet and f has no DWARF. */
void debug_files_fetch(struct debug_files *d, const struct elf_file *f, uint64_t deadline_ns);
void debug_files_close(struct debug_files *d);
/*
 * Of nr open files the first that is the debug file of f, NULL = none is. It stays open, as the
 * others do, until elf_file_close().
 */
struct elf_file *debug_file_choose(const struct elf_file *f, const int *fds, size_t nr);

#endif
