/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The contract between the BPF programs and user space: every struct that both sides read, every
 * reason (ledger.h: every counter). Types only, fixed width, explicit padding, sizes asserted.
 * Anything that reaches a saved file is numbered and append-only.
 *
 * The pipeline in BPF: a program takes an event, asks the filter, walks the stacks into per-CPU
 * scratch, interns each stack in the arena (content hash -> slot), and adds to the count whose key
 * is (thread, name, stacks).
 */
#ifndef BPFPROF_BPF_PROF_H
#define BPFPROF_BPF_PROF_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif
#include "ledger.h"

#define PROF_COMM_LEN	16
#define PROF_MAX_FRAMES 1024 /* user frames of one stack; --max-depth lowers it */
#define PROF_MAX_KFRAMES                                                                           \
	128 /* the kernel itself stops at kernel.perf_event_max_stack, 127 by default */
#define PROF_PID_LIMIT	 (4u << 20) /* PID_MAX_LIMIT of every 64-bit kernel: no PID lies above it */
#define PROF_GENERATIONS 2	    /* of an arena, with prof_config.two_generations */

/*
 * Why a user stack ended where it did.
 *      name      key           sentence
 */
#define UNWIND_ENDS(X)                                                                             \
	X(NONE, "none", "no user stack")                                                           \
	X(ROOT, "zero-frame-pointer", "the frame pointer was zero, no caller is known")            \
	X(READ, "unreadable", "stack memory could not be read")                                    \
	X(BAD_FP, "bad-frame-pointer",                                                             \
	  "the frame pointer held another value: code built without frame pointers")               \
	X(DEPTH, "too-deep", "deeper than --max-depth")                                            \
	X(COMPAT, "32-bit", "32-bit process, not walked")                                          \
	X(BAD_PC, "bad-return-address",                                                            \
	  "the frame pointer led to no code: code built without frame pointers")                   \
	X(ENTRY, "entry", "walked up to the entry of the process")                                 \
	X(CFI_ROOT, "root", "the unwind table says that there is no caller")                       \
	X(NO_TABLE, "no-table", "the unwind table of the code was not ready")                      \
	X(NO_CODE, "no-code", "the return address lies in no known code")                          \
	X(NO_CFI, "no-unwind-data", "code without unwind data, and no frame pointer to go by")     \
	X(BAD_CFA, "bad-frame", "an unwind rule led nowhere: the stack was not as it says")        \
	X(LOST_REG, "lost-register", "only the innermost frame has the register that leads on")    \
	X(MOVED, "moved-on", "the thread went on before its stack could be read")                  \
	X(NO_ROOM, "no-room", "no room to keep the stack until it could be walked")                \
	X(LATE, "too-late", "the recording ended before the stack could be read")                  \
	X(SILENT, "silent", "the process does not let its memory be read")

enum unwind_end {
#define X(name, key, text) UNWIND_END_##name,
	UNWIND_ENDS(X)
#undef X
		UNWIND_NR_ENDS
};

/*
 * A frame is one 64-bit word. The top four bits tell its kind:
 *
 *   0x0  return address in user code; its process and time stand in the stack's header
 *   0x2  next instruction there: of the innermost frame, or of one that a signal interrupted
 *   0x4  frames of Python, behind all others (python.h)
 *   0xf  kernel address as it is (all kernels map themselves in the top sixteenth)
 *
 * Frames are stored leaf first. The innermost one is an instruction whatever its kind.
 */
#define PROF_FRAME_NONE		  0 /* to be passed over */
#define PROF_FRAME_EXACT	  (2ull << 60)
#define PROF_FRAME_EXACT_BIT	  61
#define PROF_FRAME_ADDRESS(frame) ((frame) & ~PROF_FRAME_EXACT) /* of a user frame */

enum prof_stack_kind {
	PROF_STACK_USER = 1,
	PROF_STACK_KERNEL = 2,
	PROF_STACK_DEFERRED = 3, /* user space walks it: frames are numbers of prof_deferred */
	PROF_STACK_SLEEPER = 4,	 /* the same, and reads it: the frame is a number of prof_sleeper */
	/*
	 * Of a thread that sleeps, whose stack the kernel gives without the scheduler's functions
	 * (all of .sched.text: schedule(), but also do_nanosleep()): only return addresses.
	 */
	PROF_STACK_KERNEL_ASLEEP = 5,
};

