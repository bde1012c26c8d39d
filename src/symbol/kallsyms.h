/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's functions, its modules' and BPF programs', from /proc/kallsyms. Of several names for
 * one address the one shown is T before W before t before w, then by naming_compare().
 */
#ifndef BPFPROF_SYMBOL_KALLSYMS_H
#define BPFPROF_SYMBOL_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kallsyms;

/* Where an address lies. The pointers belong to struct kallsyms. */
struct kallsym {
	const char *name;
	const char *module; /* "[nf_tables]", "[bpf]"; "[kernel]" for what is built in */
	uint64_t offset;    /* into the function */
};

/*
 * NULL with errno when the file cannot be read. Without permission it reads as all zeros: no names
 * then.
 */
struct kallsyms *kallsyms_load(const char *path);
void kallsyms_free(struct kallsyms *k);

/*
 * False when nothing is known: below the first symbol, or 1 MiB and more behind the nearest one, as
 * no function is.
 */
bool kallsyms_find(const struct kallsyms *k, uint64_t addr, struct kallsym *sym);

size_t kallsyms_count(const struct kallsyms *k);

#endif
