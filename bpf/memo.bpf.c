/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Remembering and verifying stacks (memo.bpf.h says when two are the same). */
#include "fp.bpf.h"
#include "memo.bpf.h"
#include "python.bpf.h"
#include "returns.bpf.h"
#include "shapes.bpf.h"
#include "stacks.bpf.h"

#define FAR_WORDS 16u /* at a time */

/*
 * Whose words they are, and which registers the walk went by as well. NO_RECORD: the last two words
 * are a record whose frame pointer is none, which ended the walk.
 */
enum { OF_USER = 1, BY_FP = 2, BY_LR = 4, NO_RECORD = 8 };

/* Each step can be undone, so one word that differs always shows. */
static __always_inline __u64 mix(__u64 hash, __u64 word)
{
	return (hash ^ word) * 0xff51afd7ed558ccdull;
}

/*
 * Copies the stack from an address on into scratch->memo_window, up to the end of its page or of
 * what is asked for: one long copy costs hardly more than one word. window_start and window_bytes
 * say what is there. Nonzero: it cannot be read. Separately verified.
 */
__noinline int memo_window(__u32 id, __u64 at, __u64 end)
{
	struct scratch *s = scratch_get(id);
	__u64 bytes;

	if (!s)
		return -1;
	if ((at & (PAGE_BYTES - 1)) >= 8 && !(at & 7))
		at -= 8; /* of a record the second word comes first */
	bytes = PAGE_BYTES - (at & (PAGE_BYTES - 1));
	if (bytes > end - at)
		bytes = end - at;
	if (bytes < 8) /* the word lies across two pages */
		bytes = 8;
	if (bytes > sizeof(s->memo_window))
		bytes = sizeof(s->memo_window);
	s->window_start = at;
	s->window_bytes = bytes;
	return bpf_probe_read_user(s->memo_window, bytes, (void *)at) ? -1 : 0;
}

/*
 * Words that lie further apart, from number first on. 0: they cannot be read. Separately verified.
 */
__noinline int memo_hash_far(__u32 id, __u32 slot, __u32 first)
{
	struct scratch *s = scratch_get(id);
	const struct shape *shape = shape_at(slot);
	__u64 at, off, hash;

	if (!s || !shape)
		return 0;
	hash = s->memo_hash;
	for (__u32 i = 0; i < FAR_WORDS && first + i < shape->nr; i++) {
		at = s->sp + shape->at[(first + i) & (READ_SLOTS - 1)] * 8u;
		off = at - s->window_start;
		if (off >= s->window_bytes || off + 8 > s->window_bytes) {
			if (memo_window(id, at, s->sp + shape->span * 8u))
				return 0;
			off = at - s->window_start;
		}
		hash = mix(hash, s->memo_window[off / 8 & (COPY_WORDS - 1)]);
	}
	s->memo_hash = hash;
	return 1;
}

/*
 * Of the frame pointer in the last record, only that it leads no further, as step_record() sees it:
 * generated code keeps other numbers there, other ones each time.
 */
static __always_inline void loosen(struct scratch *s, const struct shape *shape)
{
	__u32 at = shape->at[(shape->nr - 2) & (READ_SLOTS - 1)];
	__u64 *fp = &s->memo_window[at & (COPY_WORDS - 1)];

	if (*fp && (step_is_far(*fp, s->sp + at * 8u + 16) || *fp & 7))
		*fp = 1;
}

/*
 * Hashes what the walk of the user's stack went by into scratch->memo_hash. 0: it cannot be read.
 * Separately verified.
 */
__noinline int memo_hash_user(__u32 id, __u32 slot)
{
	struct scratch *s = scratch_get(id);
	const struct shape *shape = shape_at(slot);
	__u64 hash = prof_cfg.seed;
	__u32 last, read = 1;

	if (!s || !shape)
		return 0;
	if (shape->traits & BY_FP)
		hash = mix(hash, s->fp);
	if (shape->traits & BY_LR)
		hash = mix(hash, s->lr);
	if (shape->span > COPY_WORDS) {
		s->memo_hash = hash;
		s->window_bytes = 0;
		for (__u32 i = 0; read && i < READ_WORDS && i < shape->nr; i += FAR_WORDS)
			read = memo_hash_far(id, slot, i);
		s->window_bytes = 0; /* it is not what the walk takes it for */
		return read;
	}
	last = shape->span * 8u - 1;
	asm volatile("" : "+r"(last)); /* verifier: the mask has to be there */
	if (shape->nr &&
	    bpf_probe_read_user(s->memo_window, (last & (COPY_WORDS * 8 - 1)) + 1, (void *)s->sp))
		return 0;
	if (shape->traits & NO_RECORD)
		loosen(s, shape);
	for (__u32 i = 0; i < READ_WORDS && i < shape->nr; i++)
		hash = mix(hash, s->memo_window[shape->at[i] & (COPY_WORDS - 1)]);
	s->memo_hash = hash;
	return 1;
}

