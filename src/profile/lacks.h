/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Why code has no names, as far as a recording found out: what a file, its debug file, a server or
 * a runtime lacked. Kept in meta.lacks as text, a line for each finding, so that reports of saved
 * recordings tell the same. Advice is made of it in nameless.c.
 */
#ifndef BPFPROF_PROFILE_LACKS_H
#define BPFPROF_PROFILE_LACKS_H

#include <stdbool.h>

#include "profile/profile.h"

/* By their words in lacks.c, which reach saved files. */
enum lack {
	LACK_BUILD_ID,	   /* the file has none */
	LACK_ELF,	   /* it is no ELF file that we read */
	LACK_SECTIONS,	   /* its section table does not lie in it */
	LACK_READ,	   /* it was not read; detail: why */
	LACK_LINKED,	   /* its link's debug file is nowhere; detail: its name */
	LACK_LINKED_BUILD, /* ... is of another build; detail: its name */
	LACK_SERVER,	   /* no server was reached */
	LACK_SERVER_TIME,  /* none answered in time */
	LACK_SERVER_FILE,  /* none has its debug file */
	LACK_SERVER_NAMES, /* one has, and that has no names for this code */
	LACK_MAP_OWNER,	   /* the perf map is of another user; detail: its path, and whose */
	LACK_MAP_TYPE,	   /* it is no regular file; detail: its path */
	LACK_MAP_LINK,	   /* it is a symbolic link; ... */
	LACK_MAP_RIGHTS,   /* it may not be read; ... */
	LACK_MAP_LARGE,	   /* it is read to JIT_FILE_MAX only; ... */
	LACK_MAP_AGE,	   /* it is older than the process; ... */
	LACK_MAP_LINES,	   /* no line of it is one of a perf map; ... */
	LACK_NO_TABLE,	   /* the file has no section table */
	LACK_JAVA,	   /* a JVM that was asked wrote no names; detail: why */
	LACK_SERVER_ERROR, /* one failed to answer; detail: its code of HTTP */
	LACK_DWARF_PACKED, /* its DWARF is compressed in a way that is not read */
	LACK_DWARF_LARGE,  /* it is larger than what is read */
	LACK_DWARF_MEMORY, /* there was too little memory for it */
	LACK_DWARF_DIED,   /* who read it died */
	LACK_SERVERS,	   /* detail: the servers that were asked; of no file */
	LACK_PYTHON,	   /* functions of Python: the process may not be looked into */
	LACK_PYTHON_OTHER, /* ... or something else; detail: why */
	LACK_NR,
};

/* Findings of one pass, before they are in a profile. {} is empty. */
struct lacks {
	char *text;
	size_t sz, cap;
};

/* key: path of the file, or lacks_key() of a process. Control characters of a detail become '?'. */
void lacks_add(struct lacks *l, enum lack what, const char *key, const char *detail);
/* Moves all to p, but for what it has already; l is empty then. */
void lacks_move(struct lacks *l, struct profile *p);
void lacks_release(struct lacks *l);
/* What another recording found out, as its meta.lacks says it, is p's as well. */
void lacks_join(struct profile *p, const char *text);
/* Of the same text p gets what was not told before, and nothing else. From then on it was told. */
void lacks_tell(struct lacks *told, const char *text, struct profile *p);

#define LACKS_KEY_MAX 32
/* Generated code of a process. */
const char *lacks_key(uint32_t pid, char key[LACKS_KEY_MAX]);

bool lacks_has(const struct profile *p, enum lack what, const char *key);
/* What was found of it, fit to be printed, to be freed; NULL: nothing was. */
char *lacks_detail(const struct profile *p, enum lack what, const char *key);
/* How many files or processes lack that. */
size_t lacks_count(const struct profile *p, enum lack what);
/* As lacks_detail(), of the first one that lacks it. */
char *lacks_first(const struct profile *p, enum lack what);

#endif
