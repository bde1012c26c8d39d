/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stacks that need not be walked. A thread that waits where it waited before has the same stack if
 * every word that the walk went by is still the same: then the walk would go the same way. So the
 * walk of the user stack remembers which words it read, and of the kernel's stack we remember where
 * return addresses lie. To verify costs a look at these words.
 *
 *	user     the same pc and sp, and a hash over all words that were read, and over the
 *		 frame pointer and the link register if the walk went by them
 *	kernel   the same system call and task state, and a hash over every word in reach that
 *		 equals one of the return addresses: a stale copy counts too, so it cannot
 *		 pass for one
 *
 * A thread has eight places (places.bpf.h). Which words belong to one is its shape; shapes are
 * shared by all threads that wait there.
 *
 * Where only the kernel's half differs, it alone is taken again. A word that was a return address
 * in one walk and not in another one with the same frames was a stale copy, and is left out from
 * then on.
 *
 * The kernel's words are found from where the program's context lies, which is on the same stack:
 * kernels move the stack by a random offset at each system call, but all of it below that. What is
 * above (the frame of the entry code) is left out; it follows from the system call.
 */
#ifndef BPFPROF_BPF_MEMO_BPF_H
#define BPFPROF_BPF_MEMO_BPF_H

#include "arena.bpf.h"
#include "threads.bpf.h"

enum memo_found { MEMO_NOTHING = 0, MEMO_USER = 1, MEMO_ALL = 2 };

/*
 * Whether the current thread t, which begins a wait, has a stack that is remembered. ALL: t has the
 * counts that are remembered with it. USER: only the kernel's half is another one. Either way its
 * halves are in scratch->was. Separately verified.
 */
int memo_look(__u32 id, struct thread *t);

/*
 * Remembers scratch->known with the stacks in the scratch, which have just been walked, unless they
 * are such that they cannot be verified later. half: the user's half was not walked, memo_look()
 * has found it. Separately verified.
 */
int memo_keep(__u32 id, struct thread *t, __u32 half);

/* The place that was found last has other counts from now on. Separately verified. */
int memo_put_counts(__u32 id, struct thread *t);

/*
 * Counts of waits whose stacks are not taken have a place, too, which belongs to what is waited for
 * alone. memo_bare() gives t those that are remembered: 1, or 0 = none are. memo_keep_bare()
 * remembers those that t has.
 */
int memo_bare(struct thread *t);
int memo_keep_bare(struct thread *t);

#endif
