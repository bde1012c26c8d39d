/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Kills commands at random moments and looks for what is left:
 *
 *	kills TIMES SEED MOMENT_MS LIMIT_MS AT_ONCE TARGET BPFPROF COMMAND...
 *
 * Each COMMAND is one argument, split at blanks; they take turns. It runs in a /tmp of its own, in
 * a folder below /tmp/out. AT_ONCE of the same command run beside each other, and each has begun up
 * to MOMENT_MS before all of them are stopped, so that what they have can be listed: BPF programs,
 * maps and links by their descriptors, maps of the programs, processes that they started. Then all
 * are killed, and all of that has to go within LIMIT_MS, but for maps, which the kernel may free
 * later; so have breakpoints in the code of TARGET's program, probes in tracefs and files without a
 * final name. One line per command.
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
#define MAPS_NS	    10000000000ull
#define MAX_IDS	    4096
#define MAX_WORDS   64
#define MAX_AT_ONCE 16
#define TRACING	    "/tmp/tracing"

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
static unsigned int at_once;
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
	add_descriptors(ids, pid);
	add_children(ids, pid);
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
	unsigned int nr = unfinished("/tmp", say);
	char folder[64];

	for (unsigned int i = 0; i < at_once; i++) {
		snprintf(folder, sizeof(folder), "/tmp/out/%u", i);
		nr += unfinished(folder, say);
		strcat(folder, "/keep");
		nr += unfinished(folder, say);
	}
	return nr;
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

/* --- kills at one moment --- */

static pid_t run(const char *command, unsigned int folder)
{
	char *words[MAX_WORDS] = { (char *)bpfprof }, *text = strdup(command), *word;
	int nr = 1, null;
	char path[64];
	pid_t pid = fork();

	if (pid)
		return free(text), pid;
	snprintf(path, sizeof(path), "/tmp/out/%u", folder);
	if (chdir(path))
		_exit(127);
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

static void wait_ns(uint64_t ns)
{
	nanosleep(&(struct timespec){ ns / SECOND_NS, ns % SECOND_NS }, NULL);
}

static int by_length(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? 1 : *x > *y ? -1 : 0;
}

/* Each begins so long before the one moment: 0 = the end. */
static void run_some(const char *command, pid_t pids[MAX_AT_ONCE], uint64_t moment_ns)
{
	uint64_t before[MAX_AT_ONCE + 1] = {};

	for (unsigned int i = 0; i < at_once; i++)
		before[i] = random() % (moment_ns / 1000) * 1000;
	qsort(before, at_once, sizeof(*before), by_length);
	for (unsigned int i = 0; i < at_once; i++) {
		pids[i] = run(command, i);
		wait_ns(before[i] - before[i + 1]);
	}
}

/* Stops them and lists what they have. How many have not ended by then; these come first. */
static unsigned int stop_some(struct row *r, struct ids *ids, pid_t pids[MAX_AT_ONCE])
{
	static struct ids own;
	unsigned int nr = 0;

	memset(ids, 0, sizeof(*ids));
	for (unsigned int i = 0; i < at_once; i++)
		kill(pids[i], SIGSTOP);
	for (unsigned int i = 0; i < at_once; i++) {
		if (!stopped(pids[i])) {
			r->ended++;
			continue;
		}
		memset(&own, 0, sizeof(own));
		list(&own, pids[i]);
		list(ids, pids[i]);
		r->with_programs += own.nr[PROGRAM] > 0;
		r->with_links += own.nr[LINK] > 0;
		r->with_children += own.nr[PROCESS] > 0;
		pids[nr++] = pids[i];
	}
	for (size_t i = 0; i < ids->nr[PROGRAM]; i++)
		add_maps_of(ids, ids->v[PROGRAM][i]);
	r->killed += nr;
	return nr;
}

static void kill_some(struct row *r, uint64_t moment_ns)
{
	static struct ids ids;
	pid_t pids[MAX_AT_ONCE];
	unsigned int nr;
	uint64_t began, took;

	run_some(r->command, pids, moment_ns);
	nr = stop_some(r, &ids, pids);
	if (!nr)
		return;
	began = now_ns();
	for (unsigned int i = 0; i < nr; i++)
		kill(pids[i], SIGKILL);
	for (unsigned int i = 0; i < nr; i++)
		waitpid(pids[i], NULL, 0);
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
	char path[64];

	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("tmpfs", "/tmp", "tmpfs", 0, "mode=1777,size=256m") || mkdir("/tmp/out", 0700) ||
	    mkdir(TRACING, 0700) || chdir("/tmp/out")) {
		perror("no /tmp of our own");
		exit(2);
	}
	for (unsigned int i = 0; i < at_once; i++) {
		snprintf(path, sizeof(path), "/tmp/out/%u", i);
		mkdir(path, 0700);
	}
	if (mount("tracefs", TRACING, "tracefs", 0, NULL))
		printf("# no tracefs here\n");
}

int main(int argc, char **argv)
{
	unsigned int times, moment_ms, left = 0;
	struct row *rows;
	int nr = argc - 8;

	if (nr < 1)
		return 2;
	times = atoi(argv[1]);
	srandom(atoi(argv[2]));
	moment_ms = atoi(argv[3]);
	limit_ns = atoi(argv[4]) * 1000000ull;
	at_once = atoi(argv[5]);
	target = atoi(argv[6]);
	bpfprof = argv[7];
	if (!at_once || at_once > MAX_AT_ONCE)
		return 2;
	own_tmp();
	if (access(bpfprof, X_OK)) {
		printf("# %s cannot be run there\n", bpfprof);
		return 2;
	}
	rows = calloc(nr, sizeof(*rows));
	for (int i = 0; i < nr; i++)
		rows[i].command = argv[8 + i];
	for (unsigned int i = 0; i * at_once < times; i++)
		kill_some(&rows[i % nr], moment_ms * 1000000ull);
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
