/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs the yardstick program on one CPU for a while, beside whatever else is profiling, with the
 * kernel's run-time statistics on, and prints "NAME RUNS NS_PER_RUN" of its own program and of
 * bpfprof's. The statistics go off again by themselves.
 *
 * usage: reference CPU HZ SECONDS
 *	  reference --switch	does nothing at each switch, until it is ended
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "reference.skel.h"

static int sample_cpu(int cpu, int hz, int prog)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = hz,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog))
		return -1;
	return fd;
}

static void print_programs(void)
{
	__u32 id = 0;

	while (!bpf_prog_get_next_id(id, &id)) {
		struct bpf_prog_info info = {};
		__u32 len = sizeof(info);
		int fd = bpf_prog_get_fd_by_id(id);

		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &len) && info.run_cnt &&
		    (!strcmp(info.name, "ref_sample") || !strcmp(info.name, "oncpu_sample")))
			printf("%s %llu %llu\n", info.name, info.run_cnt,
			       info.run_time_ns / info.run_cnt);
		close(fd);
	}
}

static int stay_at_switches(void)
{
	struct reference_bpf *skel = reference_bpf__open();

	if (!skel || bpf_program__set_autoload(skel->progs.ref_sample, false) ||
	    bpf_program__set_autoload(skel->progs.ref_switch, true) || reference_bpf__load(skel) ||
	    reference_bpf__attach(skel)) {
		fprintf(stderr, "reference: cannot be at switches\n");
		return 1;
	}
	pause();
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--switch"))
		return stay_at_switches();

	struct reference_bpf *skel = argc == 4 ? reference_bpf__open_and_load() : NULL;
	int stats = bpf_enable_stats(BPF_STATS_RUN_TIME), event;

	if (!skel || stats < 0) {
		fprintf(stderr, "usage: reference CPU HZ SECONDS (as root)\n");
		return 1;
	}
	event = sample_cpu(atoi(argv[1]), atoi(argv[2]), bpf_program__fd(skel->progs.ref_sample));
	if (event < 0) {
		perror("perf event");
		return 1;
	}
	sleep(atoi(argv[3]));
	print_programs();
	close(event);
	reference_bpf__destroy(skel);
	close(stats);
	return 0;
}
