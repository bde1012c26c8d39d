/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runtimes that generate code, and what makes them show it whole and with names in profiles. */
#ifndef BPFPROF_PROFILE_RUNTIME_H
#define BPFPROF_PROFILE_RUNTIME_H

#include "profile/profile.h"

struct runtime {
	const char *process,
		*file;	   /* that it is known by: a process so named, code of such a file */
	const char *whole; /* what makes its stacks whole */
	const char *named; /* what names its code */
};

/* The one of a process so named; never NULL, the one that fits all has no process. */
const struct runtime *runtime_named(const char *process);

/* The one that a process so named (a string of p) runs; never NULL, one of them fits all. */
const struct runtime *runtime_of(const struct profile *p, uint32_t process);

#endif
