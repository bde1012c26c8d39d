/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where code may be entered other than by running into it. A probe behind the entry of a function
 * misses whoever comes in between, so whatever may be a way in is marked: rather one too many, for
 * which a place stays dear, than one too few.
 *
 *	- On x86-64, each sequence of bytes that is a branch with a 4-byte offset, wherever it
 *	  begins: all true branches are among them, in functions without a symbol, cold parts and
 *	  the PLT as well, and chance hits one in thousands. Branches with a 1-byte offset are as
 *	  many as the bytes they could be made of; they reach 127 bytes, so they are looked for
 *	  when somebody asks.
 *	- On aarch64, each word that is a branch or computes a near address (adr).
 *	- Addresses that code computes: lea of something near, on x86-64; a constant that is an
 *	  address of code, where the file is linked to its final addresses.
 *	- Pointers in data: relocations with an addend, and aligned words that are an address of
 *	  code: function tables, labels of computed gotos, jump tables of 8 bytes.
 *	- Jump tables of 4 bytes, relative to themselves: from each near address that code computes,
 *	  entries are followed while they lead into code.
 *
 * Not seen are tables of 1 or 2 bytes (aarch64, gcc), so there a function with an indirect jump
 * counts as entered everywhere: entries_may_hide(). An indirect jump of x86-64 has a target that a
 * pointer, a table or a constant says, all of which are above. Landing pads of exceptions are no
 * way in: they never follow the first instructions of a function without a branch between. Where a
 * call returns to or a signal interrupted lies behind a call or anywhere; in (E, P] there is no
 * call, and what was interrupted there passed E or P as if it had not been.
 */
#ifndef BPFPROF_UPROBE_ENTRIES_H
#define BPFPROF_UPROBE_ENTRIES_H

#include <stdbool.h>
#include <stdint.h>

#include "elf/elf_file.h"
#include "uprobe/image.h"

/* Marks in img, of file f. False: too much to look at, so that nothing is known. */
bool entries_mark(struct image *img, const struct elf_file *f);

/* The two architectures' part of it: all of a range of code. */
void entries_mark_x86(struct image *img, const struct image_range *r);
void entries_mark_arm64(struct image *img, const struct image_range *r);

/* Marks what a table of 4-byte offsets from itself at base leads to. */
void entries_mark_table(struct image *img, uint64_t base);

/* Whether [address, address + sz) of aarch64 jumps where no mark may say. */
bool entries_may_hide(const struct image *img, uint64_t address, uint64_t sz);

#endif
