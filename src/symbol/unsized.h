/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How far the name of a symbol without a size holds. Hand-written code has such symbols, and
 * between two of them there may be dozens of functions without any: a name that is wrong is worse
 * than none.
 */
#ifndef BPFPROF_SYMBOL_UNSIZED_H
#define BPFPROF_SYMBOL_UNSIZED_H

#include <stdbool.h>
#include <stdint.h>

#include "symbol/fdes.h"

#define UNSIZED_REACH 4096u

/*
 * Whether nothing in a file with these functions (which may be none) speaks against it that code
 * at vaddr belongs to a symbol at start, not above it: it lies at most UNSIZED_REACH - 1 behind, no
 * other function of .eh_frame_hdr begins between them, and none of it ends; and there is no return
 * that is followed by padding. The last is looked for byte by byte, so it may be seen where it is
 * not, and the name is lost.
 */
bool unsized_reaches(const struct elf_file *f, const struct fdes *fdes, uint64_t start,
		     uint64_t vaddr);

#endif
