/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Connections and their life. The library calls back in listener_turn() only. A connection has so
 * long to send its request, and so long to take its answer, however it does that; who waits for a
 * profile is suspended, and resumed when its windows are there.
 */
#include "serve/listener.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "serve/listener_parts.h"

#define NS_PER_S	1000000000ull
#define MAX_CONNECTIONS 64u
#define REQUEST_NS	(10 * NS_PER_S)
#define ANSWER_NS	(60 * NS_PER_S)
#define IDLE_S		20u		/* the library's own limit, for who does nothing */
#define REQUEST_BYTES	((size_t)16384) /* of headers, and what is buffered */
#define RUNS		64u		/* of the library in a turn: each takes a part */

/* --- clients --- */

static void add_client(struct listener *l, struct MHD_Connection *c, void **context)
{
	const union MHD_ConnectionInfo *info =
		l->lib.get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct client *k = xcalloc(1, sizeof(*k));

	*k = (struct client){ .connection = c,
			      .fd = info ? info->connect_fd : -1,
			      .until_ns = now_ns() + REQUEST_NS,
			      .next = l->clients };
	if (k->next)
		k->next->prev = k;
	l->clients = k;
	*context = k;
}

static void remove_client(struct listener *l, struct client *k)
{
	if (k->next)
		k->next->prev = k->prev;
	*(k->prev ? &k->prev->next : &l->clients) = k->next;
	free(k);
}

static void on_connection(void *arg, struct MHD_Connection *c, void **context,
			  enum MHD_ConnectionNotificationCode code)
{
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		add_client(arg, c, context);
	else if (*context)
		remove_client(arg, *context);
}

static void set_limit(struct listener *l, struct MHD_Connection *c, uint64_t ns)
{
	const union MHD_ConnectionInfo *info =
		l->lib.get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct client *k = info ? info->socket_context : NULL;

	if (k)
		k->until_ns = ns ? now_ns() + ns : 0;
}

/* The library finds the socket closed, and cleans up. */
static void end_late(struct listener *l)
{
	uint64_t now = now_ns();

	for (struct client *k = l->clients; k; k = k->next)
		if (k->until_ns && now > k->until_ns)
			shutdown(k->fd, SHUT_RDWR);
}

/* --- requests --- */

static void free_asker(struct listener *l, struct asker *a)
{
	struct asker **at = &l->askers;

	while (*at && *at != a)
		at = &(*at)->next;
	if (*at)
		*at = a->next;
	profile_free(a->merged);
	free(a);
}

/* Between the headers and what follows, of which there is nothing to a GET. */
static char begun;

