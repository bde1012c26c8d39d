/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Kills commands at random moments and looks for what is left:
 *
 *	kills TIMES SEED MOMENT_MS LIMIT_MS TARGET BPFPROF COMMAND...
 *
 * Each COMMAND is one argument, split at blanks; they take turns. It runs in a /tmp of its own, in
 * the folder /tmp/out. After up to MOMENT_MS it is stopped, so that what it has can be listed: BPF
 * programs, maps and links by their descriptors, maps of the programs, processes that it started.
 * Then it is killed, and all of that has to go within LIMIT_MS, but for maps, which the kernel may
 * free later; so have breakpoints in the code of TARGET's program, probes in tracefs and files
 * without a final name. One line per command.
 */
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#define SECOND_NS 1000000000ull
/* The kernel frees maps behind grace periods, which a busy host draws out. */
#define MAPS_NS	  10000000000ull
#define MAX_IDS	  512
#define MAX_WORDS 64
#define TRACING	  "/tmp/tracing"

enum kind { PROGRAM, MAP, LINK, PROCESS, NR_KINDS };

static const char *const kind_names[] = { "program", "map", "link", "process" };

struct ids {
	uint32_t v[NR_KINDS][MAX_IDS];
	size_t nr[NR_KINDS];
};

struct row {
	const char *command;
	unsigned int killed, ended, left; /* ended: by itself, before its moment */
	unsigned int with_programs, with_links, with_children;
	unsigned int late, late_maps; /* later than a second */
	uint64_t latest_ns, maps_ns;
};

static const char *bpfprof;
static pid_t target;
static uint64_t limit_ns;

static void add(struct ids *ids, enum kind kind, uint32_t id)
{
	for (size_t i = 0; i < ids->nr[kind]; i++)
		if (ids->v[kind][i] == id)
			return;
	if (ids->nr[kind] < MAX_IDS)
		ids->v[kind][ids->nr[kind]++] = id;
}

static FILE *open_of(const char *form, ...)
{
	char path[PATH_MAX];
	va_list ap;

	va_start(ap, form);
	vsnprintf(path, sizeof(path), form, ap);
	va_end(ap);
	return fopen(path, "re");
}

/* --- what it has --- */

static void add_maps_of(struct ids *ids, uint32_t program)
{
	int fd = bpf_prog_get_fd_by_id(program);
	struct bpf_prog_info info = {};
	uint32_t maps[128], len = sizeof(info);

	if (fd < 0)
		return;
	info.map_ids = (uintptr_t)maps;
	info.nr_map_ids = 128;
	if (!bpf_obj_get_info_by_fd(fd, &info, &len))
		for (uint32_t i = 0; i < info.nr_map_ids && i < 128; i++)
			add(ids, MAP, maps[i]);
	close(fd);
}

static void add_descriptors(struct ids *ids, pid_t pid)
{
	char path[64], line[256];
	const struct dirent *e;
	uint32_t id;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo", pid);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		FILE *f = *e->d_name == '.' ? NULL : open_of("%s/%s", path, e->d_name);

		while (f && fgets(line, sizeof(line), f)) {
			if (sscanf(line, "prog_id: %u", &id) == 1)
				add(ids, PROGRAM, id);
			else if (sscanf(line, "map_id: %u", &id) == 1)
				add(ids, MAP, id);
			else if (sscanf(line, "link_id: %u", &id) == 1)
				add(ids, LINK, id);
		}
		if (f)
			fclose(f);
	}
	if (d)
		closedir(d);
}

static void add_children(struct ids *ids, pid_t pid)
{
	char path[64];
	const struct dirent *e;
	uint32_t child;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		FILE *f = *e->d_name == '.' ? NULL : open_of("%s/%s/children", path, e->d_name);

		while (f && fscanf(f, "%u", &child) == 1) {
			add(ids, PROCESS, child);
			add_descriptors(ids, child);
			add_children(ids, child);
		}
		if (f)
			fclose(f);
	}
	if (d)
		closedir(d);
}

