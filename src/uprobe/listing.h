/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Machine code of a file as text: one instruction after the other, from a place where one begins.
 * What is no instruction, or one that the decoder does not know, is shown as its bytes, so that the
 * next ones are found.
 */
#ifndef BPFPROF_UPROBE_LISTING_H
#define BPFPROF_UPROBE_LISTING_H

#include <stddef.h>
#include <stdint.h>

#include "elf/elf_file.h"

#define LISTING_MAX_BYTES (4u << 20)
#define LISTING_MAX_TEXT  192

struct listing_insn {
	uint64_t offset;  /* in the file */
	uint64_t address; /* as linked */
	uint32_t len;
	char text[LISTING_MAX_TEXT];
};

/*
 * Calls each for the instructions of sz bytes at an address, at most LISTING_MAX_BYTES. 0, or
 * -EOPNOTSUPP: a machine that is not known; -ENODATA: the file has no bytes there.
 */
int listing_for_each(const struct elf_file *f, uint64_t address, uint64_t sz,
		     void (*each)(void *arg, const struct listing_insn *insn), void *arg);

#endif