#if defined(__TARGET_ARCH_x86)
static __always_inline bool hash_kernel(const struct shape *shape, __u64 base, __u64 *hash)
{
	__u64 word;

	for (__u32 i = 0; i < KERNEL_WORDS && i < shape->nr; i++) {
		if (kernel_word(base + shape->at[i] * 8u, &word))
			return false;
		*hash = mix(*hash, word);
	}
	return true;
}
#else
static __always_inline bool hash_kernel(const struct shape *shape, __u64 base, __u64 *hash)
{
	__u64 next, address, at = base + shape->at[0] * 8u;

	for (__u32 i = 0; i < KERNEL_WORDS && i < shape->nr; i++) {
		if (kernel_word(at, &next) || kernel_word(at + 8, &address))
			return false;
		*hash = mix(*hash, address & LOW_BITS);
		at = next;
	}
	return true;
}
#endif

/* The same of the kernel's stack. Separately verified. */
__noinline int memo_hash_kernel(__u32 id, __u32 slot)
{
	struct scratch *s = scratch_get(id);
	const struct shape *shape = shape_at(slot);
	__u64 hash = prof_cfg.seed;

	if (!s || !shape || !hash_kernel(shape, s->ctx_at, &hash))
		return 0;
	s->memo_hash = hash;
	return 1;
}

/*
 * Where the current thread waits, as far as its registers tell. A name or an exec makes other
 * places of all.
 */
static __always_inline __u64 place_key(struct scratch *s, struct task_struct *task,
				       const struct thread *t)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	__u64 key, life = t->names + task->self_exec_id;

	if (prof_cfg.no_ustacks || !stacks_has_user(task)) {
		key = prof_cfg.seed;
	} else {
		UNWIND_FROM(s, regs);
		key = mix(mix(prof_cfg.seed, s->pc), s->sp);
	}
	key = hash_mix(key, t->wait | life << 32);
	return key + !key;
}

/*
 * Frames of Python lie anywhere, few words of each, and threads wait in the same function of C
 * below many of them: their chain is part of the place.
 */
static __always_inline void add_python(__u32 id, struct scratch *s, const struct thread *t)
{
	if (!t->python)
		return;
	s->python = t->python;
	s->user.nr = 0;
	s->user.hash = s->memo_key;
	s->python_end = PYTHON_REMEMBERED;
	python_walk(id);
	s->memo_key = s->user.hash + !s->user.hash;
}

/* The place was looked for with the frames that the walk has found. */
static __always_inline bool has_same_python(const struct scratch *s, struct thread *t)
{
	bool same = t->python == s->python && s->python_nr < PYTHON_REMEMBERED;

	t->python = s->python;
	return same;
}

/* A walk that a later one could improve upon is not for keeps. */
static __always_inline bool is_final(const struct scratch *s)
{
	return s->user.kind == PROF_STACK_USER && !s->deferred &&
	       s->user.end != UNWIND_END_NO_TABLE && s->user.end != UNWIND_END_READ &&
	       s->nr_reads <= READ_WORDS;
}

/* The last words read were a record, whose frame pointer led no further. */
static __always_inline bool has_no_record(const struct scratch *s)
{
	return s->user.end == UNWIND_END_NO_CFI && s->at.no_record && s->at.by_fp &&
	       s->nr_reads >= 2;
}

static __always_inline bool keep_user(__u32 id, struct scratch *s)
{
	__u32 shape;

	s->memo.user_shape = 0;
	s->memo.user_hash = 0;
	if (!s->known.ustack)
		return true;
	if (!is_final(s))
		return false;
	shape = memo_shape(id, s->nr_reads,
			   OF_USER | (s->fp_from == FP_REGISTER ? BY_FP : 0) |
				   (s->lr_used ? BY_LR : 0) | (has_no_record(s) ? NO_RECORD : 0));
	if (!shape || !memo_hash_user(id, shape))
		return false;
	s->memo.user_shape = shape;
	s->memo.user_hash = s->memo_hash;
	return true;
}

/* After keep_user(): it needs scratch->reads for itself. */
static __always_inline bool keep_kernel(__u32 id, struct scratch *s)
{
	bool same = s->was.kstack && s->was.kstack == s->known.kstack;
	__u32 shape = same ? s->memo.kernel_shape : 0;

	s->memo.kernel_shape = 0;
	s->memo.kernel_hash = 0;
	if (!s->known.kstack)
		return prof_cfg.no_kstacks;
	if (!find_kernel(id, s->ctx_at, shape))
		return false;
	shape = memo_shape(id, s->nr_found, 0);
	if (!shape || !memo_hash_kernel(id, shape))
		return false;
	s->memo.kernel_shape = shape;
	s->memo.kernel_hash = s->memo_hash;
	return true;
}

