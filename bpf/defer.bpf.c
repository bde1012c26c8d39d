/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Deferring a walk. In the first moments of a recording or of a process, tables and mappings are
 * still on their way. Rather than lose these stacks, or guess, they are kept as they are: the
 * registers and the stack, in some of a fixed number of slots that user space empties every few
 * milliseconds while there are any. When all are taken, the stack is recorded as one that found no
 * room.
 *
 * Threads that are asleep when the recording begins may be many, all at once. Of each a row of
 * registers is kept, since user space can read their stacks as long as they sleep.
 */
#include "defer.bpf.h"
#include "kernel.bpf.h"
#include "unwind.bpf.h"

#define BLOCK_BYTES 1024u
#define BLOCK_WORDS (BLOCK_BYTES / 8)
#define MAX_BLOCKS  14u
#define MAX_WORDS   (PROF_MAX_DEFERRED / 64)
#define MAX_PROBES  (2 * MAX_WORDS) /* words: others may take what we saw free */
#define STACK_REACH (8u << 20)	    /* from a stack pointer to the top, at most */
#define BLIND_CHAIN 4		    /* slots, when the top is not known */
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

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct prof_sleeper);
} sleepers SEC(".maps");

/* A bit for each slot: taken. User space clears it. */
__u64 prof_defer_taken[MAX_WORDS] __attribute__((aligned(64)));

/* Word that the last slot was found in. A hint, so it may be raced for. */
__u32 prof_defer_next;

/* Rows of sleepers taken; none is ever given back. Runs past the end when there are too few. */
__u32 prof_sleepers_used;

/* Number of the one bit that is set: of those below it there are as many. */
static __always_inline __u32 bit_number(__u64 bit)
{
	__u64 below = bit - 1;

	asm volatile("" : "+r"(below)); /* or clang makes an instruction of it that BPF lacks */
	below -= below >> 1 & 0x5555555555555555ull;
	below = (below & 0x3333333333333333ull) + (below >> 2 & 0x3333333333333333ull);
	below = (below + (below >> 4)) & 0x0f0f0f0f0f0f0f0full;
	return below * 0x0101010101010101ull >> 56;
}

/* Number of a slot that is ours now, or -1. Separately verified. */
__noinline int defer_claim(void)
{
	__u32 first = prof_defer_next, words = prof_cfg.deferred_slots / 64;

	for (__u32 i = 0; i < MAX_PROBES && i < 2 * words; i++) {
		__u32 at = (first + i) & (words - 1) & (MAX_WORDS - 1);
		__u64 taken = *(volatile __u64 *)&prof_defer_taken[at], bit = ~taken & (taken + 1);

		if (!bit || __sync_fetch_and_or(&prof_defer_taken[at], bit) & bit)
			continue;
		if (at != first)
			prof_defer_next = at;
		return at * 64 + bit_number(bit);
	}
	return -1;
}

__noinline int defer_drop(__u32 id)
{
	struct scratch *s = scratch_get(id);

	if (!s || s->user.kind != PROF_STACK_DEFERRED)
		return 0;
	for (__u32 i = 0; i < PROF_DEFERRED_CHAIN && i < s->user.nr; i++) {
		__u64 slot = s->user.frames[i];

		if (slot >= PROF_MAX_DEFERRED) /* frames of Python */
			break;
		__sync_fetch_and_and(&prof_defer_taken[slot / 64 & (MAX_WORDS - 1)],
				     ~(1ull << (slot & 63)));
	}
	return 0;
}

/*
 * A block of the stack. When not all of it is there: what lies in its first page, and what lies in
 * the second; zeros take the place of the rest. Returns the bytes from its beginning that were
 * read. Separately verified.
 */
