/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of locks of the kernel. No address of one gets into them. */
#ifndef BPFPROF_COLLECT_KLOCKS_H
#define BPFPROF_COLLECT_KLOCKS_H

#include "collect/session.h"

struct klock_names;

/* Of all that a recording found. Asks the kernel, so the session must still be open. */
struct klock_names *klock_names_new(struct session *s);
void klock_names_free(struct klock_names *n);

/*
 * "rtnl_mutex" of one that is a variable, "mmap_lock" of one that belongs to its waiter; else a
 * number that no other lock of the recording has. By its slot + 1 of session_maps.call_values.
 */
const char *klock_name(const struct klock_names *n, uint32_t slot1);

#endif
