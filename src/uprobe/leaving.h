/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How the return of a function may be seen. The kernel's return probe replaces the return address
 * on the stack by a trampoline, which unwinders in the program itself know nothing of: an exception
 * of C++, a panic of Rust, or a thread that is cancelled ends the program when it comes by. And Go
 * moves its stacks by their return addresses. So a return probe stands only where nothing of that
 * can pass; elsewhere a probe stands on each instruction that leaves the function, which costs a
 * second trap but changes nothing.
 */
#ifndef BPFPROF_UPROBE_LEAVING_H
#define BPFPROF_UPROBE_LEAVING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uprobe/functions.h"
#include "uprobe/place.h"

/* Is all code of the file such that unwinders may pass through it? Asked once for a file. */
enum leaving_file {
	LEAVING_C,	 /* none does, as far as the file tells */
	LEAVING_LIBC,	 /* only where it is known to call back, and where threads are cancelled */
	LEAVING_UNWINDS, /* C++, Rust, C that ends or cancels threads; and what does not tell */
	LEAVING_GO,
};
enum leaving_file leaving_of_file(const struct functions *fs, const char *path);

/* May a return probe stand on f? */
bool leaving_by_probe(enum leaving_file file, const struct uprobe_function *f);

/* An instruction that leaves a function, by its offset in the file. */
struct leaving {
	uint64_t offset;
	bool jumps; /* to another function: what will be returned is not known yet */
};

/*
 * All instructions that leave f for good: returns, and jumps to other
 * functions, also by pointers, and in the parts that the compiler has put aside (".cold").
 * Conditional jumps to other functions are not seen as ways out. To be freed. Returns 0, -EILSEQ
 * when a byte of f cannot be decoded.
 */
int leaving_find(struct places *p, const struct functions *fs, const struct uprobe_function *f,
		 struct leaving **v, size_t *nr);

/*
 * The same, but where f goes on as another function of the file, always or on a condition, it is
 * that one's ways out: what f returns is known there. They are those of its other callers too, so
 * whoever is told must know the call by its stack pointer. Jumps by pointers, and to other files,
 * stay ways out.
 */
int leaving_find_last(struct places *p, const struct functions *fs, const struct uprobe_function *f,
		      struct leaving **v, size_t *nr);

/* Does f do nothing but go on as others, all of which are accepted? Each of its calls is theirs. */
bool leaving_only_for(struct places *p, const struct functions *fs, const struct uprobe_function *f,
		      bool (*is_one)(void *arg, const struct uprobe_function *next), void *arg);

#endif
