/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who woke whom: waits by the thread that waited, the one that ended it, and what that one did. */
#ifndef BPFPROF_PROFILE_WOKEN_H
#define BPFPROF_PROFILE_WOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"
#include "profile/view.h"
#include "profile/waits.h"

/* Strings of the profile; 0 = not known. */
struct woken_row {
	uint32_t waiter;   /* name of the thread that waited */
	uint32_t waker;	   /* name of the thread that ended the wait; 0 of interrupts, too */
	uint32_t function; /* of the waker: innermost of the program's own, else of the kernel */
	bool irq;	   /* an interrupt did it, whatever thread it found running */
	uint64_t ns, nr;
};

/* Why a wait has no waker. */
enum woken_by_none {
	WOKEN_NOT_ENDED, /* when the recording did */
	WOKEN_PREEMPTED, /* nobody has to wake such a thread */
	WOKEN_UNKNOWN,
	WOKEN_NR_NONE,
};

/* Waits with a waker, longest first, and those without. */
struct woken {
	struct woken_row *v;
	size_t nr;
	struct waits_sum none[WOKEN_NR_NONE];
	uint64_t ns; /* of all of them */
};

/* Of the waits that a view shows. */
void woken_init(struct woken *w, const struct profile *p, const struct view *v);
void woken_release(struct woken *w);

/* Whether a frame is of a library through which programs wake others and wait. */
bool woken_is_plumbing(const struct profile *p, uint32_t frame);

/*
 * The innermost function of a user stack, as linked, that is the program's own, and not of a
 * library through which threads wake others; a string.
 */
uint32_t woken_user_function(const struct profile *p, uint32_t stack);

/* "preempted" and "pre-empted", for programs and for people. */
extern const char *const woken_none_keys[WOKEN_NR_NONE];
extern const char *const woken_none_texts[WOKEN_NR_NONE];

#endif
