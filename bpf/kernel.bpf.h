/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What differs between the kernels that we run on, all of it and only here: each difference is one
 * accessor with the reason. Which kernel it is gets decided when the program is loaded, from its
 * type information, never from its version.
 */
#ifndef BPFPROF_BPF_KERNEL_BPF_H
#define BPFPROF_BPF_KERNEL_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

/*
 * The registers that a thread had in user mode when it entered the kernel. Where they lie below the
 * top of the kernel stack depends on the kernel: x86-64 with support for FRED (7.x) leaves 16 bytes
 * more than before, so the usual constant finds nothing there. The kernel itself knows; it offers
 * its answer as a helper since 5.15, which is why that is the oldest kernel we run on.
 */
static __always_inline bool kernel_entry_regs(struct task_struct *task, struct pt_regs *regs)
{
	return !bpf_probe_read_kernel(regs, sizeof(*regs), (void *)bpf_task_pt_regs(task));
}

/*
 * Flags of tasks that run no code of a program, though they may have its memory: the kernel's own,
 * and workers that it makes of a program's threads, for io_uring and (kernel >= 6.4, where a flag
 * of that number meant something else long before) for vhost.
 */
static __always_inline __u32 kernel_flags_without_user(void)
{
	if (bpf_core_field_exists(((struct kernel_clone_args *)0)->user_worker))
		return PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER;
	return PF_KTHREAD | PF_IO_WORKER;
}

/*
 * What sched_switch is called with. kernel < 5.19: without the last argument. (5.18 had it second
 * for a while, which was taken back as a mistake.)
 */
typedef void (*btf_trace_sched_switch)(void *data, bool preempt, struct task_struct *prev,
				       struct task_struct *next, unsigned int prev_state);

/* kernel >= 6.1: tells the freezer, not why a thread waits, and stands beside what does. */
#define TASK_FREEZABLE 0x2000

/*
 * The state in which prev leaves the CPU, given the context of tp_btf/sched_switch: 0 when it could
 * go on running. Where the argument exists it is the truth; read from the task, the state may have
 * been changed by a wake-up on another CPU meanwhile. The field is named __state since 5.14.
 */
static __always_inline __u32 kernel_prev_state(const unsigned long long *ctx)
{
	const struct task_struct *prev = (const struct task_struct *)ctx[1];

	if (bpf_core_type_exists(btf_trace_sched_switch))
		return (__u32)ctx[3] & ~TASK_FREEZABLE;
	return prev->__state & ~TASK_FREEZABLE;
}

/*
 * Of a field that is a byte or, kernel < 7.1, an int: all machines we run on keep the low byte
 * first.
 */
#define KERNEL_BYTE(task, field)                                                                   \
	({                                                                                         \
		__u64 offset_ = bpf_core_field_offset((task)->field);                              \
                                                                                                   \
		asm volatile("" : "+r"(offset_)); /* or it becomes a load of the declared size */  \
		*(const unsigned char *)((const void *)(task) + offset_);                          \
	})

static __always_inline bool kernel_is_queued(const struct task_struct *task)
{
	if (!KERNEL_BYTE(task, on_rq))
		return false;
	/* kernel >= 6.12: one that sleeps may keep its place for a while. */
	return !bpf_core_field_exists(task->se.sched_delayed) || !task->se.sched_delayed;
}

static __always_inline bool kernel_is_running(const struct task_struct *task)
{
	return KERNEL_BYTE(task, on_cpu);
}

/* How often a task was given a CPU, 0 where the kernel does not count it. */
static __always_inline __u64 kernel_nr_runs(const struct task_struct *task)
{
	return bpf_core_field_exists(task->sched_info.pcount) ? task->sched_info.pcount : 0;
}

/*
 * Whether prev, which sched_switch says has left its CPU in that state, really waits for something.
 * It does not when it was preempted on its way there, nor when a signal was pending: then it keeps
 * its place on the run queue.
 */
static __always_inline bool kernel_is_blocked(const unsigned long long *ctx, __u32 state)
{
	const struct task_struct *prev = (const struct task_struct *)ctx[1];

	return state && !ctx[0] && !kernel_is_queued(prev);
}

/*
 * Whether the kernel itself counts for how long tasks wait for a CPU, and shows the clock by which
 * it does. The way to the run queue is a task's own, since the address of "runqueues" is only known
 * to kernels with CONFIG_KALLSYMS_ALL.
 */
static __always_inline bool kernel_counts_waits(void)
{
	return bpf_core_field_exists(((struct task_struct *)0)->sched_info.last_queued) &&
	       bpf_core_field_exists(((struct sched_entity *)0)->cfs_rq) &&
	       bpf_core_field_exists(((struct cfs_rq *)0)->rq);
}

/*
 * For how long next, which is about to run on this CPU, has waited for one since its run_delay was
 * delay: what the kernel has added to run_delay (each time that the task was moved to another CPU),
 * and the part since then. The kernel has not yet begun the new run when sched_switch is told.
 */
static __always_inline __u64 kernel_queued_ns(const struct task_struct *next, __u64 delay)
{
	__u64 since = next->sched_info.last_queued, ns = next->sched_info.run_delay - delay;
	__u64 now = next->se.cfs_rq->rq->clock; /* of this CPU, whatever the task's class */

	return since && now > since ? ns + now - since : ns;
}

/*
 * Whether a task that could run does not for want of its cgroup's CPU quota. kernel >= 6.18: tasks
 * are taken off one by one, on their way to user space. Before, all on a run queue are at once.
 */
