/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of Go functions where a Go program was stripped: its runtime needs them for panics, so they
 * are in .gopclntab all the same. The table of Go 1.18 and newer is read.
 */
#ifndef BPFPROF_UPROBE_GOPCLNTAB_H
#define BPFPROF_UPROBE_GOPCLNTAB_H

#include <stdbool.h>
#include <stdint.h>

#include "elf/elf_file.h"

/*
 * Calls each for all functions, by address, while it returns true. False: there is no such table,
 * or the program has other code before that of Go and the table does not say where Go's begins,
 * which is so for Go 1.26 with cgo; each may have been called before.
 */
bool gopclntab_for_each(const struct elf_file *f,
			bool (*each)(void *arg, const char *name, uint64_t address, uint64_t size),
			void *arg);

#endif
