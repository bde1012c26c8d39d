/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the tables of runtimes (context_rows.c) hold, for those who walk stacks by them. */
#ifndef BPFPROF_PROFILE_CONTEXT_ROWS_H
#define BPFPROF_PROFILE_CONTEXT_ROWS_H

#include "profile/context.h"
#include "profile/wait.h"

/* What a function of a runtime on a stack says of the frames within it. */
enum mark {
	MARK_NONE,
	MARK_PARK,    /* a worker without work */
	MARK_BLOCKON, /* a thread that waits for a future */
	MARK_TASK,    /* a task is run; also a job of the pool, by the same functions */
	MARK_RUN,     /* a task is about to be run: by itself it is the runtime */
	MARK_WORKER,  /* the loop around it */
	MARK_POOL,    /* the loop of a pool's thread */
	MARK_ENTER,   /* runs the main future */
	MARK_THREAD,  /* the beginning of a thread */
};

struct context_marker {
	enum mark mark;
	enum context_role role; /* of its thread, when it is this anywhere on the stack */
	bool counts; /* of MARK_TASK: one for each task, so that two are one in the other */
	const char *name;
};

struct context_runtime {
	const char *name;
	const char *needle; /* in names of functions; without it none of the rows matches */
	bool automatic;
	bool one_driver; /* who waits in the driver does so for all of its threads */
	const struct context_marker *markers;
	size_t nr;
};
extern const struct context_runtime context_runtimes[];
extern const uint32_t context_nr;

/* What functions between a wait and the innermost marker say of it: bits. */
enum clue {
	CLUE_LOCK = 1,
	CLUE_CHANNEL = 2,
	CLUE_CONDVAR = 4,
	CLUE_PARK = 8,
	CLUE_DNS = 16,
	CLUE_JOIN = 32,
	CLUE_SEMAPHORE = 64,
};
struct context_clue {
	enum clue clue;
	const char *name;
};
extern const struct context_clue context_clues[];
extern const size_t context_nr_clues;

/* The first row that fits says the kind of a wait. */
struct context_kind {
	const char *kind;      /* NULL: the name of the system call, or of the class */
	const char *syscalls;  /* "futex poll"; NULL = any */
	uint32_t clues;	       /* one of them; 0 = whatever */
	uint32_t classes;      /* one of these enum wait_class, as bits; 0 = whatever */
	enum prof_futex futex; /* PROF_FUTEX_UNKNOWN = whatever */
};
extern const struct context_kind context_kinds[];
extern const size_t context_nr_kinds;

#endif