static void list(struct ids *ids, pid_t pid)
{
	memset(ids, 0, sizeof(*ids));
	add_descriptors(ids, pid);
	add_children(ids, pid);
	for (size_t i = 0; i < ids->nr[PROGRAM]; i++)
		add_maps_of(ids, ids->v[PROGRAM][i]);
}

/* --- what is left --- */

/* What has ended, and whom nobody has waited for, is gone. */
static bool is_running(uint32_t pid)
{
	FILE *f = open_of("/proc/%u/stat", pid);
	char state = 'Z';

	if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 'Z';
	if (f)
		fclose(f);
	return state != 'Z' && state != 'X';
}

static bool is_there(enum kind kind, uint32_t id)
{
	int fd;

	if (kind == PROCESS)
		return is_running(id);
	fd = kind == PROGRAM ? bpf_prog_get_fd_by_id(id)
	     : kind == MAP   ? bpf_map_get_fd_by_id(id)
			     : bpf_link_get_fd_by_id(id);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool any_there(const struct ids *ids, bool maps)
{
	for (int kind = 0; kind < NR_KINDS; kind++) {
		if (kind == MAP && !maps)
			continue;
		for (size_t i = 0; i < ids->nr[kind]; i++)
			if (is_there(kind, ids->v[kind][i]))
				return true;
	}
	return false;
}

/* The program's code as the process has it and as the file has it: breakpoints are a difference. */
static bool has_probes(void)
{
	FILE *maps = open_of("/proc/%d/maps", target);
	char line[PATH_MAX + 256], path[PATH_MAX], rights[8];
	static char have[1 << 20], want[1 << 20];
	unsigned long from, to, offset;
	bool differs = false;

	while (maps && fgets(line, sizeof(line), maps)) {
		int file, memory;

		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %4095s", &from, &to, rights, &offset,
			   path) != 5 ||
		    rights[2] != 'x' || to - from > sizeof(have) || !strstr(path, "/tests/progs/"))
			continue;
		file = open(path, O_RDONLY | O_CLOEXEC);
		snprintf(line, sizeof(line), "/proc/%d/mem", target);
		memory = open(line, O_RDONLY | O_CLOEXEC);
		if (pread(memory, have, to - from, from) == (ssize_t)(to - from)) {
			memset(want, 0, to - from);
			if (pread(file, want, to - from, offset) > 0)
				differs |= memcmp(have, want, to - from) != 0;
		}
		close(file);
		close(memory);
	}
	if (maps)
		fclose(maps);
	return differs;
}

static bool has_lines(const char *path)
{
	FILE *f = fopen(path, "re");
	bool any = f && getc(f) != EOF;

	if (f)
		fclose(f);
	return any;
}

/* Locks of folders stay, and so do results. */
static unsigned int unfinished(const char *folder, bool say)
{
	DIR *d = opendir(folder);
	const struct dirent *e;
	unsigned int nr = 0;

	while (d && (e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
		    strstr(e->d_name, "lock"))
			continue;
		if (*e->d_name != '.' && (strcmp(folder, "/tmp") || !strcmp(e->d_name, "out") ||
					  !strcmp(e->d_name, "tracing")))
			continue;
		nr++;
		if (say)
			printf("left: %s/%s\n", folder, e->d_name);
	}
	if (d)
		closedir(d);
	return nr;
}

static unsigned int files_left(bool say)
{
	return unfinished("/tmp", say) + unfinished("/tmp/out", say) +
	       unfinished("/tmp/out/keep", say);
}

static bool all_gone(const struct ids *ids, bool maps)
{
	return !any_there(ids, maps) && !has_probes() && !has_lines(TRACING "/uprobe_events") &&
	       !has_lines(TRACING "/kprobe_events") && !files_left(false);
}

static void tell(const struct row *r, const struct ids *ids)
{
	for (int kind = 0; kind < NR_KINDS; kind++)
		for (size_t i = 0; i < ids->nr[kind]; i++)
			if (is_there(kind, ids->v[kind][i]))
				printf("left: %s %u of: %s\n", kind_names[kind], ids->v[kind][i],
				       r->command);
	if (has_probes())
		printf("left: breakpoints of: %s\n", r->command);
	files_left(true);
	if (has_lines(TRACING "/uprobe_events") || has_lines(TRACING "/kprobe_events"))
		printf("left: probes in tracefs of: %s\n", r->command);
}