/*
 * Stacks are interned: a slot of the stack table holds nothing but the 64-bit content hash (0 =
 * free, claimed by compare-and-swap), its index is the stack's id. The claimer appends one record
 * to the frame log, an array of 64-bit words with a bump cursor that starts at 0:
 *
 *   word 0   struct prof_stack_head      written last; zero means: not there yet
 *   word 1   pid : 32 | execs of that process : 24 | frames that were guessed, at most 255 : 8
 *   word 2   time, ns of CLOCK_MONOTONIC
 *   word 3…  frames, leaf first
 *
 * So user space reads the log in sequence while it grows and never scans the table. A slot without
 * a record is a stack whose frames did not fit: its counts are LOST_FRAMES.
 *
 * With two_generations there are two such tables, logs, and tables of counts, one behind the other
 * in each map. What a run writes goes to the one that prof_generation says when it begins; user
 * space lets the other one begin before this one is full, takes everything out of it and empties
 * it. Numbers of slots count through both.
 */
struct prof_stack_head {
	__u32 slot;
	__u16 nr_frames;
	__u8 kind; /* enum prof_stack_kind, never 0 */
	__u8 end;  /* enum unwind_end */
};
_Static_assert(sizeof(struct prof_stack_head) == 8, "struct prof_stack_head is one word");
#define PROF_STACK_WORDS 3 /* header words in front of the frames */

/*
 * A thread that does not run, and what tells later that it has not run since: how often it had been
 * given a CPU or, where the kernel does not count that, how often it had left one.
 */
struct prof_pause {
	__u32 tid; /* 0 = it runs, its stack changes */
	__u32 by_switches;
	__u64 times;
};

/*
 * A user stack that could not be walked yet, because the process or the unwind table of its code is
 * not known so far: registers and stack as they were. A claimer sets the slot's bit in
 * prof_defer_taken, its record in the frame log says that all is there, and user space walks it and
 * clears the bit. A deep stack goes on in more slots, of which only bytes and words are used, or,
 * where a copy would take too long, is left for user space to read as long as the thread pauses.
 */
#define PROF_MAX_DEFERRED     1024
#define PROF_DEFERRED_CHAIN   32 /* slots at most: 448 KiB */
#define PROF_DEFERRED_WORDS   1940
#define PROF_DEFERRED_RETURNS 32
struct prof_deferred {
	__u32 bytes; /* of stack, from sp up */
	__u32 cut;   /* enum unwind_end of a walk that needs more */
	__u64 pc, sp, fp, lr;
	__u64 called; /* a call that had just returned to pc, 0 = none */
	/*
	 * Where functions return to on which a return probe stands, 0 = nowhere; and instead of it
	 * those that were called last, by the stack pointer behind the return.
	 */
	__u64 trampoline;
	struct {
		__u64 sp, pc;
	} returns[PROF_DEFERRED_RETURNS];
	__u64 start_stack; /* mm_struct.start_stack: which image it was */
	struct prof_pause pause;
	__u64 regs[34]; /* struct pt_regs; only the innermost frame of some functions needs it */
	__u64 words[PROF_DEFERRED_WORDS];
};
_Static_assert(sizeof(struct prof_deferred) == 16384, "struct prof_deferred is 16 KiB");

/*
 * A thread that was asleep when the recording began. User space reads its stack out of its memory.
 * Other registers are not kept: no system call of the C library is made from a frame that needs
 * them to be left.
 */
struct prof_sleeper {
	__u64 pc, sp, fp, lr;
	__u64 thread; /* its thread pointer */
	__u64 start_stack;
	struct prof_pause pause;
};
_Static_assert(sizeof(struct prof_sleeper) == 64, "struct prof_sleeper is one cache line");

/* A word that many write, alone in its cache line. */
struct prof_word {
	__u64 value;
	__u64 pad[7];
} __attribute__((aligned(64)));

/*
 * One cache line: who was sampled where, how often. Claimed by compare-and-swap of hash, 0 = free.
 */
