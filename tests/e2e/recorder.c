/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What "perf record --call-graph dwarf" does, where there is no perf: registers and a copy of the
 * stack at each sample, in perf's own file format (perf.data), straight from the kernel's buffers.
 *
 *	recorder FILE HZ SECONDS PID
 *	recorder FILE HZ SECONDS -- CMD...
 *
 * Of a process with all its threads and children, until it ends, time is up or SIGINT comes. HZ 0:
 * a sample whenever a thread leaves a CPU. Times are those of CLOCK_MONOTONIC. Prints "samples
 * lost N" at the end; a CMD is ended then.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "event/perf.h"
#include "proc/maps.h"

#define STACK_BYTES(hz) ((hz) ? 32768 : 61440) /* of a record of 64 KiB */
#define RING_BYTES	(8u << 20)
#define MAX_CPUS	256
#define TURN_MS		10
#if defined(__x86_64__)
#define ALL_REGS 0xff0fffull /* ax … ss, r8 … r15: no data segments */
#else
#define ALL_REGS ((1ull << 33) - 1) /* x0 … x30, sp, pc */
#endif

/* The head of a file: where the events are that were asked for, and those that came. */
struct section {
	uint64_t offset, size;
};
struct head {
	char magic[8];
	uint64_t size, attr_size;
	struct section attrs, events, types;
	uint64_t features[4];
};
struct head_attr {
	struct perf_event_attr attr;
	struct section ids;
};

static FILE *out;
static struct perf_event_mmap_page *rings[MAX_CPUS];
static int ring_fds[MAX_CPUS];
static volatile sig_atomic_t is_stopped;

static void die(const char *what)
{
	fprintf(stderr, "recorder: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void on_signal(int sig)
{
	is_stopped = 1;
}

static void put(const void *bytes, size_t sz)
{
	if (fwrite(bytes, sz, 1, out) != 1)
		die("cannot write");
}

static struct perf_event_attr make_attr(uint64_t hz, bool is_cmd)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(struct perf_event_attr),
		.config = hz ? PERF_COUNT_SW_CPU_CLOCK : PERF_COUNT_SW_CONTEXT_SWITCHES,
		.sample_period = hz ?: 1,
		.freq = hz != 0,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_regs_user = ALL_REGS,
		.sample_stack_user = STACK_BYTES(hz),
		.sample_id_all = 1,
		.disabled = is_cmd,
		.enable_on_exec = is_cmd,
		.inherit = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
}

static void put_head(const struct perf_event_attr *attr, uint64_t event_bytes)
{
	struct head h = { .magic = "PERFILE2",
			  .size = sizeof(h),
			  .attr_size = sizeof(struct head_attr),
			  .attrs = { sizeof(h), sizeof(struct head_attr) },
			  .events = { sizeof(h) + sizeof(struct head_attr), event_bytes } };
	struct head_attr a = { .attr = *attr };

	rewind(out);
	put(&h, sizeof(h));
	put(&a, sizeof(a));
}

/* --- mappings that were there before --- */

static void put_mapping(void *arg, const struct maps_line *line)
{
	struct {
		struct perf_event_header h;
		uint32_t pid, tid;
		uint64_t start, size, offset, who[4];
		char path[4096 + 24]; /* and the sample's pid, tid, time: 0 */
	} e = { .h = { .type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER },
		.pid = *(uint32_t *)arg,
		.tid = *(uint32_t *)arg,
		.start = line->start,
		.size = line->end - line->start,
		.offset = line->file_offset };
	size_t len = strnlen(line->path[0] ? line->path : "//anon", 4095);

	memcpy(e.path, line->path[0] ? line->path : "//anon", len);
	e.h.size = sizeof(e) - sizeof(e.path) + (len / 8 + 1) * 8 + 16;
	put(&e, e.h.size);
}

/* --- events --- */

static void add_event(struct perf_event_attr *attr, int tid, int cpu)
{
	int fd = perf_open(attr, tid, cpu, -1);

	if (fd == -ENODEV || fd == -ESRCH) /* a CPU that is offline, a thread that ended */
		return;
	if (fd < 0) {
		errno = -fd;
		die("cannot open an event");
	}
	if (rings[cpu]) {
		if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring_fds[cpu]))
			die("cannot join a buffer");
		return;
	}
	rings[cpu] = mmap(NULL, sysconf(_SC_PAGESIZE) + RING_BYTES, PROT_READ | PROT_WRITE,
			  MAP_SHARED, fd, 0);
	if (rings[cpu] == MAP_FAILED)
		die("cannot map a buffer");
	ring_fds[cpu] = fd;
}

