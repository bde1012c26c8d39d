/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which file the TARGET of a probe is: a path is itself. A name ("c", "libc", "libc.so.6", "ssl",
 * "bash") is first one of what the chosen process has mapped; else it is looked for in the cache of
 * the dynamic linker, in the standard directories, and last as a program in $PATH.
 */
#ifndef BPFPROF_UPROBE_TARGET_H
#define BPFPROF_UPROBE_TARGET_H

#include <stdbool.h>

/*
 * The path to open, to be freed. NULL with a sentence in *why, to be freed. Of several versions of
 * a library, the newest is taken. Looks at names, and at the first bytes of files that have that
 * name, which may lie where nobody answers: for children (reader/reader.h).
 */
char *target_find(const char *target, char **why);

/*
 * Whether a file that a process has mapped is what target means: a path is what the process sees,
 * the end of what we see.
 */
bool target_is_meant(const char *mapped, const char *target);

/*
 * Whether a file of that base name is what name means: "libssl.so.3" and "libssl-3.0.so" are "ssl",
 * "libssl", "libssl.so" and "libssl.so.3".
 */
bool target_is(const char *base, const char *name);

#endif