struct prof_count {
	__u64 hash;
	__u32 pid;    /* process, as user space calls it */
	__u32 tid;    /* thread */
	__u32 ustack; /* slot of the user stack + 1, 0 = none */
	__u32 kstack; /* slot of the kernel stack + 1, 0 = none */
	char comm[PROF_COMM_LEN];
	__u64 samples;
	__u64 weight; /* sum of sample periods: cycles, or ns of cpu-clock; ns of waits */
	__u32 wait;   /* what the thread did, or which event it was, see below */
	/* Slot + 1 of the prof_waker that ended the wait; or what one stands for (thin.h). */
	__u32 chain;
};
_Static_assert(sizeof(struct prof_count) == 64, "struct prof_count is one cache line");

/*
 * When something was added to a count: an entry of a CPU's ring. A wait began weight before it
 * ended. nr is written last, its number + 1; 0 while it is in the making.
 */
struct prof_moment {
	__u64 nr;
	__u64 end_ns; /* of CLOCK_MONOTONIC */
	__u64 weight;
	__u32 count; /* slot + 1 */
	__u32 pad;
};
_Static_assert(sizeof(struct prof_moment) == 32, "struct prof_moment is part of the contract");

/*
 * What a thread did while it did not run, as the scheduler says it. Reaches saved files.
 *
 *   bits 0-11   system call number + 1, 0 = it was in none
 *   bits 12-15  enum prof_wait_kind
 *   bits 16-19  flags
 *   bits 20-31  task state (TASK_*) of PROF_BLOCKED, number of the event of PROF_EVENT
 */
enum prof_wait_kind {
	PROF_NO_WAIT = 0,   /* a sample of oncpu, or of the first event of pmu */
	PROF_BLOCKED = 1,   /* until it was woken */
	PROF_PREEMPTED = 2, /* could have gone on, until it did */
	PROF_WOKEN = 3,	    /* from its wake-up, or the end of throttling, until it ran */
	PROF_RUNNING = 4,   /* ran: by the clock, stacks belong to samples of PROF_ON_CPU */
	PROF_ON_CPU = 5,    /* a sample of running code, in a recording of waits */
	PROF_EVENT = 6,	    /* a sample of the second event or a later one; the first is 0 */
	PROF_THROTTLED = 7, /* could have gone on, but for the CPU quota of its cgroup */
	PROF_NR_WAIT_KINDS,
	/*
	 * In counts only, without a thread: how long threads of that process and name lived that
	 * have no count of their own.
	 */
	PROF_LIVED = 15,
};
#define PROF_WAIT_OPEN	      (1u << 16) /* it had not ended when the recording did */
#define PROF_WAIT_NOT_SAMPLED (1u << 17) /* its stack was not taken */
#define PROF_WAIT_IO	      (1u << 18) /* the kernel counts it as waiting for a device */
#define PROF_WAIT_BEFORE      (1u << 19) /* it had begun before the recording */
#define PROF_WAIT_KIND(wait)  ((wait) >> 12 & 15)
#define PROF_WAIT_STATE(wait) ((wait) >> 20)
#define PROF_WAIT_SYSCALL(w)  ((int)((w)&0xfff) - 1)
#define PROF_SYSCALL_COMPAT   4094 /* of a 32-bit process, whichever it is */
/*
 * What a futex was waited for with, which tells locks from condition variables where a compiler has
 * left no function of them. Stands in the upper four bits of the task's state, which no state of
 * such a wait has. Of a wait for events these bits are 1 + the epoll's descriptor % 15.
 */
