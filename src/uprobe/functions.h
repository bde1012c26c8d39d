/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions of an ELF file that a probe can stand on: from .symtab of the file or its debug
 * file, and from .dynsym; of a stripped Go program from .gopclntab. Names of one address are names
 * of one function. Where symbols overlap, both are functions; one without a size reaches to the
 * next symbol, at most to the end of its section.
 *
 * Limits: 1.1 million symbols and 256 MB of names; a file with more counts as one without symbols.
 */
#ifndef BPFPROF_UPROBE_FUNCTIONS_H
#define BPFPROF_UPROBE_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/elf_file.h"
#include "symbol/companion.h"
#include "uprobe/spec.h"

struct uprobe_function {
	const char *name; /* as the linker has it: the one that was asked for, else the best */
	const char *const *names; /* all of them */
	size_t nr_names;
	uint64_t address, size; /* as linked */
	uint64_t offset;	/* in the file, which is what the kernel wants */
	/*
	 * The linker calls it once to learn where the function is: a probe here does not see calls
	 * of the function. functions_implementations() may know where those are.
	 */
	bool is_ifunc;
	bool begins_anywhere; /* it has no name (nr_names is 0), and nobody says where it begins */
};

struct functions;

/*
 * NULL with errno: ENOEXEC for what is no such ELF file, else as open(2). A file without symbols
 * opens, and has none. An image must stay until functions_free(), and has no debug file.
 */
struct functions *functions_open(const char *path);
struct functions *functions_open_image(const void *image, size_t sz);
/*
 * The same of an open file, for who may open none; debug: of nr open ones that which belongs to it,
 * if any, names its functions. All must stay open.
 */
struct functions *functions_open_files(int fd, const int *debug, size_t nr);
/* Does a debug file help? */
bool functions_want_debug(int fd, struct companion_wants *w);
void functions_free(struct functions *fs);

/* The file itself, until functions_free(). */
const struct elf_file *functions_file(const struct functions *fs);

/* By address, each address once. */
const struct uprobe_function *functions_all(const struct functions *fs, size_t *nr);

/* Nothing but the names that others link to is known of it, or none at all. */
bool functions_are_stripped(const struct functions *fs);

/* Go's runtime moves stacks and dies of a return probe: see place_returns(). */
bool functions_are_go(const struct functions *fs);

/*
 * What spec means, as an array to be freed: 0 functions for no match. A name is one as linked, or
 * demangled with or without its parameters; patterns match either. UPROBE_OFFSET gives the function
 * that holds the address, in a stripped file one without a name; whether an instruction begins
 * there is asked of place_is_instruction(). Returns 0, or -EINVAL for a bad expression with a
 * sentence in *why, to be freed. UPROBE_USDT has no functions.
 */
int functions_find(struct functions *fs, const struct uprobe_spec *spec,
		   struct uprobe_function **out, size_t *nr, char **why);

/* The innermost function that holds an address; NULL when none does. */
const struct uprobe_function *functions_at(const struct functions *fs, uint64_t address);

/* A name near to one that was not found, as it would be typed; NULL when none is. */
const char *functions_near(struct functions *fs, const char *name);

/* As people write it: demangled without parameters, else the name itself. */
const char *functions_shown(struct functions *fs, const struct uprobe_function *f);

/*
 * The functions that an IFUNC may stand for, by their names: "__memcpy_avx_unaligned_erms" of
 * "memcpy". An array to be freed; empty where the file's symbols do not name them, which is usual
 * without a debug file.
 */
void functions_implementations(const struct functions *fs, const struct uprobe_function *ifunc,
			       struct uprobe_function **out, size_t *nr);

/* Whether any symbol, of a function or not, names an address in (from, to] of the code. */
bool functions_have_label(const struct functions *fs, uint64_t from, uint64_t to);

#endif
