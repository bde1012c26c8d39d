/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files that belong to another file: its debug file, what several debug files share (dwz), and
 * packages of split units (dwp).
 * Which ones are wanted is read from a file; opening them is a separate step, and the only place
 * that opens files for sources of names, so that who reads bytes of a target needs no right to open
 * anything. What was opened is believed by who reads it (debug_file.h), not here.
 *
 * Opened are regular files of at most 4 GB, without waiting for anybody.
 */
#ifndef BPFPROF_SYMBOL_COMPANION_H
#define BPFPROF_SYMBOL_COMPANION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/elf_file.h"

#define COMPANION_MAX_NAME 4096
#define COMPANION_MAX_LINK 256

/* What a file says of the files that belong to it. */
struct companion_wants {
	uint8_t build_id[20]; /* its own, and so its debug file's */
	size_t build_id_len;
	char link[COMPANION_MAX_LINK]; /* .gnu_debuglink: a name without a folder, "" = none */
	uint32_t link_crc;
	char alt[COMPANION_MAX_NAME]; /* .gnu_debugaltlink: a path, "" = none */
	uint8_t alt_id[20];
	size_t alt_id_len;
};

void companion_wants_read(struct companion_wants *w, const struct elf_file *f);

#define COMPANION_MAX_FILES 4

/*
 * Opens what may be the debug file of a file at a path ("" = not known), best first: by build-id
 * and by its link, below dir and beside the file. Returns how many fds there are, to be closed.
 */
size_t companion_open_debug(const struct companion_wants *w, const char *path, const char *dir,
			    int fds[COMPANION_MAX_FILES]);

/*
 * The same of what the debug file shares with others; w is what the debug file itself wants, and
 * path its own, from which a relative one leads on.
 */
size_t companion_open_alt(const struct companion_wants *w, const char *path, const char *dir,
			  int fds[COMPANION_MAX_FILES]);

/* Where that should be by its path; to be freed. */
char *companion_alt_path(const struct companion_wants *w, const char *path);

/*
 * The same of packages with the halves of split units (.dwp): beside files at nr paths ("" = not
 * known), by build-id below dir, as debuggers look for them, and there by the name of the first
 * file. Only their contents tell whether they belong there.
 */
size_t companion_open_packages(const char *const *paths, size_t nr, const uint8_t *id, size_t len,
			       const char *dir, int fds[COMPANION_MAX_FILES]);

/* A file whose whole path is in another one (split DWARF); -1: there is none of that kind. */
int companion_open_path(const char *path);

#endif
