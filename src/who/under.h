/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Opening files below a folder so that no link leads out of it: below the root of a container, or
 * below a machine that is made up for a test.
 */
#ifndef BPFPROF_WHO_UNDER_H
#define BPFPROF_WHO_UNDER_H

#include <stddef.h>

/* Descriptors or negative errno. The path is taken as if the folder were "/". */
int under_open(int folder, const char *path, int flags);

/* A regular file to read, without waiting for who has to write a pipe. */
int under_open_file(int folder, const char *path);

/* All that is there, at most max bytes. Bytes, or negative errno. */
long under_read(int fd, char *to, size_t max);

#endif
