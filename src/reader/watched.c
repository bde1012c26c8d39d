/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "reader/watched.h"

#include <time.h>

#include "base/clock.h"
#include "reader/cost.h"

#define LATE_NS 80000000ull /* who looks that late had no CPU either */

static uint64_t cpu_ns(pid_t pid)
{
	clockid_t clock;
	struct timespec t;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
		return 0;
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* Before it says its number, the nursery has not come to it. */
void watched_look(struct watched *w)
{
	uint64_t now = now_ns(), since = w->looked_ns ? now - w->looked_ns : 0, cpu;

	w->looked_ns = now;
	if (!w->pid || since > LATE_NS || cost_is_runnable(w->pid))
		w->wanted_ns += since;
	cpu = w->pid ? cpu_ns(w->pid) : 0;
	if (cpu)
		w->cpu_ns = cpu; /* 0: it is gone */
}

bool watched_has_starved(const struct watched *w, uint64_t timeout_ns)
{
	return w->wanted_ns >= timeout_ns / 2 && w->cpu_ns < timeout_ns / 4;
}

bool watched_has_hung(struct watched *w, uint64_t idle_ns)
{
	uint64_t now = now_ns(), used;

	if (!w->pid)
		return false;
	used = cpu_ns(w->pid);
	if (!w->idle_since_ns || used != w->used_ns || cost_is_runnable(w->pid)) {
		w->idle_since_ns = now;
		w->used_ns = used;
	}
	return now - w->idle_since_ns >= idle_ns;
}
