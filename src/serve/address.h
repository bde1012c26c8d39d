/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where to listen, and the socket that does. */
#ifndef BPFPROF_SERVE_ADDRESS_H
#define BPFPROF_SERVE_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

struct address {
	struct sockaddr_storage at;
	socklen_t len;
	bool is_local;	/* loopback, or a Unix socket */
	bool is_socket; /* a Unix socket */
	char url[256];	/* "http://127.0.0.1:9100", "unix:/run/x" */
};

/* "PORT", "ADDR:PORT", "[ADDR]:PORT", "unix:PATH". 0, or -EINVAL: logged. */
int address_parse(const char *text, struct address *a);

/*
 * A socket that listens, without blocking. A Unix socket that nobody answers at is replaced. Port 0
 * is any, which is in url then. Negative errno: logged.
 */
int address_listen(struct address *a);

#endif
