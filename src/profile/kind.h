/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a recording is of. A row for each command that records; all that differs between them in
 * user space, but for their options, asks its row and not the command's name.
 */
#ifndef BPFPROF_PROFILE_KIND_H
#define BPFPROF_PROFILE_KIND_H

#include <stdbool.h>

struct profile;

struct kind {
	const char *command;
	bool is_time;	 /* weights are ns that passed, shown as us; else periods of samples */
	bool waits;	 /* it follows threads through all their waits */
	bool running;	 /* and while they run: views tell both apart */
	bool samples;	 /* samples of running code without weight: what it ran, and when */
	bool live;	 /* it is looked at while it goes on */
	bool wakers;	 /* what ended a wait is shown first, so no wait is idle */
	bool locks;	 /* wakers are who held a lock, or at least freed it */
	bool histograms; /* waits by their length, and no stacks */
	bool timeline;	 /* what the scheduler did, event by event */
	bool table;	 /* of it, the table of threads is what people see */
	bool calls;	 /* of functions or tracepoints: events are rows of one table */
	bool memory;	 /* of allocations: bytes and objects */
	bool faults;	 /* of pages: events are minor and major ones, which views add up */
	bool grows;	 /* of these, what makes processes larger, in bytes: alloc --growth */
	bool syscalls;	 /* which are told apart by the error that they return */
	const char *operation; /* what each is, where calls begin and end in different threads */
	bool klocks;	       /* of the kernel */
	const char *polls;     /* of tasks of Tokio: what each is called */
	bool slow_polls;       /* waits and running time are those within slow polls */
	const char *cheaper;   /* the option by which the same costs its target less */
	bool seldom;	       /* so few stacks that some may wait until tables are built */
};

/* The row of a command; of one that is not known (a file of a newer bpfprof) that of samples. */
const struct kind *kind_of(const char *command);
const struct kind *kind_of_profile(const struct profile *p);

/* What one of the things recorded is: "wait". */
const char *kind_noun(const struct kind *kind);

#endif
