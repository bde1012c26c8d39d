/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * storages PID NAME: how many elements there are in the map of task storage NAME that process PID
 * has open, and how many threads the machine has: "elements N" and "threads N".
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "tests/e2e/storages.skel.h"

static __u32 map_id(const char *fdinfo)
{
	FILE *file = fopen(fdinfo, "re");
	char line[256];
	__u32 id = 0;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "map_id: %u", &id) == 1)
			break;
	if (file)
		fclose(file);
	return id;
}

static bool is_storage(__u32 id, const char *name)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);
	int fd = id ? bpf_map_get_fd_by_id(id) : -1;
	bool found;

	if (fd < 0)
		return false;
	found = !bpf_obj_get_info_by_fd(fd, &info, &len) &&
		info.type == BPF_MAP_TYPE_TASK_STORAGE && !strcmp(info.name, name);
	close(fd);
	return found;
}

/* 0: it has no such map. */
static __u32 find_storage(const char *pid, const char *name)
{
	char path[300];
	struct dirent *entry;
	__u32 id, found = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/fdinfo", pid);
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%s/fdinfo/%s", pid, entry->d_name);
		id = map_id(path);
		if (is_storage(id, name))
			found = id;
	}
	if (dir)
		closedir(dir);
	return found;
}

static int iterate(struct bpf_program *prog)
{
	struct bpf_link *link = bpf_program__attach_iter(prog, NULL);
	int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -1, err;
	char byte;

	if (fd < 0)
		return -1;
	while ((err = read(fd, &byte, sizeof(byte))) > 0)
		;
	close(fd);
	bpf_link__destroy(link);
	return err;
}

int main(int argc, char **argv)
{
	__u32 id = argc == 3 ? find_storage(argv[1], argv[2]) : 0;
	struct storages_bpf *s;

	if (!id) {
		fprintf(stderr, "storages: no such process or map\n");
		return 2;
	}
	s = storages_bpf__open();
	if (!s)
		return 1;
	s->rodata->target = id;
	if (storages_bpf__load(s) || iterate(s->progs.storages_map) ||
	    iterate(s->progs.storages_task) || !s->bss->is_complete)
		return 1;
	printf("elements %llu\nthreads %llu\n", s->bss->nr_elements, s->bss->nr_tasks);
	storages_bpf__destroy(s);
	return 0;
}