static enum MHD_Result answer(struct listener *l, struct MHD_Connection *c, const char *method,
			      const char *path, struct asker **waits)
{
	const char *host = l->lib.lookup_connection_value(c, MHD_HEADER_KIND, "Host");
	const char *token = l->lib.lookup_connection_value(c, MHD_HEADER_KIND, "Authorization");
	enum access_verdict verdict = access_check(&l->access, host, token);

	if (verdict != ACCESS_OK && (verdict == ACCESS_WRONG_HOST || strcmp(path, "/healthz")))
		return answers_refuse(l, c, verdict);
	if (strcmp(method, "GET") && strcmp(method, "HEAD"))
		return answers_put_text(l, c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n");
	return answers_get(l, c, path, waits);
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *c, const char *path,
				  const char *method, const char *version, const char *upload,
				  size_t *upload_sz, void **context)
{
	struct listener *l = arg;
	struct asker *waits = NULL;
	enum MHD_Result result;

	if (!*context) {
		*context = &begun;
		return MHD_YES;
	}
	if (*upload_sz) { /* nothing is read of it */
		*upload_sz = 0;
		return MHD_YES;
	}
	set_limit(l, c, ANSWER_NS);
	if (*context != &begun)
		return answers_put_profile(l, *context);
	result = answer(l, c, method, path, &waits);
	if (waits) {
		*context = waits;
		set_limit(l, c, 0);
		l->lib.suspend_connection(c);
	}
	return result;
}

static void on_completed(void *arg, struct MHD_Connection *c, void **context,
			 enum MHD_RequestTerminationCode code)
{
	struct listener *l = arg;

	if (*context && *context != &begun)
		free_asker(l, *context);
	*context = NULL;
	set_limit(l, c, REQUEST_NS); /* for the next one */
}

/* --- windows --- */

static bool has_hung_up(int fd)
{
	struct pollfd p = { fd, POLLRDHUP, 0 };

	return poll(&p, 1, 0) > 0 && p.revents & (POLLRDHUP | POLLHUP | POLLERR);
}

static bool is_done(const struct listener *l, const struct asker *a)
{
	return a->merged->meta.duration_ns >= a->seconds * NS_PER_S ||
	       now_ns() > a->asked_ns + a->seconds * NS_PER_S + 3 * l->window_ns;
}

static void resume_ready(struct listener *l)
{
	for (struct asker *a = l->askers; a; a = a->next) {
		if (a->is_ready || !(is_done(l, a) || has_hung_up(a->fd)))
			continue;
		a->is_ready = true;
		l->lib.resume_connection(a->connection);
	}
}

static void keep_last(struct listener *l, const struct profile *window, enum part part)
{
	answers_forget(l, part);
	profile_free(l->last[part]);
	l->last[part] = profile_new();
	part_add(l->last[part], window, part);
}

void listener_window(struct listener *l, const struct profile *window)
{
	for (enum part part = 0; part < PART_NR; part++) {
		if (!part_is_in(window, part))
			continue;
		keep_last(l, window, part);
		for (struct asker *a = l->askers; a; a = a->next)
			if (a->part == part && !a->is_ready &&
			    part_add(a->merged, l->last[part], part))
				a->seconds = 0; /* too large: it ends with what it has */
	}
	l->nr_windows++;
	l->window_end_ns = now_ns();
	listener_turn(l);
}

/* --- life --- */

static int set_up(struct listener *l, const struct listener_options *o)
{
	int err = address_parse(o->address, &l->address);

	if (err)
		return err;
	if (!l->address.is_local && !o->token_file)
		return log_as(-EINVAL,
			      "--listen %s: others can reach this address: it needs "
			      "--listen-token FILE",
			      o->address);
	l->access.is_socket = l->address.is_socket;
	if (o->token_file)
		err = access_load(&l->access, o->token_file);
	if (!err && !library_load(&l->lib))
		err = -ENOENT;
	return err;
}

static int start(struct listener *l)
{
	int fd = address_listen(&l->address);

	if (fd < 0)
		return fd;
	l->daemon = l->lib.start_daemon(
		MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, on_request, l,
		MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, MAX_CONNECTIONS,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, REQUEST_BYTES, MHD_OPTION_CONNECTION_TIMEOUT,
		IDLE_S, MHD_OPTION_NOTIFY_CONNECTION, on_connection, l, MHD_OPTION_NOTIFY_COMPLETED,
		on_completed, l, MHD_OPTION_END);
	if (l->daemon)
		return 0;
	close(fd);
	return log_as(-EIO, "--listen: libmicrohttpd cannot serve %s", l->address.url);
}

int listener_open(struct listener **listener, const struct listener_options *o, struct metrics *m)
{
	struct listener *l = xcalloc(1, sizeof(*l));
	int err;

	*listener = NULL;
	l->metrics = m;
	l->window_ns = o->window_ns;
	l->window_end_ns = now_ns();
	err = set_up(l, o);
	if (!err)
		err = start(l);
	if (err)
		listener_close(l);
	else
		*listener = l;
	return err;
}

/* Suspended connections have to go on before the library ends. */
void listener_close(struct listener *l)
{
	if (!l)
		return;
	for (struct asker *a = l->askers; a; a = a->next)
		if (!a->is_ready)
			l->lib.resume_connection(a->connection);
	if (l->daemon) {
		l->lib.run(l->daemon);
		l->lib.stop_daemon(l->daemon);
		if (l->address.is_socket)
			unlink(((struct sockaddr_un *)&l->address.at)->sun_path);
	}
	for (enum part part = 0; part < PART_NR; part++) {
		answers_forget(l, part);
		profile_free(l->last[part]);
	}
	access_release(&l->access);
	free(l);
}

int listener_fd(const struct listener *l)
{
	return l->lib.get_daemon_info(l->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
}

/* Its descriptor tells of what is new, not of what it has left for later. */
static bool has_more(const struct listener *l)
{
	MHD_UNSIGNED_LONG_LONG ms;

	return l->lib.get_timeout(l->daemon, &ms) == MHD_YES && !ms;
}

void listener_turn(struct listener *l)
{
	end_late(l);
	resume_ready(l);
	for (unsigned int i = 0; i < RUNS; i++) {
		l->lib.run(l->daemon);
		if (!has_more(l))
			break;
	}
}

const char *listener_url(const struct listener *l)
{
	return l->address.url;
}
