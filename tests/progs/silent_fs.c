/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * silent_fs FOLDER FILE: a file system that has FILE as "lib.so". Prints "ready" when it is
 * mounted; after SIGUSR2 each answer takes 50 ms, after SIGUSR1 there is none any more. After
 * SIGHUP there is none either, but requests are taken: the kernel lets nobody go who waits for one.
 * With a third argument it prints the numbers of those who ask: "asked PID".
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define ROOT 1
#define FILE 2

#define SLOW_NS 50000000

static int fuse, source;
static struct stat source_stat;
static volatile sig_atomic_t is_slow, is_mute;
static int tells;

static void fatal(const char *what)
{
	perror(what);
	exit(1);
}

static void silence(int nr)
{
	for (;;)
		pause();
}

static void slow_down(int nr)
{
	is_slow = 1;
}

static void take_only(int nr)
{
	is_mute = 1;
}

static void reply(const struct fuse_in_header *to, int err, const void *bytes, size_t nr)
{
	struct fuse_out_header head = { sizeof(head) + nr, err, to->unique };
	struct iovec parts[] = { { &head, sizeof(head) }, { (void *)bytes, nr } };

	if (is_slow)
		nanosleep(&(struct timespec){ .tv_nsec = SLOW_NS }, NULL);
	if (writev(fuse, parts, 2) < 0 && errno != ENOENT)
		fatal("writev");
}

static struct fuse_attr attributes(uint64_t node)
{
	return (struct fuse_attr){ .ino = node,
				   .mode = node == ROOT ? S_IFDIR | 0755 : S_IFREG | 0755,
				   .nlink = 1,
				   .size = node == ROOT ? 0 : source_stat.st_size,
				   .blksize = 4096 };
}

static void read_file(const struct fuse_in_header *h, const struct fuse_read_in *in)
{
	static char buf[1 << 20];
	ssize_t nr =
		pread(source, buf, in->size < sizeof(buf) ? in->size : sizeof(buf), in->offset);

	reply(h, nr < 0 ? -errno : 0, buf, nr < 0 ? 0 : nr);
}

static void answer(const struct fuse_in_header *h, const void *body)
{
	const struct fuse_init_in *init = body;
	struct fuse_init_out ready = { .major = 7,
				       .minor = init->minor < 31 ? init->minor : 31,
				       .max_readahead = 65536,
				       .max_write = 65536 };
	struct fuse_entry_out entry = { .nodeid = FILE, .attr = attributes(FILE) };
	struct fuse_attr_out attr = { .attr = attributes(h->nodeid) };
	struct fuse_open_out opened = {}; /* what was read before is forgotten */

	if (tells && h->pid) {
		printf("asked %u\n", h->pid);
		fflush(stdout);
	}
	switch (h->opcode) {
	case FUSE_INIT:
		reply(h, 0, &ready, sizeof(ready));
		break;
	case FUSE_LOOKUP:
		if (strcmp(body, "lib.so"))
			reply(h, -ENOENT, NULL, 0);
		else
			reply(h, 0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR:
		reply(h, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		reply(h, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
		read_file(h, body);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
		break;
	default:
		reply(h, -ENOSYS, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	static char request[1 << 20];
	char options[128];
	ssize_t nr;

	if (argc < 3)
		return 2;
	tells = argc > 3;
	source = open(argv[2], O_RDONLY);
	fuse = open("/dev/fuse", O_RDWR);
	if (source < 0 || fstat(source, &source_stat) || fuse < 0)
		fatal("open");
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
		 fuse);
	if (mount("silent", argv[1], "fuse", MS_NODEV, options))
		fatal("mount");
	signal(SIGUSR1, silence);
	signal(SIGUSR2, slow_down);
	signal(SIGHUP, take_only);
	puts("ready");
	fflush(stdout);
	while ((nr = read(fuse, request, sizeof(request))) > 0 || errno == EINTR)
		if (nr >= (ssize_t)sizeof(struct fuse_in_header) && !is_mute)
			answer((void *)request, request + sizeof(struct fuse_in_header));
	return 0;
}
