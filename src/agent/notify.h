/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a service manager is told (sd_notify(3)): datagrams to the socket that NOTIFY_SOCKET names.
 * Without one nothing is said.
 */
#ifndef BPFPROF_AGENT_NOTIFY_H
#define BPFPROF_AGENT_NOTIFY_H

#include <stdint.h>

struct notify {
	int fd;			    /* connected; -1 = nobody listens */
	uint64_t alive_ns, next_ns; /* it wants to hear of us as often, 0 = never; and then */
};

/* Takes the variables out of the environment: children are not to use them. */
void notify_open(struct notify *n);
void notify_close(struct notify *n);

void notify_ready(struct notify *n);
void notify_reloading(struct notify *n);
void notify_stopping(struct notify *n);
void notify_status(struct notify *n, const char *text);
/* Call it often: says so when it is time. */
void notify_alive(struct notify *n);

#endif
