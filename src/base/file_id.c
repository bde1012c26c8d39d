/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From fstat(): the time of change is set by the kernel, and nobody can set it back. */
#include "base/file_id.h"

#include <string.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/clock.h"

#define FUSE_MAGIC 0x65735546u
#define YOUNG_NS   2000000000ull

/* Those whose answers come from elsewhere than this machine's kernel and disks. */
static bool is_remote(uint32_t type)
{
	static const uint32_t remote[] = { FUSE_MAGIC,	     NFS_SUPER_MAGIC,  SMB_SUPER_MAGIC,
					   SMB2_SUPER_MAGIC, CIFS_SUPER_MAGIC, V9FS_MAGIC,
					   AFS_SUPER_MAGIC,  AFS_FS_MAGIC,     CODA_SUPER_MAGIC,
					   CEPH_SUPER_MAGIC };

	for (size_t i = 0; i < sizeof(remote) / sizeof(*remote); i++)
		if (type == remote[i])
			return true;
	return false;
}

struct file_id file_id_read(int fd)
{
	uint64_t now = clock_ns(CLOCK_REALTIME), changed_ns;
	struct statfs fs;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || fstatfs(fd, &fs) || !S_ISREG(st.st_mode) ||
	    is_remote(fs.f_type))
		return (struct file_id){};
	changed_ns = st.st_ctim.tv_sec * 1000000000ull + st.st_ctim.tv_nsec;
	if (changed_ns + YOUNG_NS >= now)
		return (struct file_id){};
	return (struct file_id){ st.st_dev, st.st_ino, st.st_size, changed_ns };
}

bool file_id_is_known(const struct file_id *id)
{
	return id->ino;
}

bool file_id_equals(const struct file_id *a, const struct file_id *b)
{
	return file_id_is_known(a) && !memcmp(a, b, sizeof(*a));
}

bool file_id_holds(const struct file_id *id, int fd)
{
	struct file_id now = {};

	if (file_id_is_known(id))
		now = file_id_read(fd);
	return file_id_equals(id, &now);
}
