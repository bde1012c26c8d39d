/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer -momit-leaf-frame-pointer -pthread */
/* LDLIBS: -lpthread */
/*
 * waits_writer FOLDER [COUNT]: writes a block and waits for the disk to have it, so many times, in
 * store(). A folder in memory, where nothing waits, is exit status 77.
 */
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include "waits.h"

static struct truth stored = { .name = "store" };

static CHAIN void store(int fd)
{
	static const char block[4096] = "block";
	struct leaves before = leaves_now();
	struct mark from = mark_now();

	if (write(fd, block, sizeof(block)) != sizeof(block) || fsync(fd))
		fatal("write");
	truth_add_short(&stored, from, before);
}

int main(int argc, char **argv)
{
	unsigned long i, nr = arg_nr(argc, argv, 2, 100);
	char path[PATH_MAX];
	struct statfs fs;
	int fd;

	if (argc < 2 || statfs(argv[1], &fs))
		fatal("statfs");
	if (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC)
		return CANNOT;
	snprintf(path, sizeof(path), "%s/waits_writer.XXXXXX", argv[1]);
	fd = mkstemp(path);
	if (fd < 0)
		fatal(path);
	unlink(path);
	for (i = 0; i < nr; i++)
		store(fd);
	blocks_print(&stored);
	truth_print(&stored);
	schedstat_print(stored.name);
	return 0;
}