enum prof_futex {
	PROF_FUTEX_UNKNOWN,
	PROF_FUTEX_MUTEX,	/* of Rust's standard library */
	PROF_FUTEX_RWLOCK,	/* of it, by a reader */
	PROF_FUTEX_PARK,	/* std::thread::park() and what is built on it */
	PROF_FUTEX_COUNTER,	/* condition variables; a writer of an RwLock does it, too */
	PROF_FUTEX_PARKING_LOT, /* all of parking_lot */
	PROF_FUTEX_JOIN,	/* pthread_join() */
	PROF_FUTEX_LIBC_MUTEX,	/* of the C library */
	PROF_NR_FUTEXES,
};
#define PROF_WAIT_FUTEX(wait)  ((wait) >> 28)
#define PROF_FUTEX_BIT	       28
#define PROF_WAIT_EVENT(wait)  (PROF_WAIT_KIND(wait) == PROF_EVENT ? (wait) >> 20 : 0)
#define PROF_WAIT_OF_EVENT(nr) ((nr) ? PROF_WAIT(PROF_EVENT, nr, -1) : 0)
#define PROF_MAX_EVENTS	       16
/* What the program at a sampled tracepoint is told: prof_count.wait, and one hit in how many. */
#define PROF_HITS_COOKIE(wait, period) ((wait) | (__u64)(period) << 32)
#define PROF_HITS_PERIOD(cookie)       ((cookie) >> 32)
#define PROF_HITS_CPUS		       8192 /* that can be left out */
/* With prof_config.faults, what memory it was stands in the place of the system call. */
enum prof_memory {
	PROF_MEMORY_UNKNOWN,
	PROF_MEMORY_ANONYMOUS,
	PROF_MEMORY_HEAP,  /* what brk() gives */
	PROF_MEMORY_STACK, /* of the main thread */
	PROF_MEMORY_FILE,  /* and memory that processes share */
	PROF_NR_MEMORIES
};
/*
 * Of calls that are timed and have stacks, in which bucket of bpf/hist.h they were stands there; so
 * the counts of a stack are its histogram.
 */
#define PROF_WAIT_OF_CALL(event, bucket)  PROF_WAIT(PROF_EVENT, event, bucket)
#define PROF_WAIT_BUCKET(wait)		  (((wait)&0xfff) - 1)
#define PROF_WAIT_OF_FAULT(event, memory) PROF_WAIT(PROF_EVENT, event, (memory)-1)
#define PROF_WAIT_MEMORY(wait)		  ((wait)&0xfff)
#define PROF_WAIT(kind, state, nr)                                                                 \
	((__u32)(state) << 20 | (__u32)(kind) << 12 | (((__u32)(nr) + 1) & 0xfff))

/*
 * What a thread is doing while it is looked at (look.bpf.c): it runs, or waits. Where there are
 * counts for that already, they say of whom and with which stacks it is.
 */
struct prof_look {
	__u64 since;	/* of this state, CLOCK_MONOTONIC ns */
	__u64 woken_ns; /* since then it waits for a CPU; 0 = it does not, or has from the begin */
	__u32 pid, tid;
	__u32 wait;		  /* as in counts; of one that runs PROF_RUNNING */
	__u32 count, count_woken; /* slots + 1 of counts, 0 = none so far */
	__u32 ustack, kstack;	  /* without: slots + 1 of stacks */
	__u32 pad;
	char comm[PROF_COMM_LEN];
};
_Static_assert(sizeof(struct prof_look) == 64, "struct prof_look is part of the contract");

/*
 * Who ended a wait: a thread, what it was doing, and who had ended its own last wait. Interned like
 * stacks: claimed by compare-and-swap of hash, 0 = free.
 */
#define PROF_MAX_HOPS 3
struct prof_waker {
	__u64 hash;
	__u32 pid, tid;
	__u32 ustack, kstack; /* slots + 1, 0 = none */
	__u32 next;	      /* who woke the waker: slot + 1, 0 = not known */
	__u32 ready;	      /* the rest is there */
	char comm[PROF_COMM_LEN];
	__u64 pad[2];
};
_Static_assert(sizeof(struct prof_waker) == 64, "struct prof_waker is one cache line");

/*
 * With --audit: a half of a stack that was remembered and found unchanged, and what a walk found
 * instead. Claimed by compare-and-swap of hash, 0 = free; who came first is kept with it.
 */
#define PROF_DISAGREEMENTS 64 /* a power of two */
struct prof_disagreement {
	__u64 hash;
	__u64 times;
	__u32 pid, tid;
	__u32 kind;		  /* enum prof_stack_kind: which half */
	__u32 remembered, walked; /* slots + 1, 0 = none */
	__u32 ready;		  /* the rest is there */
	char comm[PROF_COMM_LEN];
	__u64 pad;
};
_Static_assert(sizeof(struct prof_disagreement) == 64, "one cache line");

/*
 * A branch that was taken, as the hardware recorded it with samples. Claimed by compare-and-swap of
 * hash, 0 = free.
 */
