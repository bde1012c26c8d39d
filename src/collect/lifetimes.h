/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How much of a recording each thread lived through, from side-band records: the wall time that the
 * kernel's account of waits and running has to add up to, known from elsewhere.
 */
#ifndef BPFPROF_COLLECT_LIFETIMES_H
#define BPFPROF_COLLECT_LIFETIMES_H

#include "profile/profile.h"

struct lifetimes;

struct lifetimes *lifetimes_new(void);
void lifetimes_free(struct lifetimes *l);

/* Births and ends; l may be NULL. */
void lifetimes_begin(struct lifetimes *l, uint32_t pid, uint32_t tid, uint64_t time_ns);
void lifetimes_end(struct lifetimes *l, uint32_t pid, uint32_t tid, uint64_t time_ns);

/* Tells the profile of each thread that it has samples of, how long it lived in begin … end. */
void lifetimes_write(struct lifetimes *l, struct profile *p, uint64_t begin_ns, uint64_t end_ns);

#endif
