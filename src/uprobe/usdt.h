/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Probes that a program brings along (USDT): a nop in the code, and a note in .note.stapsdt that
 * names it and says where its arguments are at that moment.
 */
#ifndef BPFPROF_UPROBE_USDT_H
#define BPFPROF_UPROBE_USDT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/elf_file.h"

#define USDT_MAX_ARGS 12

enum usdt_kind {
	USDT_CONSTANT, /* displacement is the value */
	USDT_REGISTER,
	USDT_MEMORY,  /* *(base + displacement) */
	USDT_INDEXED, /* *(base + index * scale + displacement) */
};

/*
 * Registers are numbered as the instructions of the architecture do: x86-64 rax 0, rcx 1, rdx 2,
 * rbx 3, rsp 4, rbp 5, rsi 6, rdi 7, r8 to r15; aarch64 x0 to x30, sp 31.
 */
struct usdt_arg {
	uint8_t kind; /* enum usdt_kind */
	uint8_t size; /* bytes: 1, 2, 4, 8 */
	bool is_signed;
	uint8_t base, index, scale;
	int64_t displacement;
};

/* One place where a probe was compiled in. Offsets are of the file. */
struct usdt_location {
	uint64_t address, offset;
	uint64_t semaphore; /* offset of the counter that switches the probe on, 0 = none */
	const char *args;   /* for usdt_parse_args() */
};

struct usdt_probe {
	const char *provider, *name;
	const struct usdt_location *locations;
	size_t nr_locations;
};

struct usdt;

/*
 * Reads the notes of f, which must stay until usdt_free(). Never NULL; notes that make no sense are
 * left out and counted in usdt_nr_bad().
 */
struct usdt *usdt_open(const struct elf_file *f);
void usdt_free(struct usdt *u);

/* By provider and name, each pair once. */
const struct usdt_probe *usdt_all(const struct usdt *u, size_t *nr);
size_t usdt_nr_bad(const struct usdt *u);

/* The probes that two globs mean, as an array to be freed. Returns how many there are. */
size_t usdt_find(const struct usdt *u, const char *provider, const char *name,
		 struct usdt_probe **out);

/*
 * Parses "4@%edi -8@-24(%rbp)", of code for a machine (EM_X86_64, EM_AARCH64). Returns 0, or
 * -EINVAL with a sentence in *why (to be freed) that holds the operand which is not understood.
 */
int usdt_parse_args(uint16_t machine, const char *text, struct usdt_arg args[USDT_MAX_ARGS],
		    size_t *nr, char **why);

/* Where a register is in the kernel's struct pt_regs of that machine; -1 for no such register. */
int usdt_register_offset(uint16_t machine, uint8_t number);

#endif
