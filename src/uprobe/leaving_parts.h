/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the searches for ways out share: of a function, and of what it goes on as. */
#ifndef BPFPROF_UPROBE_LEAVING_PARTS_H
#define BPFPROF_UPROBE_LEAVING_PARTS_H

#include "uprobe/insn.h"
#include "uprobe/leaving.h"

/* A list that grows. */
struct leaving_ways {
	struct leaving *v;
	size_t nr, cap;
};

/* insn is an instruction of in. */
void leaving_ways_add(struct leaving_ways *to, const struct uprobe_function *in,
		      const struct insn *insn);

/*
 * Does it jump to where a pointer leads, and not by a table of its own cases? computed: registers,
 * from 0 at the first instruction of a function on.
 */
bool leaving_by_pointer(const struct insn *insn, uint32_t *computed);

#endif
