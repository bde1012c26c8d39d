/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a thread waited for. The kernel functions on its stack say it best, the innermost one that
 * means something; then, where no stack was taken or none of its functions is known, the kernel's
 * mark of a wait for a device, the system call it was in, and the task's state. Only a lock may be
 * something else to the program. The tables are in wait.c.
 */
#ifndef BPFPROF_PROFILE_WAIT_H
#define BPFPROF_PROFILE_WAIT_H

#include <stdbool.h>

#include "profile/profile.h"

enum wait_class {
	WAIT_WOKEN,	/* a CPU, from the wake-up on */
	WAIT_PREEMPTED, /* a CPU, since it had to make room */
	WAIT_THROTTLED, /* the next period of its cgroup's CPU quota */
	WAIT_LOCK,	/* futex, and locks of the kernel */
	WAIT_POLL,	/* any of several things: epoll, poll, select */
	WAIT_SLEEP,	/* time */
	WAIT_IO,	/* a device or a file system */
	WAIT_NET,	/* a socket */
	WAIT_PIPE,	/* a pipe, a terminal, a message queue, an eventfd */
	WAIT_PAGEFAULT, /* memory that was not there */
	WAIT_OTHER,
	WAIT_NR_CLASSES
};

/* Those of a thread that only waits for a CPU: "runnable" is both. */
#define WAIT_RUNNABLE (1u << WAIT_WOKEN | 1u << WAIT_PREEMPTED)

/* "lock" and so on. */
extern const char *const wait_class_names[WAIT_NR_CLASSES];

/* Of a sample of a wait: not of PROF_RUNNING, nor of PROF_ON_CPU. */
enum wait_class wait_class(const struct profile *p, const struct sample *s);

/* Whether a user stack waits for nothing but time, though the kernel takes it for a lock (Java). */
bool wait_sleeps(const struct profile *p, uint32_t ustack);

/*
 * Stacks taken in a tracepoint of the scheduler begin with the frames of those who took them: how
 * many of kstack's frames, leaf side, are not the thread's own.
 */
uint32_t wait_plumbing(const struct profile *p, uint32_t kstack);

/* The name of the system call that a thread waited in, NULL = none, or not known. */
const char *wait_syscall(const struct profile *p, uint32_t wait);

/* Of a wait in epoll_wait() which epoll it was, see enum prof_futex; 0 = not known. */
uint32_t wait_epoll(const struct profile *p, uint32_t wait);

/* What a futex was waited for with; of other waits, and of older recordings, not known. */
enum prof_futex wait_futex(const struct profile *p, uint32_t wait);

/*
 * "lock,io,runnable" as bits of enum wait_class. 0, or -EINVAL: logged with the nearest name, or
 * all that there are.
 */
int wait_parse_classes(const char *list, uint32_t *classes);

#endif
