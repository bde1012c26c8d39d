/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names every frame of a profile in one sorted pass per file: each file is read once, its symbols
 * are dropped before the next is opened, each distinct name is demangled once.
 */
#ifndef BPFPROF_SYMBOL_SYMBOLIZER_H
#define BPFPROF_SYMBOL_SYMBOLIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/file_id.h"
#include "profile/profile.h"
#include "symbol/source.h"

/*
 * Where a module's bytes are: an open file (fd >= 0, borrowed, position unused) or an image; of
 * generated code, what its runtime wrote of it.
 */
struct symbol_file {
	int fd;		   /* -1 = none */
	struct file_id id; /* of fd */
	const void *image;
	size_t image_sz;
	struct jit_files *jit; /* NULL = nothing is known */
};

struct kept;
struct reader_late;

/* What names may cost. */
struct symbol_options {
	uint64_t time_ns; /* for source lines and inlined calls, 0 = without */
	bool time_given;  /* that somebody asked for, and waits for whatever happens */
	bool no_inline;	  /* functions only */
	bool debuginfod;  /* ask servers for debug files */
	bool no_cache;	  /* DWARF is read again each time */
	/*
	 * Who writes what is kept, while names are used; for reader_late_end(). NULL: it is waited
	 * for.
	 */
	struct reader_late *late;
	/*
	 * Somebody waits for the result: what is not there by then is left out, lines and inlined
	 * calls at first; 0 = nobody does.
	 */
	uint64_t until_ns;
	struct kept *kept; /* what files said before, for who does without lines; or NULL */
	/*
	 * Who names again and again: how much each frame matters, 0 = not at all for now; NULL =
	 * all do. What matters most comes first, and a file is read only when that may be, else its
	 * frames keep having no name.
	 */
	const uint32_t *wanted;
	bool (*may_read)(void *arg); /* or NULL */
	/*
	 * Asked again and again: whether what takes long is to be left out from now on, lines and
	 * debug files of servers. Or NULL.
	 */
	bool (*hurry)(void *arg);
	void *arg;
};
#define SYMBOL_TIME_NS	  5000000000ull
#define SYMBOL_SERVERS_NS 60000000000ull /* for all that servers are asked for */

/*
 * Fills name and linkage of all frames that have none, build-ids of their modules, and STACK_ROOTED
 * of stacks. files has one entry per module of p (index = module id); NULL for a recording that was
 * loaded, of which generated code may be known better by now: frames named "[jit]" are asked for
 * again. kernel NULL: nobody knows the kernel. Kernel frames come in with offset = address and
 * leave with module "[kernel]" or "[name of the kernel module]" and offset = offset in the
 * function: no kernel address stays in the profile. What no source knows leaves frames named
 * "[file+0xaddr]", "[kernel]", "[jit]" or "[unknown]"; that is not an error. Frames whose lines
 * time did not suffice for are counted in meta.frames_late.
 */
void symbolizer_run(struct profile *p, const struct symbol_file *files,
		    const struct symbol_kernel *kernel, const struct symbol_options *options);

#endif
