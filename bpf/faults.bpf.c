/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which kind of memory a page fault was in. The kernel's software events of faults say the address;
 * its mapping says the rest, as /proc/PID/maps does. To look it up takes the lock of the mappings,
 * and is refused while somebody waits to change them: then the kind is not known. Where interrupts
 * are off the kernel gives the lock back by one that it sends to itself, which takes microseconds
 * in a virtual machine. So mappings are remembered for a moment. With PREEMPT_RT it refuses there.
 *
 * Limit: who maps other memory at the same address within that moment is not noticed.
 */
#include "faults.bpf.h"
#include "arena.bpf.h"
#include <bpf/bpf_core_read.h>

#define NR_RANGES   4
#define REMEMBER_NS 1000000

/* kernel < 5.17: no kinds. */
enum bpf_func_id___ours { BPF_FUNC_find_vma___ours };

struct range {
	__u64 start, end;
	__u64 owner; /* stack_owner_of() */
	__u64 time;  /* of the look */
	__u64 memory;
};

struct ranges {
	struct range v[NR_RANGES];
	__u64 next;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ranges);
} fault_ranges SEC(".maps");

static __u32 memory_of(const struct vm_area_struct *vma)
{
	const struct mm_struct *mm = vma->vm_mm;

	if (vma->vm_file)
		return PROF_MEMORY_FILE;
	if (vma->vm_start < mm->brk && vma->vm_end > mm->start_brk)
		return PROF_MEMORY_HEAP;
	if (vma->vm_start <= mm->start_stack && vma->vm_end >= mm->start_stack)
		return PROF_MEMORY_STACK;
	return PROF_MEMORY_ANONYMOUS;
}

static long found(struct task_struct *task, struct vm_area_struct *vma, struct range *range)
{
	range->start = vma->vm_start;
	range->end = vma->vm_end;
	range->memory = memory_of(vma);
	return 0;
}

static __always_inline bool is_in(const struct range *r, __u64 address, __u64 owner, __u64 now)
{
	return r->owner == owner && address >= r->start && address < r->end &&
	       now - r->time < REMEMBER_NS;
}

/* end stays 0 where the kernel refuses. */
static __always_inline void look(struct range *range, __u64 address)
{
	if (bpf_core_enum_value_exists(enum bpf_func_id___ours, BPF_FUNC_find_vma___ours))
		bpf_find_vma(bpf_get_current_task_btf(), address, found, range, 0);
}

__hidden __u32 faults_memory(__u64 address)
{
	__u64 owner = stack_owner_of(bpf_get_current_task_btf()), now = bpf_ktime_get_ns();
	struct range range = { .owner = owner, .time = now };
	__u32 zero = 0;
	struct ranges *known = bpf_map_lookup_elem(&fault_ranges, &zero);

	if (!known)
		return PROF_MEMORY_UNKNOWN;
	for (int i = 0; i < NR_RANGES; i++)
		if (is_in(&known->v[i], address, owner, now))
			return known->v[i].memory;
	look(&range, address);
	if (range.end)
		known->v[known->next++ % NR_RANGES] = range;
	return range.memory;
}
