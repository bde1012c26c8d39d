/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stubs of the procedure linkage table. A library calls also functions of its own by them, if
 * others may have one of the same name instead.
 */
#ifndef BPFPROF_UPROBE_STUBS_H
#define BPFPROF_UPROBE_STUBS_H

#include "uprobe/functions.h"

struct stubs;

/* fs must stay until stubs_free(). */
struct stubs *stubs_new(const struct functions *fs);
void stubs_free(struct stubs *s);

bool stubs_has(const struct stubs *s, uint64_t address);

/* The function of this file that a stub jumps to, as long as no other file has one; NULL = none. */
const struct uprobe_function *stubs_lead_to(struct stubs *s, uint64_t address);

#endif