static __always_inline bool kernel_is_throttled(const struct task_struct *task)
{
	const struct cfs_rq *queue = NULL;

	if (bpf_core_field_exists(task->throttled))
		return task->throttled;
	if (!bpf_core_field_exists(queue->throttle_count))
		return false;
	queue = task->se.cfs_rq;
	return queue->throttle_count && task->prio >= MAX_RT_PRIO;
}

/*
 * For how long that run queue of a cgroup has been throttled, in all and as of now. It may be gone.
 */
static __always_inline __u64 kernel_throttled_ns(const struct cfs_rq *queue)
{
	__u64 since;

	/* kernel < 6.6: by a clock that stands still in interrupts, without the present time. */
	if (bpf_core_field_exists(queue->throttled_clock_task_time))
		return BPF_CORE_READ(queue, throttled_clock_task_time);
	if (!bpf_core_field_exists(queue->throttled_clock_self_time))
		return BPF_CORE_READ(queue, throttled_clock_pelt_time);
	since = BPF_CORE_READ(queue, throttled_clock_self);
	return BPF_CORE_READ(queue, throttled_clock_self_time) +
	       (since ? BPF_CORE_READ(queue, rq, clock) - since : 0);
}

/*
 * A word of kernel memory, which need not be there. kernel >= 6.2: a plain load that cannot fault,
 * for a fifth of what the helper costs.
 */
extern void *bpf_rdonly_cast(const void *at, __u32 btf_id) __ksym __weak;
enum special_kfunc_type___ours { KF_bpf_rdonly_cast___ours };

static __always_inline int kernel_word(__u64 at, __u64 *word)
{
	if (bpf_core_enum_value_exists(enum special_kfunc_type___ours, KF_bpf_rdonly_cast___ours)) {
		*word = ((struct timespec64 *)bpf_rdonly_cast(
				 (void *)at, bpf_core_type_id_kernel(struct timespec64)))
				->tv_sec;
		return 0;
	}
	return bpf_probe_read_kernel(word, sizeof(*word), (void *)at);
}

/*
 * Where the return probes of the current process make functions return to, 0 = it has none.
 */
static __always_inline __u64 kernel_trampoline(const struct task_struct *task)
{
	struct xol_area *area;

	if (!bpf_core_field_exists(task->utask) || !task->mm)
		return 0;
	area = task->mm->uprobes_state.xol_area;
	return area ? BPF_CORE_READ(area, vaddr) : 0;
}

/*
 * A thread by its number, to be put back, NULL if there is none. kernel >= 6.13: as the current
 * process numbers it; kernel >= 6.2: as the first PID namespace does; before: not at all. Looks up
 * under RCU and takes a reference; the last one to be given back frees nothing at once.
 */
extern struct task_struct *bpf_task_from_vpid(__s32 vpid) __ksym __weak;
extern struct task_struct *bpf_task_from_pid(__s32 pid) __ksym __weak;
extern void bpf_task_release(struct task_struct *task) __ksym __weak;

static __always_inline bool kernel_finds_tasks(void)
{
	return bpf_task_release; /* came with them */
}

static __always_inline struct task_struct *kernel_find_task(__u32 tid)
{
	if (!bpf_task_release)
		return NULL;
	if (bpf_task_from_vpid)
		return bpf_task_from_vpid(tid);
	return bpf_task_from_pid ? bpf_task_from_pid(tid) : NULL;
}

static __always_inline void kernel_put_task(struct task_struct *task)
{
	if (bpf_task_release)
		bpf_task_release(task);
}

/* Its number in its own PID namespace, 0 = not known. */
static __always_inline __u32 kernel_own_number(struct task_struct *task)
{
	/* verifier: 6.1 adds nothing to a pointer that it knows, so the kernel's memory is read. */
	__u64 at = (__u64)BPF_CORE_READ(task, thread_pid);
	__u32 level, number = 0;

	if (!at)
		return 0;
	level = BPF_CORE_READ((struct pid *)at, level) & 63; /* the kernel has 32 at most */
	at += bpf_core_field_offset(struct pid, numbers) + bpf_core_field_offset(struct upid, nr);
	at += level * bpf_core_type_size(struct upid);
	bpf_probe_read_kernel(&number, sizeof(number), (void *)at);
	return number;
}

#define KERNEL_RETURN_DEPTH 64 /* the kernel allows no more return probes in each other */

/*
 * Programs at functions of programs can be preempted where the kernel can. kernel >= 6.13: all runs
 * of such a program on a CPU share a stack that the kernel keeps for it, so one that preempts
 * another writes over its variables, and that ends in a panic. A program that forbids it must do so
 * before it has any variable in memory, and call only one function meanwhile.
 *
 * The kernel has the means since 6.10, but refuses functions that are verified apart in between
 * until 6.15, of which the lock that came with it tells. In 6.13 and 6.14 there is no remedy
 * (src/collect/hazards.c).
 */
extern void bpf_preempt_disable(void) __ksym __weak;
extern void bpf_preempt_enable(void) __ksym __weak;
struct bpf_res_spin_lock___ours {
} __attribute__((preserve_access_index));

static __always_inline bool kernel_can_forbid(void)
{
	return bpf_core_type_exists(struct bpf_res_spin_lock___ours) && bpf_preempt_disable &&
	       bpf_preempt_enable;
}

static __always_inline void kernel_preempt_off(void)
{
	if (kernel_can_forbid())
		bpf_preempt_disable();
}

static __always_inline void kernel_preempt_on(void)
{
	if (kernel_can_forbid())
		bpf_preempt_enable();
}

#endif
