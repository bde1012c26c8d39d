/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Remembering and verifying stacks (memo.bpf.h says when two are the same).
 *
 *	higher   | entry code       |  left out
 *	         | random offset    |
 *	         | system call      |  ◄── at[n]
 *	         | …                |
 *	         | schedule         |  ◄── at[0]
 *	ctx ───► | tracepoint       |
 *	         | this program     |
 *
 * On aarch64 frame records are linked, so there the walk itself is cheap: at[0] is the first
 * record, and the rest is followed.
 */
#include "fp.bpf.h"
#include "memo.bpf.h"
#include "stacks.bpf.h"

#define PIECE_WORDS  32u /* of the kernel's stack, looked at in one go */
#define NR_PIECES    8u
#define KERNEL_WORDS 32u		 /* of a stack that can be remembered */
#define MOST_FRAMES  (KERNEL_WORDS + 8u) /* the same */
#define FAR_WORDS    8u			 /* at a time */
#define COPY_WORDS   256u /* of the user's stack, copied in one go if all that is asked is there */
/* Of the first frames, which are this program's and the tracepoint's, these may be above. */
#define FIRST_FROM 2u
#define FIRST_TO   5u
#define LOW_BITS   0xffffffffffffull /* of an address that may be signed */

/*
 * Whose words they are, and which registers the walk went by as well. NO_RECORD: the last two words
 * are a record whose frame pointer is none, which ended the walk.
 */
enum { OF_USER = 1, BY_FP = 2, BY_LR = 4, NO_RECORD = 8 };

/* Which words a walk went by: above sp, or above the context. Claimed by hash, 0 = free. */
struct shape {
	__u64 hash;
	__u32 ready; /* the rest is there */
	__u16 span;  /* words up to the last one */
	__u8 nr, traits;
	__u16 at[READ_SLOTS]; /* aarch64, kernel: the first record; the others are followed */
};
_Static_assert(sizeof(struct shape) == 272, "16 bytes and the words");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct shape);
} shapes SEC(".maps");

/* kernel < 6.8: functions are verified even if nothing calls them, and the map may not be there. */
static __always_inline const struct shape *shape_at(__u32 slot)
{
	__u32 index = slot - 1;
	const struct shape *shape;

	shape = prof_cfg.remember ? bpf_map_lookup_elem(&shapes, &index) : NULL;
	return shape && shape->ready ? shape : NULL;
}

/* Into scratch->memo_hash. Separately verified, or its loop would multiply with what follows. */
__noinline int memo_hash_shape(__u32 id, __u32 nr, __u32 traits)
{
	struct scratch *s = scratch_get(id);
	__u64 hash = hash_mix(prof_cfg.seed, nr | traits << 16);

	if (!s)
		return 0;
	for (__u32 i = 0; i < READ_WORDS && i < nr; i++)
		hash = hash_mix(hash, s->reads[i]);
	s->memo_hash = hash + !hash;
	return 0;
}

/*
 * The slot + 1 of the shape of nr words in scratch->reads. 0: there is no room. Separately
 * verified.
 */
__noinline int memo_shape(__u32 id, __u32 nr, __u32 traits)
{
	struct scratch *s = scratch_get(id);
	struct shape *shape;
	__u32 slot;
	bool mine;

	if (!s || !prof_cfg.remember)
		return 0;
	memo_hash_shape(id, nr, traits);
	shape = arena_find(&shapes, prof_cfg.shape_slots, s->memo_hash, &slot, &mine);
	if (!shape)
		return 0;
	if (mine) {
		shape->nr = nr;
		shape->traits = traits;
		shape->span = s->read_span;
		__builtin_memcpy(shape->at, s->reads, sizeof(shape->at));
		__sync_lock_test_and_set(&shape->ready, 1);
	}
	return slot;
}

/* Each step can be undone, so one word that differs always shows. */
static __always_inline __u64 mix(__u64 hash, __u64 word)
{
	return (hash ^ word) * 0xff51afd7ed558ccdull;
}

/* Moves the window. Separately verified. */
__noinline int memo_window(__u32 id, __u64 at)
{
	struct scratch *s = scratch_get(id);

	return s ? unwind_window(s, at) : -1;
}

