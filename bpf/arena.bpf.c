/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The lock-free arenas (layout in prof.h). A slot is claimed by compare-and-swap on its 64-bit
 * content hash; whoever wins writes the payload, everybody else has the slot's number at once. A
 * full table is a counted loss, never a wait.
 */
#include "arena.bpf.h"
#include "claim.bpf.h"
#include "defer.bpf.h"
#include "hist.h"
#include "moments.bpf.h"

#define MAX_TRIES   4  /* to write down the longest wait while others do */
#define COPY_FRAMES 16 /* by one call of a separately verified function */

#define GOLDEN 0x9e3779b97f4a7c15ull

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} stacks SEC(".maps");

/* The log of stack records, as 64-bit words. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} frames SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct prof_count);
} counts SEC(".maps");

/* With prof_cfg.wait_hists: one for each of counts. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, union prof_wait_hist);
} wait_hists SEC(".maps");

struct scratch_map scratches SEC(".maps");

__u32 prof_generation;

/*
 * Words of the log handed out, of each generation in a cache line of its own. Runs past the end
 * when full; readers clamp.
 */
struct prof_word prof_frame_cursor[PROF_GENERATIONS];

struct prof_word prof_counts_used[PROF_GENERATIONS];

__u64 prof_merging_ns;

static __always_inline void put_word(__u32 at, __u64 word)
{
	__u64 *p = bpf_map_lookup_elem(&frames, &at);

	if (p)
		*p = word;
}

/* The header goes in last and with a full barrier: a reader that sees it sees the frames. */
static __always_inline void publish(__u32 at, __u64 head)
{
	__u64 *p = bpf_map_lookup_elem(&frames, &at);

	if (p)
		__sync_lock_test_and_set(p, head);
}

static __always_inline __u64 stack_head(__u32 slot, __u32 nr, __u32 kind, __u32 end)
{
	return slot | (__u64)nr << 32 | (__u64)kind << 48 | (__u64)end << 56;
}

/* Copies up to COPY_FRAMES frames of a stack, from the first one on, to its record in the log. */
__noinline int arena_copy(__u32 id, __u32 kind, __u32 record, __u32 first)
{
	struct scratch *s = scratch_get(id);
	struct scratch_stack *st;

	if (!s)
		return 0;
	st = scratch_half(s, kind);
	for (__u32 i = 0; i < COPY_FRAMES && first + i < st->nr; i++)
		put_word(record + first + i, st->frames[(first + i) & (PROF_MAX_FRAMES - 1)]);
	return 0;
}

/*
 * Appends the record of a slot just claimed. Without room the slot stays without a record: its
 * counts are lost. Separately verified, or its loop would multiply with the probes.
 */
__noinline int arena_append(__u32 id, __u32 kind, __u32 slot, __u64 owner)
{
	struct scratch *s = scratch_get(id);
	struct scratch_stack *st;
	__u32 nr, generation;
	__u64 at;

	if (!s)
		return 0;
	st = scratch_half(s, kind);
	nr = st->nr;
	generation = scratch_generation(s);
	at = __sync_fetch_and_add(&prof_frame_cursor[generation].value, nr + PROF_STACK_WORDS);
	if (at + nr + PROF_STACK_WORDS > prof_cfg.frame_words)
		return 0;
	at += generation * prof_cfg.frame_words;
	put_word(at + 1, owner << 8 >> 8 | (__u64)st->guessed << 56);
	put_word(at + 2, bpf_ktime_get_ns());
	for (__u32 i = 0; i < PROF_MAX_FRAMES && i < nr; i += COPY_FRAMES)
		arena_copy(id, kind, at + PROF_STACK_WORDS, i);
	publish(at, stack_head(slot, nr, st->kind, st->end));
	return 1;
}

/*
 * Raw user addresses mean something only with their process and its exec; kernel stacks belong to
 * nobody.
 */
static __always_inline __u64 stack_owner(const struct scratch *s, __u32 kind)
{
	if (kind == PROF_STACK_KERNEL)
		return 0;
	return s->owner ? s->owner : stack_owner_of(bpf_get_current_task_btf());
}

__noinline int arena_stack(__u32 id, __u32 kind)
{
	struct scratch *s = scratch_get(id);
	struct scratch_stack *st;
	__u64 hash, owner;
	__u32 slot = 0;
	bool mine = false;

	if (!s)
		return 0;
	st = scratch_half(s, kind);
	owner = stack_owner(s, kind);
	hash = hash_mix(st->hash, owner);
	hash = hash_mix(hash, st->nr | (__u64)st->end << 32 | (__u64)st->kind << 48);
	hash += !hash;
	if (!arena_find_from(&stacks, scratch_generation(s) * prof_cfg.stack_slots,
			     prof_cfg.stack_slots, hash, &slot, &mine))
		slot = 0;
	if ((!mine || !arena_append(id, kind, slot - 1, owner)) && st->kind == PROF_STACK_DEFERRED)
		defer_drop(id);
	return slot;
}

static __always_inline __u64 count_hash(const struct prof_count *key)
{
	const __u64 *name = (const __u64 *)key->comm;
	__u64 hash = prof_cfg.seed;

	hash = hash_mix(hash, key->pid | (__u64)key->tid << 32);
	hash = hash_mix(hash, key->ustack | (__u64)key->kstack << 32);
	hash = hash_mix(hash, key->wait | (__u64)key->chain << 32);
	hash = hash_mix(hash, name[0] * GOLDEN + name[1]);
	return hash + !hash;
}

