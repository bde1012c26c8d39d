/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests on their way: one for each engine at a time, by libcurl's multi interface. Its sockets
 * and its clock are behind one descriptor.
 */
#ifndef BPFPROF_PUSH_SENDER_H
#define BPFPROF_PUSH_SENDER_H

#include <stdbool.h>

#include "push/address.h"
#include "push/curl.h"

#define ANSWER_BYTES (64u << 10) /* the most that is read of one */

/* What became of a request. */
struct answer {
	long status;	   /* of HTTP; 0: there was none */
	bool broke;	   /* the connection, after the request was on its way */
	uint64_t retry_ns; /* the engine asks to wait so long; 0 = it says nothing */
	const char *text;  /* the body, at most ANSWER_BYTES, or the reason why there is none */
	size_t len;
};

struct sender;

/* answered: of the request that exchange_start() was given; may start the next one. */
struct sender *sender_open(void (*answered)(void *arg, const struct answer *a));
void sender_close(struct sender *s);
/* Readable when sender_turn() has something to do. */
int sender_fd(const struct sender *s);
/* Wakes its owner at that time (CLOCK_MONOTONIC) at the latest; 0 = no need. */
void sender_wake_at(struct sender *s, uint64_t ns);
void sender_turn(struct sender *s);

/* Of one engine. */
struct exchange;
struct exchange *exchange_new(struct sender *s, const struct address *a, void *arg);
void exchange_free(struct exchange *x);
/* Takes the body. 0, or a negative errno after a message: nothing was sent. */
int exchange_start(struct exchange *x, uint8_t *body, size_t len);

#endif
