/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where stacks and counts are kept (prof.h draws the layout): lock-free tables, safe in NMI,
 * nothing allocated. And the scratch memory in which a program builds a stack before it is
 * interned.
 */
#ifndef BPFPROF_BPF_ARENA_BPF_H
#define BPFPROF_BPF_ARENA_BPF_H

#include "calls.h"
#include "counters.bpf.h"
#include "lock.h"
#include "places.bpf.h"
#include "python.h"
#include "step.bpf.h"

/*
 * Programs that may interrupt each other on a CPU have scratch of their own; its number travels as
 * an argument.
 */
#define NR_UPROBE_SCRATCHES 4 /* threads that preempt each other */
enum scratch_id {
	SCRATCH_PERF = 0,
	SCRATCH_SCHED = 1,
	SCRATCH_TASKS = 2,  /* the iterator over tasks */
	SCRATCH_UPROBE = 3, /* the first one */
	NR_SCRATCHES = SCRATCH_UPROBE + NR_UPROBE_SCRATCHES,
};

/* A stack being built, leaf first. hash runs over the frames as they are appended. */
struct scratch_stack {
	__u64 hash;
	__u32 nr;
	__u16 end;    /* enum unwind_end */
	__u8 kind;    /* enum prof_stack_kind */
	__u8 guessed; /* frames */
	__u64 frames[PROF_MAX_FRAMES];
};

/* The same with fewer frames. */
struct scratch_kernel {
	__u64 hash;
	__u32 nr;
	__u16 end;
	__u8 kind;
	__u8 guessed;
	__u64 frames[PROF_MAX_KFRAMES];
};

#define READ_SLOTS     128  /* a power of two */
#define READ_WORDS     120  /* that a walk remembers to have read */
#define READ_REACH     8192 /* words above sp */
#define READ_ELSEWHERE 255
enum { FP_UNUSED, FP_REGISTER, FP_STACK };

/* Both halves of a stack, once interned: slots + 1. */
struct halves {
	__u32 ustack, kstack;
};

/*
 * A mapping that a walk looked into, and the table there. Found by the address; what is in it holds
 * as long as its list does, which space stands for.
 */
#define NR_MAPPED 8
struct mapped {
	__u64 start, end; /* end = 0: nothing */
	__u64 bias;	  /* address - bias = address as linked */
	__u64 first_page;
	__u32 space, exe, state, base, nr_pages, exceptions;
	__u32 pad[2];
};
_Static_assert(sizeof(struct mapped) == 64, "a mapping is one cache line");

/*
 * What every walk touches comes first and close together, since a sample of a host that has work
 * finds all of it in no cache. The kernel's half begins like the user's, which lies last: so both
 * can be looked at as a struct scratch_stack.
 */
struct scratch {
	__u64 owner;	      /* of the user stack; 0: the current thread */
	__u64 pc, sp, fp, lr; /* of the innermost user frame */
	__u64 called; /* a call that has just returned to pc: a frame more; 0 = pc is where it is */
	struct step at;		  /* the frame that the walk has come to */
	struct prof_count key;	  /* for arena_claim() */
	struct halves known, was; /* found now; remembered (memo.bpf.h) */
	__u32 has_regs;
	__u32 generation; /* that this run writes to */
	__u32 busy;	  /* SCRATCH_UPROBE: taken */
	__u32 deferred;	  /* the walk needs something that only user space can give */
	__u32 halvings;	  /* SCRATCH_SCHED: one wait in 2^halvings has its stack taken */
	__u32 leaves; /* SCRATCH_SCHED: the thread leaves its CPU, so its stack stays as it is */
	/* The list of mappings that the walk goes by (tables.bpf.c). */
	__u32 list, nr_mappings, space, epoch, final;
	__u32 mapping;	 /* the one of mapped[] that it looked into last */
	__u32 rule_slot; /* of the rule cache: where that of the next frame may be */
	__u32 orc_slot;	 /* the same of the kernel's half (orc.bpf.c) */
	__u32 rule;	 /* that was looked up */
	__u32 special;	 /* number of the last frame that no standard rule was for, from 1 on */
	__u32 knows_trampoline;
	__u64 rule_key; /* what addresses are mixed with to find their rules */
	__u64 barrier;	/* of this CPU's loads */
	/* With prof_cfg.remember: the words that the walk went by, counted from sp. */
	__u32 nr_reads;	 /* READ_ELSEWHERE: it went by something else as well */
	__u32 read_span; /* words up to the last of them */
	__u32 fp_from;	 /* where the walk had the frame pointer from, when it first needed it */
	__u32 lr_used;	 /* the walk went by the link register */
	__u64 memo_key, memo_hash; /* of the place that is looked for; of words (memo.bpf.c) */
	struct place memo;	   /* what is known of it */
	__u64 ctx_at;		   /* where the program's context lies */
	__u64 window_start, window_bytes; /* user addresses that window holds */
	__u64 window[64];
	__u64 regs[34]; /* user registers of a thread that is in the kernel */
	struct table_exception exception;
	__u64 cfa, ra; /* of a frame that is left by it */
	__u16 reads[READ_SLOTS];
	__u32 nr_found, next_found; /* kernel return addresses (memo.bpf.c) */
	__u64 bloom, least, most;
	__u64 believed[4];	 /* bits of places where they may lie */
	struct prof_waker waker; /* being interned: alone, and with its own wakers */
	__u32 chain[3];
	struct prof_lock lock; /* being interned */
	struct mapped mapped[NR_MAPPED];
	__u64 memo_window[256];
	__u64 trampoline; /* kernel_trampoline() of the process, once looked up in this walk */
	__u64 return_at;  /* a struct return_instance of the kernel */
	__u32 python;	  /* row of the process's struct python_layout, 0 = it runs none */
	__u32 python_end; /* the stack has no more frames than that, with them */
	__u32 python_nr;  /* frames of it in the stack */
	__u64 python_at;  /* the frame that is next */
	__u32 nr_texts;	  /* strings in values */
	struct call_values values;
	struct scratch_kernel kernel;
	struct scratch_stack user;
};