__hidden struct prof_count *arena_count_at(__u32 count)
{
	__u32 slot = count - 1;

	return bpf_map_lookup_elem(&counts, &slot);
}

static __always_inline void fill(struct prof_count *c, const struct prof_count *key,
				 __u32 generation)
{
	c->pid = key->pid;
	c->tid = key->tid;
	c->ustack = key->ustack;
	c->kstack = key->kstack;
	c->wait = key->wait;
	c->chain = key->chain;
	__builtin_memcpy(c->comm, key->comm, PROF_COMM_LEN);
	__sync_fetch_and_add(&prof_counts_used[generation].value, 1);
}

/* Finds or claims the count of a key. NULL: the table is full. */
static __always_inline struct prof_count *find_count(struct prof_count *key, __u32 generation,
						     __u32 *slot)
{
	struct prof_count *c;
	bool mine;

	/* Threads that come and go must not fill the table. */
	if (key->wait && key->tid && !prof_cfg.per_thread &&
	    prof_counts_used[0].value > prof_cfg.count_slots / 2) {
		key->tid = 0;
		if (!prof_merging_ns)
			prof_merging_ns = bpf_ktime_get_ns();
		counters_add(PROF_MERGED);
	}
	c = arena_find_from(&counts, generation * prof_cfg.count_slots, prof_cfg.count_slots,
			    count_hash(key), slot, &mine);
	if (c && mine)
		fill(c, key, generation);
	return c;
}

static __always_inline void add(struct prof_count *c, __u64 weight)
{
	/* A thread's waits end one after the other. Its events may interrupt each other. */
	if (c->wait && c->tid && PROF_WAIT_KIND(c->wait) != PROF_EVENT) {
		c->samples++;
		c->weight += weight;
		return;
	}
	__sync_fetch_and_add(&c->samples, 1);
	__sync_fetch_and_add(&c->weight, weight);
}

__noinline int arena_claim(__u32 id)
{
	struct scratch *s = scratch_get(id);
	__u32 slot;

	return s && find_count(&s->key, scratch_generation(s), &slot) ? slot : 0;
}

__noinline int arena_claim_lived(__u32 pid, __u64 name0, __u64 name1)
{
	struct prof_count key = { .pid = pid, .wait = PROF_WAIT(PROF_LIVED, 0, -1) };
	__u32 slot;

	((__u64 *)key.comm)[0] = name0;
	((__u64 *)key.comm)[1] = name1;
	return find_count(&key, 0, &slot) ? slot : 0;
}

__hidden void arena_add_ago(__u32 count, __u64 weight, __u64 ago)
{
	struct prof_count *c = arena_count_at(count);

	if (!c)
		return;
	add(c, weight);
	if (prof_cfg.moment_slots)
		moments_add(count, weight, ago);
}

__noinline int arena_add_many(__u32 count, __u32 nr, __u64 weight)
{
	struct prof_count *c = arena_count_at(count);

	if (!c)
		return 0;
	__sync_fetch_and_add(&c->samples, nr);
	__sync_fetch_and_add(&c->weight, weight);
	return 1;
}

/* Of threads that are merged: several at a time. */
static __always_inline void add_shared(struct prof_count *c, union prof_wait_hist *h, __u32 bucket,
				       __u64 ns)
{
	__u64 most;

	__sync_fetch_and_add(&c->samples, 1);
	__sync_fetch_and_add(&c->weight, ns);
	if (!h)
		return;
	for (int i = 0; i < MAX_TRIES; i++) {
		most = *(volatile __u64 *)&h->max_ns;
		if (ns <= most || __sync_val_compare_and_swap(&h->max_ns, most, ns) == most)
			break;
	}
	if (*(volatile __u32 *)&h->cells[bucket] < PROF_WAIT_BUCKET_FULL)
		__sync_fetch_and_add(&h->cells[bucket], 1);
}

/* kernel < 6.8: the function is verified even if nothing calls it, and the map may not be there. */
__noinline int arena_add_wait(__u32 count, __u64 ns, __u64 ago)
{
	__u32 slot = count - 1, bucket;
	struct prof_count *c = arena_count_at(count);
	union prof_wait_hist *h =
		prof_cfg.wait_hists ? bpf_map_lookup_elem(&wait_hists, &slot) : NULL;

	if (!c)
		return 0;
	if (prof_cfg.moment_slots && !prof_cfg.long_wait_ns)
		moments_add(count, ns, ago);
	bucket = ns >> PROF_WAIT_BUCKET_SHIFT ? prof_wait_bucket(ns) : 0;
	if (!c->tid) {
		add_shared(c, h, bucket, ns);
		return 0;
	}
	c->samples++; /* a thread's waits end one after the other */
	c->weight += ns;
	if (!h)
		return 0;
	h->cells[bucket] += 1 - (h->cells[bucket] >> 31);
	if (ns > h->max_ns)
		h->max_ns = ns;
	return 0;
}

__noinline int arena_count(__u32 id, __u64 weight)
{
	struct scratch *s = scratch_get(id);
	struct prof_count *c;
	__u32 slot;

	if (!s)
		return 0;
	c = find_count(&s->key, scratch_generation(s), &slot);
	if (c)
		add(c, weight);
	return c != NULL;
}

__noinline int claim_scratch(void)
{
	struct scratch *s;

	for (__u32 id = SCRATCH_UPROBE; id < NR_SCRATCHES; id++) {
		s = scratch_get(id);
		if (s && !__sync_val_compare_and_swap(&s->busy, 0, 1))
			return id;
	}
	return 0;
}
