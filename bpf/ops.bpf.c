/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Open operations. When one begins, the stacks are taken and its count is claimed, so that its end,
 * wherever it is, only adds to the count. In between it is in a table of fixed size without locks:
 * contended locks are recorded by it, and a lock of the table could be one. Who claims a way by its
 * key is alone with it until whoever ends the operation frees it.
 *
 * What is not there is found out in two cache lines: so much do operations pay that are not
 * selected.
 */
#include "comm.bpf.h"
#include "ops.bpf.h"
#include "call_values.bpf.h"
#include "claim.bpf.h"
#include "filter.bpf.h"
#include "stacks.bpf.h"

const volatile struct ops_config ops_cfg = {};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ops_bucket);
} open_ops SEC(".maps");

#define NR_CHOICES 2
#define WAS_THERE  (1u << 30) /* beside a slot */

static __always_inline struct ops_bucket *bucket_at(__u32 bucket)
{
	return bpf_map_lookup_elem(&open_ops, &bucket);
}

/* Keys may be addresses, whose lower bits are alike. */
static __always_inline __u32 choice(__u64 key, int i)
{
	__u64 hash = hash_mix(prof_cfg.seed, key);

	return (i ? hash >> 32 : hash) & (ops_cfg.buckets - 1);
}

static __always_inline __u32 slot_of(__u32 bucket, int way)
{
	return bucket * OPS_WAYS + way + 1;
}

/* slot + 1 of an open operation, 0 = there is none. Separately verified. */
__noinline int ops_find(__u64 key)
{
	/* kernel < 6.8: functions are verified even if nothing calls them; maps may lack. */
	if (!ops_cfg.buckets)
		return 0;
	for (int i = 0; i < NR_CHOICES; i++) {
		__u32 bucket = choice(key, i);
		struct ops_bucket *b = bucket_at(bucket);

		for (int way = 0; b && way < OPS_WAYS; way++)
			if (*(volatile __u64 *)&b->key[way] == key)
				return slot_of(bucket, way);
	}
	return 0;
}

/* The same; where there is none it is claimed, 0 = there is no room. */
__noinline int ops_claim(__u64 key)
{
	__u32 slot = ops_find(key);

	if (slot)
		return slot | WAS_THERE;
	if (!ops_cfg.buckets)
		return 0;
	for (int i = 0; i < NR_CHOICES; i++) {
		__u32 bucket = choice(key, i);
		struct ops_bucket *b = bucket_at(bucket);

		for (int way = 0; b && way < OPS_WAYS; way++)
			if (!*(volatile __u64 *)&b->key[way] &&
			    !__sync_val_compare_and_swap(&b->key[way], 0, key))
				return slot_of(bucket, way);
	}
	return 0;
}

static __always_inline struct open_op *op_at(__u32 slot1)
{
	__u32 slot = (slot1 & ~WAS_THERE) - 1;
	struct ops_bucket *b = ops_cfg.buckets ? bucket_at(slot / OPS_WAYS) : NULL;

	return b ? &b->op[slot % OPS_WAYS] : NULL;
}

/* False: somebody else has freed it. */
static __always_inline bool free_slot(__u32 slot1, __u64 key)
{
	__u32 slot = (slot1 & ~WAS_THERE) - 1;
	struct ops_bucket *b = ops_cfg.buckets ? bucket_at(slot / OPS_WAYS) : NULL;

	return b && __sync_val_compare_and_swap(&b->key[slot % OPS_WAYS], key, 0) == key;
}

static __always_inline __u32 filter(struct task_struct *task, struct prof_count *key)
{
	key->pid = task->tgid;
	key->tid = task->pid;
	comm_copy(key->comm, task->comm);
	return filter_current(task, key->pid, key->tid, key->comm);
}

static __always_inline bool take_user(__u32 id, struct scratch *s, struct task_struct *task,
				      __u32 *slot)
{
	if (prof_cfg.no_ustacks || !stacks_has_user(task))
		return true;
	s->called = 0;
	return stacks_user(id, s, unwind_regs_saved(s, task) ? 0 : UNWIND_END_READ, slot);
}

