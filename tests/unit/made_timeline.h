/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A made-up timeline whose spans are known, in us:
 *
 *	main     runs to 100, sleeps to 300, is runnable to 350, runs to 500, makes room for a hog
 *	         to 700, runs to the end
 *	worker   runs to 850 and exits; wakes main
 *	born     is made by main at 800 and runs from 850 to the end
 */
#ifndef BPFPROF_TESTS_MADE_TIMELINE_H
#define BPFPROF_TESTS_MADE_TIMELINE_H

#include <string.h>

#include "profile/profile.h"

#define MADE_BEGIN_NS 5000000000ull
#define MADE_END_US   1000
#define MADE_SLEEPS   PROF_WAIT(PROF_BLOCKED, 1, 35) /* nanosleep of x86-64 */
#define MADE_EXITS    PROF_WAIT(PROF_BLOCKED, 0x80, 60)
#define MADE_MAKES    PROF_WAIT(PROF_PREEMPTED, 0, -1)

enum made_thread { MADE_IDLE, MADE_MAIN, MADE_WORKER, MADE_BORN, MADE_HOG };

static inline void made_put(uint32_t *pid, uint32_t *tid, char comm[PROF_COMM_LEN],
			    enum made_thread who)
{
	static const char names[][PROF_COMM_LEN] = { "swapper", "main", "w \"1\",\n\xff", "born",
						     "hog" };
	static const uint32_t pids[] = { 0, 10, 10, 10, 99 }, tids[] = { 0, 10, 11, 12, 99 };

	*pid = pids[who];
	*tid = tids[who];
	memcpy(comm, names[who], PROF_COMM_LEN);
}

static inline void made_event(struct profile *p, uint64_t us, enum timeline_kind kind, uint16_t cpu,
			      enum made_thread first, uint32_t wait, enum made_thread second)
{
	struct timeline_event e = {
		.time_ns = MADE_BEGIN_NS + us * 1000, .kind = kind, .cpu = cpu, .wait = wait
	};

	made_put(&e.pid, &e.tid, e.comm, first);
	made_put(&e.pid2, &e.tid2, e.comm2, second);
	e.flags = (e.pid == 10 ? TIMELINE_FIRST : 0) | (e.pid2 == 10 ? TIMELINE_SECOND : 0);
	profile_add_timeline(p, &e);
}

/* Without events. */
static inline struct profile *made_empty(void)
{
	struct profile *p = profile_new();

	p->meta.command = profile_string(p, "timeline");
	p->meta.target = profile_string(p, "process 10 (main)");
	p->meta.arch = profile_string(p, "x86_64");
	p->meta.start_ns = 1700000000000000000ull;
	p->meta.duration_ns = MADE_END_US * 1000;
	p->meta.timeline_begin_ns = MADE_BEGIN_NS;
	p->meta.timeline_wanted_ns = MADE_BEGIN_NS;
	p->meta.timeline_from_ns = MADE_BEGIN_NS;
	p->meta.timeline_end_ns = MADE_BEGIN_NS + MADE_END_US * 1000;
	return p;
}

static inline struct profile *made_timeline(void)
{
	struct profile *p = made_empty();

	made_event(p, 100, TIMELINE_SWITCH, 0, MADE_MAIN, MADE_SLEEPS, MADE_IDLE);
	made_event(p, 300, TIMELINE_WAKING, 1, MADE_MAIN, PROF_WAIT(PROF_BLOCKED, 1, -1),
		   MADE_WORKER);
	made_event(p, 350, TIMELINE_SWITCH, 0, MADE_IDLE, 0, MADE_MAIN);
	made_event(p, 500, TIMELINE_SWITCH, 0, MADE_MAIN, MADE_MAKES, MADE_HOG);
	made_event(p, 700, TIMELINE_SWITCH, 0, MADE_HOG, MADE_MAKES, MADE_MAIN);
	made_event(p, 800, TIMELINE_BORN, 0, MADE_BORN, PROF_WAIT(PROF_BLOCKED, 0, -1), MADE_MAIN);
	made_event(p, 850, TIMELINE_SWITCH, 1, MADE_WORKER, MADE_EXITS, MADE_BORN);
	p->counters[PROF_SEEN] = 9;
	p->counters[PROF_RECORDED] = 7;
	p->counters[PROF_FILTER_PID] = 2;
	return p;
}

#endif
