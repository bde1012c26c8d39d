/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The flight recorder of the scheduler: each switch of a CPU and each wake-up is an event in a ring
 * of that CPU. User space reads the rings when the recording is over, and joins the events.
 *
 * All three programs run with interrupts off, under locks of the scheduler, so a ring has one
 * writer: the count of recorded events in this CPU's row of the ledger is its head. They keep
 * nothing of threads.
 */
#include "filter.bpf.h"
#include "timeline.h"
#include "waiting.bpf.h"

#define NAMES (PROF_COMM_LEN / sizeof(__u64))

const volatile struct timeline_config timeline_cfg = {};
__u64 timeline_trip_ns; /* when a selected thread ended a wait that was too long; 0 = none did */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct timeline_event);
} timeline SEC(".maps");

/* A name as two words: a fourth of what the helper takes that copies a string. */
static __always_inline void copy_name(char to[PROF_COMM_LEN], const struct task_struct *task)
{
	__u64 offset = bpf_core_field_offset(task->comm);
	const __u64 *from;

	asm volatile("" : "+r"(offset)); /* or it becomes loads of the declared size */
	from = (const void *)task + offset;
	((__u64 *)to)[0] = from[0];
	((__u64 *)to)[1] = from[1];
}

/* 0: it is selected. */
static __always_inline __u32 outcome_of(struct task_struct *task)
{
	__u64 name[NAMES] = {};
	__u32 outcome;

	if (prof_cfg.filter_comm)
		copy_name((char *)name, task);
	outcome = filter_task(task, task->tgid, task->pid, (const char *)name);
	return outcome ? outcome : filter_cgroup(task);
}

/*
 * The place of the next event, NULL when there is none. The oldest event goes: one that is old
 * enough is outside of what is shown, another one is lost.
 */
static __always_inline struct timeline_event *ring_next(struct prof_counters *row, __u64 now)
{
	__u64 nr = row->value[PROF_RECORDED];
	__u32 cpu = bpf_get_smp_processor_id();
	__u32 at = cpu * timeline_cfg.slots + (nr & (timeline_cfg.slots - 1));
	struct timeline_event *e = bpf_map_lookup_elem(&timeline, &at);

	if (!e) {
		row->value[PROF_LOST_SCRATCH]++;
		return NULL;
	}
	row->value[PROF_RECORDED] = nr + 1;
	if (nr >= timeline_cfg.slots)
		row->value[now - e->time_ns < timeline_cfg.last_ns ? PROF_LOST_RING
								   : PROF_FILTER_OUTSIDE]++;
	e->time_ns = now;
	e->cpu = cpu;
	return e;
}

static __always_inline void put_first(struct timeline_event *e, const struct task_struct *task)
{
	e->pid = task->tgid;
	e->tid = task->pid;
	copy_name(e->comm, task);
}

static __always_inline void put_second(struct timeline_event *e, const struct task_struct *task)
{
	e->pid2 = task->tgid;
	e->tid2 = task->pid;
	copy_name(e->comm2, task);
}

static __always_inline __u8 flags_of(const struct task_struct *task, __u32 outcome, __u8 selected,
				     __u8 kernel)
{
	return (outcome ? 0 : selected) | (task->flags & PF_KTHREAD ? kernel : 0);
}

/* A wait that began on this CPU's queue: the kernel says when, where it counts such waits. */
static __always_inline void trip(const struct task_struct *next, __u64 now)
{
	if (!timeline_cfg.outlier_ns || timeline_trip_ns || !kernel_counts_waits())
		return;
	if (kernel_queued_ns(next, next->sched_info.run_delay) >= timeline_cfg.outlier_ns)
		timeline_trip_ns = now;
}

/* ctx: whether it was preempted, the thread that leaves the CPU, and the one that gets it. */
SEC("?tp_btf/sched_switch")
int timeline_switch(__u64 *ctx)
{
	struct task_struct *prev = (struct task_struct *)ctx[1];
	struct task_struct *next = (struct task_struct *)ctx[2];
	struct prof_counters *row = counters_row();
	__u32 first, second;
	struct timeline_event *e;
	__u64 start, now;

	if (!row)
		return 0;
	start = run_begins(row);
	row->value[PROF_SEEN]++;
	row->value[PROF_SWITCHES]++;
	first = outcome_of(prev);
	second = outcome_of(next);
	if (first && second && !timeline_cfg.others) {
		row->value[(prev->pid ? first : second) % PROF_COUNTER_SLOTS]++;
		run_ends(row, start);
		return 0;
	}
	now = bpf_ktime_get_ns();
	e = ring_next(row, now);
	if (e) {
		e->kind = TIMELINE_SWITCH;
		e->flags = flags_of(prev, first, TIMELINE_FIRST, TIMELINE_FIRST_KERNEL) |
			   flags_of(next, second, TIMELINE_SECOND, TIMELINE_SECOND_KERNEL);
		e->wait = prev->pid ? wait_of(ctx, prev) : 0;
		put_first(e, prev);
		put_second(e, next);
	}
	if (!second)
		trip(next, now);
	run_ends(row, start);
	return 0;
}

/* task is woken, or born, by the current thread, or by an interrupt that has stopped it. */
static __always_inline int wakes(struct task_struct *task, __u8 kind)
{
	struct task_struct *waker = bpf_get_current_task_btf();
	struct prof_counters *row = counters_row();
	struct timeline_event *e;
	__u64 start;
	__u32 outcome;

	if (!row || task == waker) /* it never left its CPU */
		return 0;
	start = run_begins(row);
	row->value[PROF_SEEN]++;
	outcome = outcome_of(task);
	if (outcome && !timeline_cfg.others) {
		row->value[outcome % PROF_COUNTER_SLOTS]++;
		run_ends(row, start);
		return 0;
	}
	e = ring_next(row, bpf_ktime_get_ns());
	if (e) {
		e->kind = kind;
		e->flags = flags_of(task, outcome, TIMELINE_FIRST, TIMELINE_FIRST_KERNEL) |
			   flags_of(waker, 1, 0, TIMELINE_SECOND_KERNEL);
		/* Its registers lie in a cold cache line, and a switch has told of most waits. */
		e->wait = PROF_WAIT(PROF_BLOCKED, task->__state & 0xfff, NO_SYSCALL);
		put_first(e, task);
		put_second(e, waker);
	}
	run_ends(row, start);
	return 0;
}

SEC("?tp_btf/sched_waking")
int timeline_waking(__u64 *ctx)
{
	return wakes((struct task_struct *)ctx[0], TIMELINE_WAKING);
}

SEC("?tp_btf/sched_wakeup_new")
int timeline_born(__u64 *ctx)
{
	return wakes((struct task_struct *)ctx[0], TIMELINE_BORN);
}
