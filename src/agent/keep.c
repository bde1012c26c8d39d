/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writing windows. A file has no name until it is whole; then it gets its name in one step, as in
 * base/outfile.c. It is not waited for until it is on disk: after a crash of the machine the last
 * windows may be damaged, which their checksums say.
 */
#include "agent/keep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/naming.h"
#include "agent/ring.h"
#include "base/folder.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "profile/profile.h"

#define LOCK	    ".bpfprof-agent.lock"
#define TEMPORARY   ".bpfprof-window." /* and a number, where files cannot be without names */
#define NAMES_TO    32		       /* one part in so many of all bytes is one file of names */
#define AROUND	    6		       /* windows before and behind a trigger */
#define TRIGGER	    "trigger-"
#define TRIGGER_TO  4 /* one part in so many of all bytes may be what triggers keep */
#define NAMES_BYTES 64

struct keep {
	char *folder;
	int dir, lock;
	uint64_t max_bytes;
	struct ring ring;
	struct naming *naming; /* of the windows from now on; NULL = another one begins */
	struct keep_counts counts;
	bool failed;	   /* the last window was not kept */
	int trigger;	   /* folder of the trigger that windows are for still; -1 = none */
	unsigned int left; /* of these */
};

/* --- the folder --- */

static int open_folder(struct keep *k)
{
	k->dir = folder_make(k->folder);
	if (k->dir < 0)
		return log_err(k->dir, "--keep: cannot open %s", k->folder);
	if (!folder_is_ours(k->dir))
		return log_as(-EROFS,
			      "--keep: others can write to %s, and could put links there: use a "
			      "folder of your own (chown %u %s; chmod go-w %s)",
			      k->folder, geteuid(), k->folder, k->folder);
	return 0;
}

