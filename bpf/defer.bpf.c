/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Deferring a walk. In the first moments of a recording or of a process, tables and mappings are
 * still on their way. Rather than lose these stacks, or guess, they are kept as they are: the
 * registers and the stack, in some of a fixed number of slots that user space empties every few
 * milliseconds while there are any. When all are taken, the stack is recorded as one that ended for
 * want of a table.
 */
#include "defer.bpf.h"
#include "kernel.bpf.h"
#include "unwind.bpf.h"

#define BLOCK_BYTES 1024u
#define BLOCK_WORDS (BLOCK_BYTES / 8)
#define MAX_BLOCKS  14u
#define MAX_PROBES  128
#define STACK_REACH (8u << 20) /* from a stack pointer to the top, at most */
#define BLIND_CHAIN 4	       /* slots, when the top is not known */
#define PAGE_BYTES  4096u
_Static_assert((MAX_BLOCKS + 1) * BLOCK_WORDS <= PROF_DEFERRED_WORDS, "blocks and their parts fit");

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

/* Where to look for a free slot: behind the last one taken. A hint, so it may be raced for. */
__u32 prof_defer_next;

/* Number of a slot that is ours now, or -1. Separately verified. */
__noinline int defer_claim(void)
{
	__u32 first = prof_defer_next;

	for (__u32 i = 0; i < MAX_PROBES; i++) {
		__u32 slot = (first + i) & (prof_cfg.deferred_slots - 1);
		struct prof_deferred *d = slot_get(slot);

		if (d && !d->state && !__sync_val_compare_and_swap(&d->state, 0, 1)) {
			prof_defer_next = slot + 1;
			return slot;
		}
	}
	return -1;
}

/*
 * A block of the stack. When not all of it is there: what lies in its first page, and what lies in
 * the second; zeros take the place of the rest. Returns the bytes from its beginning that were
 * read.
 */
static __always_inline __u32 copy_block(struct prof_deferred *d, __u32 block, __u64 at)
{
	__u8 *to = (__u8 *)&d->words[block * BLOCK_WORDS];
	__u32 first = PAGE_BYTES - (at & (PAGE_BYTES - 1));

	if (!bpf_probe_read_user(to, BLOCK_BYTES, (void *)at))
		return BLOCK_BYTES;
	if (first >= BLOCK_BYTES)
		return 0;
	first &= BLOCK_BYTES - 1;
	if (!bpf_probe_read_user(to, first, (void *)at))
		return first;
	bpf_probe_read_user(to + first, (BLOCK_BYTES - first) & (BLOCK_BYTES - 1),
			    (void *)(at + first));
	return 0;
}

/*
 * Copies the stack from sp up into a slot. Where it is known where the stack ends (top), memory
 * that nobody has touched yet may lie in between; else it ends where it cannot be read. Nonzero:
 * there may be more. Separately verified.
 */
__noinline int defer_copy(__u32 slot, __u64 sp, __u64 top)
{
	struct prof_deferred *d = slot_get(slot);
	__u32 block, bytes = 0;

	if (!d)
		return 0;
	for (block = 0; block < MAX_BLOCKS; block++) {
		__u64 at = sp + block * BLOCK_BYTES;

		if (top && at >= top)
			break;
		bytes = copy_block(d, block, at);
		if (!top && bytes < BLOCK_BYTES)
			break;
		bytes = 0;
	}
	d->bytes = block * BLOCK_BYTES + bytes;
	return block == MAX_BLOCKS;
}

/*
 * Where the stack that sp points into ends, 0 when that is not known: the first thread's where the
 * kernel began it, others of the C library where they keep their thread-local data.
 */
static __always_inline __u64 stack_top(const struct task_struct *task, __u64 sp)
{
	__u64 top = task->mm->start_stack;

	if (sp < top && top - sp < STACK_REACH)
		return top;
	top = THREAD_POINTER(task);
	return sp < top && top - sp < STACK_REACH ? top : 0;
}

/* The stack, in as many slots as it takes and as there are. */
static __always_inline void copy_stack(struct scratch *s, __s32 slot, __u64 top)
{
	__u32 nr = 0, most = top ? PROF_DEFERRED_CHAIN : BLIND_CHAIN;
	__u64 sp = s->sp;

	for (__u32 i = 0; i < PROF_DEFERRED_CHAIN && slot >= 0; i++) {
		s->user.frames[i] = slot;
		nr++;
		if (!defer_copy(slot, sp, top))
			break;
		sp += MAX_BLOCKS * BLOCK_BYTES;
		slot = i + 1 < most ? defer_claim() : -1;
	}
	s->user.nr = nr;
}

/* A walk that did not even begin has come as far as the innermost frame. */
static __always_inline void keep_leaf(struct scratch *s)
{
	if (s->user.nr)
		return;
	s->user.frames[0] = s->pc | PROF_FRAME_EXACT;
	s->user.hash = hash_mix(s->user.hash, s->pc);
	s->user.nr = 1;
}

__noinline int defer_walk(__u32 id)
{
	struct scratch *s = scratch_get(id);
	struct task_struct *task = bpf_get_current_task_btf();
	__s32 slot = defer_claim();
	struct prof_deferred *d;

	if (!s)
		return 0;
	d = slot_get(slot);
	if (slot < 0 || !d) {
		counters_add(PROF_DEFER_FULL);
		keep_leaf(s);
		return 0;
	}
	d->pc = s->pc;
	d->sp = s->sp;
	d->fp = s->fp;
	d->lr = s->lr;
	d->start_stack = task->mm->start_stack;
	kernel_entry_regs(task, (struct pt_regs *)d->regs);
	copy_stack(s, slot, stack_top(task, s->sp));
	s->user.kind = PROF_STACK_DEFERRED;
	/* Every one is a stack of its own. */
	s->user.hash = hash_mix(bpf_ktime_get_ns(), slot);
	counters_add(PROF_DEFERRED);
	return 0;
}

__hidden void defer_task(struct scratch *s, struct task_struct *task)
{
	__s32 slot = prof_cfg.call_graph == CALL_GRAPH_FP ? -1 : defer_claim();
	struct prof_deferred *d = slot_get(slot);
	struct pt_regs *regs;

	unwind_nothing(s, UNWIND_END_NO_TABLE);
	if (slot < 0 || !d) {
		counters_add(PROF_DEFER_FULL);
		return;
	}
	regs = (struct pt_regs *)d->regs;
	kernel_entry_regs(task, regs);
	d->pc = REGS_PC(regs);
	d->sp = REGS_SP(regs);
	d->fp = REGS_FP(regs);
	d->lr = REGS_LR(regs);
	d->start_stack = task->mm->start_stack;
	d->bytes = 0;
	d->words[0] = task->pid;
	d->words[1] = task->nvcsw + task->nivcsw;
	d->state = PROF_DEFERRED_ASLEEP;
	s->user.frames[0] = slot;
	s->user.nr = 1;
	s->user.kind = PROF_STACK_DEFERRED;
	s->user.hash = hash_mix(bpf_ktime_get_ns(), slot);
	counters_add(PROF_DEFERRED);
}
