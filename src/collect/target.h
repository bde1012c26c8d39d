/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A program that bpfprof starts itself ("-- PROGRAM ARGS"). It waits before its exec until
 * everything is ready.
 */
#ifndef BPFPROF_COLLECT_TARGET_H
#define BPFPROF_COLLECT_TARGET_H

#include <stdint.h>
#include <sys/types.h>

/*
 * The name of its thread until the exec, which names it after the file; no file's name has a slash.
 * So a sample tells whether it is of the program or of bpfprof's own code on the way there.
 */
#define TARGET_HELD_NAME "bpfprof/start"

struct target {
	pid_t pid;	 /* 0 = none */
	int pidfd;	 /* readable when it has ended; -1 = none */
	int go;		 /* pipe that releases it */
	int failed;	 /* pipe that brings errno of a failed exec */
	int status;	 /* of wait(2), when it has ended by itself */
	uint64_t cpu_ns; /* then: what it took, with its children */
};

/* Forks. 0 or negative errno, logged. */
int target_start(struct target *t, char **argv);

/* Lets it exec. 0, or negative errno of the exec, logged. */
int target_release(struct target *t, const char *name);

/* Has it ended? Reaps it, and tells of an end that was not a success. */
int target_ended(struct target *t, const char *name);

/* Asks it to end (SIGTERM) if it still runs; does not wait. */
void target_terminate(struct target *t);

/* Reaps it; one that does not heed SIGTERM within 2 s gets SIGKILL. */
void target_stop(struct target *t);

#endif
