/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the kernel prints for one of its addresses: "schedule+0x1a/0x120 [nf_tables]". */
#ifndef BPFPROF_SYMBOL_KSYM_H
#define BPFPROF_SYMBOL_KSYM_H

#include <stdbool.h>
#include <stdint.h>

/* The pointers lead into the text that was taken apart, or to constants. */
struct ksym {
	const char *name;
	const char *module; /* "[nf_tables]", "[bpf]"; "[kernel]" for what is built in */
	uint64_t offset;    /* into the function */
};

/*
 * Takes text apart, in place. False when it names no function: empty, or an address, which is what
 * the kernel prints where it knows nothing; the address does not get into sym.
 */
bool ksym_parse(char *text, struct ksym *sym);

#endif
