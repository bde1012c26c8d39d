/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Output files that are whole or absent.
 *
 * The final name is split into a directory, held open, and a name in it (base/folder.h); symbolic
 * links are followed by hand first, so that a link to a file stays a link. All later steps are
 * relative to that directory:
 *
 *	open:    O_TMPFILE, or where that is not supported a new file ".NAME.XXXXXX"
 *	commit:  fsync, owner and mode, link to ".NAME.XXXXXX" (link cannot replace), rename to NAME
 */
#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/pipes.h"

#define MAX_TRIES 100 /* of temporary names */

struct outfile {
	char *path; /* as the user wrote it, for messages */
	FILE *stream;
	int fd;	      /* what stream writes to; -1 for stdout */
	int dir;      /* -1: written directly */
	char *name;   /* final name in dir */
	char *temp;   /* temporary name in dir, NULL while the file has none */
	bool existed; /* a file had the final name: */
	struct stat old;
	mode_t mode; /* asked for, 0 = none was */
	int err;     /* of the first write that failed, negative errno */
};

static void outfile_free(struct outfile *o)
{
	if (o->stream && o->stream != stdout)
		fclose(o->stream);
	if (o->temp)
		unlinkat(o->dir, o->temp, 0);
	if (o->fd >= 0)
		close(o->fd);
	if (o->dir >= 0)
		close(o->dir);
	free(o->temp);
	free(o->name);
	free(o->path);
	free(o);
}

/* stdio forgets why an early write failed; this remembers. */
static ssize_t stream_write(void *cookie, const char *buf, size_t sz)
{
	struct outfile *o = cookie;
	size_t done = 0;
	ssize_t n;

	pipes_spare();
	while (!o->err && done < sz) {
		n = write(o->fd, buf + done, sz - done);
		if (n > 0)
			done += (size_t)n;
		else if (n == 0 || errno != EINTR)
			o->err = n ? -errno : -EIO;
	}
	pipes_spare_end();
	return (ssize_t)done;
}

/* The descriptor that path is only another name of, -1 when it is a file. */
static int descriptor_of(const char *path)
{
	static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
	size_t i, sz;
	char *end;
	long fd;

	if (!strcmp(path, "-") || !strcmp(path, "/dev/stdout"))
		return STDOUT_FILENO;
	if (!strcmp(path, "/dev/stderr"))
		return STDERR_FILENO;
	for (i = 0; i < 2; i++) {
		sz = strlen(folders[i]);
		if (strncmp(path, folders[i], sz) || path[sz] < '0' || path[sz] > '9')
			continue;
		fd = strtol(path + sz, &end, 10);
		return *end || fd > INT_MAX ? -1 : (int)fd;
	}
	return -1;
}

/* Sets existed and old. */
static int look(struct outfile *o)
{
	o->existed = !fstatat(o->dir, o->name, &o->old, AT_SYMLINK_NOFOLLOW);
	return o->existed || errno == ENOENT ? 0 : -errno;
}

/* Sets dir and name, too. */
static int locate(struct outfile *o)
{
	o->dir = folder_locate(o->path, &o->name);
	return o->dir < 0 ? o->dir : look(o);
}

/* A new name ".NAME.XXXXXX"; a long NAME is cut to what file systems allow. */
static char *temp_name(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	unsigned char random[6];
	char tail[sizeof(random) + 1] = "";
	size_t i;

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		memset(random, getpid(), sizeof(random));
	for (i = 0; i < sizeof(random); i++)
		tail[i] = letters[random[i] % (sizeof(letters) - 1)];
	return xasprintf(".%.200s.%s", name, tail);
}

/* Sets o->temp to a name that make(o) could give to the file. */
static int with_temp_name(struct outfile *o, int (*make)(struct outfile *o))
{
	int err = -EEXIST, i;

	for (i = 0; err == -EEXIST && i < MAX_TRIES; i++) {
		free(o->temp);
		o->temp = temp_name(o->name);
		err = make(o);
	}
	if (err) {
		free(o->temp);
		o->temp = NULL;
	}
	return err;
}

static int create_temp(struct outfile *o)
{
	o->fd = openat(o->dir, o->temp, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, 0600);
	return o->fd < 0 ? -errno : 0;
}

