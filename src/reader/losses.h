/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What sick children may cost, however many there are: a lump, and a twentieth of the time. Those
 * that hang, and those that somebody stops or kills.
 */
#ifndef BPFPROF_READER_LOSSES_H
#define BPFPROF_READER_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

struct losses {
	uint64_t ns; /* less what time has healed */
	uint64_t at_ns;
};

/* Of one question: the time since then. */
void losses_add(struct losses *l, uint64_t since_ns);

/* Nothing is to be tried again. */
bool losses_are_many(struct losses *l);
/* Nothing is to be asked. */
bool losses_are_too_many(struct losses *l);

#endif
