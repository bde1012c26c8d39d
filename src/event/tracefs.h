/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's tracefs, whether it is mounted or not: else we mount one that nobody else can see.
 */
#ifndef BPFPROF_EVENT_TRACEFS_H
#define BPFPROF_EVENT_TRACEFS_H

/* A descriptor of its root, or negative errno, which is not logged. */
int tracefs_open(void);

/* The text of a file below, at most 64 KB; NULL with errno. To be freed. */
char *tracefs_read(int root, const char *path);

#endif
