/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The agent's HTTP server (libmicrohttpd, loaded when it is asked for), for one event loop:
 *
 *	/                      a page with the flame graph of the last window
 *	/metrics               serve/metrics.h
 *	/healthz               "ok", or 503 when no window has come for three of them
 *	/debug/pprof/profile   ?seconds=N: running code of the next N seconds, for go tool pprof
 *	/debug/pprof/offcpu    ?seconds=N: waits
 *
 * Beyond loopback and Unix sockets it answers only who knows the token. On loopback it answers only
 * who calls it localhost, so no page of somebody else can read it through a browser.
 */
#ifndef BPFPROF_SERVE_LISTENER_H
#define BPFPROF_SERVE_LISTENER_H

#include <stdbool.h>
#include <stdint.h>

#include "serve/metrics.h"

struct listener_options {
	const char *address;	/* "PORT", "ADDR:PORT", "[ADDR]:PORT", "unix:PATH" */
	const char *token_file; /* its first line is the token; NULL = none */
	uint64_t window_ns;	/* length of a window */
};

struct listener;

/*
 * 0, or negative errno: logged, with what to type. *l is NULL then. The metrics must stay.
 */
int listener_open(struct listener **l, const struct listener_options *o, struct metrics *m);
/* Ends all connections. NULL is fine. */
void listener_close(struct listener *l);

/* To poll() for POLLIN; or in the loop's own epoll. */
int listener_fd(const struct listener *l);
/* Does what can be done without waiting. Call it when the descriptor is ready, and now and then. */
void listener_turn(struct listener *l);

/*
 * A window has ended: with names (symbolizer_run()), in itself complete. What is needed of it is
 * copied. Running code and waits may come in one (wall) or in two, one after the other.
 */
void listener_window(struct listener *l, const struct profile *window);

/* Where it listens, as a URL or "unix:PATH". */
const char *listener_url(const struct listener *l);

#endif
