/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a thread waited for, told from the task's state, the system call it was in, and the kernel
 * functions on its stack, in this order of weight: the table is in wait.c.
 */
#ifndef BPFPROF_PROFILE_WAIT_H
#define BPFPROF_PROFILE_WAIT_H

#include "profile/profile.h"

enum wait_class {
	WAIT_LOCK,	/* futex, and locks of the kernel */
	WAIT_POLL,	/* any of several things: epoll, poll, select */
	WAIT_SLEEP,	/* time */
	WAIT_IO,	/* a device or a file system */
	WAIT_NET,	/* a socket */
	WAIT_PIPE,	/* a pipe, a terminal */
	WAIT_PAGEFAULT, /* memory that was not there */
	WAIT_PREEMPT,	/* a CPU: it could have run */
	WAIT_OTHER,
	WAIT_NR_CLASSES
};

/* "lock" and so on. */
extern const char *const wait_class_names[WAIT_NR_CLASSES];

/* Of a sample whose wait kind is PROF_BLOCKED, PROF_PREEMPTED or PROF_WOKEN. */
enum wait_class wait_class(const struct profile *p, const struct sample *s);

/*
 * "lock,io" as bits of enum wait_class. 0, or -EINVAL: logged with the nearest name, or all that
 * there are.
 */
int wait_parse_classes(const char *list, uint32_t *classes);

#endif
