/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ledger, part of the contract: what becomes of each event, one counter per reason. User space
 * sums the rows of all CPUs (src/collect) and prints the counters by their sentences.
 */
#ifndef BPFPROF_BPF_LEDGER_H
#define BPFPROF_BPF_LEDGER_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

/*
 * What happened to each event. One line adds the enum, the counter's slot, its place in the ledger
 * and its sentence. Kinds: TOTAL (seen, recorded), FILTER (left out by a rule the user chose), LOST
 * (wanted, not recorded), NOTE (not part of the sum). The invariant: SEEN = RECORDED + all FILTER +
 * all LOST.
 *
 *      name          kind    key in JSON         sentence
 */
#define PROF_COUNTERS(X)                                                                           \
	X(SEEN, TOTAL, "seen", "samples that reached bpfprof")                                     \
	X(RECORDED, TOTAL, "recorded", "recorded with their stacks")                               \
	X(FILTER_IDLE, FILTER, "idle", "CPU was idle (-I includes it)")                            \
	X(FILTER_SELF, FILTER, "self", "bpfprof itself")                                           \
	X(FILTER_PID, FILTER, "other-process", "process not selected")                             \
	X(FILTER_TID, FILTER, "other-thread", "thread not in -t")                                  \
	X(FILTER_COMM, FILTER, "other-name", "thread name does not match -n")                      \
	X(FILTER_CGROUP, FILTER, "other-cgroup", "outside of --cgroup")                            \
	X(FILTER_HIDDEN, FILTER, "hidden-thread", "thread that the kernel hides from bpfprof")     \
	X(FILTER_KTHREAD, FILTER, "kernel-thread", "kernel thread (-u leaves them out)")           \
	X(FILTER_UTHREAD, FILTER, "user-thread", "user thread (-k leaves them out)")               \
	X(FILTER_STATE, FILTER, "other-state", "task state not in --state")                        \
	X(FILTER_SHORT, FILTER, "too-short", "shorter than -m, or than --slower")                  \
	X(FILTER_LONG, FILTER, "too-long", "longer than -M")                                       \
	X(FILTER_EVERY, FILTER, "every", "left out by --every")                                    \
	X(FILTER_WAIT, FILTER, "other-wait", "waits for something else than a lock")               \
	X(FILTER_FILE, FILTER, "file-memory", "memory of a file")                                  \
	X(FILTER_NESTED, FILTER, "nested",                                                         \
	  "inside of another allocation, or what an allocator maps for itself")                    \
	X(FILTER_FAILED, FILTER, "failed", "allocations that failed: they returned no memory")     \
	X(FILTER_OUTSIDE, FILTER, "outside", "outside of the time that is shown")                  \
	X(FILTER_POLL, FILTER, "other-poll", "not within a poll as long as --slower-polls")        \
	X(LOST_STACKS, LOST, "stack-table-full", "stack table full: raise --max-stacks")           \
	X(LOST_FRAMES, LOST, "frame-arena-full", "frame arena full: raise --stack-mem")            \
	X(LOST_COUNTS, LOST, "count-table-full", "count table full: raise --max-stacks")           \
	X(LOST_SCRATCH, LOST, "no-scratch", "no scratch memory on this CPU")                       \
	X(LOST_TIME, LOST, "impossible-time", "ended before it began, or began before the run")    \
	X(LOST_UNSEEN, LOST, "unseen-run", "began to run, which the kernel did not report")        \
	X(LOST_THREAD, LOST, "no-thread-state", "no memory for a thread's state")                  \
	X(LOST_LOCKS, LOST, "lock-table-full", "table of locks full: raise --max-stacks")          \
	X(LOST_ROWS, LOST, "row-table-full", "no room for another row: raise --max-rows")          \
	X(LOST_NESTED, LOST, "nested-too-deep", "more than 64 timed calls in each other")          \
	X(LOST_RETURN, LOST, "no-return",                                                          \
	  "left by an exception or longjmp(), or never returned: not timed")                       \
	X(LOST_OPEN, LOST, "open-table-full", "too many open at a time: raise --max-open")         \
	X(LOST_END, LOST, "no-end", "another one began in its place: its end was not seen")        \
	X(LOST_RING, LOST, "overwritten",                                                          \
	  "overwritten, and of the time that was selected: raise --ring")                          \
	X(LOST_POLL, LOST, "poll-full", "the poll was at 32 places before it was slow")            \
	X(LOST_FILE, LOST, "truncated-file", "in the part of a truncated file that is missing")    \
	X(DEFERRED, NOTE, "deferred", "stacks walked in user space")                               \
	X(DEFER_FULL, NOTE, "defer-full", "stacks that found no room to be deferred")              \
	X(RUNS, NOTE, "runs", "runs of the programs that measure themselves")                      \
	X(TIMED_RUNS, NOTE, "timed-runs", "runs that measured their own time")                     \
	X(TIMED_NS, NOTE, "timed-ns", "nanoseconds these took")                                    \
	X(FILTER_NS, NOTE, "filtered-ns", "nanoseconds of waits that were filtered")               \
	X(LOST_NS, NOTE, "lost-ns", "nanoseconds of waits that were lost")                         \
	X(SWITCHES, NOTE, "switches", "times a thread left its CPU")                               \
	X(VERIFIED, NOTE, "verified", "stacks found unchanged, so not walked again")               \
	X(WALKED, NOTE, "walked", "stacks walked")                                                 \
	X(NOT_SAMPLED, NOTE, "not-sampled", "stacks not taken, to bound what walking costs")       \
	X(AUDIT_WRONG, NOTE, "audit-wrong", "stacks found unchanged that a walk said were not")    \
	X(MADE_UP, NOTE, "made-up",                                                                \
	  "runs whose beginning bpfprof did not see, timed by the kernel's own count")             \
	X(MERGED, NOTE, "merged", "counts whose threads were merged: the table was half full")     \
	X(BRANCHES, NOTE, "branches", "branch records")                                            \
	X(BRANCHES_LOST, NOTE, "branches-lost", "branch records that found no room in a table")    \
	X(KSTACK_FAILED, NOTE, "kernel-stack-failed",                                              \
	  "kernel stacks that the kernel did not give")                                            \
	X(HALF_WALKED, NOTE, "half-walked", "stacks of which only the kernel's half was walked")   \
	X(THREADS, NOTE, "threads", "threads whose state was kept")                                \
	X(THREADS_GONE, NOTE, "threads-gone", "of which have ended")                               \
	X(BEGUN, NOTE, "begun", "calls that began to be timed")                                    \
	X(ENDED, NOTE, "ended", "of which are over")                                               \
	X(LIVE_FULL, NOTE, "live-full", "sampled allocations that --live had no room for")         \
	X(LIVE_MISSED, NOTE, "live-missed", "sampled allocations that --live did not see return")  \
	X(MOMENTS_LOST, NOTE, "moments-lost", "times that --heatmap had no room for")              \
	X(THINNED, NOTE, "thinned", "stacks of waits not taken, to keep within --max-overhead")    \
	X(POLL_RUNS, NOTE, "poll-runs", "runs of the programs at polls")                           \
	X(DEAR_RUNS, NOTE, "dear-runs", "runs where the kernel single-steps")                      \
	X(POLLS_NS, NOTE, "slow-poll-ns", "nanoseconds of slow polls that are in no other poll")   \
	X(POLLS_OPEN, NOTE, "slow-polls-open", "slow polls that had not returned at the end")      \
	X(WAKES, NOTE, "wakes", "runs at wake-ups, where these are not the events")                \
	X(TIMED_WAKES, NOTE, "timed-wakes", "of which measured their own time")                    \
	X(WAKES_NS, NOTE, "timed-wakes-ns", "nanoseconds these took")

enum prof_counter {
#define X(name, kind, key, text) PROF_##name,
	PROF_COUNTERS(X)
#undef X
		PROF_NR_COUNTERS
};

/*
 * One row per CPU, written only by programs on that CPU, read through mmap. A power of two of cache
 * lines.
 */
#define PROF_COUNTER_SLOTS 128
struct prof_counters {
	__u64 value[PROF_COUNTER_SLOTS];
};
_Static_assert(PROF_NR_COUNTERS <= PROF_COUNTER_SLOTS, "grow struct prof_counters");
_Static_assert(sizeof(struct prof_counters) == 1024,
	       "struct prof_counters is part of the contract");

#endif