/* Its count, as a slot + 1; else why there is none. */
static __always_inline __u32 claim(void *ctx, struct task_struct *task, struct prof_count *key,
				   __u32 *count)
{
	struct scratch *s;
	__u32 id, outcome = PROF_LOST_STACKS;

	s = take_scratch(&id);
	if (!s)
		return PROF_LOST_SCRATCH;
	scratch_begin(s);
	if ((prof_cfg.no_kstacks || stacks_kernel(ctx, id, s, &key->kstack)) &&
	    take_user(id, s, task, &key->ustack)) {
		s->key = *key;
		*count = arena_claim(id);
		outcome = *count ? 0 : PROF_LOST_COUNTS;
	}
	give_scratch(s);
	return outcome;
}

/*
 * An end that was missed, of something that was at the same address. Separately verified.
 */
__noinline int ops_forget(__u64 key)
{
	__u32 slot = ops_cfg.buckets ? ops_find(key) : 0;

	if (!slot || !free_slot(slot, key))
		return 0;
	counters_add(PROF_SEEN);
	counters_add(PROF_LOST_END);
	counters_add(PROF_ENDED);
	return 0;
}

static __always_inline __u32 open(void *ctx, struct task_struct *task, const struct op_begin *b,
				  struct prof_count *key)
{
	__u32 slot = ops_claim(b->key), outcome = 0;
	struct open_op *op = op_at(slot), now = { .event = b->event };

	if (!slot || !op)
		return PROF_LOST_OPEN;
	if (slot & WAS_THERE && b->goes_on)
		return 0;
	if (slot & WAS_THERE) {
		counters_add(PROF_SEEN);
		counters_add(PROF_LOST_END);
		counters_add(PROF_ENDED);
	}
	key->wait = PROF_WAIT_OF_EVENT(b->event);
	if (b->word)
		now.values = key->chain = calls_word(b->word, b->place);
	if (b->word && !key->chain)
		outcome = PROF_LOST_ROWS;
	if (!outcome)
		outcome = claim(ctx, task, key, &now.count);
	if (outcome) {
		free_slot(slot, b->key);
		return outcome;
	}
	counters_add(PROF_BEGUN);
	now.start = bpf_ktime_get_ns();
	*op = now;
	return 0;
}

__hidden void ops_begin(void *ctx, const struct op_begin *b)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct prof_counters *row = counters_row();
	__u64 start = row ? run_begins(row) : 0;
	struct prof_count key = {};
	__u32 outcome = filter(task, &key);

	if (outcome)
		ops_forget(b->key);
	else
		outcome = open(ctx, task, b, &key);
	if (outcome) {
		counters_add(PROF_SEEN);
		counters_add(outcome);
	}
	if (row)
		run_ends(row, start);
}

__hidden void ops_change(__u64 key, __u32 event)
{
	struct open_op *op = op_at(ops_find(key));
	struct prof_count *was;
	struct scratch *s;
	__u32 id, count;

	if (!op || op->event >= event)
		return;
	was = arena_count_at(op->count);
	s = was ? take_scratch(&id) : NULL;
	if (!s)
		return;
	scratch_begin(s);
	s->key = *was;
	s->key.wait = PROF_WAIT_OF_EVENT(event);
	count = arena_claim(id);
	give_scratch(s);
	if (!count)
		return;
	op->event = event;
	op->count = count;
}

static __always_inline __u32 record(const struct open_op *op, __u64 ns)
{
	if (ns < call_cfg.min_ns)
		return PROF_FILTER_SHORT;
	if (!calls_hist(op->event, op->values, ns))
		return PROF_LOST_ROWS;
	arena_add(op->count, ns);
	return PROF_RECORDED;
}

__noinline int ops_end(__u64 key)
{
	__u32 slot = key && ops_cfg.buckets ? ops_find(key) : 0; /* key 0 would be a free one */
	struct open_op *op = slot ? op_at(slot) : NULL, was;
	struct prof_counters *row;
	__u64 now, start;
	int ended = 0;

	if (!op)
		return 0;
	now = bpf_ktime_get_ns();
	row = counters_row();
	start = row ? run_begins(row) : 0;
	was = *op;
	if (free_slot(slot, key)) {
		counters_add(PROF_SEEN);
		counters_add(PROF_ENDED);
		counters_add(record(&was, now - was.start));
		ended = 1;
	}
	if (row)
		run_ends(row, start);
	return ended;
}
