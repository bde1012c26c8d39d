/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of the busiest programs say of themselves, and which packages would say more. */
#ifndef BPFPROF_DOCTOR_BINARIES_H
#define BPFPROF_DOCTOR_BINARIES_H

#include <stdio.h>

#include "doctor/machine.h"

enum binary_state {
	BINARY_BARE,  /* no names but those it exports */
	BINARY_NAMES, /* names, no lines and no inlined calls */
	BINARY_FULL,
};

/* A line for each: its name, its state as a number, and its package of debug symbols or "-". */
void binaries_describe(const struct machine *m, FILE *out);

#endif
