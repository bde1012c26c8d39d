/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stacks that need not be walked. A thread that waits where it waited before has the same stack if
 * every word that the walk went by is still the same: then the walk would go the same way. So the
 * walk of the user stack remembers which words it read, and of the kernel's stack we remember where
 * return addresses lie. To verify costs a look at these words.
 *
 *	user     the same pc and sp, the same frame pointer if it was needed, and a hash over
 *		 all words that were read
 *	kernel   the same system call and task state, and a hash over every word in reach that
 *		 equals one of the return addresses: a stale copy counts too, so it cannot
 *		 pass for one
 *
 * The kernel's words are found from where the program's context lies, which is on the same stack:
 * kernels move the stack by a random offset at each system call, but all of it below that. What is
 * above (the frame of the entry code) is left out; it follows from the system call.
 */
#ifndef BPFPROF_BPF_MEMO_BPF_H
#define BPFPROF_BPF_MEMO_BPF_H

#include "arena.bpf.h"
#include "threads.bpf.h"

#define MEMO_USER   READ_WORDS
#define MEMO_KERNEL 24
#define NR_MEMOS    4 /* waits of a thread that are remembered, by place */

struct memo {
	__u64 pc, sp, fp;	      /* the user's registers */
	__u64 user_hash, kernel_hash; /* of the words */
	__u64 owner;		      /* process and exec */
	__u32 wait, names;	      /* of struct thread */
	struct known known;
	__u16 user_bytes; /* above sp, that hold the words */
	__u8 nr_user, nr_kernel;
	__u8 valid;
	__u8 by_fp;		     /* the walk went by the register */
	__u8 user_at[MEMO_USER];     /* words above sp */
	__u8 kernel_at[MEMO_KERNEL]; /* words above the context */
};

struct memos {
	struct memo v[NR_MEMOS];
};

/* Makes room for a task's. Not at the scheduler. */
__hidden void memo_make(struct task_struct *task);

/*
 * Whether the current thread t, which begins a wait, has a stack that is remembered: then t has the
 * counts that are remembered with it. Or, to keep, remembers scratch->known with the stacks in the
 * scratch, which have just been walked, unless they are such that they cannot be verified later.
 * Separately verified.
 */
int memo_visit(__u32 id, struct thread *t, __u32 keep);

#endif
