/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From statx(): the time of change is set by the kernel, and nobody can set it back. */
#include "base/file_id.h"

#include <fcntl.h>
#include <string.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
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

static uint64_t ns_of(const struct statx_timestamp *t)
{
	return t->tv_sec < 0 ? 0 : t->tv_sec * 1000000000ull + t->tv_nsec;
}

/* AT_STATX_DONT_SYNC: by what this kernel knows, so that no file system is asked. */
struct file_id file_id_again(int fd)
{
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &st) ||
	    !S_ISREG(st.stx_mode))
		return (struct file_id){};
	return (struct file_id){ makedev(st.stx_dev_major, st.stx_dev_minor), st.stx_ino,
				 st.stx_size, ns_of(&st.stx_ctime), ns_of(&st.stx_mtime) };
}

struct file_id file_id_read(int fd)
{
	struct statfs fs;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || fstatfs(fd, &fs) || is_remote(fs.f_type))
		return (struct file_id){};
	return file_id_again(fd);
}

bool file_id_is_known(const struct file_id *id)
{
	return id->ino;
}

bool file_id_equals(const struct file_id *a, const struct file_id *b)
{
	return file_id_is_known(a) && !memcmp(a, b, sizeof(*a));
}

bool file_id_has_bytes_of(const struct file_id *a, const struct file_id *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	       a->written_ns == b->written_ns;
}

bool file_id_is_settled(const struct file_id *id)
{
	return file_id_is_known(id) && id->changed_ns + YOUNG_NS < clock_ns(CLOCK_REALTIME);
}
