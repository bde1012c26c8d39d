/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who woke whom: waits by the thread that waited, the one that ended it, and what that one did. */
#ifndef BPFPROF_PROFILE_WOKEN_H
#define BPFPROF_PROFILE_WOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"
#include "profile/view.h"

/* Strings of the profile; 0 = not known. */
struct woken_row {
	uint32_t waiter;   /* name of the thread that waited */
	uint32_t waker;	   /* name of the thread that ended the wait; 0 of interrupts, too */
	uint32_t function; /* of the waker: innermost of the program's own, else of the kernel */
	bool irq;	   /* an interrupt did it, whatever thread it found running */
	uint64_t ns, nr;
};

/* Longest first. */
struct woken {
	struct woken_row *v;
	size_t nr;
	uint64_t ns; /* of all rows */
};

/* Of the waits that a view shows. */
void woken_init(struct woken *w, const struct profile *p, const struct view *v);
void woken_release(struct woken *w);

#endif
