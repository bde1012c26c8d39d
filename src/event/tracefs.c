/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finding tracefs. */
#include "event/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/mount.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/mem.h"

#define MOST_BYTES 65536

/* A mount without a place in any directory goes with its descriptor. */
static int mount_hidden(void)
{
	int fs = syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC), fd = -1;

	if (fs < 0)
		return -errno;
	if (!syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		fd = syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_RDONLY);
	if (fd < 0)
		fd = -errno;
	close(fs);
	return fd;
}

int tracefs_open(void)
{
	static const char *const places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	struct statfs st;

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (!statfs(places[i], &st) && st.f_type == TRACEFS_MAGIC)
			return open(places[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return mount_hidden();
}

char *tracefs_read(int root, const char *path)
{
	int fd = openat(root, path, O_RDONLY | O_CLOEXEC);
	char *text;
	ssize_t got;
	size_t len = 0;

	if (fd < 0)
		return NULL;
	text = xmalloc(MOST_BYTES + 1);
	while (len < MOST_BYTES && (got = read(fd, text + len, MOST_BYTES - len)) > 0)
		len += got;
	text[len] = '\0';
	close(fd);
	return text;
}
