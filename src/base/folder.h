/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The way to a file that is written. Who may write to a folder on it can swap what is in there for
 * links at any moment, and would have root write elsewhere. So the way is walked name by name, each
 * in the descriptor of the one before, and a link is followed only if nobody but us, root and who
 * called sudo can have put it there:
 *
 *	- it belongs to one of them, and
 *	- so do its folder and those before it, up to where the path or the last link began; and
 *	  nobody else can write to these, unless only owners may rename there (sticky, as /tmp).
 *
 * Folders themselves may be anybody's: who has a folder can have us write into it.
 */
#ifndef BPFPROF_BASE_FOLDER_H
#define BPFPROF_BASE_FOLDER_H

#include <stdbool.h>
#include <sys/types.h>

/* Who may have us write elsewhere. */
bool folder_trusts(uid_t owner);
/* The number in an environment variable that sudo sets, -1 without it. */
long folder_sudo_id(const char *variable);

/*
 * The descriptor, for *at() only, of the folder that path leads to but for its last name, and that
 * name, to be freed: "." where path is of a folder by its form. If there is something of that name,
 * it is no link. Negative errno; a link that is not followed is named, and the rest is -EACCES.
 */
int folder_locate(const char *path, char **name);

/* The folder itself, to be read; made, for us alone, if there is none. Errors as above. */
int folder_make(const char *path);

/* Nobody but us and root can change what is in it. */
bool folder_is_ours(int fd);

#endif