static int link_temp(struct outfile *o)
{
	char proc[64];

	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", o->fd);
	return linkat(AT_FDCWD, proc, o->dir, o->temp, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

/* A file to write to that nobody sees yet, or that has a temporary name. */
static int open_hidden(struct outfile *o)
{
	if (o->existed && S_ISDIR(o->old.st_mode))
		return -EISDIR;
	if (o->existed && faccessat(o->dir, o->name, W_OK, AT_EACCESS))
		return -errno;
	o->fd = openat(o->dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	if (o->fd >= 0)
		return 0;
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
		return -errno;
	return with_temp_name(o, create_temp);
}

/* What was looked at, and not a file that has taken its name meanwhile. */
static bool is_same(const struct outfile *o)
{
	struct stat now;

	return !fstat(o->fd, &now) && now.st_dev == o->old.st_dev && now.st_ino == o->old.st_ino;
}

/* Whoever reads from it sees its end if it is closed once: that descriptor stays. */
static int open_fifo(const struct outfile *o, int how)
{
	int fd = openat(o->dir, o->name, how | O_NONBLOCK);

	if (fd < 0 && errno == ENXIO) {
		log_warn("%s: waiting until somebody reads from it", o->path);
		return openat(o->dir, o->name, how);
	}
	if (fd >= 0)
		fcntl(fd, F_SETFL, 0);
	return fd;
}

/* Devices, FIFOs, terminals. Blocks until a FIFO has a reader. */
static int open_direct(struct outfile *o)
{
	const int how = O_WRONLY | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC;

	if (S_ISFIFO(o->old.st_mode) && !folder_trusts(o->old.st_uid))
		return -EACCES;
	o->fd = S_ISFIFO(o->old.st_mode) ? open_fifo(o, how) : openat(o->dir, o->name, how);
	close(o->dir);
	o->dir = -1;
	return o->fd < 0 ? -errno : is_same(o) ? 0 : -EACCES;
}

static int open_path(struct outfile *o)
{
	int fd = descriptor_of(o->path), err;

	if (fd >= 0) {
		o->fd = fd == STDOUT_FILENO ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
		return fd != STDOUT_FILENO && o->fd < 0 ? -errno : 0;
	}
	if (!*o->path || o->path[strlen(o->path) - 1] == '/')
		return *o->path ? -EISDIR : -ENOENT;
	err = locate(o);
	if (err)
		return err;
	/* A link that has come since we looked. */
	if (o->existed && S_ISLNK(o->old.st_mode))
		return -EACCES;
	if (o->existed && !S_ISREG(o->old.st_mode) && !S_ISDIR(o->old.st_mode))
		return open_direct(o);
	return open_hidden(o);
}

/* Gives it the stream, and frees it when something went wrong. */
static struct outfile *opened(struct outfile *o, int err)
{
	static const cookie_io_functions_t io = { .write = stream_write };

	if (!err) {
		o->stream = o->fd < 0 ? stdout : fopencookie(o, "w", io);
		err = o->stream ? 0 : -ENOMEM;
	}
	if (!err)
		return o;
	log_err(err, "cannot write %s", *o->path ? o->path : "''");
	outfile_free(o);
	errno = -err;
	return NULL;
}

static struct outfile *outfile_new(const char *path)
{
	struct outfile *o = xcalloc(1, sizeof(*o));

	o->path = xstrdup(path);
	o->fd = o->dir = -1;
	return o;
}

struct outfile *outfile_open(const char *path)
{
	struct outfile *o = outfile_new(path);

	return opened(o, open_path(o));
}

struct outfile *outfile_open_at(int dir, const char *name)
{
	struct outfile *o = outfile_new(name);
	int err;

	o->name = xstrdup(name);
	o->dir = fcntl(dir, F_DUPFD_CLOEXEC, 0);
	err = o->dir < 0 ? -errno : look(o);
	return opened(o, err ? err : open_hidden(o));
}

FILE *outfile_stream(struct outfile *o)
{
	return o->stream;
}

void outfile_set_mode(struct outfile *o, mode_t mode)
{
	o->mode = mode;
}

bool outfile_folder_needs_rights(int dir)
{
	struct stat st;

	return fstatat(dir, "", &st, AT_EMPTY_PATH) || st.st_uid != geteuid() ||
	       !(st.st_mode & S_IWUSR) || (!geteuid() && folder_sudo_id("SUDO_UID") > 0);
}

bool outfile_needs_rights(const struct outfile *o)
{
	return o->dir >= 0 && outfile_folder_needs_rights(o->dir);
}

static bool may_write(const struct stat *dir, uid_t uid, gid_t gid)
{
	if (dir->st_uid == uid)
		return dir->st_mode & S_IWUSR;
	return dir->st_mode & (dir->st_gid == gid ? S_IWGRP : S_IWOTH);
}

/* Run through sudo: who shall own the file. A file that belongs to somebody else stays root's. */
static void give_to_sudo_user(struct outfile *o)
{
	long uid = folder_sudo_id("SUDO_UID"), gid = folder_sudo_id("SUDO_GID");
	struct stat dir;

	if (getuid() || uid < 0 || gid < 0 || fstat(o->dir, &dir))
		return;
	if (!may_write(&dir, (uid_t)uid, (gid_t)gid) || (o->existed && o->old.st_uid != (uid_t)uid))
		return;
	if (fchown(o->fd, (uid_t)uid, (gid_t)gid))
		log_info("%s stays root's: %s", o->path, strerror(errno));
}

/*
 * What was asked for, else the mode of the file that is replaced when it had the same owner, else
 * nobody but the owner may read it: a profile tells names and paths of others' processes.
 */
static void set_mode(struct outfile *o)
{
	mode_t mode = o->mode ? o->mode : 0600;
	struct stat now;

	if (!o->mode && o->existed && !fstat(o->fd, &now) && now.st_uid == o->old.st_uid)
		mode = o->old.st_mode & 0777;
	/* File systems without modes have their own idea. */
	if (fchmod(o->fd, mode))
		log_info("%s keeps mode 0600: %s", o->path, strerror(errno));
}

static int publish(struct outfile *o)
{
	int err;

	give_to_sudo_user(o);
	set_mode(o);
	/* Some file systems cannot sync, which is no failure to write. */
	if (fsync(o->fd) && errno != EINVAL && errno != EROFS)
		return -errno;
	err = o->temp ? 0 : with_temp_name(o, link_temp);
	if (err)
		return err;
	if (renameat(o->dir, o->temp, o->dir, o->name))
		return -errno;
	free(o->temp);
	o->temp = NULL;
	return 0;
}

/* What went wrong with the stream so far, after pushing out its buffer. */
static int flush_stream(struct outfile *o)
{
	int err;

	errno = 0;
	err = fflush(o->stream) || ferror(o->stream) ? -(errno ? errno : EIO) : 0;
	return o->err ? o->err : err;
}

int outfile_commit(struct outfile *o)
{
	int err = flush_stream(o);

	if (!err && o->dir >= 0)
		err = publish(o);
	if (err)
		log_err(err, "cannot write %s", o->path);
	clearerr(o->stream); /* who ends standard output does not tell it again */
	outfile_free(o);
	return err;
}

/* stdio drops what it could not write, and the cause with it: one more byte meets it again. */
static int cause_of(int fd)
{
	struct pollfd p = { fd, POLLOUT, 0 };

	if (poll(&p, 1, 0) > 0 && p.revents & POLLERR)
		return -EPIPE;
	return write(fd, "\n", 1) < 0 ? -errno : -EIO;
}

static int flush_stdout(void)
{
	int err = flush_stream(&(struct outfile){ .stream = stdout });

	return err == -EIO ? cause_of(STDOUT_FILENO) : err;
}

/* Once, however many intervals could not be written. */
static int tell_stdout(int err)
{
	static bool told;

	clearerr(stdout);
	if (!err || err == -EPIPE)
		return 0;
	if (!told)
		log_err(err, "cannot write to standard output");
	told = true;
	return err;
}

int outfile_flush_stdout(void)
{
	return tell_stdout(flush_stdout());
}

int outfile_end_stdout(void)
{
	int err = flush_stdout(), null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	/* Its number stays taken: no file that is opened later shall get what is printed. */
	if (null > STDERR_FILENO) {
		/* Some file systems tell only now what went wrong. */
		if (close(STDOUT_FILENO) && errno != EINTR && !err)
			err = -errno;
		dup2(null, STDOUT_FILENO);
		close(null);
	}
	return tell_stdout(err);
}

void outfile_abort(struct outfile *o)
{
	if (!o)
		return;
	/* fclose() would write the rest. */
	if (!o->err)
		o->err = -ECANCELED;
	outfile_free(o);
}