__noinline int defer_copy_block(__u32 slot, __u64 at, __u32 block)
{
	struct prof_deferred *d = slot_get(slot);
	__u32 first = PAGE_BYTES - (at & (PAGE_BYTES - 1));
	__u8 *to;

	if (!d || block >= MAX_BLOCKS)
		return 0;
	to = (__u8 *)&d->words[block * BLOCK_WORDS];
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
		bytes = defer_copy_block(slot, at, block);
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

/*
 * The stack, in as many slots as it takes and as there are, up to most. Why it may end before it is
 * over.
 */
static __always_inline __u32 copy_stack(struct scratch *s, __s32 slot, __u64 top, __u32 most)
{
	__u32 nr = 0, cut = UNWIND_END_NO_ROOM;
	__u64 sp = s->sp;

	for (__u32 i = 0; i < PROF_DEFERRED_CHAIN && slot >= 0; i++) {
		s->user.frames[i] = slot;
		nr++;
		if (!defer_copy(slot, sp, top)) {
			cut = UNWIND_END_READ;
			break;
		}
		sp += MAX_BLOCKS * BLOCK_BYTES;
		slot = i + 1 < most ? defer_claim() : -1;
	}
	s->user.nr = nr;
	return cut;
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

static __always_inline void find_no_room(struct scratch *s)
{
	counters_add(PROF_DEFER_FULL);
	s->user.end = UNWIND_END_NO_ROOM;
	keep_leaf(s);
}

/* frames are set. Every one is a stack of its own. */
static __always_inline void become(struct scratch *s, __u32 kind, __u32 number)
{
	s->user.kind = kind;
	s->user.hash = hash_mix(bpf_ktime_get_ns(), number);
	counters_add(PROF_DEFERRED);
}

static __always_inline void take_pause(struct prof_pause *p, const struct task_struct *task)
{
	p->tid = task->pid;
	p->times = kernel_nr_runs(task);
	p->by_switches = !p->times;
	if (p->by_switches)
		p->times = task->nvcsw + task->nivcsw;
}

/*
 * Where threads leave their CPU, under the lock of its run queue, one slot is all there is time
 * for.
 */
static __always_inline __u32 most_slots(const struct scratch *s, __u32 id, __u64 top)
{
	if (id == SCRATCH_SCHED)
		return 1;
	return top ? PROF_DEFERRED_CHAIN : BLIND_CHAIN;
}

#define CHUNK_RETURNS 4

/*
 * Some calls that return to the trampoline, the first of them at a struct return_instance; returns
 * where the next one is. Separately verified.
 */
__noinline __u64 defer_returns(__u32 slot, __u32 first, __u64 from)
{
	struct return_instance *at = (struct return_instance *)from;
	struct prof_deferred *d = slot_get(slot);

	if (!d)
		return 0;
	for (__u32 i = 0; i < CHUNK_RETURNS; i++) {
		__u32 k = (first + i) & (PROF_DEFERRED_RETURNS - 1);

		/* Of NULL, which cannot be read, these are 0. */
		d->returns[k].pc = BPF_CORE_READ(at, orig_ret_vaddr);
		d->returns[k].sp = BPF_CORE_READ(at, stack) + RETURN_ADDRESS_BYTES;
		at = BPF_CORE_READ(at, next);
	}
	return (__u64)at;
}

static __always_inline void take_returns(struct prof_deferred *d, __u32 slot,
					 const struct task_struct *task)
{
	__u64 at;

	d->trampoline = kernel_trampoline(task);
	if (!d->trampoline)
		return;
	at = (__u64)BPF_CORE_READ(task, utask, return_instances);
	for (__u32 i = 0; i < PROF_DEFERRED_RETURNS; i += CHUNK_RETURNS)
		at = defer_returns(slot, i, at);
}

__noinline int defer_walk(__u32 id)
{
	struct scratch *s = scratch_get(id);
	struct task_struct *task = bpf_get_current_task_btf();
	__s32 slot = defer_claim();
	struct prof_deferred *d;
	__u64 top;

	if (!s)
		return 0;
	d = slot_get(slot);
	if (slot < 0 || !d) {
		find_no_room(s);
		return 0;
	}
	d->pc = s->pc;
	d->sp = s->sp;
	d->fp = s->fp;
	d->lr = s->lr;
	d->called = s->called;
	d->start_stack = task->mm->start_stack;
	d->pause = (struct prof_pause){};
	if (id == SCRATCH_SCHED && s->leaves)
		take_pause(&d->pause, task);
	kernel_entry_regs(task, (struct pt_regs *)d->regs);
	take_returns(d, slot, task);
	top = stack_top(task, s->sp);
	d->cut = copy_stack(s, slot, top, most_slots(s, id, top));
	if (id == SCRATCH_SCHED && d->cut == UNWIND_END_NO_ROOM)
		d->cut = UNWIND_END_MOVED;
	become(s, PROF_STACK_DEFERRED, slot);
	return 0;
}

__hidden void defer_sleeper(struct scratch *s, struct task_struct *task)
{
	__u32 row = __sync_fetch_and_add(&prof_sleepers_used, 1);
	struct prof_sleeper *to;

	unwind_nothing(s, UNWIND_END_NO_ROOM);
	to = prof_cfg.no_ustacks ? NULL : bpf_map_lookup_elem(&sleepers, &row);
	if (!to) {
		find_no_room(s);
		return;
	}
	to->pc = s->pc;
	to->sp = s->sp;
	to->fp = s->fp;
	to->lr = s->lr;
	to->start_stack = task->mm->start_stack;
	to->thread = THREAD_POINTER(task);
	take_pause(&to->pause, task);
	s->user.frames[0] = row;
	s->user.nr = 1;
	become(s, PROF_STACK_SLEEPER, row);
}
