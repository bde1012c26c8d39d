/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is shown of who ended a wait. */
#ifndef BPFPROF_PROFILE_WAKER_H
#define BPFPROF_PROFILE_WAKER_H

#include <stdbool.h>

#include "profile/profile.h"

/* Frames [first, end) of the waker's kernel stack, leaf first. */
struct waker_frames {
	uint32_t first, end;
	bool irq; /* an interrupt did it: the thread that it found running is not to blame */
	const char *note;    /* in front of them, "[deadlock]"; NULL = nothing */
	const char *instead; /* of the thread's name, "[irq]"; NULL = it stands there */
};

struct waker_frames waker_frames(const struct profile *p, const struct waker *w);

#endif
