/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who is answered: whoever knows the token; on loopback, without one, whoever calls it by a name of
 * loopback, which a page of somebody else in a browser cannot (DNS rebinding). Pure, but for the
 * file of the token.
 */
#ifndef BPFPROF_SERVE_ACCESS_H
#define BPFPROF_SERVE_ACCESS_H

#include <stdbool.h>

struct access {
	char *token;	/* NULL = none */
	bool is_socket; /* a Unix socket: its permissions decide */
};

enum access_verdict { ACCESS_OK, ACCESS_NO_TOKEN, ACCESS_WRONG_HOST };

/* The token in a file (trust_token), at least 16 characters. 0 or negative errno: logged. */
int access_load(struct access *a, const char *token_file);
void access_release(struct access *a);

/*
 * By the headers Host and Authorization ("Bearer TOKEN", or "Basic" with the token as password);
 * NULL = not given.
 */
enum access_verdict access_check(const struct access *a, const char *host,
				 const char *authorization);

#endif