/*
 * Words that lie further apart, from number first on, by windows as the walk reads them. 0: they
 * cannot be read. Separately verified.
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
		if (off >= WINDOW_BYTES || off + 8 > s->window_bytes) {
			if (memo_window(id, at))
				return 0;
			off = 0;
		}
		hash = mix(hash, window_word(s, off));
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
	__u32 last;

	if (!s || !shape)
		return 0;
	if (shape->traits & BY_FP)
		hash = mix(hash, s->fp);
	if (shape->traits & BY_LR)
		hash = mix(hash, s->lr);
	if (shape->span > COPY_WORDS) {
		s->memo_hash = hash;
		s->window_bytes = 0;
		for (__u32 i = 0; i < READ_WORDS && i < shape->nr; i += FAR_WORDS)
			if (!memo_hash_far(id, slot, i))
				return 0;
		return 1;
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

/*
 * A word that may be one of the return addresses. Where the same stack was found before, only a
 * place that was one then is believed. Separately verified.
 */
__noinline int memo_word(__u32 id, __u64 word, __u32 place)
{
	struct scratch *s = scratch_get(id);
	__u32 nr, next, first;

	if (!s)
		return 0;
	if (!(s->believed[place / 64 & 3] >> (place & 63) & 1))
		return 0;
	nr = s->nr_found;
	next = s->next_found;
	first = nr ? 0 : first_frame(s, word);
	if (nr >= KERNEL_WORDS) {
		s->nr_found = KERNEL_WORDS + 1;
		return 0;
	}
	if (first)
		next = first;
	if (word == s->kernel.frames[next & (PROF_MAX_KFRAMES - 1)])
		s->next_found = next + 1;
	else if (!nr)
		return 0;
	s->reads[nr & (READ_SLOTS - 1)] = place;
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

/*
 * Where the return addresses of the kernel's stack lie. 0: not all of them were found. Separately
 * verified.
 */
__noinline int memo_find_kernel(__u32 id, __u64 base)
{
	struct scratch *s = scratch_get(id);
	int found = 0;

	if (!s || !memo_begin(id))
		return 0;
	for (__u32 piece = 0; piece < NR_PIECES && !found; piece++)
		found = memo_find(id, base + piece * PIECE_WORDS * 8, piece);
	return s->nr_found && s->nr_found <= KERNEL_WORDS && s->next_found + 1 >= s->kernel.nr;
}

/* Believes the places of a shape alone, or all. Separately verified. */
__noinline int memo_believe(__u32 id, __u32 slot)
{
	struct scratch *s = scratch_get(id);
	const struct shape *shape = shape_at(slot);

	if (!s)
		return 0;
	__builtin_memset(s->believed, shape ? 0 : 0xff, sizeof(s->believed));
	if (!shape)
		return 0;
	for (__u32 i = 0; i < KERNEL_WORDS && i < shape->nr; i++)
		s->believed[shape->at[i] / 64 & 3] |= 1ull << (shape->at[i] & 63);
	return 0;
}

static __always_inline bool find_kernel(__u32 id, __u64 base, __u32 known_shape)
{
	memo_believe(id, known_shape);
	if (memo_find_kernel(id, base))
		return true;
	if (!known_shape)
		return false;
	memo_believe(id, 0);
	return memo_find_kernel(id, base);
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
		if (s->memo_window[i - 1] - base > COPY_WORDS * 64)
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
	for (__u32 i = 0; i < KERNEL_WORDS && f + 1 < s->kernel.nr; i++) {
		if (bpf_probe_read_kernel(record, 16, (void *)at))
			return 0;
		if ((record[1] ^ s->kernel.frames[f++ & (PROF_MAX_KFRAMES - 1)]) & LOW_BITS)
			return 0;
		at = record[0];
		nr++;
	}
	return f + 1 >= s->kernel.nr ? nr : 0;
}

static __always_inline bool find_kernel(__u32 id, __u64 base, __u32 known_shape)
{
	struct scratch *s = scratch_get(id);
	int place = memo_find(id, base), nr;

	if (!s || !place)
		return false;
	nr = memo_follow(id, base + (place - 1) * 8u);
	for (__u32 i = 0; i < KERNEL_WORDS; i++)
		s->reads[i] = place - 1;
	s->nr_found = nr;
	return nr;
}
#endif

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
	if ((!half && !keep_user(id, s)) || !keep_kernel(id, s))
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
