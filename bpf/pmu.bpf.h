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
#include "account.h"

/*
 * What counter i of this CPU says now. 0, or the kernel's reason: -ENOENT (there is none), -EBUSY
 * (a pinned one that does not count), -EOPNOTSUPP (an inherited one). now is all zero then.
 */
__hidden long pmu_read(__u32 cpu, __u32 i, struct prof_event_count *now);

/*
 * How far counter i of this CPU has come since it was last asked for with this base. Returns what
 * pmu_read() does. The difference is zero when the counter could not be read, and when it was read
 * for the first time, or for the first time after it could not, or is a new one in the place of
 * another: from then on it is counted. Nothing else may use the base meanwhile; it belongs to one
 * CPU. (verifier: masks, since each branch here would be one for each of the counters.)
 */
static __always_inline long pmu_delta(struct prof_event_base *base, __u32 cpu, __u32 i,
				      struct prof_event_count *delta)
{
	struct prof_event_count now, *last = &base->last[i];
	long err = pmu_read(cpu, i, &now);
	__u64 bit = 1ull << i, mask = -(base->known >> i & 1);

	/* Time that runs backwards is another counter's. What could not be read is all zero. */
	mask &= -(__u64)(now.enabled_ns >= last->enabled_ns);
	delta->value = (now.value - last->value) & mask;
	delta->enabled_ns = (now.enabled_ns - last->enabled_ns) & mask;
	delta->running_ns = (now.running_ns - last->running_ns) & mask;
	*last = now;
	base->known = err ? base->known & ~bit : base->known | bit;
	return err;
}

#endif
