/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * io_known read|write FOLDER N: N times 4 KB past the page cache, in reading() or writing(). Prints
 * "read N US BYTES": how many, how long the function took in all, and what the kernel counted.
 * io_known uring N: N times in io_uring a timeout of 10 ms, submitted in timing(); a read of a
 * socket that is written to 10 ms later, in waiting(); and a nop that is handed to a worker, in
 * handing(). "timeout US", "socket US" are what they took. Exits with 77 where there is no
 * io_uring.
 * io_known connect N: N connections that are accepted, in calling(); N that are refused, in
 * missing(); N to which nobody answers, given up after 50 ms, in giving_up().
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "waits.h"

#define BLOCK  4096
#define REST   (10 * NS_PER_MS)
#define GIVE   (50 * NS_PER_MS)
#define QUEUED 3 /* connections that fill the queue of one that takes none */

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* Blocks. */

static unsigned long long counted(const char *key)
{
	unsigned long long bytes = 0;
	char line[64];
	FILE *f = fopen("/proc/self/io", "r");

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, strlen(key)))
			bytes = strtoull(line + strlen(key), NULL, 10);
	if (f)
		fclose(f);
	return bytes;
}

static CHAIN void reading(int fd, void *block, unsigned long nr)
{
	unsigned long i;

	for (i = 0; i < nr; i++)
		if (pread(fd, block, BLOCK, i * BLOCK) != BLOCK)
			die("pread");
}

static CHAIN void writing(int fd, void *block, unsigned long nr)
{
	unsigned long i;

	for (i = 0; i < nr; i++)
		if (pwrite(fd, block, BLOCK, i * BLOCK) != BLOCK)
			die("pwrite");
}

/* A file whose blocks are all on the disk. */
static int make_file(const char *folder, void *block, unsigned long nr)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/io_known.XXXXXX", folder);
	fd = mkostemp(path, 0);
	if (fd < 0)
		die(path);
	unlink(path);
	for (unsigned long i = 0; i < nr; i++)
		if (write(fd, block, BLOCK) != BLOCK)
			die("write");
	if (fsync(fd) || fcntl(fd, F_SETFL, O_DIRECT))
		die("O_DIRECT");
	return fd;
}

static void blocks(const char *folder, unsigned long nr, int is_write)
{
	const char *key = is_write ? "write_bytes: " : "read_bytes: ";
	void *block = aligned_alloc(BLOCK, BLOCK);
	unsigned long long bytes;
	uint64_t start;
	int fd;

	memset(block, 7, BLOCK);
	fd = make_file(folder, block, nr);
	bytes = counted(key);
	start = wall_ns();
	if (is_write)
		writing(fd, block, nr);
	else
		reading(fd, block, nr);
	printf("%s %lu %llu %llu\n", is_write ? "write" : "read", nr,
	       (unsigned long long)(wall_ns() - start) / NS_PER_US, counted(key) - bytes);
	close(fd);
	free(block);
}

/* io_uring. */

struct ring {
	int fd;
	unsigned *sq_tail, *sq_mask, *sq_array, *cq_head, *cq_tail;
	struct io_uring_sqe *sqes;
};

static void *map(int fd, size_t bytes, off_t at)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, at);

	if (p == MAP_FAILED)
		die("mmap");
	return p;
}

static void open_ring(struct ring *r)
{
	struct io_uring_params p = { 0 };
	char *sq, *cq;

	r->fd = syscall(SYS_io_uring_setup, 4, &p);
	if (r->fd < 0) {
		perror("io_uring_setup");
		exit(77);
	}
	sq = map(r->fd, p.sq_off.array + p.sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING);
	cq = map(r->fd, p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe),
		 IORING_OFF_CQ_RING);
	r->sqes = map(r->fd, p.sq_entries * sizeof(*r->sqes), IORING_OFF_SQES);
	r->sq_tail = (unsigned *)(sq + p.sq_off.tail);
	r->sq_mask = (unsigned *)(sq + p.sq_off.ring_mask);
	r->sq_array = (unsigned *)(sq + p.sq_off.array);
	r->cq_head = (unsigned *)(cq + p.cq_off.head);
	r->cq_tail = (unsigned *)(cq + p.cq_off.tail);
}

static CHAIN int enter(struct ring *r, const struct io_uring_sqe *sqe)
{
	unsigned at = *r->sq_tail & *r->sq_mask;

	r->sqes[at] = *sqe;
	r->sq_array[at] = at;
	__atomic_store_n(r->sq_tail, *r->sq_tail + 1, __ATOMIC_RELEASE);
	return syscall(SYS_io_uring_enter, r->fd, 1, 0, 0, NULL, 0);
}

