/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which file the TARGET of a probe is: a path is itself. A name ("c", "libc", "libc.so.6", "ssl",
 * "bash") is looked for in what the chosen process has mapped, then in the cache of the dynamic
 * linker, in the standard directories, and last as a program in $PATH.
 */
#ifndef BPFPROF_UPROBE_TARGET_H
#define BPFPROF_UPROBE_TARGET_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The path of the i-th file that the process has mapped as this process can open it, NULL behind
 * the last one. Empty strings are skipped.
 */
typedef const char *(*target_mapped)(void *arg, size_t i);

/*
 * The path to open, to be freed. NULL with a sentence in *why, to be freed. mapped NULL: no process
 * is chosen. Of several versions of a library that are not mapped, the newest is taken.
 */
char *target_find(const char *target, target_mapped mapped, void *arg, char **why);

/*
 * Whether a file of that base name is what name means: "libssl.so.3" and "libssl-3.0.so" are "ssl",
 * "libssl", "libssl.so" and "libssl.so.3".
 */
bool target_is(const char *base, const char *name);

#endif
