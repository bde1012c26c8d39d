/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The separate debug file of a stripped one. */
#ifndef BPFPROF_SYMBOL_DEBUG_FILE_H
#define BPFPROF_SYMBOL_DEBUG_FILE_H

#include "elf/elf_file.h"

/*
 * Opens what dir (SYMBOL_DEBUG_DIR) has for the build-id of f: only f itself converts offsets, but
 * the addresses of both are the same. The caller closes the result, then *fd. NULL: there is none.
 */
struct elf_file *debug_file_open(const struct elf_file *f, const char *dir, int *fd);

#endif