static void wait_for(struct ring *r)
{
	unsigned head = *r->cq_head;

	while (__atomic_load_n(r->cq_tail, __ATOMIC_ACQUIRE) == head)
		syscall(SYS_io_uring_enter, r->fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0);
	__atomic_store_n(r->cq_head, head + 1, __ATOMIC_RELEASE);
}

static CHAIN void timing(struct ring *r)
{
	struct __kernel_timespec ts = { .tv_nsec = REST };
	struct io_uring_sqe sqe = {
		.opcode = IORING_OP_TIMEOUT, .fd = -1, .addr = (uintptr_t)&ts, .len = 1
	};

	if (enter(r, &sqe) != 1)
		die("timeout");
	wait_for(r);
}

static CHAIN void waiting(struct ring *r, const int ends[2])
{
	char byte;
	struct io_uring_sqe sqe = {
		.opcode = IORING_OP_READ, .fd = ends[0], .addr = (uintptr_t)&byte, .len = 1
	};

	if (enter(r, &sqe) != 1)
		die("read");
	sleep_ns(REST);
	if (write(ends[1], "x", 1) != 1)
		die("write");
	wait_for(r);
}

static CHAIN void handing(struct ring *r)
{
	struct io_uring_sqe sqe = { .opcode = IORING_OP_NOP, .fd = -1, .flags = IOSQE_ASYNC };

	if (enter(r, &sqe) != 1)
		die("nop");
	wait_for(r);
}

static void rings(unsigned long nr)
{
	uint64_t start, timeout = 0, socket_ns = 0;
	struct ring r;
	int ends[2];

	open_ring(&r);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		die("socketpair");
	for (unsigned long i = 0; i < nr; i++) {
		start = wall_ns();
		timing(&r);
		timeout += wall_ns() - start;
		start = wall_ns();
		waiting(&r, ends);
		socket_ns += wall_ns() - start;
		handing(&r);
	}
	printf("timeout %llu\nsocket %llu\n", (unsigned long long)timeout / NS_PER_US,
	       (unsigned long long)socket_ns / NS_PER_US);
}

/* Connections. */

static int listener(int queue, struct sockaddr_in *at)
{
	socklen_t len = sizeof(*at);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	*at = (struct sockaddr_in){ .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	if (bind(fd, (struct sockaddr *)at, len) || getsockname(fd, (struct sockaddr *)at, &len))
		die("bind");
	if (queue >= 0 && listen(fd, queue))
		die("listen");
	return fd;
}

static int begin(const struct sockaddr_in *at, int flags)
{
	int fd = socket(AF_INET, SOCK_STREAM | flags, 0);

	if (connect(fd, (const struct sockaddr *)at, sizeof(*at)) && errno != EINPROGRESS &&
	    errno != ECONNREFUSED)
		die("connect");
	return fd;
}

static CHAIN void calling(const struct sockaddr_in *at, int server)
{
	int fd = begin(at, 0), other = accept(server, NULL, NULL);

	close(fd);
	close(other);
}

static CHAIN void missing(const struct sockaddr_in *at)
{
	int fd = begin(at, 0);

	close(fd);
}

static CHAIN void giving_up(const struct sockaddr_in *at)
{
	int fd = begin(at, SOCK_NONBLOCK);

	sleep_ns(GIVE);
	close(fd);
}

/* Guests come without it. */
static void loopback_up(void)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	ioctl(fd, SIOCSIFFLAGS, &request);
	close(fd);
}

static void connections(unsigned long nr)
{
	struct sockaddr_in there, none, full;
	int server, fds[QUEUED];
	uint64_t start, given = 0;

	loopback_up();
	server = listener(16, &there);
	listener(-1, &none);
	listener(0, &full);
	for (int i = 0; i < QUEUED; i++)
		fds[i] = begin(&full, SOCK_NONBLOCK);
	for (unsigned long i = 0; i < nr; i++) {
		calling(&there, server);
		missing(&none);
		start = wall_ns();
		giving_up(&full);
		given += wall_ns() - start;
	}
	for (int i = 0; i < QUEUED; i++)
		close(fds[i]);
	printf("given %llu\n", (unsigned long long)given / NS_PER_US);
}

int main(int argc, char **argv)
{
	if (arg_is(argc, argv, 1, "read") || arg_is(argc, argv, 1, "write"))
		blocks(argc > 2 ? argv[2] : ".", arg_nr(argc, argv, 3, 100),
		       arg_is(argc, argv, 1, "write"));
	else if (arg_is(argc, argv, 1, "uring"))
		rings(arg_nr(argc, argv, 2, 20));
	else
		connections(arg_nr(argc, argv, 2, 10));
	return 0;
}
