/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * event/sideband with a made-up kernel: the calls that open its events end in this file, and the
 * rings are memory that the tests write.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "event/sideband.h"

#define NR_CPUS	   2
#define RING_BYTES (128u << 10)
#define LATE_US	   6000 /* after so long a record is delivered */

static struct perf_event_mmap_page *rings[NR_CPUS];

static struct perf_event_mmap_page *map_ring(int fd)
{
	size_t page = sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *ring;

	assert_int_equal(ftruncate(fd, (off_t)(page + RING_BYTES)), 0);
	ring = mmap(NULL, page + RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(ring, MAP_FAILED);
	ring->data_offset = page;
	return ring;
}

long syscall(long nr, ...)
{
	va_list ap;
	int cpu, fd;

	errno = ENOSYS;
	if (nr != SYS_perf_event_open)
		return -1;
	va_start(ap, nr);
	va_arg(ap, void *);
	va_arg(ap, int);
	cpu = va_arg(ap, int);
	va_end(ap);
	fd = memfd_create("ring", MFD_CLOEXEC);
	rings[cpu] = map_ring(fd);
	return fd;
}

int epoll_ctl(int epfd, int op, int fd, struct epoll_event *event)
{
	return 0;
}

FILE *fopen(const char *path, const char *mode)
{
	static char cpus[] = "0-1\n";
	FILE *(*real)(const char *, const char *) = dlsym(RTLD_NEXT, "fopen");

	if (strncmp(path, "/sys/devices/system/cpu/", 24))
		return real(path, mode);
	return fmemopen(cpus, 4, "r");
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void put(int cpu, const void *record, size_t sz)
{
	char *data = (char *)rings[cpu] + rings[cpu]->data_offset;

	for (size_t i = 0; i < sz; i++)
		data[(rings[cpu]->data_head + i) % RING_BYTES] = ((const char *)record)[i];
	rings[cpu]->data_head += sz;
}

struct fork_record {
	struct perf_event_header header;
	uint32_t pid, ppid, tid, ptid;
	uint64_t time, sample_time;
};

static void put_fork(int cpu, uint32_t pid, uint64_t time_ns)
{
	struct fork_record f = { { PERF_RECORD_FORK, 0, sizeof(f) }, pid, 1, pid, 1, 0, time_ns };

	put(cpu, &f, sizeof(f));
}

/* Forks until less than so many bytes are free. */
static void fill(int cpu, size_t free_bytes)
{
	while (rings[cpu]->data_head - rings[cpu]->data_tail <= RING_BYTES - free_bytes)
		put_fork(cpu, 7, now_ns());
}

static char heard[256];

static void on_mmap(void *arg, const struct sideband_mmap *m, uint64_t time_ns)
{
}

static void on_comm(void *arg, uint32_t pid, uint32_t tid, const char *name, int exec,
		    uint64_t time_ns)
{
}

static void on_fork(void *arg, uint32_t parent, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	size_t len = strlen(heard);

	snprintf(heard + len, sizeof(heard) - len, " %u", pid);
}

static void on_exit_record(void *arg, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
}

static const struct sideband_ops ops = { on_mmap, on_comm, on_fork, on_exit_record };

static void drain(struct sideband *s)
{
	heard[0] = '\0';
	sideband_drain(s, &ops, NULL, false);
}

static int set_up(void **state)
{
	*state = sideband_open();
	return *state ? 0 : -1;
}

static int tear_down(void **state)
{
	sideband_close(*state);
	for (int i = 0; i < NR_CPUS; i++)
		munmap(rings[i], sysconf(_SC_PAGESIZE) + RING_BYTES);
	return 0;
}

static void records_of_all_cpus_come_in_order(void **state)
{
	uint64_t now = now_ns();

	put_fork(0, 1, now - 40000000);
	put_fork(0, 4, now - 10000000);
	put_fork(1, 2, now - 30000000);
	put_fork(1, 3, now - 20000000);
	put_fork(1, 5, now);
	drain(*state);
	assert_string_equal(heard, " 1 2 3 4"); /* what is late may have others before it */
	usleep(LATE_US);
	drain(*state);
	assert_string_equal(heard, " 5");
	assert_int_equal(sideband_take_gap(*state), 0);
}

/* Also those that had to wait for their turn, beside others that came later. */
static void records_of_one_time_come_as_they_arrived(void **state)
{
	uint64_t late = now_ns() + 100000000;

	put_fork(1, 9, late + 2);
	for (uint32_t pid = 1; pid <= 4; pid++)
		put_fork(0, pid, late + 1);
	put_fork(1, 5, late + 1);
	put_fork(1, 6, late);
	drain(*state);
	assert_string_equal(heard, "");
	put_fork(0, 7, late + 1);
	usleep(100000 + LATE_US);
	drain(*state);
	assert_string_equal(heard, " 6 1 2 3 4 5 7 9");
}

static void a_ring_with_room_has_lost_nothing(void **state)
{
	for (int i = 0; i < 3; i++) {
		fill(i % NR_CPUS, 8192);
		drain(*state);
		assert_int_equal(sideband_take_gap(*state), 0);
	}
}

static void a_full_ring_is_a_gap_since_it_was_emptied(void **state)
{
	uint64_t before = now_ns(), between, gap;

	drain(*state);
	between = now_ns();
	fill(1, 1000);
	drain(*state);
	drain(*state);
	gap = sideband_take_gap(*state);
	assert_in_range(gap, before, between);
	assert_int_equal(sideband_take_gap(*state), 0);
	assert_int_equal(sideband_lost(*state), 0); /* told with the next record */
}

static void losses_are_counted_and_a_gap(void **state)
{
	struct {
		struct perf_event_header header;
		uint64_t id, lost, sample_time;
	} l = { { PERF_RECORD_LOST, 0, sizeof(l) }, 1, 42, now_ns() };

	put(0, &l, sizeof(l));
	drain(*state);
	assert_int_equal(sideband_lost(*state), 42);
	assert_int_not_equal(sideband_take_gap(*state), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(records_of_all_cpus_come_in_order, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(records_of_one_time_come_as_they_arrived, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_ring_with_room_has_lost_nothing, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_full_ring_is_a_gap_since_it_was_emptied, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(losses_are_counted_and_a_gap, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
