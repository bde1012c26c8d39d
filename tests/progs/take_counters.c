/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * take_counters N [CONFIG]: keeps N programmable counters of every CPU for itself, so that others
 * have as few as on a virtual machine. It counts a raw event, pinned; says "took N" when it has
 * them, and waits to be ended.
 */
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The type of the core's PMU differs from kernel to kernel. */
static int pmu_type(void)
{
	static const char *const names[] = { "armv8_pmuv3", "armv8_pmuv3_0", "cpu" };
	char path[96];
	int type = -1;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && type < 0; i++) {
		FILE *f;

		snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", names[i]);
		f = fopen(path, "r");
		if (f && fscanf(f, "%d", &type) != 1)
			type = -1;
		if (f)
			fclose(f);
	}
	return type;
}

int main(int argc, char **argv)
{
	int nr = argc > 1 ? atoi(argv[1]) : 4, type = pmu_type(), fd;
	struct perf_event_attr attr = { .size = sizeof(attr), .pinned = 1 };
	uint64_t value;

	if (type < 0)
		return 77;
	attr.type = type;
	attr.config = argc > 2 ? strtoull(argv[2], NULL, 16) : 0x24;
	for (long cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++)
		for (int i = 0; i < nr; i++) {
			fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, 0);
			if (fd < 0 || read(fd, &value, sizeof(value)) != sizeof(value)) {
				perror("take_counters");
				return 1;
			}
		}
	printf("took %d\n", nr);
	fflush(stdout);
	pause();
	return 0;
}
