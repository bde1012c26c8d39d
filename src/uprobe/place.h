/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where on a function a probe is cheap. The kernel emulates a few instructions and single-steps all
 * others, which costs a second trap: 16 times the price on a virtual machine, 2 to 3 times
 * elsewhere. So the probe goes to the first emulated instruction P at or behind the entry E when
 * nobody can tell the difference:
 *
 *	1. E to P is decoded without doubt, inside of the function;
 *	2. at most three instructions are skipped, all of them landing pads or arithmetic of
 *	   registers;
 *	3. they write no register that may hold an argument;
 *	4. where the return address is needed, it is still where it was at E;
 *	5. nothing enters the function between: no branch of the file goes to (E, P], no symbol, no
 *	   unwind entry and no pointer in its data names it.
 *
 * Else the probe stays at E. A call of Go passes E once more when its stack has grown: there P is
 * the instruction behind the check of the stack, at any price.
 */
#ifndef BPFPROF_UPROBE_PLACE_H
#define BPFPROF_UPROBE_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uprobe/functions.h"

enum place_price {
	PLACE_EMULATED,	 /* one trap */
	PLACE_OPTIMISED, /* the kernel makes a call of it: no trap after the first hit */
	PLACE_STEPPED,	 /* two traps */
	PLACE_REFUSED,	 /* the kernel takes no probe on this instruction */
};

/*
 * What the probe needs: with PLACE_RETURN the return address and the stack are as at the entry.
 * What the kernel can do: with NOPS it emulates long nops (x86-64, 6.16) or nop (aarch64, 6.13);
 * with NOP5 it makes a call of a 5-byte nop (x86-64, 6.18), which writes into the red zone of
 * whoever is behind his entry; with NOP10 it makes one of a 10-byte nop, which does no harm.
 */
#define PLACE_RETURN	   1u
#define PLACE_KERNEL_NOPS  2u
#define PLACE_KERNEL_NOP5  4u
#define PLACE_KERNEL_NOP10 8u

struct place {
	uint64_t address, offset; /* as linked; in the file */
	unsigned int skipped;	  /* instructions between the entry and here */
	enum place_price price;
	char insn[48];	 /* the one the probe stands on, as objdump writes it */
	const char *why; /* why here, in a few words */
};

struct places;

/*
 * Reads the code and the pointers of a file once. fs must stay until places_free(). NULL with errno
 * ENOTSUP: code of another architecture than x86-64 and aarch64.
 */
struct places *places_open(const struct functions *fs);
void places_free(struct places *p);

/*
 * 0, or a negative errno when not even the entry can be read: -ENOEXEC. What is dear is no error.
 * An address inside of the function that is not its entry is never moved: place_at().
 */
int place_choose(struct places *p, const struct uprobe_function *f, unsigned int flags,
		 struct place *out);

/*
 * The price of an instruction at an address. -EINVAL: no instruction of f begins there. With
 * PLACE_KERNEL_NOP5 a 5-byte nop behind the entry is PLACE_REFUSED, though the kernel would take
 * it: its call writes into the red zone.
 */
int place_at(struct places *p, const struct uprobe_function *f, uint64_t address,
	     unsigned int flags, struct place *out);

/* Whether an instruction of f begins at an address, by decoding f from its entry. */
bool place_is_instruction(struct places *p, const struct uprobe_function *f, uint64_t address);

/*
 * The file offsets of all return instructions of f, to be freed: where probes of Go's returns go.
 * Returns 0, -EILSEQ when a byte of f cannot be decoded.
 */
int place_returns(struct places *p, const struct uprobe_function *f, uint64_t **offsets,
		  size_t *nr);

#endif