/* The lock goes with the process, however it ends. */
static int lock_folder(struct keep *k)
{
	k->lock = openat(k->dir, LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (k->lock < 0)
		return log_err(-errno, "--keep: cannot write to %s", k->folder);
	if (!flock(k->lock, LOCK_EX | LOCK_NB))
		return 0;
	return log_as(-EBUSY, "--keep: another agent keeps its windows in %s: use another folder",
		      k->folder);
}

/* What a killed agent had begun. */
static void remove_temporary(const struct keep *k)
{
	int fd = openat(k->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (!strncmp(e->d_name, TEMPORARY, strlen(TEMPORARY)))
			unlinkat(k->dir, e->d_name, 0);
	if (d)
		closedir(d);
}

static void close_folder(struct keep *k)
{
	if (k->trigger >= 0)
		close(k->trigger);
	if (k->lock >= 0)
		close(k->lock);
	if (k->dir >= 0)
		close(k->dir);
	k->trigger = k->lock = k->dir = -1;
	ring_release(&k->ring);
	naming_free(k->naming);
	k->naming = NULL;
	k->counts.ring_bytes = 0;
}

/* Who removes the folder means its windows: others are kept in a new one. */
static void renew_folder(struct keep *k)
{
	struct stat st;
	int fd;

	if (k->dir >= 0 && (fstat(k->dir, &st) || st.st_nlink))
		return;
	close_folder(k);
	fd = folder_make(k->folder);
	if (fd < 0)
		return; /* said when the first window was not kept */
	close(fd);
	if (open_folder(k) || lock_folder(k))
		close_folder(k);
	else
		ring_read(&k->ring, k->dir);
	k->counts.ring_bytes = ring_bytes(&k->ring);
}

struct keep *keep_open(const char *folder, uint64_t max_bytes)
{
	struct keep *k = xcalloc(1, sizeof(*k));
	int err;

	*k = (struct keep){ .folder = xstrdup(folder),
			    .dir = -1,
			    .lock = -1,
			    .trigger = -1,
			    .max_bytes = max_bytes };
	err = open_folder(k);
	if (!err)
		err = lock_folder(k);
	if (!err) {
		remove_temporary(k);
		err = ring_read(&k->ring, k->dir);
		if (err)
			log_err(err, "--keep: cannot read %s", folder);
	}
	if (err) {
		keep_close(k);
		errno = -err;
		return NULL;
	}
	k->counts.ring_bytes = ring_bytes(&k->ring);
	return k;
}

void keep_close(struct keep *k)
{
	if (!k)
		return;
	close_folder(k);
	free(k->folder);
	free(k);
}

struct keep_counts keep_counts(const struct keep *k)
{
	return k->counts;
}

/* --- the ring --- */

/* Those that no window is left of. */
static void drop_names(struct keep *k)
{
	while (ring_names_are_over(&k->ring)) {
		const struct ring_file *f = &k->ring.names[0];

		if (k->naming && !strcmp(f->name, naming_file(k->naming)))
			return;
		if (!unlinkat(k->dir, f->name, 0) || errno == ENOENT)
			k->counts.ring_bytes -= f->bytes;
		ring_drop_first_names(&k->ring);
	}
}

static void drop_oldest(struct keep *k)
{
	struct ring_file *f = &k->ring.v[0];

	if (!unlinkat(k->dir, f->name, 0) || errno == ENOENT)
		k->counts.ring_bytes -= f->bytes;
	ring_drop_first(&k->ring);
	drop_names(k);
}

/* Until there is room for so many. */
static void make_room(struct keep *k, uint64_t bytes)
{
	while (k->ring.nr && k->counts.ring_bytes + bytes > k->max_bytes)
		drop_oldest(k);
}

static int write_all(int fd, const char *bytes, size_t len)
{
	ssize_t n;

	while (len) {
		n = write(fd, bytes, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		bytes += n;
		len -= n;
	}
	return 0;
}

/* A file without a name, or with one that nobody looks at. temp: empty, or that. */
static int create(const struct keep *k, char temp[NAMES_BYTES])
{
	int fd = openat(k->dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);

	temp[0] = 0;
	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
		return fd;
	snprintf(temp, NAMES_BYTES, "%s%d", TEMPORARY, getpid());
	return openat(k->dir, temp, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, 0600);
}

static int give_name(const struct keep *k, int fd, const char *temp, const char *name)
{
	char self[NAMES_BYTES];
	int err;

	if (*temp)
		return renameat(k->dir, temp, k->dir, name) ? -errno : 0;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	err = linkat(AT_FDCWD, self, k->dir, name, AT_SYMLINK_FOLLOW) ? -errno : 0;
	if (err == -EEXIST && !unlinkat(k->dir, name, 0))
		err = linkat(AT_FDCWD, self, k->dir, name, AT_SYMLINK_FOLLOW) ? -errno : 0;
	return err;
}

static int put(const struct keep *k, const char *name, const void *bytes, size_t len)
{
	char temp[NAMES_BYTES];
	int fd = create(k, temp), err;

	if (fd < 0)
		return -errno;
	err = write_all(fd, bytes, len);
	if (!err)
		err = give_name(k, fd, temp, name);
	close(fd);
	if (err && *temp)
		unlinkat(k->dir, temp, 0);
	return err;
}

/* On a disk that others fill, the oldest windows give way to the newest. */
static int put_somehow(struct keep *k, const char *name, const void *bytes, size_t len)
{
	int err = put(k, name, bytes, len);

	while ((err == -ENOSPC || err == -EDQUOT) && k->ring.nr) {
		drop_oldest(k);
		err = put(k, name, bytes, len);
	}
	return err;
}

static int append_somehow(struct keep *k, const struct naming_pack *pack, uint64_t begin_ns)
{
	int err = naming_append(k->naming, k->dir, pack, begin_ns);

	while ((err == -ENOSPC || err == -EDQUOT) && k->ring.nr) {
		drop_oldest(k);
		err = naming_append(k->naming, k->dir, pack, begin_ns);
	}
	return err;
}

static void note(struct keep *k, int err, size_t len)
{
	if (err && !k->failed)
		log_err(err, "windows are not kept for now: cannot write to %s", k->folder);
	else if (!err && k->failed)
		log_warn("windows are kept in %s again; %s were not", k->folder,
			 text_count(k->counts.not_kept));
	k->failed = err != 0;
	k->counts.not_kept += err != 0;
	if (err)
		return;
	k->counts.kept++;
	k->counts.bytes += len;
}

/* --- triggers --- */

/* The copy costs nothing while the ring has the window. */
static void link_to(const struct keep *k, const char *name)
{
	if (linkat(k->dir, name, k->trigger, name, 0) && errno != EEXIST)
		log_err(-errno, "cannot keep %s for a trigger", name);
}

static void link_window(const struct keep *k, const struct ring_file *window)
{
	link_to(k, window->name);
	for (size_t i = 0; i < k->ring.nr_names; i++)
		if (ring_names_have(&k->ring.names[i], window))
			link_to(k, k->ring.names[i].name);
}

static void end_trigger(struct keep *k)
{
	if (k->trigger >= 0)
		close(k->trigger);
	k->trigger = -1;
}

/* The first window of a file of names, or one more. */
static void pack(struct keep *k, const struct profile *p, struct naming_pack *to)
{
	if (k->naming && naming_pack(k->naming, p, to))
		return;
	naming_free(k->naming);
	k->naming = naming_new(ring_names_name(p->meta.start_ns), k->max_bytes / NAMES_TO);
	naming_pack(k->naming, p, to);
}

/* What nobody has written so far, or can go on with. */
static void forget_names(struct keep *k)
{
	naming_free(k->naming);
	k->naming = NULL;
}

static int put_window(struct keep *k, const struct profile *p, const char *name,
		      const struct naming_pack *pack)
{
	size_t len = pack->names_len + pack->window_len;
	uint64_t had = naming_bytes(k->naming);
	int err;

	make_room(k, len);
	err = len > k->max_bytes ? -EFBIG : append_somehow(k, pack, p->meta.start_ns);
	if (!err) {
		k->counts.ring_bytes += naming_bytes(k->naming) - had;
		ring_set_names(&k->ring, naming_file(k->naming), naming_bytes(k->naming),
			       p->meta.start_ns);
		err = put_somehow(k, name, pack->window, pack->window_len);
	}
	return err;
}

void keep_window(struct keep *k, const struct profile *p)
{
	char *name = ring_name(p->meta.start_ns, p->meta.duration_ns);
	struct naming_pack packed;
	int err;

	if (k->failed)
		renew_folder(k);
	pack(k, p, &packed);
	err = put_window(k, p, name, &packed);
	if (err == -ENOENT || err == -ESTALE || err == -EEXIST) { /* somebody has removed them */
		forget_names(k);
		naming_pack_release(&packed);
		pack(k, p, &packed);
		err = put_window(k, p, name, &packed);
	}
	if (err) {
		forget_names(k);
		/* Of no window: on a full disk they would take the room of the next. */
		drop_names(k);
	}
	note(k, err, packed.names_len + packed.window_len);
	if (!err) {
		k->counts.ring_bytes += packed.window_len;
		ring_add(&k->ring, name, packed.window_len);
	}
	if (!err && k->trigger >= 0)
		link_window(k, &k->ring.v[k->ring.nr - 1]);
	if (k->trigger >= 0 && !k->left--)
		end_trigger(k);
	naming_pack_release(&packed);
	free(name);
}

static uint64_t bytes_of(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	uint64_t bytes = 0;
	struct ring r;

	if (fd < 0)
		return 0;
	if (!ring_read(&r, fd)) {
		bytes = ring_bytes(&r);
		ring_release(&r);
	}
	close(fd);
	return bytes;
}

static void remove_folder(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	struct ring r;

	if (fd >= 0 && !ring_read(&r, fd)) {
		for (size_t i = 0; i < r.nr; i++)
			unlinkat(fd, r.v[i].name, 0);
		for (size_t i = 0; i < r.nr_names; i++)
			unlinkat(fd, r.names[i].name, 0);
		ring_release(&r);
	}
	if (fd >= 0)
		close(fd);
	unlinkat(dir, name, AT_REMOVEDIR);
}

static int is_trigger(const struct dirent *e)
{
	return !strncmp(e->d_name, TRIGGER, strlen(TRIGGER));
}

/* Those of old triggers go when they would be too many bytes. */
static void make_trigger_room(const struct keep *k)
{
	struct dirent **v = NULL;
	int nr = scandirat(k->dir, ".", &v, is_trigger, alphasort);
	uint64_t bytes = 0;

	for (int i = nr - 1; i >= 0; i--) {
		bytes += bytes_of(k->dir, v[i]->d_name);
		if (bytes > k->max_bytes / TRIGGER_TO)
			remove_folder(k->dir, v[i]->d_name);
		free(v[i]);
	}
	free(v);
}

static int open_trigger(struct keep *k, const char *why)
{
	const struct ring_file *last = &k->ring.v[k->ring.nr - 1];
	char *name = xasprintf(TRIGGER "%.15sZ", last->name); /* whole seconds are enough */
	int err = 0;

	if (mkdirat(k->dir, name, 0700) && errno != EEXIST)
		err = -errno;
	if (!err)
		k->trigger = openat(k->dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (k->trigger < 0)
		log_err(err ? err : -errno, "cannot make %s/%s for a trigger", k->folder, name);
	else
		log_warn("%s: windows around it are kept in %s/%s", why, k->folder, name);
	free(name);
	return k->trigger < 0 ? -EIO : 0;
}

void keep_trigger(struct keep *k, const char *why)
{
	size_t first = k->ring.nr > AROUND + 1 ? k->ring.nr - AROUND - 1 : 0;
	bool goes_on = k->trigger >= 0;

	k->left = AROUND - 1;
	if (goes_on || !k->ring.nr)
		return;
	make_trigger_room(k);
	if (open_trigger(k, why))
		return;
	for (size_t i = first; i < k->ring.nr; i++)
		link_window(k, &k->ring.v[i]);
}
