/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How much of a profile's weight is in user code without a name, and what would name it. A sample
 * counts by its innermost user frame, also where it was taken in the kernel.
 */
#ifndef BPFPROF_PROFILE_NAMELESS_H
#define BPFPROF_PROFILE_NAMELESS_H

#include <stdbool.h>

#include "profile/profile.h"

/*
 * What meta.debug_packages has: a line for each file that was looked up, with its path, a space,
 * and the package that has its debug symbols as dpkg calls it, or one of these.
 */
#define NAMELESS_INSTALLED "." /* its debug file is there */
#define NAMELESS_OF_RPM	   "?" /* a package of rpm, which dnf finds */

#define NAMELESS_LISTED 1.0 /* percent, below which a module without names is not listed */

struct nameless_row {
	uint32_t module;  /* a file, or a process's generated code; 0 = nothing is known of it */
	uint32_t process; /* the name of one that was in it */
	uint64_t weight;
	bool is_mapped;	  /* generated code, of which its runtime named other parts */
	bool is_packaged; /* a file, which lies where distributions put theirs */
	bool is_inlined;  /* a part of it at least is calls that were put into others */
	char *remedy;
};

/* Rows by weight, heaviest first, ties by the order of modules. */
struct nameless {
	struct nameless_row *rows;
	size_t nr;
	uint64_t all;	  /* weight of samples with user frames */
	uint64_t weight;  /* of all rows */
	uint64_t inlined; /* of samples in functions that the compiler put into others */
};

void nameless_init(struct nameless *n, const struct profile *p);
void nameless_release(struct nameless *n);

/* Has a frame, which is no kernel's, but a stand-in for a name? */
bool nameless_frame(const struct profile *p, uint32_t frame);

#endif
