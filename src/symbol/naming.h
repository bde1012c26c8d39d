/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which entries of a symbol table are names of code, and which of several names for one place is
 * shown.
 */
#ifndef BPFPROF_SYMBOL_NAMING_H
#define BPFPROF_SYMBOL_NAMING_H

#include <stdbool.h>

/*
 * Empty, ".L…" (labels of the assembler) or "$x", "$d.7", "$xrv64…" (mapping symbols). Four bytes
 * of it suffice.
 */
bool naming_is_marker(const char *name);

/*
 * Below 0 when a is to be shown rather than b: fewer leading underscores, then shorter, then byte
 * order.
 */
int naming_compare(const char *a, const char *b);

/* Cuts "@VERSION" and "@@VERSION" off, in place. */
void naming_strip_version(char *name);

#endif
