/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * count COMMAND [ARGS]: runs it, and tells on stderr how many cycles the hardware counted for it
 * and its children: "cycles N".
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.disabled = 1,
		.inherit = 1,
		.enable_on_exec = 1,
	};
	unsigned long long cycles = 0;
	pid_t child;
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 || argc < 2) {
		fprintf(stderr, "count: %s\n", argc < 2 ? "no command" : strerror(errno));
		return 1;
	}
	child = fork();
	if (!child) {
		execvp(argv[1], argv + 1);
		fprintf(stderr, "count: %s: %s\n", argv[1], strerror(errno));
		_exit(127);
	}
	waitpid(child, NULL, 0);
	if (read(fd, &cycles, sizeof(cycles)) != sizeof(cycles))
		return 1;
	fprintf(stderr, "cycles %llu\n", cycles);
	return 0;
}
