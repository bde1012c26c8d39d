/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names every frame of a profile in one sorted pass per file: each file is read once, its symbols
 * are dropped before the next is opened, each distinct name is demangled once.
 */
#ifndef BPFPROF_SYMBOL_SYMBOLIZER_H
#define BPFPROF_SYMBOL_SYMBOLIZER_H

#include <stddef.h>

#include "bpf/prof.h"
#include "profile/profile.h"

/* Where a module's bytes are: an open file (fd >= 0, borrowed, position unused) or an image. */
struct symbol_source {
	int fd; /* -1 = none */
	const void *image;
	size_t image_sz;
};

/*
 * Who knows what lies at kernel addresses: ask() fills in the texts of nr questions, at most
 * PROF_KSYM_BATCH, and returns 0 or a negative errno. NULL: nobody does.
 */
struct symbol_kernel {
	int (*ask)(void *arg, struct prof_ksym *questions, size_t nr);
	void *arg;
};

/*
 * Fills name and linkage of all frames, build-ids of modules, and STACK_ROOTED of stacks. sources
 * has one entry per module of p (index = module id). Kernel frames come in with offset = address
 * and leave with module "[kernel]" or "[name of the kernel module]" and offset = offset in the
 * function: no kernel address stays in the profile. What cannot be had leaves frames named
 * "[file+0xaddr]", "[kernel]", "[jit]" or "[unknown]"; that is not an error.
 */
void symbolizer_run(struct profile *p, const struct symbol_source *sources,
		    const struct symbol_kernel *kernel);

#endif
