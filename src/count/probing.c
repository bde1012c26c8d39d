/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How many counters there are. The kernel does not say, hypervisors hide some, and others may have
 * taken theirs: so it is tried. A pinned event either has a counter or is in error.
 */
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "count/counters.h"

#define MAX_COUNTERS 32

/* Counted by no fixed counter: stalls (Arm), retired branches (Intel, AMD). */
static const char *const programmable[] = {
	[CORE_ARM] = "r0024", [CORE_INTEL] = "r00c4", [CORE_AMD] = "r00c2"
};

static bool got_counter(int fd)
{
	uint64_t value[3];

	return read(fd, value, sizeof(value)) == sizeof(value) && value[2];
}

static uint32_t try_all(struct perf_event_attr *attr)
{
	int fds[MAX_COUNTERS], nr = 0;
	uint32_t counters = 0;

	while (nr < MAX_COUNTERS) {
		int fd = syscall(SYS_perf_event_open, attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

		if (fd < 0)
			break;
		fds[nr++] = fd;
		if (!got_counter(fd))
			break;
		counters++;
	}
	while (nr)
		close(fds[--nr]);
	return counters;
}

uint32_t counters_budget(const struct catalog *catalog)
{
	enum core_vendor vendor = catalog_core(catalog)->vendor;
	struct perf_event_attr attr = {};
	struct event *events = NULL;
	uint32_t counters = 0;
	size_t nr = 0;

	if (!catalog_core_pmu(catalog) || vendor == CORE_OTHER)
		return 0;
	if (!catalog_find(catalog, programmable[vendor], &events, &nr) && nr) {
		event_attr(&events[0], &attr);
		attr.pinned = 1;
		attr.exclude_kernel = attr.exclude_hv = 1;
		attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
		counters = try_all(&attr);
	}
	events_free(events, nr);
	return counters;
}
