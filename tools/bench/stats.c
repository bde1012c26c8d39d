/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs a command with the kernel's run-time statistics on, and prints "NAME RUNS NS" of each BPF
 * program that process PID has open, or a link to it: how often it ran meanwhile, and how long
 * altogether. There may be other profilers on the machine. The statistics go off again by
 * themselves.
 *
 * usage: stats PID COMMAND [ARGS...]
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>

#define MAX_PROGRAMS 256

struct program {
	int fd;
	struct bpf_prog_info before;
};

static struct program programs[MAX_PROGRAMS];
static int nr_programs;

static bool read_info(int fd, struct bpf_prog_info *info)
{
	__u32 len = sizeof(*info);

	memset(info, 0, sizeof(*info));
	return !bpf_obj_get_info_by_fd(fd, info, &len);
}

static void add_program(__u32 id)
{
	struct program p;
	int i;

	for (i = 0; i < nr_programs; i++)
		if (programs[i].before.id == id)
			return;
	p.fd = bpf_prog_get_fd_by_id(id);
	if (p.fd >= 0 && nr_programs < MAX_PROGRAMS && read_info(p.fd, &p.before))
		programs[nr_programs++] = p;
}

static void add_programs_of(const char *fdinfo)
{
	FILE *file = fopen(fdinfo, "re");
	char line[256];
	__u32 id;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "prog_id: %u", &id) == 1)
			add_program(id);
	if (file)
		fclose(file);
}

static void find_programs(const char *pid)
{
	char path[300];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/fdinfo", pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%s/fdinfo/%s", pid, entry->d_name);
		add_programs_of(path);
	}
	if (dir)
		closedir(dir);
}

/* Its output goes to stderr: stdout is ours. False if it fails. */
static bool run(char **argv)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execvp(argv[0], argv);
		perror(argv[0]);
		_exit(127);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

int main(int argc, char **argv)
{
	int stats = argc >= 3 ? bpf_enable_stats(BPF_STATS_RUN_TIME) : -1, i;
	struct bpf_prog_info after;

	if (stats < 0) {
		fprintf(stderr, "usage: stats PID COMMAND [ARGS...] (as root)\n");
		return 2;
	}
	find_programs(argv[1]);
	if (!nr_programs) {
		fprintf(stderr, "stats: process %s has no BPF programs\n", argv[1]);
		return 1;
	}
	if (!run(argv + 2))
		return 1;
	for (i = 0; i < nr_programs; i++)
		if (read_info(programs[i].fd, &after) && after.run_cnt > programs[i].before.run_cnt)
			printf("%s %llu %llu\n", after.name,
			       after.run_cnt - programs[i].before.run_cnt,
			       after.run_time_ns - programs[i].before.run_time_ns);
	close(stats);
	return 0;
}
