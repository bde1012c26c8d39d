/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files in which the runtime of a process tells what code it has generated: the perf map,
 * /tmp/perf-PID.map as the process sees it, and jitdump, which is known by its mapping. What they
 * say is in symbol/jit_names.h.
 *
 * Everybody can write into /tmp. So a perf map counts only when it is a regular file, no link,
 * belongs to the process's own user or root, and was written since the process began: containers
 * give the same few numbers to one process after the other.
 */
#ifndef BPFPROF_PROC_JIT_FILES_H
#define BPFPROF_PROC_JIT_FILES_H

#include "proc/proc.h"

/* Of which process. */
struct jit_place {
	uint32_t pid, own_pid; /* as we call the process, as it calls itself */
	uid_t owners[2];
	uint64_t started_ns; /* by CLOCK_REALTIME */
};

/* Why a perf map that is there does not count. */
enum jit_rule {
	JIT_COUNTS, /* or there is none */
	JIT_OWNER,
	JIT_TYPE,
	JIT_LINK,
	JIT_RIGHTS,
	JIT_AGE,
};

struct jit_refusal {
	uint32_t rule; /* enum jit_rule */
	uid_t owner;
};

/* /tmp may lie on a file system that never answers. */
struct jit_opener {
	/* As jit_place_open(), or negative errno. */
	int (*open)(void *arg, const struct jit_place *place, int tmp, struct jit_refusal *why);
	void *arg;
};

struct jit_files {
	struct jit_place place;
	struct jit_opener opener;
	int map, dump; /* -1 = none, or not opened yet; dump belongs to the proc table */
	int tmp; /* the folder of the perf map, so that it is found when the process is gone */
	/* Of jit_files_try_map(): how long it waits until the next time, and until when. */
	uint64_t wait_ns, next_ns;
	bool tried_last;	    /* when the process was gone */
	struct jit_refusal refused; /* the perf map, when it was asked for last */
};

/*
 * The folder, when tmp is -1, or the perf map in it. -1 = there is none, or it does not count, and
 * why not.
 */
int jit_place_open(const struct jit_place *place, int tmp, struct jit_refusal *why);

/*
 * While the process lives: where its files will be. NULL when it is gone. Without an opener (NULL)
 * we open ourselves.
 */
struct jit_files *jit_files_new(uint32_t pid, const struct jit_opener *opener);
void jit_files_free(struct jit_files *j);

/* Finds the jitdump file among what the image has mapped, if it has not been found yet. */
void jit_files_find_dump(struct jit_files *j, const struct proc_image *image);

/* When all has been written that is to be read. */
void jit_files_open_map(struct jit_files *j);
/*
 * Of a recording that goes on, as often as one likes: what is not there is looked for less and less
 * often, and once more when the process is gone.
 */
void jit_files_try_map(struct jit_files *j, bool is_gone);

#endif