__noinline int memo_keep(__u32 id, struct thread *t, __u32 half)
{
	struct scratch *s = scratch_get(id);
	__u32 i;

	if (!t || !s || !prof_cfg.remember)
		return 0;
	if (!half && (!has_same_python(s, t) || !keep_user(id, s)))
		return 0;
	if (!keep_kernel(id, s))
		return 0;
	s->memo.count = prof_cfg.hops ? s->known.ustack : t->count;
	s->memo.count_woken = prof_cfg.hops ? s->known.kstack : t->count_woken;
	i = places_find(&t->places, s->memo_key);
	i = (i ? i - 1 : places_oldest(&t->places)) & (NR_PLACES - 1);
	t->places.v[i] = s->memo;
	t->places.keys[i] = s->memo_key;
	places_use(&t->places, i);
	return 1;
}

__noinline int memo_put_counts(__u32 id, struct thread *t)
{
	struct scratch *s = scratch_get(id);
	__u32 i;

	if (!t || !s || !prof_cfg.remember || t->skip)
		return 0;
	i = places_find(&t->places, s->memo_key);
	if (!i)
		return 0;
	i = (i - 1) & (NR_PLACES - 1);
	t->places.v[i].count = t->count;
	t->places.v[i].count_woken = t->count_woken;
	return 1;
}

/* The place of all waits of a kind that are counted without their stacks. */
static __always_inline __u64 bare_key(const struct thread *t)
{
	__u64 key = hash_mix(prof_cfg.seed, t->wait | (__u64)t->names << 32);

	return key + !key;
}

__noinline int memo_bare(struct thread *t)
{
	__u32 i;

	if (!t || !prof_cfg.remember || prof_cfg.hops)
		return 0;
	i = places_find(&t->places, bare_key(t));
	if (!i)
		return 0;
	i = (i - 1) & (NR_PLACES - 1);
	t->count = t->places.v[i].count;
	t->count_woken = t->places.v[i].count_woken;
	places_use(&t->places, i);
	return 1;
}

__noinline int memo_keep_bare(struct thread *t)
{
	__u32 i;

	if (!t || !prof_cfg.remember || prof_cfg.hops || t->skip)
		return 0;
	i = places_oldest(&t->places);
	asm volatile("" : "+r"(i)); /* verifier: the mask has to be there */
	i &= NR_PLACES - 1;
	t->places.v[i].user_shape = t->places.v[i].kernel_shape = 0;
	t->places.v[i].count = t->count;
	t->places.v[i].count_woken = t->count_woken;
	t->places.keys[i] = bare_key(t);
	places_use(&t->places, i);
	return 1;
}

/* Which stacks it is that a place remembers. */
static __always_inline void halves_of(const struct place *p, struct halves *was)
{
	const struct prof_count *c;

	was->ustack = p->count;
	was->kstack = p->count_woken;
	if (prof_cfg.hops)
		return;
	c = arena_count_at(p->count);
	was->ustack = c ? c->ustack : 0;
	was->kstack = c ? c->kstack : 0;
}

/* How much of the place in scratch->memo is unchanged. Separately verified. */
__noinline int memo_verify(__u32 id)
{
	struct scratch *s = scratch_get(id);

	if (!s)
		return MEMO_NOTHING;
	if (s->memo.user_shape &&
	    (!memo_hash_user(id, s->memo.user_shape) || s->memo_hash != s->memo.user_hash))
		return MEMO_NOTHING;
	if (s->memo.kernel_shape &&
	    (!memo_hash_kernel(id, s->memo.kernel_shape) || s->memo_hash != s->memo.kernel_hash))
		return MEMO_USER;
	return MEMO_ALL;
}

__noinline int memo_look(__u32 id, struct thread *t)
{
	struct scratch *s = scratch_get(id);
	__u32 i, found;

	if (!t || !s || !prof_cfg.remember)
		return MEMO_NOTHING;
	s->was = (struct halves){};
	s->memo_key = place_key(s, bpf_get_current_task_btf(), t);
	add_python(id, s, t);
	i = places_find(&t->places, s->memo_key);
	if (!i)
		return MEMO_NOTHING;
	i = (i - 1) & (NR_PLACES - 1);
	s->memo = t->places.v[i];
	found = memo_verify(id);
	if (found == MEMO_NOTHING)
		return found;
	if (found == MEMO_USER || prof_cfg.audit)
		halves_of(&s->memo, &s->was);
	if (found == MEMO_USER)
		return s->memo.user_shape ? found : MEMO_NOTHING;
	places_use(&t->places, i);
	t->count = prof_cfg.hops ? 0 : s->memo.count;
	t->count_woken = prof_cfg.hops ? 0 : s->memo.count_woken;
	if (prof_cfg.hops) {
		t->ustack = s->memo.count;
		t->kstack = s->memo.count_woken;
	}
	return found;
}
