/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reading perf counters from a program: the counters are opened by user space, up to PMU_MAX_EVENTS
 * on each CPU, and are only looked at here. A counter runs for whoever has the CPU, so what it says
 * is worth something as a difference to what it said before on that CPU.
 */
#ifndef BPFPROF_BPF_PMU_BPF_H
#define BPFPROF_BPF_PMU_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include "prof.h"

/*
 * What counter i of this CPU says now. 0, or the kernel's reason: -ENOENT (there is none), -EBUSY
 * (a pinned one that does not count), -EOPNOTSUPP (an inherited one). now is all zero then.
 */
__hidden long pmu_read(__u32 cpu, __u32 i, struct prof_event_count *now);

/*
 * How far counter i of this CPU has come since it was last asked for with this base. False when
 * there is no difference to tell: it could not be read, for the reason in *err; or this is the
 * first time, or the first time of a new counter in its place (err 0), from which on it is counted.
 * Nothing else may use the base meanwhile; a base belongs to one CPU.
 */
static __always_inline bool pmu_delta(struct prof_event_base *base, __u32 cpu, __u32 i,
				      struct prof_event_count *delta, long *err)
{
	struct prof_event_count now, *last = &base->last[i];
	bool known = base->known >> i & 1;

	*err = pmu_read(cpu, i, &now);
	if (*err) {
		if (known)
			base->known &= ~(1ull << i);
		return false;
	}
	delta->value = now.value - last->value;
	delta->enabled_ns = now.enabled_ns - last->enabled_ns;
	delta->running_ns = now.running_ns - last->running_ns;
	/* Time that runs backwards is a counter that took the place of another. */
	known = known && now.enabled_ns >= last->enabled_ns;
	*last = now;
	if (!known)
		base->known |= 1ull << i;
	return known;
}

#endif