/* Which generation of the arena is filled; user space changes it. */
extern __u32 prof_generation;

/* Before a program with two_generations interns anything: a sample goes to one of them. */
static __always_inline void scratch_begin(struct scratch *s)
{
	s->generation = *(volatile __u32 *)&prof_generation;
}

static __always_inline __u32 scratch_generation(const struct scratch *s)
{
	return prof_cfg.two_generations ? s->generation & (PROF_GENERATIONS - 1) : 0;
}

static __always_inline struct scratch_stack *scratch_half(struct scratch *s, __u32 kind)
{
	return kind == PROF_STACK_USER ? &s->user : (struct scratch_stack *)&s->kernel;
}

/*
 * In line, as all that is small: a call takes some ten instructions less, but its return is guessed
 * wrong where the kernel guards returns.
 */
struct scratch_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, NR_SCRATCHES);
	__type(key, __u32);
	__type(value, struct scratch);
};
extern struct scratch_map scratches SEC(".maps");

static __always_inline struct scratch *scratch_get(__u32 id)
{
	return bpf_map_lookup_elem(&scratches, &id);
}

/* Since when the table of counts is half full, so that threads are merged; 0 = it is not. */
extern __u64 prof_merging_ns;

/* One step of the content hash: multiply-xorshift, started from a random seed. */
static __always_inline __u64 hash_mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0xff51afd7ed558ccdull;
	return hash ^ (hash >> 32);
}

/* What makes raw addresses mean something: the process and its exec. */
static __always_inline __u64 stack_owner_of(const struct task_struct *task)
{
	return (__u32)task->tgid | task->self_exec_id << 32;
}

#define ARENA_PROBES 16 /* double hashing: at half load all 16 are taken once in 65,536 inserts */

/*
 * Finds or claims an element by its hash (never 0) in a table of nr elements, a power of two, from
 * number first on, that begin with their hash, 0 = free. slot: its number + 1; mine: it was claimed
 * just now, and is the caller's to fill. NULL: there is no room.
 */
static __always_inline void *arena_find_from(void *table, __u32 first, __u32 nr, __u64 hash,
					     __u32 *slot, bool *mine)
{
	__u64 step = hash >> 40 | 1, found;

	for (int i = 0; i < ARENA_PROBES; i++) {
		__u32 index = first + ((hash + i * step) & (nr - 1));
		__u64 *p = bpf_map_lookup_elem(table, &index);

		if (!p)
			return NULL;
		*slot = index + 1;
		*mine = false;
		found = *(volatile __u64 *)p;
		if (found == hash)
			return p;
		if (found)
			continue;
		found = __sync_val_compare_and_swap(p, 0, hash);
		*mine = !found;
		if (!found || found == hash)
			return p;
	}
	return NULL;
}

static __always_inline void *arena_find(void *table, __u32 nr, __u64 hash, __u32 *slot, bool *mine)
{
	return arena_find_from(table, 0, nr, hash, slot, mine);
}

/*
 * Interns the user or the kernel half of scratch id: returns its slot + 1, or 0 when the table is
 * full (the caller counts LOST_STACKS). Separately verified.
 */
int arena_stack(__u32 id, __u32 kind);

/*
 * The slot + 1 of the count of scratch->key, 0 when the table is full. When it is half full, new
 * counts of waits are kept by process and name, not by thread. Separately verified.
 */
int arena_claim(__u32 id);

/* The same of PROF_LIVED. Needs no scratch: names change where other programs may interrupt. */
int arena_claim_lived(__u32 pid, __u64 name0, __u64 name1);

/* Adds to a count by its slot + 1 what ended so many ns ago. */
__hidden void arena_add_ago(__u32 count, __u64 weight, __u64 ago);

/* The same of what ends now. */
static __always_inline void arena_add(__u32 count, __u64 weight)
{
	arena_add_ago(count, weight, 0);
}

/* Adds several at once, whatever else adds to the count at the moment. Separately verified. */
int arena_add_many(__u32 count, __u32 nr, __u64 weight);

/*
 * Adds a wait of ns to a count by its slot + 1, with prof_cfg.wait_hists also to how long its waits
 * were. Separately verified.
 */
int arena_add_wait(__u32 count, __u64 ns, __u64 ago);

/*
 * Adds one sample of weight to the count of scratch->key. 0 when the table is full. Separately
 * verified.
 */
int arena_count(__u32 id, __u64 weight);

/* A count as it was claimed. NULL: there is no such slot. */
__hidden struct prof_count *arena_count_at(__u32 count);

/* Whether that count is of the generation that is filled now. */
static __always_inline bool arena_is_current(__u32 count)
{
	__u32 generation = *(volatile __u32 *)&prof_generation & (PROF_GENERATIONS - 1);

	return !prof_cfg.two_generations ||
	       count - 1 - generation * prof_cfg.count_slots < prof_cfg.count_slots;
}

#endif
