/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Opening an event, working, and looking at what it counted. */
#include "event/trial.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "event/cpus.h"
#include "event/perf.h"
#include "event/pmus.h"

#define WALK_BYTES   (4u << 20) /* beyond most L2 caches, and beyond what a TLB covers */
#define FAULT_BYTES  (64u << 10)
#define NAP_NS	     200000 /* so long that another thread runs meanwhile, on slow machines too */
#define MAX_COUNTERS 32
#define ANY_ARM	     0x24 /* stall_backend: any counter but that of cycles takes it */
#define ANY_X86	     0xc4 /* branches: no fixed counter has them */

static const struct {
	const char *key, *text;
} states[] = {
#define X(name, key, text) { key, text },
	TRIAL_STATES(X)
#undef X
};

const char *trial_key(enum trial_state state)
{
	return states[state].key;
}

const char *trial_text(enum trial_state state)
{
	return states[state].text;
}

/* Work ----------------------------------------------------------------------------------------- */

/* Loads, stores and branches that nobody can foresee. */
static uint32_t walk(volatile unsigned char *memory, uint32_t seed)
{
	for (int i = 0; i < 1000; i++) {
		seed = seed * 1664525 + 1013904223;
		if (memory[seed % WALK_BYTES] & 1 || seed >> 31)
			memory[(seed >> 7) % WALK_BYTES]++;
	}
	return seed;
}

static void fault(void)
{
	unsigned char *p =
		mmap(NULL, FAULT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return;
	for (size_t i = 0; i < FAULT_BYTES; i += 4096)
		((volatile unsigned char *)p)[i] = 1;
	munmap(p, FAULT_BYTES);
}

static void work(uint64_t ns)
{
	static unsigned char memory[WALK_BYTES];
	uint64_t end = now_ns() + ns;
	uint32_t seed = 1;

	fault();
	nanosleep(&(struct timespec){ .tv_nsec = NAP_NS }, NULL);
	do
		seed = walk(memory, seed);
	while (now_ns() < end);
}

/* Counting ------------------------------------------------------------------------------------- */

/* In a group behind leader, or alone with -1. Returns the descriptor or negative errno. */
static int open_event(const struct event *e, bool user_only, int leader)
{
	struct perf_event_attr attr = {
		.disabled = leader < 0,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};

	event_attr(e, &attr);
	/* precise is for samples, and a count of it may be refused. */
	attr.precise_ip = 0;
	if (user_only)
		attr.exclude_kernel = attr.exclude_hv = 1;
	return e->per_task ? perf_open(&attr, 0, -1, leader)
			   : perf_open(&attr, -1, e->cpus ? (int)e->cpus->v[0] : 0, leader);
}

/* Of Intel: topdown-* may only stand behind slots. Returns the leader's descriptor, or -1. */
static int open_slots(const struct catalog *c, bool user_only)
{
	struct event *v = NULL;
	size_t nr = 0;
	int fd = -1;

	if (catalog_has(c, "slots") && !catalog_find(c, "slots", &v, &nr))
		fd = open_event(&v[0], user_only, -1);
	events_free(v, nr);
	return fd < 0 ? -1 : fd;
}

static struct trial count(int fd, int leader, bool user_only, uint64_t work_ns)
{
	uint64_t value[3] = {}; /* count, time enabled, time running */
	int first = leader < 0 ? fd : leader;
	struct trial t = {};

	ioctl(first, PERF_EVENT_IOC_ENABLE, 0);
	work(work_ns);
	ioctl(first, PERF_EVENT_IOC_DISABLE, 0);
	if (read(fd, value, sizeof(value)) != sizeof(value) || !value[2])
		t.state = TRIAL_NO_COUNTER;
	else if (!value[0])
		t.state = user_only ? TRIAL_USER_ZERO : TRIAL_ZERO;
	else
		t.state = user_only ? TRIAL_USER_ONLY : TRIAL_COUNTS;
	t.count = value[0];
	return t;
}

static bool is_refusal(int fd)
{
	return fd == -EACCES || fd == -EPERM;
}

struct trial trial_run(const struct catalog *c, const struct event *e, uint64_t work_ns)
{
	struct trial t = { .state = TRIAL_NOT_SUPPORTED };
	int fd = open_event(e, false, -1), leader = -1;
	bool user_only = is_refusal(fd) && e->per_task;

	if (user_only)
		fd = open_event(e, true, -1);
	if (fd == -EINVAL && e->source == EVENT_SYSFS) {
		leader = open_slots(c, user_only);
		if (leader >= 0)
			fd = open_event(e, user_only, leader);
	}
	if (fd >= 0)
		t = count(fd, leader, user_only, work_ns);
	else if (user_only || is_refusal(fd))
		t.state = TRIAL_NO_PERMISSION;
	if (fd >= 0)
		close(fd);
	if (leader >= 0)
		close(leader);
	return t;
}

/*
 * Pinned events have a counter or are in error, and then read() returns nothing. The kernel checks
 * no more than that a group fits, so opening alone would tell nothing.
 */
unsigned int trial_counters(const struct catalog *c)
{
	const struct pmu *p = catalog_core_pmu(c);
	struct perf_event_attr attr = { .size = sizeof(attr), .pinned = 1, .exclude_kernel = 1 };
	int fds[MAX_COUNTERS], fd;
	unsigned int nr = 0, nr_open = 0;
	uint64_t value;

	if (!p)
		return 0;
	attr.type = p->type;
	attr.config = catalog_core(c)->vendor == CORE_ARM ? ANY_ARM : ANY_X86;
	while (nr_open < MAX_COUNTERS && (fd = perf_open(&attr, 0, -1, -1)) >= 0) {
		fds[nr_open++] = fd;
		if (read(fd, &value, sizeof(value)) != sizeof(value))
			break;
		nr++;
	}
	while (nr_open)
		close(fds[--nr_open]);
	return nr;
}
