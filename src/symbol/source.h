/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sources of names: whoever can say which functions lie at an address of a module. Each is one file
 * with a struct symbol_source_ops, and one row of SYMBOL_SOURCES.
 *
 * The symbolizer goes through the modules one after the other. For each it asks the groups of
 * sources in order until one knows the address. Of the sources of a group only the first that opens
 * is asked, so a file with a full symbol table has no other table read.
 *
 * What DWARF says (SYMBOL_LINES) is about the inside of a function; what the function itself is
 * called the groups behind it know better: compilers leave out suffixes (".cold"), and the names of
 * some functions. So its answer gets the name of the symbol that stands where the function begins.
 */
#ifndef BPFPROF_SYMBOL_SOURCE_H
#define BPFPROF_SYMBOL_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/prof.h"
#include "elf/elf_file.h"
#include "proc/jit_files.h"
#include "profile/profile.h"
#include "symbol/debug_file.h"

#define SYMBOL_DEBUG_DIR "/usr/lib/debug"

/*
 * Who knows what lies at kernel addresses: ask() fills in the texts of nr questions, at most
 * PROF_KSYM_BATCH, and returns 0 or a negative errno. NULL: nobody does.
 */
struct symbol_kernel {
	int (*ask)(void *arg, struct prof_ksym *questions, size_t nr);
	void *arg;
};

/* Files that the DWARF of a module leads to, and that are not there; "" = none. */
struct symbol_missing {
	char alt[256]; /* what debug files share (dwz) */
	char dwo[256]; /* the first half of a split unit … */
	uint32_t nr_dwo;
	uint32_t unread; /* enum debug_image_unread: its DWARF is there */
};
/* The end of a path that is too long. */
void symbol_missing_set(char to[256], const char *path);

/* What source lines and inlined calls may cost, of all modules, and did. */
struct symbol_lines {
	bool no_inline;
	uint64_t deadline_ns; /* CLOCK_MONOTONIC; each module gets half of what is left at most */
	int cache_dir;	      /* of cache_dir.h; -1 = nothing is kept */
	uint64_t nr_late;     /* addresses for which there was no time */
	struct symbol_missing missing; /* of the module that was asked for last */
};

/* Frames of one kind and module, and what there is to name them by. All of it is borrowed. */
struct symbol_module {
	enum frame_kind kind;
	const char *path;		       /* as the process saw it, "" = none */
	uint32_t pid;			       /* for FRAME_ANON: whose code, 0 = not known */
	const struct elf_file *file;	       /* NULL = there is none, or it is no ELF file */
	const struct debug_files *debug_files; /* NULL = there are none */
	struct symbol_lines *lines;	       /* NULL = neither lines nor inlined calls */
	const struct jit_files *jit;	       /* for FRAME_ANON; NULL = none */
	uint8_t *jit_lacks;		       /* out: ANSWERS_MAP_* bits; NULL = nobody asks */
	const struct symbol_kernel *kernel;    /* for FRAME_KERNEL */
	const uint64_t *addresses;	       /* that will be asked for, ascending */
	size_t nr;
};

struct symbol_function {
	const char *name; /* as the linker has it; NULL in SYMBOL_LINES = not known there */
	const char *file; /* of the source code, NULL = not known */
	uint32_t line;	  /* 0 = not known */
	uint32_t begin;	  /* the line where the function begins, the same */
};

/* What a source says of an address. Strings stay until it is asked again. */
struct symbol_found {
	struct symbol_function
		chain[FRAME_MAX_FUNCTIONS]; /* innermost first; the last is no inline */
	size_t nr;			    /* 0: the name is not known, but one of these is */
	uint64_t start; /* where the function or its part begins, as linked; 0 = not known */
	uint64_t next;	/* the address of the one behind it; 0 = not known */
	/*
	 * Offsets of the file that the source says the same of, also where it knows nothing: [from,
	 * to), of which the address is one. Both 0: it does not know.
	 */
	uint64_t from, to;
	const char *module; /* of kernel code, whose address must not stay: "[nf_tables]" … */
	uint64_t offset;    /* … and how far into the function it lies */
};

/* In the order in which they are asked. */
enum symbol_group {
	SYMBOL_OWN_LINES, /* of a language's own table: symbols have no better names */
	SYMBOL_LINES,	  /* names, inlined calls and source lines of parts of a file */
	SYMBOL_NAMES,
	SYMBOL_HIDDEN_NAMES, /* that the table of exported ones leaves out */
	SYMBOL_STUBS,	     /* entries of the procedure linkage table */
	SYMBOL_STARTS,	     /* of functions without a name */
	SYMBOL_NR_GROUPS,
};

struct symbol_source_ops {
	const char *name; /* for people */
	enum symbol_group group;
	enum frame_kind kind; /* that it knows of */
	/* NULL: it knows nothing of this module, and the next one of the group may try. */
	void *(*open)(const struct symbol_module *m);
	/*
	 * An address is a frame's offset: of a file, or in memory. found comes in empty; false: not
	 * known. Addresses come in ascending order, but for those that found->next gave.
	 */
	bool (*find)(void *source, uint64_t address, struct symbol_found *found);
	/* Answers are with who asked by now: what is kept for the next time may be written. */
	void (*close)(void *source);
};

/* Of a group, the best one first. */
#define SYMBOL_SOURCES(X)                                                                          \
	X(kernel)                                                                                  \
	X(jit)                                                                                     \
	X(gopclntab)                                                                               \
	X(dwarf)                                                                                   \
	X(symtab)                                                                                  \
	X(debug_file)                                                                              \
	X(dynsym)                                                                                  \
	X(mini_debug)                                                                              \
	X(plt)                                                                                     \
	X(starts)

#define X(name) extern const struct symbol_source_ops symbol_source_##name;
SYMBOL_SOURCES(X)
#undef X

/* The sources of one module, each opened when it is first needed. */
struct symbol_sources {
	const struct symbol_module *module;
	struct {
		bool tried;
		const struct symbol_source_ops *ops; /* NULL = no source opened */
		void *source;
	} groups[SYMBOL_NR_GROUPS];
};

/* m must stay until symbol_sources_close(). */
void symbol_sources_open(struct symbol_sources *s, const struct symbol_module *m);
/* False, and found is empty, when no source knows the address. */
bool symbol_sources_find(struct symbol_sources *s, uint64_t address, struct symbol_found *found);
void symbol_sources_close(struct symbol_sources *s);

#endif
