/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a connection may rely on: a secret in a file that not everybody reads, and addresses that
 * never leave this host. One rule for those who send and those who answer. And whose rights open
 * what a user has named.
 */
#ifndef BPFPROF_BASE_TRUST_H
#define BPFPROF_BASE_TRUST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define TRUST_MAX_TOKEN 4096

/*
 * Opens a file that the user has named for reading, as they could themselves: not by capabilities
 * that the file of bpfprof has. A descriptor, which is closed on exec, or negative errno.
 */
int trust_open(const char *path, int flags);
/* The same as fopen(path, "re"). */
FILE *trust_fopen(const char *path);

/*
 * The token in a regular file that only its owner and group may read: one word on one line. NULL:
 * why is logged and in *err. Whoever gets it wipes it by trust_forget.
 */
char *trust_token(const char *path, int *err);
void trust_forget(char *token);

/* "localhost", "127.0.0.1" and all beside it, "[::1]"; without a port. */
bool trust_loopback(const char *host, size_t len);

#endif
