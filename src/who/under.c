/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "who/under.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int under_open(int folder, const char *path, int flags)
{
	struct open_how how = { .flags = (unsigned int)(flags | O_CLOEXEC),
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	long fd = syscall(SYS_openat2, folder, path, &how, sizeof(how));

	return fd < 0 ? -errno : (int)fd;
}

int under_open_file(int folder, const char *path)
{
	int fd = under_open(folder, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
		close(fd);
		return -EINVAL;
	}
	return fd;
}

long under_read(int fd, char *to, size_t max)
{
	size_t nr = 0;
	ssize_t got;

	while (nr < max && (got = read(fd, to + nr, max - nr)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return nr ? (long)nr : -errno;
		nr += got;
	}
	return (long)nr;
}
