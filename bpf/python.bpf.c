/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Following the chain of CPython's frames. Each is one read of what lies in a row there; it may be
 * memory that is not there, or has become something else: what comes out is words, which user space
 * finds nothing behind.
 */
#include "python.bpf.h"
#include "kernel.bpf.h"
#include "python_step.bpf.h"

#define CHUNK_FRAMES 2u	 /* by one call of a separately verified function … */
#define CHUNKS	     32u /* … and by one of those that call it */

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

/* Nonzero: the chain is over, or cannot be followed. Separately verified. */
__noinline int python_chunk(__u32 id)
{
	struct scratch *s = scratch_get(id);
	const struct python_layout *l = s ? layout_get(s) : NULL;
	__u32 nr;

	if (!l || !s)
		return 1;
	nr = s->user.nr;
	for (__u32 i = 0; i < CHUNK_FRAMES; i++, nr++) {
		if (!s->python_at || nr >= s->python_end ||
		    bpf_probe_read_user(s->python_words, l->span & (PYTHON_WORDS * 8 - 1),
					(void *)s->python_at))
			return 1;
		append(&s->user, nr, python_word(l, s->python_words));
		s->python_at = python_field(s->python_words, l->previous);
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
	if (!find_newest(l, &s->python_at))
		return 0;
	for (__u32 i = 0; i < PROF_MAX_FRAMES / CHUNK_FRAMES / CHUNKS; i++)
		if (python_chunks(id))
			break;
	s->python_nr = s->user.nr - first;
	if (!s->python_at)
		append(&s->user, s->user.nr, PYTHON_WHOLE);
	return 0;
}
