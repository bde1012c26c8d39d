/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Code whose rule is known although no call frame information covers it: the linker's stubs, the
 * entry point, what signal handlers return to, and the functions of an aarch64 vDSO.
 */
#ifndef BPFPROF_UNWIND_STUBS_H
#define BPFPROF_UNWIND_STUBS_H

#include "unwind/layout.h"

#define STUBS_MAX_ENTRY_BYTES 128  /* of code at the entry point */
#define STUBS_MAX	      4096 /* pieces; a vDSO has less than 20 */

struct stub {
	uint64_t start, end; /* link addresses */
	uint32_t rule;
	bool whole; /* counts only when its first byte is not covered otherwise */
};

struct stubs {
	const struct layout *layout;
	struct stub *list; /* ascending, disjoint */
	size_t nr, cap;
};

/* is_vdso: its functions without call frame information are looked into. */
void stubs_init(struct stubs *s, const struct layout *l, bool is_vdso);
void stubs_release(struct stubs *s);

#endif
