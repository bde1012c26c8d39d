/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which samples are of one thread, and its time. A thread is known by its id; where a recording
 * merged threads (id 0), those of one process and name are one group, with all that is known of
 * them by id.
 */
#ifndef BPFPROF_PROFILE_THREADS_H
#define BPFPROF_PROFILE_THREADS_H

#include "profile/profile.h"

struct thread_group {
	uint32_t pid, tid;	  /* tid 0: several */
	uint32_t process, thread; /* names, strings */
	uint64_t wall_ns;	  /* sum over its rows of profile.threads */
	uint32_t nr_threads;	  /* how many those are */
};

struct thread_groups {
	struct thread_group *v;
	size_t nr, cap;
	uint32_t *of_sample; /* per sample: index of its group */
};

void thread_groups_init(struct thread_groups *g, const struct profile *p);
void thread_groups_release(struct thread_groups *g);

/*
 * What each sample stands for, in ns, to free(). Sampled stacks of running code (PROF_ON_CPU) are
 * scaled so that those of a group add up to the time that the scheduler says it ran (PROF_RUNNING),
 * to the nanosecond; then the latter are 0. Time without any stack stays where it is, and so does a
 * stack without a time.
 */
uint64_t *thread_weights(const struct profile *p, const struct thread_groups *g);

#endif
