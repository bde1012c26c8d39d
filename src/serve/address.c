/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "serve/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

#define BACKLOG	    32
#define SOCKET_MODE 0660

static int refuse(const char *text, const char *why)
{
	log_err(0,
		"--listen %s: %s (as in 9100, 127.0.0.1:9100, [::1]:9100, unix:/run/bpfprof.sock)",
		text, why);
	return -EINVAL;
}

static int parse_path(const char *text, const char *path, struct address *a)
{
	struct sockaddr_un *un = (struct sockaddr_un *)&a->at;

	if (*path != '/')
		return refuse(text, "the path has to begin with '/'");
	if (strlen(path) >= sizeof(un->sun_path))
		return refuse(text, "the path is too long for a Unix socket");
	un->sun_family = AF_UNIX;
	strcpy(un->sun_path, path);
	a->len = sizeof(*un);
	a->is_local = a->is_socket = true;
	snprintf(a->url, sizeof(a->url), "unix:%s", path);
	return 0;
}

/* Fills in at and is_local. */
static bool parse_host(const char *host, uint16_t port, struct address *a)
{
	struct sockaddr_in *in = (struct sockaddr_in *)&a->at;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&a->at;

	if (!strcmp(host, "localhost"))
		host = "127.0.0.1";
	if (inet_pton(AF_INET, host, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
		a->len = sizeof(*in);
		a->is_local = ntohl(in->sin_addr.s_addr) >> 24 == 127;
		return true;
	}
	if (inet_pton(AF_INET6, host, &in6->sin6_addr) != 1)
		return false;
	in6->sin6_family = AF_INET6;
	in6->sin6_port = htons(port);
	a->len = sizeof(*in6);
	a->is_local = IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
	return true;
}

static bool parse_port(const char *text, uint16_t *port)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	*port = (uint16_t)n;
	return end != text && !*end && *text != '-' && n <= UINT16_MAX;
}

static void set_url(struct address *a, const char *host, uint16_t port)
{
	snprintf(a->url, sizeof(a->url), strchr(host, ':') ? "http://[%s]:%u" : "http://%s:%u",
		 host, port);
}

/* Cuts text into host and port. */
static bool split(char *text, const char **host, const char **port)
{
	char *colon = strrchr(text, ':'), *close;

	*host = "127.0.0.1";
	*port = text;
	if (!colon)
		return true;
	*colon = '\0';
	*port = colon + 1;
	*host = text;
	if (*text != '[')
		return !strchr(text, ':') && *text;
	close = strchr(text, ']');
	if (!close || close[1])
		return false;
	*close = '\0';
	*host = text + 1;
	return true;
}

int address_parse(const char *text, struct address *a)
{
	const char *host, *port;
	char copy[256];
	uint16_t n;

	*a = (struct address){};
	if (!strncmp(text, "unix:", 5))
		return parse_path(text, text + 5, a);
	if (strlen(text) >= sizeof(copy))
		return refuse(text, "the address is too long");
	strcpy(copy, text);
	if (!split(copy, &host, &port))
		return refuse(text, "an address with ':' needs brackets");
	if (!parse_port(port, &n))
		return refuse(text, "it needs a port from 0 to 65535");
	if (!parse_host(host, n, a))
		return refuse(text, "it needs an address of this machine in digits, or localhost");
	set_url(a, host, n);
	return 0;
}

/* Of a process that is gone; one that answers is somebody's. */
static void remove_dead(const struct address *a)
{
	const struct sockaddr_un *un = (const struct sockaddr_un *)&a->at;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct stat st;

	if (fd < 0)
		return;
	if (!lstat(un->sun_path, &st) && S_ISSOCK(st.st_mode) &&
	    connect(fd, (const struct sockaddr *)&a->at, a->len) && errno == ECONNREFUSED)
		unlink(un->sun_path);
	close(fd);
}

static void learn_port(struct address *a, int fd)
{
	struct sockaddr_storage at;
	socklen_t len = sizeof(at);
	char host[INET6_ADDRSTRLEN];

	if (getsockname(fd, (struct sockaddr *)&at, &len))
		return;
	if (at.ss_family == AF_INET) {
		const struct sockaddr_in *in = (const struct sockaddr_in *)&at;

		inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
		set_url(a, host, ntohs(in->sin_port));
	} else {
		const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&at;

		inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof(host));
		set_url(a, host, ntohs(in6->sin6_port));
	}
}

static int bind_to(const struct address *a, int fd)
{
	const int yes = 1;
	mode_t mask;
	int err;

	if (!a->is_socket)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	mask = umask(0777 & ~SOCKET_MODE);
	err = bind(fd, (const struct sockaddr *)&a->at, a->len) ? -errno : 0;
	umask(mask);
	return err ? err : listen(fd, BACKLOG) ? -errno : 0;
}

int address_listen(struct address *a)
{
	int fd = socket(a->at.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err = fd < 0 ? -errno : 0;

	if (!err && a->is_socket)
		remove_dead(a);
	if (!err)
		err = bind_to(a, fd);
	if (err) {
		if (fd >= 0)
			close(fd);
		return log_err(err, "--listen: cannot listen at %s%s", a->url,
			       err == -EADDRINUSE ? " (is another agent running?)" : "");
	}
	if (!a->is_socket)
		learn_port(a, fd);
	return fd;
}
