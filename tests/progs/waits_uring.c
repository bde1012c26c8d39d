/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * waits_uring [SECONDS [MS [read]]]: has io_uring open a FIFO, which a worker of the kernel's does
 * and blocks for MS until the other end is opened, again and again. Ends with "opened N", or with
 * status 77 where the kernel has no io_uring. read: sleeps for MS, then has a worker read zeros for
 * the rest of the time, and ends with "read N".
 */
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "waits.h"

static struct io_uring_params params;
static struct io_uring_sqe *sqes;
static char *sq, *cq;
static int ring;

static uint32_t *word(char *in, uint32_t at)
{
	return (uint32_t *)(in + at);
}

static void *map(size_t sz, off_t what)
{
	void *at = mmap(NULL, sz, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, what);

	if (at == MAP_FAILED)
		fatal("mmap");
	return at;
}

static void open_ring(void)
{
	ring = syscall(SYS_io_uring_setup, 4, &params);
	if (ring < 0)
		exit(CANNOT);
	sq = map(params.sq_off.array + params.sq_entries * 4, IORING_OFF_SQ_RING);
	cq = map(params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe),
		 IORING_OFF_CQ_RING);
	sqes = map(params.sq_entries * sizeof(*sqes), IORING_OFF_SQES);
}

/* By a worker, whether it could be done at once or not. */
static void submit(struct io_uring_sqe sqe)
{
	uint32_t tail = *word(sq, params.sq_off.tail), i = tail & (params.sq_entries - 1);

	sqe.flags = IOSQE_ASYNC;
	sqes[i] = sqe;
	word(sq, params.sq_off.array)[i] = i;
	__atomic_store_n(word(sq, params.sq_off.tail), tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, ring, 1, 0, 0, NULL, 0) != 1)
		fatal("io_uring_enter");
}

static void submit_open(const char *path)
{
	submit((struct io_uring_sqe){ .opcode = IORING_OP_OPENAT,
				      .fd = AT_FDCWD,
				      .addr = (uintptr_t)path,
				      .open_flags = O_RDONLY | O_CLOEXEC });
}

static int result(void)
{
	struct io_uring_cqe *cqes = (void *)(cq + params.cq_off.cqes);
	uint32_t head = *word(cq, params.cq_off.head);

	if (syscall(SYS_io_uring_enter, ring, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
		fatal("io_uring_enter");
	__atomic_store_n(word(cq, params.cq_off.head), head + 1, __ATOMIC_RELEASE);
	return cqes[head & (params.cq_entries - 1)].res;
}

static int read_zeros(uint64_t end)
{
	static char buffer[16 << 20];
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	unsigned int nr = 0;

	for (; wall_ns() < end; nr++) {
		submit((struct io_uring_sqe){ .opcode = IORING_OP_READ,
					      .fd = zero,
					      .addr = (uintptr_t)buffer,
					      .len = sizeof(buffer) });
		if (result() < 0)
			return 1;
	}
	printf("read %u\n", nr);
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t end = wall_ns() + arg_ns(argc, argv, 1, 10);
	uint64_t nap = arg_nr(argc, argv, 2, 50) * NS_PER_MS;
	unsigned int nr = 0;
	char path[64];
	int fd, got;

	open_ring();
	if (arg_is(argc, argv, 3, "read")) {
		sleep_ns(nap);
		return read_zeros(end);
	}
	snprintf(path, sizeof(path), "/tmp/waits_uring.%d", getpid());
	if (mkfifo(path, 0600))
		fatal("mkfifo");
	for (; wall_ns() < end; nr++) {
		submit_open(path);
		sleep_ns(nap);
		fd = open(path, O_WRONLY | O_CLOEXEC);
		got = result();
		if (fd < 0 || got < 0)
			break;
		close(fd);
		close(got);
	}
	unlink(path);
	printf("opened %u\n", nr);
	return 0;
}
