/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What to probe, as people type it:
 *
 *	TARGET				all functions of a file
 *	TARGET:FUNCTION			libc:malloc, ./server:net::Listener::accept(int)
 *	TARGET:FUNCTION+0xOFF		an instruction inside of a function
 *	TARGET:+0xOFF			the same by its address as linked, as in "[server+0x1234]"
 *	TARGET:GLOB			libpython3.11:PyObject_*
 *	TARGET:/REGEX/			POSIX extended
 *	TARGET:usdt:PROVIDER:NAME	both may be globs
 *
 * each with "+return" behind it. With a process chosen, TARGET and its colon may be left out: its
 * own files are meant then. C++ and Rust names hold "::" and Go names slashes; only a colon that
 * has no other one beside it separates.
 */
#ifndef BPFPROF_UPROBE_SPEC_H
#define BPFPROF_UPROBE_SPEC_H

#include <stdbool.h>
#include <stdint.h>

enum uprobe_kind {
	UPROBE_ALL,    /* each function of the target */
	UPROBE_NAME,   /* function, and offset behind its entry */
	UPROBE_GLOB,   /* function is a pattern, unless a function has just that name */
	UPROBE_REGEX,  /* function is an expression */
	UPROBE_OFFSET, /* offset is an address as linked */
	UPROBE_USDT,   /* provider and function */
};

struct uprobe_spec {
	enum uprobe_kind kind;
	char *target;	/* NULL: the files of the process */
	char *provider; /* of UPROBE_USDT */
	char *function; /* NULL for UPROBE_ALL and UPROBE_OFFSET */
	uint64_t offset;
	bool is_return;
};

/* Whether text ends with "+return": then calls are to be timed. */
bool uprobe_spec_is_return(const char *text);
/*
 * Returns 0, or -EINVAL with a sentence in *why (to be freed) that says what to type; s is empty
 * then. has_process: a process is chosen, so that a word without a colon is a function of it unless
 * it begins with '/' or '.'.
 */
int uprobe_spec_parse(struct uprobe_spec *s, const char *text, bool has_process, char **why);
void uprobe_spec_release(struct uprobe_spec *s);

#endif
