/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who holds the locks that threads still wait for when the recording ends, read from the locks
 * themselves: of waits that are older than the recording nothing else is known. Rings of them are
 * deadlocks.
 */
#ifndef BPFPROF_COLLECT_LOCK_HOLDERS_H
#define BPFPROF_COLLECT_LOCK_HOLDERS_H

#include "profile/profile.h"
#include "reader/reader.h"

#define LOCK_HOLDERS_SHOWN 16 /* behind each other */

/* Gives the samples of open waits such holders. What cannot be read stays as it is. */
void lock_holders_find(struct profile *p, struct reader *r);

#endif
