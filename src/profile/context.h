/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Columns that a runtime gives to the samples of its threads: in which context a thread was (in a
 * task, in a job of the pool, in the runtime itself, or idle), what it waited for in the words of
 * the runtime's users, and which role it had. Functions of the runtime on its stack tell it: the
 * innermost one that the runtime's rows know decides (context_rows.c).
 */
#ifndef BPFPROF_PROFILE_CONTEXT_H
#define BPFPROF_PROFILE_CONTEXT_H

#include <stdbool.h>

#include "profile/profile.h"

#define CONTEXT_MAX_RUNTIMES 8

enum context {
	CONTEXT_NONE, /* of no runtime */
	CONTEXT_TASK,
	CONTEXT_POOL_JOB,
	CONTEXT_MAIN_FUTURE, /* of block_on(), which runs outside of tasks */
	CONTEXT_RUNTIME,
	CONTEXT_IDLE_PARK,
	CONTEXT_IDLE_DRIVER, /* waits for events of the whole runtime */
	CONTEXT_IDLE_POOL,
	CONTEXT_IDLE_BLOCK_ON,
	CONTEXT_OTHER,	     /* of a process that has the runtime, by code of its own */
	CONTEXT_NOT_SAMPLED, /* the same, without a stack */
	CONTEXT_NR,
};

/* Of a thread while it was there: a thread may change it. */
enum context_role {
	ROLE_NONE,
	ROLE_WORKER,
	ROLE_POOL,
	ROLE_BLOCK_ON, /* the thread of block_on(), and of a runtime of one thread */
	ROLE_NR,
};

/* Of a sample. */
struct context_of {
	uint8_t runtime;  /* number + 1, 0 = none */
	uint8_t context;  /* enum context */
	uint8_t role;	  /* enum context_role */
	uint8_t learned;  /* the same, that its thread had for most of the time */
	bool was_idle;	  /* it was, and has a reason to run now */
	uint32_t own;	  /* user frames from the leaf on that are not the runtime's way to them */
	const char *kind; /* what it waited for, "" = nothing to say */
};

struct contexts {
	const struct profile *p;
	struct context_of *v; /* per sample; NULL: no runtime is in it */
	struct context_work *work;
};

/* "task", "idle-park" and so on; "worker" and so on, "" = none. */
extern const char *const context_names[CONTEXT_NR];
extern const char *const context_roles[ROLE_NR];
/* What the first frame in brackets is called. */
extern const char *const context_frames[CONTEXT_NR];

/* Of all runtimes. O(strings) where the profile has none. */
void contexts_init(struct contexts *c, const struct profile *p);
void contexts_release(struct contexts *c);

/* Of a thread that ran, such as one that woke another, by its stack. False: of no runtime. */
bool contexts_of_stack(const struct contexts *c, uint32_t ustack, struct context_of *to);

/* Sample i; of no runtime where there is none. */
const struct context_of *contexts_at(const struct contexts *c, size_t i);

/* Whether sample i is of a thread that ran in its driver, or parked, so that it polled. */
bool contexts_polls(const struct contexts *c, size_t i);

static inline bool context_is_idle(enum context context)
{
	return context >= CONTEXT_IDLE_PARK && context <= CONTEXT_IDLE_BLOCK_ON;
}

/* How many runtimes there are rows of, their names, and whether views show them unasked. */
uint32_t context_nr_runtimes(void);
const char *context_runtime(uint32_t runtime);
/* How names of functions of the runtime so named begin. */
const char *context_needle(const char *name);
bool context_is_automatic(uint32_t runtime);
/* Whether one of its threads at a time waits for events of all of them, its driver. */
bool context_has_driver(uint32_t runtime);

/* Whether some are by the form of stacks, since a program has no names (context_form.h). */
bool contexts_by_form(const struct contexts *c);

/* Whether functions or threads in the profile are of that runtime. */
bool contexts_have(const struct contexts *c, uint32_t runtime);

/* How a frame is shown where a runtime's frames are trimmed. */
enum context_noise {
	NOISE_NOT,
	NOISE_RUNTIME, /* of the runtime, of std around it, of combinators */
	NOISE_LIBRARY, /* of servers and clients that run the user's code */
	NOISE_THREAD,  /* how threads begin */
	NOISE_CALL,    /* "syscall", which every wait goes by */
};
enum context_noise context_noise_of(const char *normal);

/* What users know a function as that waits, "std::sync::Mutex::lock"; NULL = by its own name. */
const char *context_known_as(const char *normal);

#endif