/* --- one kill --- */

static pid_t run(const char *command)
{
	char *words[MAX_WORDS] = { (char *)bpfprof }, *text = strdup(command), *word;
	int nr = 1, null;
	pid_t pid = fork();

	if (pid)
		return free(text), pid;
	while ((word = strsep(&text, " ")) && nr < MAX_WORDS - 1)
		words[nr++] = word;
	null = open("/dev/null", O_RDWR);
	dup2(null, 0);
	dup2(null, 1);
	dup2(null, 2);
	execv(bpfprof, words);
	_exit(127);
}

/* False: it has ended by then. */
static bool stopped(pid_t pid)
{
	int status;

	kill(pid, SIGSTOP);
	return waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status);
}

static void kill_once(struct row *r, uint64_t moment_ns)
{
	static struct ids ids;
	pid_t pid = run(r->command);
	uint64_t began, took;

	nanosleep(&(struct timespec){ moment_ns / 1000000000, moment_ns % 1000000000 }, NULL);
	if (!stopped(pid)) {
		r->ended++;
		return;
	}
	list(&ids, pid);
	r->with_programs += ids.nr[PROGRAM] > 0;
	r->with_links += ids.nr[LINK] > 0;
	r->with_children += ids.nr[PROCESS] > 0;
	r->killed++;
	began = now_ns();
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	while (!all_gone(&ids, false) && now_ns() - began < limit_ns)
		usleep(2000);
	took = now_ns() - began;
	r->late += took >= SECOND_NS;
	r->latest_ns = took > r->latest_ns ? took : r->latest_ns;
	while (took < limit_ns && !all_gone(&ids, true) && now_ns() - began < MAPS_NS)
		usleep(2000);
	r->late_maps += now_ns() - began >= SECOND_NS;
	r->maps_ns = now_ns() - began > r->maps_ns ? now_ns() - began : r->maps_ns;
	if (took < limit_ns && all_gone(&ids, true))
		return;
	r->left++;
	tell(r, &ids);
}

static void own_tmp(void)
{
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("tmpfs", "/tmp", "tmpfs", 0, "mode=1777,size=256m") || mkdir("/tmp/out", 0700) ||
	    mkdir(TRACING, 0700) || chdir("/tmp/out")) {
		perror("no /tmp of our own");
		exit(2);
	}
	if (mount("tracefs", TRACING, "tracefs", 0, NULL))
		printf("# no tracefs here\n");
}

int main(int argc, char **argv)
{
	unsigned int times, moment_ms, left = 0;
	struct row *rows;
	int nr = argc - 7;

	if (nr < 1)
		return 2;
	times = atoi(argv[1]);
	srandom(atoi(argv[2]));
	moment_ms = atoi(argv[3]);
	limit_ns = atoi(argv[4]) * 1000000ull;
	target = atoi(argv[5]);
	bpfprof = argv[6];
	own_tmp();
	if (access(bpfprof, X_OK)) {
		printf("# %s cannot be run there\n", bpfprof);
		return 2;
	}
	rows = calloc(nr, sizeof(*rows));
	for (int i = 0; i < nr; i++)
		rows[i].command = argv[7 + i];
	for (unsigned int i = 0; i < times; i++)
		kill_once(&rows[i % nr], random() % (moment_ms * 1000ull) * 1000);
	for (int i = 0; i < nr; i++) {
		const struct row *r = &rows[i];

		left += r->left;
		printf("killed: %u of %u (programs %u, links %u, children %u), left %u, latest "
		       "%.0f ms, maps %.0f ms (%u and %u after a second): %s\n",
		       r->killed, r->killed + r->ended, r->with_programs, r->with_links,
		       r->with_children, r->left, r->latest_ns / 1e6, r->maps_ns / 1e6, r->late,
		       r->late_maps, r->command);
	}
	return left != 0;
}
