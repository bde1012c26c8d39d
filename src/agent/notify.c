/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Datagrams that nobody waits for: a manager that does not read them costs nothing. */
#include "agent/notify.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"

static void say(const struct notify *n, const char *text)
{
	if (n->fd >= 0)
		send(n->fd, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* A path, or with '@' a name in the abstract namespace. */
static int connect_to(const char *name)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t len = strlen(name);
	int fd;

	if ((name[0] != '/' && name[0] != '@') || len >= sizeof(to.sun_path)) {
		log_warn("NOTIFY_SOCKET '%s' is neither a path nor an abstract name", name);
		return -1;
	}
	memcpy(to.sun_path, name, len);
	if (name[0] == '@')
		to.sun_path[0] = 0;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to,
			      offsetof(struct sockaddr_un, sun_path) + len + (name[0] == '/'))) {
		log_warn("cannot reach the service manager at %s", name);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	return fd;
}

/* Twice as often as it wants, as its manual advises. Meant for another process: never. */
static uint64_t watchdog_ns(void)
{
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");

	if (!usec || (pid && strtoull(pid, NULL, 10) != (uint64_t)getpid()))
		return 0;
	return strtoull(usec, NULL, 10) * 1000 / 2;
}

void notify_open(struct notify *n)
{
	const char *name = getenv("NOTIFY_SOCKET");

	*n = (struct notify){ .fd = -1 };
	if (!name || !*name)
		return;
	n->fd = connect_to(name);
	n->alive_ns = watchdog_ns();
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
}

void notify_close(struct notify *n)
{
	if (n->fd >= 0)
		close(n->fd);
	n->fd = -1;
}

void notify_ready(struct notify *n)
{
	say(n, "READY=1");
}

void notify_reloading(struct notify *n)
{
	char *text = xasprintf("RELOADING=1\nMONOTONIC_USEC=%" PRIu64, now_ns() / 1000);

	say(n, text);
	free(text);
}

void notify_stopping(struct notify *n)
{
	say(n, "STOPPING=1");
}

void notify_status(struct notify *n, const char *text)
{
	char *line = xasprintf("STATUS=%s", text);

	say(n, line);
	free(line);
}

void notify_alive(struct notify *n)
{
	uint64_t now = now_ns();

	if (!n->alive_ns || now < n->next_ns)
		return;
	say(n, "WATCHDOG=1");
	n->next_ns = now + n->alive_ns;
}