struct prof_branch {
	__u64 hash;
	__u32 from, to; /* slots of stacks of one frame + 1 */
	__u64 count;
	__u64 mispredicted;
	__u64 untold; /* of which the hardware does not say whether they were predicted */
	__u64 cycles; /* since the branch before, of those that tell */
	__u64 timed;  /* how many told */
	__u64 pad;
};
_Static_assert(sizeof(struct prof_branch) == 64, "struct prof_branch is one cache line");

/*
 * Waits for a CPU, in log-linear buckets: four to each doubling. Bucket i of 0…3 is i ns; bucket
 * 4 * e + k - 4, k of 0…3, begins at (4 + k) << (e - 2) ns. The last one has no end.
 */
#define PROF_HIST_BUCKETS 156 /* up to 2^40 ns */
struct prof_hist {
	__u64 count[PROF_HIST_BUCKETS];
	__u64 sum_ns, max_ns;
	__u64 pad[2];
};
enum prof_hist_kind { PROF_HIST_WOKEN, PROF_HIST_PREEMPTED, PROF_NR_HISTS };
struct prof_hist_row {
	__u64 hash; /* 0 = free; rows of CPUs need no claim */
	__u32 pid, tid;
	char comm[PROF_COMM_LEN];
	__u64 pad[4];
	struct prof_hist hist[PROF_NR_HISTS];
};
_Static_assert(sizeof(struct prof_hist_row) == 2624,
	       "struct prof_hist_row is part of the contract");

/*
 * How long the waits of the count of that number were: bucket i begins at 2^(i + 9) ns, the first
 * one at 0; the last one has no end. A bucket that is full stays so.
 */
#define PROF_WAIT_BUCKETS      30
#define PROF_WAIT_BUCKET_SHIFT 10	  /* the first one ends at 2^10 ns */
#define PROF_WAIT_BUCKET_FULL  (1u << 31) /* so many are in it */
union prof_wait_hist {
	struct {
		__u32 count[PROF_WAIT_BUCKETS];
		__u64 max_ns;
	};
	__u32 cells[32]; /* verifier: a number of five bits is one of these */
};
_Static_assert(sizeof(union prof_wait_hist) == 128, "two cache lines");

/* A wait for a CPU that was longer than asked for, and which threads ran there meanwhile. */
#define PROF_OUTLIER_RAN 4
struct prof_ran {
	__u32 pid, tid;
	char comm[PROF_COMM_LEN];
	__u64 ns;
};
struct prof_outlier {
	__u64 seq; /* written last: number of the outlier + 1 */
	__u64 time_ns, wait_ns;
	__u32 pid, tid;
	char comm[PROF_COMM_LEN];
	__u32 cpu;
	__u32 kind; /* enum prof_hist_kind */
	__u64 pad;
	struct prof_ran ran[PROF_OUTLIER_RAN]; /* latest first; ns 0 = none */
};
_Static_assert(sizeof(struct prof_outlier) == 192, "struct prof_outlier is part of the contract");
#define PROF_OUTLIERS 4096 /* a ring: a power of two */

/*
 * Thread-name patterns as a bit-parallel automaton: bit i of a word is pattern position i
 * (src/collect/glob.c).
 */
struct prof_glob {
	__u64 step[256]; /* positions that byte c advances */
	__u64 start;	 /* positions live before the first byte */
	__u64 star;	 /* positions that any byte keeps alive and that may be skipped */
	__u64 accept;	 /* positions behind the last element */
};
_Static_assert(sizeof(struct prof_glob) == 2072, "struct prof_glob is part of the contract");

/*
 * A question to the kernel: what is at addr (0 ends the batch)? The answer is what "%pS" prints;
 * one that does not fit has no offset and counts as no name.
 */
struct prof_ksym {
	__u64 addr;
	char text[248];
};
_Static_assert(sizeof(struct prof_ksym) == 256, "struct prof_ksym is part of the contract");
#define PROF_KSYM_BATCH 64 /* questions at a time */

/* How user stacks are walked. */
enum prof_call_graph {
	CALL_GRAPH_AUTO = 0,  /* by unwind tables; by frame pointer where a file has none */
	CALL_GRAPH_FP = 1,    /* by frame pointers only */
	CALL_GRAPH_DWARF = 2, /* by unwind tables only */
};

