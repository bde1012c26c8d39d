/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Following the chain of CPython's frames. What is read may be memory that is not there, or has
 * become something else: what comes out is words, which user space finds nothing behind.
 *
 * Since 3.11 a thread's frames lie one behind the other, the newest one last: where that is so, one
 * copy of what is below a frame has those that are next.
 */
#include "python.bpf.h"
#include "kernel.bpf.h"
#include "fp.bpf.h"
#include "python_step.bpf.h"

#define CHUNK_FRAMES 2u	   /* by one call of a separately verified function … */
#define CHUNKS	     32u   /* … and by one of those that call it */
#define NEAR_BYTES   1024u /* 8 to 11 frames */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, PYTHON_ROWS);
	__type(key, __u32);
	__type(value, struct python_layout);
} pythons SEC(".maps");

/* With --call-graph fp the map is not there (kernel < 6.8: see tables.bpf.c). */
static __always_inline struct python_layout *layout_get(const struct scratch *s)
{
	__u32 row = s->python;

	return prof_cfg.call_graph == CALL_GRAPH_FP ? NULL : bpf_map_lookup_elem(&pythons, &row);
}

static __always_inline bool read_word(__u64 at, __u64 *word)
{
	return !bpf_probe_read_user(word, sizeof(*word), (void *)at);
}

/* False: the current thread runs no Python. */
static __always_inline bool find_newest(const struct python_layout *l, __u64 *frame)
{
	__u64 at = THREAD_POINTER(bpf_get_current_task_btf()) + l->state;

	if (l->state_in != PYTHON_DIRECT) {
		if (!read_word(at, &at))
			return false;
		at += l->state_in;
	}
	if (!read_word(at, &at) || !at)
		return false;
	at += l->newest;
	if (l->newest_in != PYTHON_NONE) {
		if (!read_word(at, &at))
			return false;
		at += l->newest_in;
	}
	return read_word(at, frame);
}

static __always_inline void append(struct scratch_stack *stack, __u32 nr, __u64 word)
{
	stack->nr = nr + 1;
	stack->hash = hash_mix(stack->hash, word);
	asm volatile("" : "+r"(nr)); /* verifier: the mask has to be there */
	stack->frames[nr & (PROF_MAX_FRAMES - 1)] = word;
}

/*
 * Copies the frame that is next into scratch->memo_window, with what lies below it if it is near to
 * the last one. window_start and window_bytes say what is there. Nonzero: it cannot be read.
 * Separately verified.
 */
__noinline int python_read(__u32 id)
{
	struct scratch *s = scratch_get(id);
	const struct python_layout *l = s ? layout_get(s) : NULL;
	__u64 at, below = 0;
	__u32 span;

	if (!l || !s)
		return 1;
	at = s->python_at;
	span = l->span & (PYTHON_WORDS * 8 - 8);
	if (s->window_start + s->window_bytes - at <= 2 * NEAR_BYTES && !(at & 7))
		below = at & (PAGE_BYTES - 1); /* the page before may not be there */
	if (below > NEAR_BYTES - span)
		below = NEAR_BYTES - span;
	s->window_start = at - below;
	s->window_bytes = (below + span - 1 & (NEAR_BYTES - 1)) + 1;
	return bpf_probe_read_user(s->memo_window, s->window_bytes, (void *)s->window_start) != 0;
}

/* Nonzero: the chain is over, or cannot be followed. Separately verified. */
__noinline int python_chunk(__u32 id)
{
	struct scratch *s = scratch_get(id);
	const struct python_layout *l = s ? layout_get(s) : NULL;
	const __u64 *words;
	__u64 off;
	__u32 nr;

	if (!l || !s)
		return 1;
	nr = s->user.nr;
	for (__u32 i = 0; i < CHUNK_FRAMES; i++, nr++) {
		if (!s->python_at || nr >= s->python_end)
			return 1;
		off = s->python_at - s->window_start;
		if (off >= NEAR_BYTES || off & 7 || off + l->span > s->window_bytes) {
			if (python_read(id))
				return 1;
			off = s->python_at - s->window_start;
		}
		words = &s->memo_window[off / 8 & (NEAR_BYTES / 8 - 1)];
		append(&s->user, nr, python_word(l, words));
		s->python_at = python_field(words, l->previous);
	}
	return 0;
}

/* A loop of loops is less to verify than one that is as long. Separately verified. */
__noinline int python_chunks(__u32 id)
{
	for (__u32 i = 0; i < CHUNKS; i++)
		if (python_chunk(id))
			return 1;
	return 0;
}

__noinline int python_walk(__u32 id)
{
	struct scratch *s = scratch_get(id);
	const struct python_layout *l = s ? layout_get(s) : NULL;

	__u32 first;

	if (!l || !s)
		return 0;
	first = s->user.nr;
	s->python_nr = 0;
	s->python_at = 0;
	s->window_start = s->window_bytes = 0;
	if (!find_newest(l, &s->python_at))
		return 0;
	for (__u32 i = 0; i < PROF_MAX_FRAMES / CHUNK_FRAMES / CHUNKS; i++)
		if (python_chunks(id))
			break;
	s->window_bytes = 0; /* it is not what the walk takes it for */
	s->python_nr = s->user.nr - first;
	if (!s->python_at)
		append(&s->user, s->user.nr, PYTHON_WHOLE);
	return 0;
}
