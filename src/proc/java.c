/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The client's side of HotSpot's attach mechanism. */
#include "proc/java.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "proc/java_options.h"

#define POLL_US 20000 /* the socket was there after so long */

struct attach {
	const struct jit_files *jvm;
	int pidfd, cwd, socket;
	char file[40], path[64]; /* in cwd; of the socket */
	uint64_t until_ns;
};

bool java_is_jvm(const struct proc_image *image)
{
	const char *path;
	size_t len;

	for (size_t i = 0; i < image->nr_maps; i++) {
		path = image->maps[i].file ? image->maps[i].file->path : "";
		len = strlen(path);
		if (len > 10 && !strcmp(path + len - 10, "/libjvm.so"))
			return true;
	}
	return false;
}

/* One that does not handle SIGQUIT (-Xrs, or still starting) would be killed by it. */
static bool catches_quit(uint32_t pid)
{
	unsigned long long caught = 0, ignored = ~0ull;
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		sscanf(line, "SigCgt: %llx", &caught);
		sscanf(line, "SigIgn: %llx", &ignored);
	}
	if (f)
		fclose(f);
	return caught & ~ignored & 1ull << (SIGQUIT - 1);
}

static bool is_owner(const struct jit_files *jvm, const struct stat *st)
{
	return st->st_uid == jvm->place.owners[1] || !st->st_uid;
}

/* The socket that the JVM listens at is its own, and nobody else may talk there. */
static bool listens(const struct attach *a)
{
	struct stat st;

	return !fstatat(a->jvm->tmp, strrchr(a->path, '/') + 1, &st, AT_SYMLINK_NOFOLLOW) &&
	       S_ISSOCK(st.st_mode) && is_owner(a->jvm, &st);
}

/* Without this file SIGQUIT prints all threads on the JVM's standard output. */
static bool leave_file(const struct attach *a)
{
	int fd = openat(a->cwd, a->file,
			O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0660);
	bool done;

	if (fd < 0)
		return false;
	done = !fchown(fd, a->jvm->place.owners[1], -1) || geteuid() == a->jvm->place.owners[1];
	close(fd);
	if (!done)
		unlinkat(a->cwd, a->file, 0);
	return done;
}

static const char *wake(struct attach *a)
{
	const char *why = "it was woken, and does not listen";
	char path[64];

	if (java_forbids_attach(a->jvm->place.pid))
		return "-XX:+DisableAttachMechanism forbids it: run it without";
	if (listens(a))
		return NULL;
	if (!catches_quit(a->jvm->place.pid))
		return "it takes no SIGQUIT (-Xrs, or it is still starting)";
	snprintf(path, sizeof(path), "/proc/%u/cwd", a->jvm->place.pid);
	a->cwd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (a->cwd < 0 || !leave_file(a))
		return geteuid() && geteuid() != a->jvm->place.owners[1]
			       ? "it is another user's: run bpfprof as root, or as that user"
			       : "its working folder does not take the file that would wake it";
	if (!syscall(SYS_pidfd_send_signal, a->pidfd, SIGQUIT, NULL, 0))
		while (now_ns() < a->until_ns && !listens(a))
			usleep(POLL_US);
	if (listens(a))
		why = NULL;
	unlinkat(a->cwd, a->file, 0);
	return why;
}

static const char *connect_to(struct attach *a)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	memcpy(addr.sun_path, a->path, sizeof(a->path));
	a->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (a->socket < 0 || connect(a->socket, (struct sockaddr *)&addr, sizeof(addr)))
		return "it does not answer";
	return NULL;
}

/* Its answer, until it closes the connection: "0\n" and a text is success. */
static const char *ask(struct attach *a)
{
	static const char request[] = "1\0jcmd\0Compiler.perfmap\0\0";
	struct pollfd fd = { a->socket, POLLIN, 0 };
	char answer[512];
	size_t nr = 0;
	ssize_t got = 1;

	if (send(a->socket, request, sizeof(request), MSG_NOSIGNAL) != sizeof(request))
		return "it hung up";
	while (got > 0 && nr < sizeof(answer) && now_ns() < a->until_ns &&
	       poll(&fd, 1, (a->until_ns - now_ns()) / 1000000 + 1) > 0) {
		got = read(a->socket, answer + nr, sizeof(answer) - nr);
		if (got > 0)
			nr += got;
	}
	if (got > 0 || nr < 2)
		return "it does not answer in time";
	return memcmp(answer, "0\n", 2) ? "it does not know Compiler.perfmap (JDK 17 and later do)"
					: NULL;
}

char *java_write_names(const struct jit_files *j, uint64_t timeout_ns)
{
	struct attach a = { .jvm = j, .cwd = -1, .socket = -1, .until_ns = now_ns() + timeout_ns };
	const char *why = "it has ended";

	snprintf(a.file, sizeof(a.file), ".attach_pid%u", j->place.own_pid);
	snprintf(a.path, sizeof(a.path), "/proc/self/fd/%d/.java_pid%u", j->tmp, j->place.own_pid);
	a.pidfd = syscall(SYS_pidfd_open, j->place.pid, 0);
	if (a.pidfd >= 0)
		why = wake(&a);
	if (!why)
		why = connect_to(&a);
	if (!why)
		why = ask(&a);
	if (a.socket >= 0)
		close(a.socket);
	if (a.cwd >= 0)
		close(a.cwd);
	if (a.pidfd >= 0)
		close(a.pidfd);
	return why ? xstrdup(why) : NULL;
}
