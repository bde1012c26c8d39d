/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Waits for locks: a row for each lock, with who waits most and who holds it most. */
#ifndef BPFPROF_PROFILE_LOCKS_H
#define BPFPROF_PROFILE_LOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"
#include "profile/view.h"

struct locks_row {
	uint64_t word; /* address in the process; 0 = no lock is known */
	uint32_t pid, process;
	uint64_t ns, nr, max_ns;
	uint32_t waiters;	  /* threads */
	const char *kind;	  /* "mutex", "condition variable" */
	uint32_t function;	  /* of who waited longest, string; 0 = not known */
	uint32_t holder;	  /* name of who held it longest, string; 0 = not known */
	uint32_t holder_pid;	  /* its process, and the name of that; 0 = not known */
	uint32_t holder_process;  /* string */
	uint32_t holder_function; /* where; string, 0 = not known */
	enum lock_role role;	  /* of that one */
	bool deadlock;
};

/* Longest first. */
struct locks {
	struct locks_row *v;
	size_t nr;
	uint64_t ns, waits; /* of all of them */
	uint64_t known_ns;  /* of waits for which a holder is known */
};

/* Of the waits that a view shows, but for those of programs that only sleep. */
void locks_init(struct locks *l, const struct profile *p, const struct view *v);
void locks_release(struct locks *l);

/* What the functions of the waiter, or else the lock itself, say that it is. */
const char *locks_kind(const struct profile *p, const struct sample *s);

/*
 * Whether a sample is the first of the threads that wait for each other for ever: of each such ring
 * one is. The others follow as its wakers, up to its own thread again.
 */
bool locks_is_deadlock(const struct profile *p, const struct sample *s);

/* "holds" and so on, for programs. */
extern const char *const lock_role_keys[LOCK_NR_ROLES];

#endif
