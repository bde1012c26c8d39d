/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runtimes that generate code, and what makes them show it whole and with names in profiles. */
#ifndef BPFPROF_PROFILE_RUNTIME_H
#define BPFPROF_PROFILE_RUNTIME_H

#include <stdbool.h>

#include "profile/profile.h"

struct runtime {
	const char *process,
		*file;	   /* that it is known by: a process so named, code of such a file */
	const char *whole; /* what makes its stacks whole */
	const char *named; /* what names its code */
};

/* The one of a process so named; never NULL, the one that fits all has no process. */
const struct runtime *runtime_named(const char *process);

/* What the processes of a profile run; begins with all but the profile empty. */
struct runtime_finder {
	const struct profile *profile;
	struct runtime_process *processes;
	bool known;
};

/* The one that a process so named (a string of the profile) runs; never NULL, one fits all. */
const struct runtime *runtime_find(struct runtime_finder *r, uint32_t process);
void runtime_finder_release(struct runtime_finder *r);

#endif
