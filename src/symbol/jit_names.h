/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of generated code, by the files that runtimes write for profilers: the perf map (a line per
 * piece of code) and jitdump (binary, with source lines). Format: the kernel's
 * tools/perf/Documentation/jit-interface.txt and jitdump-specification.txt, version 2.
 *
 * Such a file is a history that may be much longer than what was sampled: of what it tells only
 * that is kept which lies at addresses that will be asked for, and texts stay in the file. So
 * memory goes by the addresses, whatever is written. Of several pieces of code that lay at an
 * address the last one told names it.
 *
 * The files are written by the profiled process, who may lie, but only of itself; and who may tell
 * the same addresses over and over: after 30 million names put, what else there is is not read.
 */
#ifndef BPFPROF_SYMBOL_JIT_NAMES_H
#define BPFPROF_SYMBOL_JIT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is read of a file at most; a map of 256 MB names some 4 million pieces of code. */
#define JIT_FILE_MAX (256ull << 20)
/* What is shown of a name at most. */
#define JIT_NAME_MAX 1023

/* Bytes of a file; none when len is 0. */
struct jit_text {
	uint64_t offset;
	uint32_t len;
};

/* What is known of an address. */
struct jit_name {
	int fd; /* that its texts are in */
	struct jit_text name, file;
	uint32_t line; /* 0 = not known */
};

struct jit_names {
	const uint64_t *addresses; /* ascending, borrowed */
	size_t nr;
	struct jit_name *names; /* one for each */
	uint64_t budget;	/* of names that may still be put, 0 = no more are */
};

/* addresses must stay until jit_names_release(). */
void jit_names_init(struct jit_names *n, const uint64_t *addresses, size_t nr);
void jit_names_release(struct jit_names *n);

/* Reads a perf map, or a jitdump file, from its begin. Returns how many pieces of code it tells. */
size_t jit_map_read(struct jit_names *n, int fd);
size_t jit_dump_read(struct jit_names *n, int fd);

/*
 * For these two: the addresses in [start, start + size), of which *nr are returned, to be named
 * once each.
 */
struct jit_name *jit_names_in(struct jit_names *n, uint64_t start, uint64_t size, size_t *nr);

/* What is known of an address that was given, NULL when nothing is. */
const struct jit_name *jit_names_at(const struct jit_names *n, uint64_t address);

/* Copies a text, as much as fits, and ends it with NUL. False: it cannot be read any more. */
bool jit_text_read(int fd, const struct jit_text *t, char *buf, size_t sz);

#endif
