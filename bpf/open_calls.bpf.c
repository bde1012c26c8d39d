/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where open calls are kept, and which of them begin, return, and are left. */
#include "open_calls.bpf.h"
#include "polls.bpf.h"

struct open_calls {
	__u64 nr;
	struct open_call v[CALL_MAX_OPEN];
};

/* Made when a thread first runs into a timed point: once, and at no sample nor switch. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct open_calls);
} open_calls SEC(".maps");

/* The same of goroutines: another thread may go on with a call. There as long as any is open. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096); /* 8 MB */
	__type(key, struct goroutine);
	__type(value, struct open_calls);
} go_calls SEC(".maps");

static __always_inline struct open_calls *calls_of(const struct caller *c)
{
	if (c->go.address)
		return call_cfg.goroutines ? bpf_map_lookup_elem(&go_calls, &c->go) : NULL;
	return bpf_task_storage_get(&open_calls, bpf_get_current_task_btf(), 0, 0);
}

static __always_inline struct open_calls *make_calls(const struct caller *c)
{
	static const struct open_calls none;
	struct open_calls *calls;

	if (!c->go.address)
		return bpf_task_storage_get(&open_calls, bpf_get_current_task_btf(), 0,
					    BPF_LOCAL_STORAGE_GET_F_CREATE);
	calls = calls_of(c);
	if (calls || !call_cfg.goroutines)
		return calls;
	bpf_map_update_elem(&go_calls, &c->go, &none, BPF_NOEXIST);
	return calls_of(c);
}

#define STACK_REACH (1u << 20) /* further apart, stack pointers are of different stacks */

/*
 * Calls that are open where another one begins, or below, have been left, and nobody saw it: those
 * whose stack pointers are at least low and at most span above. (Of a goroutine they count from the
 * top, so the order is the other way round. A tracepoint that comes again before the one that ends
 * it begins anew.) False: functions of the kernel end by returning only.
 */
static __always_inline bool left_range(const struct caller *c, const struct open_call *begins,
				       __u64 *low, __u64 *span)
{
	*low = 0;
	*span = 0;
	if (c->go.address) {
		*low = c->sp;
		*span = ~0ull - c->sp;
	} else if (c->sp) {
		*low = c->sp - STACK_REACH;
		*span = STACK_REACH;
	}
	return c->sp || !begins->pc;
}

/* verifier: read back, or what is behind is looked at for each number of them. */
static __always_inline __u32 open_now(const struct open_calls *calls)
{
	return *(const volatile __u64 *)&calls->nr;
}

/* Calls that nobody saw return. */
static __always_inline void count_left(__u32 nr)
{
	if (!nr)
		return;
	counters_add_n(PROF_SEEN, nr);
	counters_add_n(PROF_LOST_RETURN, nr);
	counters_add_n(PROF_ENDED, nr);
}

__noinline int calls_begin(struct caller *c, struct open_call *call)
{
	struct open_calls *calls;
	struct open_call *at;
	__u64 low, span;
	__u32 nr, were;
	bool any;

	/* kernel < 6.8: functions are verified even if nothing calls them; maps may lack. */
	if (!call_cfg.hist_rows || !c || !call)
		return PROF_LOST_THREAD;
	calls = make_calls(c);
	if (!calls)
		return PROF_LOST_THREAD;
	any = left_range(c, call, &low, &span);
	were = calls->nr;
	for (__u32 i = 0; any && i < CALL_MAX_OPEN && open_now(calls); i++) {
		at = &calls->v[(open_now(calls) - 1) & (CALL_MAX_OPEN - 1)];
		if (at->sp - low > span)
			break;
		calls->nr--;
	}
	nr = open_now(calls);
	count_left(were - nr);
	if (nr >= CALL_MAX_OPEN)
		return PROF_LOST_NESTED;
	at = &calls->v[nr & (CALL_MAX_OPEN - 1)];
	*at = *call;
	calls->nr = nr + 1;
	counters_add(PROF_BEGUN);
	at->start = bpf_ktime_get_ns();
	if (prof_cfg.slow_poll_ns && !nr && !polls_begin(at))
		return PROF_LOST_THREAD;
	return 0;
}

__noinline int calls_close(struct caller *c, __u32 event, struct open_call *call)
{
	struct open_calls *calls;
	struct open_call *at;
	__u32 nr, left, now;

	if (!call_cfg.hist_rows || !c || !call)
		return 0;
	calls = calls_of(c);
	if (!calls)
		return 0;
	nr = calls->nr;
	for (left = 0; left < CALL_MAX_OPEN && left < nr; left++) {
		at = &calls->v[(nr - 1 - left) & (CALL_MAX_OPEN - 1)];
		if (at->sp == c->sp && at->event == event)
			goto found;
	}
	return 0;
found:
	*call = *at;
	calls->nr = nr - 1 - left;
	now = open_now(calls);
	count_left(nr - 1 - now);
	counters_add(PROF_ENDED);
	if (c->go.address && call_cfg.goroutines && !now)
		bpf_map_delete_elem(&go_calls, &c->go);
	return now + 1;
}