static void add_events(struct perf_event_attr *attr, int tid)
{
	long nr = sysconf(_SC_NPROCESSORS_CONF);

	for (int cpu = 0; cpu < nr && cpu < MAX_CPUS; cpu++)
		add_event(attr, tid, cpu);
}

static void add_threads(struct perf_event_attr *attr, uint32_t pid)
{
	char path[64];
	struct dirent *e;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	dir = opendir(path);
	if (!dir)
		die(path);
	while ((e = readdir(dir)))
		if (e->d_name[0] != '.')
			add_events(attr, atoi(e->d_name));
	closedir(dir);
}

static void drain(struct perf_event_mmap_page *ring, uint64_t *nr_lost)
{
	const uint8_t *bytes = (uint8_t *)ring + sysconf(_SC_PAGESIZE);
	uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->data_tail;

	while (tail < head) {
		static uint8_t event[65536];
		struct perf_event_header h;

		memcpy(&h, bytes + tail % RING_BYTES, sizeof(h));
		for (size_t i = 0; i < h.size; i += 8)
			memcpy(event + i, bytes + (tail + i) % RING_BYTES, 8);
		if (h.type == PERF_RECORD_LOST)
			*nr_lost += *(uint64_t *)(event + sizeof(h) + 8);
		put(event, h.size);
		tail += h.size;
	}
	__atomic_store_n(&ring->data_tail, tail, __ATOMIC_RELEASE);
}

static void drain_all(uint64_t *nr_lost)
{
	for (int cpu = 0; cpu < MAX_CPUS; cpu++)
		if (rings[cpu])
			drain(rings[cpu], nr_lost);
	fflush(out);
}

/* --- the process --- */

/* It waits for a byte before it becomes CMD. */
static uint32_t fork_cmd(char **argv, int *go)
{
	int fds[2];
	pid_t pid;
	char c;

	if (pipe(fds) || (pid = fork()) < 0)
		die("cannot fork");
	if (pid) {
		close(fds[0]);
		*go = fds[1];
		return pid;
	}
	close(fds[1]);
	if (read(fds[0], &c, 1) == 1)
		execvp(argv[0], argv);
	_exit(127);
}

static bool has_ended(uint32_t pid, bool is_cmd)
{
	return is_cmd ? waitpid(pid, NULL, WNOHANG) == (pid_t)pid : !maps_is_alive(pid);
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ull + t.tv_nsec / 1000000;
}

static void record(uint32_t pid, bool is_cmd, uint64_t ms, uint64_t *nr_lost)
{
	uint64_t end = now_ms() + ms;
	bool ended = false;

	while (!is_stopped && !ended && now_ms() < end) {
		poll(NULL, 0, TURN_MS);
		ended = has_ended(pid, is_cmd);
		drain_all(nr_lost);
	}
	if (is_cmd && !ended) {
		kill(pid, SIGTERM);
		waitpid(pid, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	bool is_cmd = argc > 5 && !strcmp(argv[4], "--");
	struct perf_event_attr attr;
	uint64_t nr_lost = 0;
	uint32_t pid;
	int go = -1;

	if (!is_cmd && argc != 5) {
		fprintf(stderr, "usage: recorder FILE HZ SECONDS PID|-- CMD...\n");
		return 2;
	}
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	out = fopen(argv[1], "w");
	if (!out)
		die(argv[1]);
	attr = make_attr(strtoul(argv[2], NULL, 10), is_cmd);
	put_head(&attr, 0);
	pid = is_cmd ? fork_cmd(argv + 5, &go) : strtoul(argv[4], NULL, 10);
	add_threads(&attr, pid);
	if (!is_cmd)
		maps_read(pid, put_mapping, &pid);
	else if (write(go, "", 1) != 1)
		die("cannot start");
	record(pid, is_cmd, strtod(argv[3], NULL) * 1000, &nr_lost);
	drain_all(&nr_lost);
	put_head(&attr, ftell(out) - sizeof(struct head) - sizeof(struct head_attr));
	fclose(out);
	printf("samples lost %lu\n", nr_lost);
	return 0;
}
