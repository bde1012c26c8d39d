/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Remembering and verifying stacks (memo.bpf.h says when two are the same).
 *
 *	higher   | entry code       |  left out
 *	         | random offset    |
 *	         | system call      |  ◄── kernel_at[n]
 *	         | …                |
 *	         | schedule         |  ◄── kernel_at[0]
 *	ctx ───► | tracepoint       |
 *	         | this program     |
 *
 * On aarch64 frame records are linked, so there the walk itself is cheap: kernel_at[0] is the first
 * record, and the rest is followed.
 */
#include "memo.bpf.h"
#include "stacks.bpf.h"

#define PIECE_WORDS  32u /* of the kernel's stack, looked at in one go */
#define NR_PIECES    8u
#define WINDOW_WORDS 256u
#define MOST_FRAMES  (MEMO_KERNEL + 8u) /* of a stack that can be remembered */
/* Of the first frames, which are this program's and the tracepoint's, these may be above. */
#define FIRST_FROM 2u
#define FIRST_TO   5u
#define LOW_BITS   0xffffffffffffull /* of an address that may be signed */

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct memos);
} memos SEC(".maps");

__hidden void memo_make(struct task_struct *task)
{
	bpf_task_storage_get(&memos, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

/* Each step can be undone, so one word that differs always shows. */
static __always_inline __u64 mix(__u64 hash, __u64 word)
{
	return (hash ^ word) * 0xff51afd7ed558ccdull;
}

/* A hash over the words of the user's stack. False: they cannot be read. */
static __always_inline bool hash_user(const struct memo *m, struct scratch *s, __u64 *hash)
{
	__u32 last = m->user_bytes - 1; /* at most 2047 */

	*hash = prof_cfg.seed;
	if (!m->nr_user)
		return true;
	asm volatile("" : "+r"(last)); /* verifier: the mask has to be there */
	if (bpf_probe_read_user(s->memo_window, (last & 2047) + 1, (void *)m->sp))
		return false;
	for (__u32 i = 0; i < MEMO_USER && i < m->nr_user; i++)
		*hash = mix(*hash, s->memo_window[m->user_at[i]]);
	return true;
}

#if defined(__TARGET_ARCH_x86)
static __always_inline bool hash_kernel(const struct memo *m, __u64 base, __u64 *hash)
{
	__u64 word;

	*hash = prof_cfg.seed;
	for (__u32 i = 0; i < MEMO_KERNEL && i < m->nr_kernel; i++) {
		if (kernel_word(base + m->kernel_at[i] * 8u, &word))
			return false;
		*hash = mix(*hash, word);
	}
	return true;
}
#else
static __always_inline bool hash_kernel(const struct memo *m, __u64 base, __u64 *hash)
{
	__u64 next, address, at = base + m->kernel_at[0] * 8u;

	*hash = prof_cfg.seed;
	for (__u32 i = 0; i < MEMO_KERNEL && i < m->nr_kernel; i++) {
		if (kernel_word(at, &next) || kernel_word(at + 8, &address))
			return false;
		*hash = mix(*hash, address & LOW_BITS);
		at = next;
	}
	return true;
}
#endif

/* Where the current thread waits, as far as its registers tell. */
static __always_inline struct memo place(struct task_struct *task, const struct thread *t)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	struct memo at = { .wait = t->wait, .names = t->names, .owner = stack_owner_of(task) };

	if (!prof_cfg.no_ustacks && stacks_has_user(task)) {
		at.pc = REGS_PC(regs);
		at.sp = REGS_SP(regs);
		at.fp = REGS_FP(regs);
	}
	return at;
}

static __always_inline struct memo *memo_get(struct task_struct *task, const struct memo *at)
{
	struct memos *m = bpf_task_storage_get(&memos, task, 0, 0);
	__u64 index = (at->pc ^ at->sp >> 3 ^ at->wait) * 0x9e3779b97f4a7c15ull;

	return m ? &m->v[index >> 62] : NULL;
}

#if defined(__TARGET_ARCH_x86)
static __always_inline __u64 bloom_bit(__u64 word)
{
	return 1ull << (word * 0x9e3779b97f4a7c15ull >> 58);
}

/*
 * What a return address of this stack can look like. 0: it is too deep. verifier: what a loop
 * compares is in memory, or each turn would be looked at for every outcome of those before.
 * Separately verified.
 */
__noinline int memo_begin(__u32 id)
{
	struct scratch *s = scratch_get(id);

	if (!s || s->kernel.nr > MOST_FRAMES)
		return 0;
	s->bloom = 0;
	s->least = ~0ull;
	s->most = 0;
	for (__u32 i = 1; i < MOST_FRAMES && i + 1 < s->kernel.nr; i++) {
		__u64 frame = s->kernel.frames[i];

		s->bloom |= bloom_bit(frame);
		if (frame < s->least)
			s->least = frame;
		if (frame > s->most)
			s->most = frame;
	}
	s->nr_found = 0;
	s->next_found = 1;
	return 1;
}

/* Which of the frames that may come first it is: its number, 0 = none of them. */
static __always_inline __u32 first_frame(const struct scratch *s, __u64 word)
{
	for (__u32 f = FIRST_FROM; f <= FIRST_TO; f++)
		if (word == s->kernel.frames[f] && f + 1 < s->kernel.nr)
			return f;
	return 0;
}

/* A word that may be one of the return addresses. Separately verified. */
__noinline int memo_word(__u32 id, __u64 word, __u32 place)
{
	struct scratch *s = scratch_get(id);
	__u32 nr, next, first;

	if (!s)
		return 0;
	nr = s->nr_found;
	next = s->next_found;
	first = nr ? 0 : first_frame(s, word);
	if (nr >= MEMO_KERNEL) {
		s->nr_found = MEMO_KERNEL + 1;
		return 0;
	}
	if (first)
		next = first;
	if (word == s->kernel.frames[next & (PROF_MAX_KFRAMES - 1)])
		s->next_found = next + 1;
	else if (!nr)
		return 0;
	s->found[nr & (READ_WORDS - 1)] = place;
	s->nr_found = nr + 1;
	return 0;
}

/*
 * Looks for return addresses in a piece of the stack. Returns 1 when there is no need to go on.
 * Separately verified.
 */
__noinline int memo_find(__u32 id, __u64 base, __u32 piece)
{
	struct scratch *s = scratch_get(id);

	if (!s || bpf_probe_read_kernel(s->memo_window, PIECE_WORDS * 8, (void *)base))
		return 1;
	for (__u32 i = 0; i < PIECE_WORDS; i++) {
		__u64 word = s->memo_window[i];

		if (word < s->least || word > s->most || !(s->bloom & bloom_bit(word)))
			continue;
		if (s->next_found + 1 >= s->kernel.nr)
			return 1;
		memo_word(id, word, piece * PIECE_WORDS + i);
	}
	return s->next_found + 1 >= s->kernel.nr;
}

/* Where the return addresses of the kernel's stack lie. False: not all of them were found. */
static __always_inline bool find_kernel(struct memo *m, struct scratch *s, __u32 id, __u64 base)
{
	int found = 0;

	if (!memo_begin(id))
		return false;
	for (__u32 piece = 0; piece < NR_PIECES && !found; piece++)
		found = memo_find(id, base + piece * PIECE_WORDS * 8, piece);
	if (!s->nr_found || s->nr_found > MEMO_KERNEL || s->next_found + 1 < s->kernel.nr)
		return false;
	for (__u32 i = 0; i < MEMO_KERNEL; i++)
		m->kernel_at[i] = s->found[i];
	m->nr_kernel = s->nr_found;
	return true;
}
#else
/*
 * The number of the frame that a word is the return address of, among the first ones; 0 = none of
 * them. Separately verified.
 */
__noinline int memo_first(__u32 id, __u64 word)
{
	struct scratch *s = scratch_get(id);

	for (__u32 f = FIRST_FROM; s && f <= FIRST_TO; f++)
		if (!((word ^ s->kernel.frames[f]) & LOW_BITS) && f + 1 < s->kernel.nr)
			return f;
	return 0;
}

/*
 * Looks for the first frame record above the context, which is two words: the next record's
 * address, and a return address. Returns its place + 1. Separately verified.
 */
__noinline int memo_find(__u32 id, __u64 base)
{
	struct scratch *s = scratch_get(id);

	if (!s || bpf_probe_read_kernel(s->memo_window, PIECE_WORDS * 8, (void *)base))
		return 0;
	s->next_found = 0;
	for (__u32 i = 1; i < PIECE_WORDS; i++) {
		if (s->memo_window[i - 1] - base > WINDOW_WORDS * 64)
			continue;
		s->next_found = memo_first(id, s->memo_window[i]);
		if (s->next_found)
			return i;
	}
	return 0;
}

/* All records but the outermost are those of the frames. Separately verified. */
__noinline int memo_follow(__u32 id, __u64 at)
{
	struct scratch *s = scratch_get(id);
	__u64 record[2];
	__u32 f, nr = 0;

	if (!s)
		return 0;
	f = s->next_found;
	for (__u32 i = 0; i < MEMO_KERNEL && f + 1 < s->kernel.nr; i++) {
		if (bpf_probe_read_kernel(record, 16, (void *)at))
			return 0;
		if ((record[1] ^ s->kernel.frames[f++ & (PROF_MAX_KFRAMES - 1)]) & LOW_BITS)
			return 0;
		at = record[0];
		nr++;
	}
	return f + 1 >= s->kernel.nr ? nr : 0;
}

static __always_inline bool find_kernel(struct memo *m, struct scratch *s, __u32 id, __u64 base)
{
	int place = memo_find(id, base);

	if (!place)
		return false;
	m->kernel_at[0] = place - 1;
	m->nr_kernel = memo_follow(id, base + (place - 1) * 8u);
	return m->nr_kernel;
}
#endif

/* A walk that a later one could only improve upon is not for keeps. */
static __always_inline bool is_final(const struct scratch *s)
{
	return s->user.kind == PROF_STACK_USER && s->user.end != UNWIND_END_NO_TABLE &&
	       s->user.end != UNWIND_END_READ && s->nr_reads <= MEMO_USER;
}

/* Which words of the user's stack the walk went by. False: not these alone. */
static __always_inline bool find_user(struct memo *m, const struct scratch *s)
{
	if (!is_final(s))
		return false;
	m->user_bytes = 0;
	for (__u32 i = 0; i < MEMO_USER && i < s->nr_reads; i++) {
		m->user_at[i] = s->reads[i];
		if (s->reads[i] * 8u + 8 > m->user_bytes)
			m->user_bytes = s->reads[i] * 8u + 8;
	}
	m->nr_user = s->nr_reads;
	return true;
}

static __always_inline bool is_at(const struct memo *m, const struct memo *at)
{
	return m->valid && m->pc == at->pc && m->sp == at->sp && (m->fp == at->fp || !m->by_fp) &&
	       m->wait == at->wait && m->names == at->names && m->owner == at->owner;
}

/* Makes a memo of the stacks in the scratch, but for the hashes. False: it cannot be verified. */
static __always_inline bool fill(struct memo *m, const struct memo *at, struct scratch *s, __u32 id)
{
	m->valid = 0;
	m->pc = at->pc;
	m->sp = at->sp;
	m->fp = at->fp;
	m->by_fp = s->known.ustack && s->fp_from == FP_REGISTER;
	m->owner = at->owner;
	m->wait = at->wait;
	m->names = at->names;
	m->known = s->known;
	m->nr_user = 0;
	m->nr_kernel = 0;
	return (!s->known.ustack || find_user(m, s)) &&
	       (!s->known.kstack || find_kernel(m, s, id, s->ctx_at));
}

static __always_inline void use(struct thread *t, const struct known *k)
{
	t->ustack = k->ustack;
	t->kstack = k->kstack;
	t->count = k->count;
	t->count_woken = k->count_woken;
}

__noinline int memo_visit(__u32 id, struct thread *t, __u32 keep)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct scratch *s = scratch_get(id);
	__u64 user, kernel;
	struct memo at, *m;

	if (!t || !s || !prof_cfg.remember)
		return 0;
	at = place(task, t);
	m = memo_get(task, &at);
	if (!m || (keep ? !fill(m, &at, s, id) : !is_at(m, &at)))
		return 0;
	if (!hash_user(m, s, &user) || !hash_kernel(m, s->ctx_at, &kernel))
		return 0;
	if (keep) {
		m->user_hash = user;
		m->kernel_hash = kernel;
		m->valid = 1;
		return 1;
	}
	if (m->user_hash != user || m->kernel_hash != kernel)
		return 0;
	use(t, &m->known);
	return 1;
}
