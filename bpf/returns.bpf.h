/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the return addresses of the kernel's stack lie, which has just been walked. Part of
 * memo.bpf.c, which alone includes it.
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
#ifndef BPFPROF_BPF_RETURNS_BPF_H
#define BPFPROF_BPF_RETURNS_BPF_H

#include "arena.bpf.h"
#include "shapes.bpf.h"

#define PIECE_WORDS  32u /* of the kernel's stack, looked at in one go */
#define NR_PIECES    8u
#define KERNEL_WORDS 32u		 /* of a stack that can be remembered */
#define MOST_FRAMES  (KERNEL_WORDS + 8u) /* the same */
#define COPY_WORDS   256u /* of the user's stack, copied in one go if all that is asked is there */
/* Of the first frames, which are this program's and the tracepoint's, these may be above. */
#define FIRST_FROM 2u
#define FIRST_TO   5u
#define LOW_BITS   0xffffffffffffull /* of an address that may be signed */

#if defined(__TARGET_ARCH_x86)
static __always_inline __u64 bloom_bit(__u64 word)
{
	return 1ull << (word * 0x9e3779b97f4a7c15ull >> 58);
}

#define CHUNK_FRAMES 8u /* by one call of a separately verified function */

/* What return addresses of some of the frames can look like. Separately verified. */
__noinline int memo_begin_some(__u32 id, __u32 first)
{
	struct scratch *s = scratch_get(id);

	if (!s)
		return 0;
	for (__u32 i = 0; i < CHUNK_FRAMES && first + i + 1 < s->kernel.nr; i++) {
		__u64 frame = s->kernel.frames[(first + i) & (PROF_MAX_KFRAMES - 1)];

		s->bloom |= bloom_bit(frame);
		if (frame < s->least)
			s->least = frame;
		if (frame > s->most)
			s->most = frame;
	}
	return 0;
}

/*
 * What a return address of this stack can look like. 0: it is too deep. verifier: what a loop
 * compares is in memory, or each turn would be looked at for every outcome of those before.
 * Separately verified.
 */
__noinline int memo_begin(__u32 id)
{
	struct scratch *s = scratch_get(id);
	__u32 nr;

	if (!s || s->kernel.nr > MOST_FRAMES)
		return 0;
	nr = s->kernel.nr;
	s->bloom = 0;
	s->least = ~0ull;
	s->most = 0;
	for (__u32 i = 1; i < MOST_FRAMES && i + 1 < nr; i += CHUNK_FRAMES)
		memo_begin_some(id, i);
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

#define CHUNK_WORDS 8u

/* Looks at some of the words that were read, from the one of a place on. Separately verified. */
__noinline int memo_find_some(__u32 id, __u32 place)
{
	struct scratch *s = scratch_get(id);

	if (!s)
		return 0;
	for (__u32 i = 0; i < CHUNK_WORDS && s->next_found + 1 < s->kernel.nr; i++) {
		__u64 word = s->memo_window[(place + i) & (PIECE_WORDS - 1)];

		if (word >= s->least && word <= s->most && s->bloom & bloom_bit(word))
			memo_word(id, word, place + i);
	}
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
	for (__u32 i = 0; i < PIECE_WORDS; i += CHUNK_WORDS)
		memo_find_some(id, piece * PIECE_WORDS + i);
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

#define CHUNK_PLACES 8 /* believed by one call */

__noinline int memo_believe_some(__u32 id, __u32 slot, __u32 first)
{
	struct scratch *s = scratch_get(id);
	const struct shape *shape = shape_at(slot);

	if (!s || !shape)
		return 0;
	for (__u32 i = 0; i < CHUNK_PLACES && first + i < shape->nr; i++) {
		__u32 at = shape->at[(first + i) & (READ_SLOTS - 1)];

		s->believed[at / 64 & 3] |= 1ull << (at & 63);
	}
	return 0;
}

/* Believes the places of a shape alone, or all. Separately verified. */
__noinline int memo_believe(__u32 id, __u32 slot)
{
	struct scratch *s = scratch_get(id);
	const struct shape *shape = shape_at(slot);

	if (!s)
		return 0;
	__builtin_memset(s->believed, shape ? 0 : 0xff, sizeof(s->believed));
	for (__u32 i = 0; shape && i < KERNEL_WORDS; i += CHUNK_PLACES)
		memo_believe_some(id, slot, i);
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

#endif
