/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * place_hits FILE ENTRIES PROGRAM ARGS...: runs PROGRAM with two probes of the kernel on each
 * function of FILE whose entry is in ENTRIES, a file of addresses in hexadecimal: one at the entry
 * and one at the chosen place. Both only count, and their counts must be equal. Prints
 *
 *	N functions, hit N times, N differ
 *
 * and exits with 1 when any differs. Only the first thread is counted: the kernel reads the path of
 * an event again when a child inherits it, out of the memory of the program, and fails its fork().
 */
#include <fcntl.h>
#include <sys/wait.h>

#include "tests/e2e/uprobe_event.h"
#include "uprobe/place.h"

#define MAX_PROBES 256

struct probe {
	const struct uprobe_function *function;
	struct place place;
	int entry_fd, place_fd;
};

/* Waits for a byte before it becomes the program. */
static pid_t start(char **argv, int *go)
{
	int ends[2], null;
	pid_t pid;
	char byte;

	if (pipe(ends) || (pid = fork()) < 0)
		exit(2);
	if (!pid) {
		close(ends[1]);
		null = open("/dev/null", O_RDWR);
		dup2(null, 0);
		dup2(null, 1);
		if (read(ends[0], &byte, 1) == 1)
			execvp(argv[0], argv);
		_exit(127);
	}
	close(ends[0]);
	*go = ends[1];
	return pid;
}

static void run(const char *path, struct probe *probes, size_t nr, char **argv)
{
	int go, status;
	pid_t pid = start(argv, &go);

	for (size_t i = 0; i < nr; i++) {
		probes[i].entry_fd = uprobe_event_open(path, probes[i].function->offset, pid);
		probes[i].place_fd = uprobe_event_open(path, probes[i].place.offset, pid);
	}
	if (write(go, "", 1) != 1 || waitpid(pid, &status, 0) != pid || status) {
		fprintf(stderr, "place_hits: %s failed\n", argv[0]);
		exit(2);
	}
	close(go);
}

static size_t compare(struct probe *probes, size_t nr)
{
	uint64_t entry, place, hits = 0;
	size_t differ = 0;

	for (size_t i = 0; i < nr; i++) {
		entry = uprobe_event_hits(probes[i].entry_fd);
		place = uprobe_event_hits(probes[i].place_fd);
		hits += place;
		if (entry == place)
			continue;
		differ++;
		printf("%s: %lu at the entry, %lu at %lx (%s)\n", probes[i].function->name, entry,
		       place, probes[i].place.address, probes[i].place.insn);
	}
	printf("%zu functions, hit %lu times, %zu differ\n", nr, hits, differ);
	return differ;
}

static size_t read_entries(const char *path, struct places *p, const struct functions *fs,
			   struct probe *probes)
{
	FILE *f = fopen(path, "r");
	unsigned long address;
	size_t nr = 0;

	while (f && nr < MAX_PROBES && fscanf(f, "%lx", &address) == 1) {
		probes[nr].function = functions_at(fs, address);
		if (probes[nr].function &&
		    !place_choose(p, probes[nr].function, PLACE_RETURN, &probes[nr].place))
			nr++;
	}
	if (f)
		fclose(f);
	return nr;
}

int main(int argc, char **argv)
{
	struct functions *fs = argc > 3 ? functions_open(argv[1]) : NULL;
	struct places *p = fs ? places_open(fs) : NULL;
	struct probe probes[MAX_PROBES];
	size_t nr, differ;

	if (!p)
		return 2;
	nr = read_entries(argv[2], p, fs, probes);
	run(argv[1], probes, nr, argv + 3);
	differ = compare(probes, nr);
	places_free(p);
	functions_free(fs);
	return differ || !nr;
}