/* What a row of histograms is about. */
enum prof_hist_by { PROF_HIST_BY_CPU, PROF_HIST_BY_PROCESS, PROF_HIST_BY_THREAD };

/* Frozen before load, so the verifier sees constants and drops what is off. */
struct prof_config {
	__u64 seed;	   /* of the content hashes, random: a program cannot aim at collisions */
	__u64 pc_mask;	   /* clears pointer authentication and tag bits of user addresses */
	__u32 own_pid;	   /* bpfprof, as the kernel's first PID namespace numbers it */
	__u32 max_depth;   /* user frames, <= PROF_MAX_FRAMES */
	__u32 stack_slots; /* powers of two; these three are of a generation */
	__u32 count_slots;
	__u32 frame_words;
	__u32 nr_cpus;	 /* rows of counters */
	__u8 filter_pid; /* these switch the filters on */
	__u8 filter_tid;
	__u8 filter_comm;
	__u8 filter_cgroup;
	__u8 keep_idle;
	__u8 no_kthreads; /* -u */
	__u8 no_uthreads; /* -k */
	__u8 no_kstacks;  /* -U */
	__u8 no_ustacks;  /* -K */
	__u8 no_children;
	__u8 call_graph;      /* enum prof_call_graph */
	__u8 per_thread;      /* counts of waits tell threads apart */
	__u8 stacks;	      /* waits have stacks */
	__u8 remember;	      /* and those are verified before they are walked again */
	__u8 audit;	      /* walked all the same, and compared */
	__u8 running;	      /* waits and running time: wall */
	__u32 deferred_slots; /* a power of two */
	__u32 hist_rows;      /* of prof_hist_row, a power of two; 0 = no histograms */
	__u8 hist_by;	      /* enum prof_hist_by */
	__u8 wakeups;	      /* wake-ups are followed by their tracepoint */
	__u8 hops;	      /* wakers of wakers, 0 = none */
	__u8 events;	      /* several: the cookie is what prof_count.wait says of each */
	__u32 state_mask;     /* --state, as kernel states; bit 31: those that could go on */
	__u32 walk_ns;	      /* a walk is worth that much time of a CPU, by default 1/walks */
	__u32 waker_slots;    /* a power of two */
	__u64 min_ns, max_ns; /* of a wait; max_ns 0 = no limit */
	__u64 outlier_ns;     /* 0 = none are kept */
	__u64 cgroup_id;      /* with filter_cgroup */
	__u64 slow_poll_ns;   /* only what passes within polls of that length; 0 = all does */
	__u64 long_wait_ns;   /* times of waits as long are kept, of others few (moments.bpf.h) */
	__u32 branch_slots;   /* a power of two; 0 = no branch records */
	__u8 nr_values;	      /* counters that are read with each sample */
	__u8 two_generations; /* nothing refers to a slot once its sample is recorded */
	__u8 faults;	      /* samples are page faults: prof_count.wait has the kind of memory */
	__u8 grows;	      /* of these, only those in memory that is no file's */
	__u32 shape_slots;    /* of bpf/memo.bpf.c, a power of two */
	__u32 lock_slots;     /* of struct prof_lock, the same; 0 = holders are not looked for */
	__u32 moment_slots;   /* of each CPU, a power of two; 0 = times are not kept */
	__u8 wait_hists;      /* how long waits were is kept with their counts */
	__u8 orc;	      /* the kernel's half of samples is walked by orc.bpf.c */
	__u16 skip_slots;     /* of bpf/skips.bpf.h, a power of two; 0 = no switch is left out */
};
_Static_assert(sizeof(struct prof_config) == 152, "struct prof_config is part of the contract");

/* Counters per CPU (bpf/pmu.bpf.h): as the kernel hands them out, struct bpf_perf_event_value. */
#define PMU_MAX_EVENTS 8
struct prof_event_count {
	__u64 value;
	__u64 enabled_ns; /* for how long it was asked to count */
	__u64 running_ns; /* and did: less where it takes turns with others */
};
_Static_assert(sizeof(struct prof_event_count) == 24, "the kernel fills in 24 bytes");

#endif
