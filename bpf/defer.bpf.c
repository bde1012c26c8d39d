/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Deferring a walk. In the first moments of a recording or of a process, tables and mappings are
 * still on their way. Rather than lose these stacks, or guess, they are kept as they are: the
 * registers and the stack, in some of a fixed number of slots that user space empties
 * ten times a second. When all are taken, the stack is recorded as one that ended for want of a
 * table.
 */
#include "defer.bpf.h"
#include "kernel.bpf.h"

#define BLOCK_BYTES 1024u
#define BLOCK_WORDS (BLOCK_BYTES / 8)
#define MAX_BLOCKS  63u
#define MAX_PROBES  64
#define CPU_SLOTS   8u /* distance of where CPUs begin to look for one */
#define PAGE_BYTES  4096u
_Static_assert(MAX_BLOCKS *BLOCK_WORDS <= PROF_DEFERRED_WORDS, "blocks fit the slot");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct prof_deferred);
} deferred SEC(".maps");

/* With --call-graph fp the map is not there (kernel < 6.8: see tables.bpf.c). */
static __always_inline struct prof_deferred *slot_get(__u32 slot)
{
	return prof_cfg.call_graph == CALL_GRAPH_FP ? NULL : bpf_map_lookup_elem(&deferred, &slot);
}

/* Number of a slot that is ours now, or -1. Separately verified. */
__noinline int defer_claim(__u32 cpu)
{
	for (__u32 i = 0; i < MAX_PROBES; i++) {
		__u32 slot = (cpu * CPU_SLOTS + i) & (prof_cfg.deferred_slots - 1);
		struct prof_deferred *d = slot_get(slot);

		if (d && !d->state && !__sync_val_compare_and_swap(&d->state, 0, 1))
			return slot;
	}
	return -1;
}

/*
 * Copies the stack from sp up into a slot, as far as it can be read. Nonzero: there may be more of
 * it. Separately verified.
 */
__noinline int defer_copy(__u32 slot, __u64 sp)
{
	struct prof_deferred *d = slot_get(slot);
	__u32 block, rest;

	if (!d)
		return 0;
	for (block = 0; block < MAX_BLOCKS; block++)
		if (bpf_probe_read_user(&d->words[block * BLOCK_WORDS], BLOCK_BYTES,
					(void *)(sp + block * BLOCK_BYTES)))
			break;
	d->bytes = block * BLOCK_BYTES;
	if (block == MAX_BLOCKS)
		return 1;
	/* Near the top of the stack: what is left of the last page. */
	rest = PAGE_BYTES - ((sp + block * BLOCK_BYTES) & (PAGE_BYTES - 1));
	if (rest < BLOCK_BYTES &&
	    !bpf_probe_read_user(&d->words[block * BLOCK_WORDS], rest & (BLOCK_BYTES - 1),
				 (void *)(sp + block * BLOCK_BYTES)))
		d->bytes += rest;
	return 0;
}

/* The stack, in as many slots as it takes and as there are. */
static __always_inline void copy_stack(struct scratch *s, __u32 cpu, __s32 slot)
{
	__u64 sp = s->sp;
	__u32 nr = 0;

	for (__u32 i = 0; i < PROF_DEFERRED_CHAIN && slot >= 0; i++) {
		s->user.frames[i] = slot;
		nr++;
		if (!defer_copy(slot, sp))
			break;
		sp += MAX_BLOCKS * BLOCK_BYTES;
		slot = i + 1 < PROF_DEFERRED_CHAIN ? defer_claim(cpu) : -1;
	}
	s->user.nr = nr;
}

__noinline int defer_walk(__u32 id)
{
	struct scratch *s = scratch_get(id);
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 cpu = bpf_get_smp_processor_id();
	struct prof_deferred *d;
	__s32 slot = defer_claim(cpu);

	if (!s)
		return 0;
	d = slot_get(slot);
	if (slot < 0 || !d) {
		counters_add(PROF_DEFER_FULL);
		return 0;
	}
	d->pc = s->pc;
	d->sp = s->sp;
	d->fp = s->fp;
	d->lr = s->lr;
	d->start_stack = task->mm->start_stack;
	kernel_entry_regs(task, (struct pt_regs *)d->regs);
	copy_stack(s, cpu, slot);
	s->user.kind = PROF_STACK_DEFERRED;
	/* Every one is a stack of its own. */
	s->user.hash = hash_mix(bpf_ktime_get_ns(), slot);
	counters_add(PROF_DEFERRED);
	return 0;
}
