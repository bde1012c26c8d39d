/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How much of a recording each thread lived through, from side-band records: the wall time that the
 * kernel's account of waits and running has to add up to, known from elsewhere.
 */
#ifndef BPFPROF_COLLECT_LIFETIMES_H
#define BPFPROF_COLLECT_LIFETIMES_H

#include <stddef.h>

#include "profile/profile.h"

struct lifetimes;

/* Of a recording that began then. */
struct lifetimes *lifetimes_new(uint64_t begin_ns);
void lifetimes_free(struct lifetimes *l);

/*
 * Births and ends; l may be NULL. Threads that had the same number one after the other are one, as
 * they are in the counts.
 */
void lifetimes_begin(struct lifetimes *l, uint32_t pid, uint32_t tid, uint64_t time_ns);
void lifetimes_end(struct lifetimes *l, uint32_t pid, uint32_t tid, uint64_t time_ns);

/* It is another one from now on: nothing counts of what it has lived before. l may be NULL. */
void lifetimes_begin_anew(struct lifetimes *l, uint32_t pid, uint32_t tid, uint64_t time_ns);

/*
 * When there are many, forgets the threads that have ended some time before now_ns and have no
 * count: so memory is bounded by the counts and by the threads that live. l may be NULL.
 */
void lifetimes_drop(struct lifetimes *l, const struct prof_count *counts, size_t nr,
		    uint64_t now_ns);

/* How long it lived between two times, as far as is known. */
uint64_t lifetimes_between(const struct lifetimes *l, uint32_t pid, uint32_t tid, uint64_t begin_ns,
			   uint64_t end_ns);

size_t lifetimes_nr(const struct lifetimes *l);

/*
 * Tells the profile of each thread that it has samples of, how long it lived until end_ns, under
 * the name that it had most of the time. Where the kernel has merged threads it has told the time
 * of those that have no count of their own; one that has nothing but samples of running code is one
 * of them.
 */
void lifetimes_write(struct lifetimes *l, struct profile *p, uint64_t end_ns);

#endif
