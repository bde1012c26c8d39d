/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The contract about calls: of functions of programs and of the kernel, and of tracepoints. Where
 * our programs stand are points. Its cookie says which event of the profile a point belongs to, and
 * how its arguments are read: a USDT probe has them elsewhere in each place.
 */
#ifndef BPFPROF_BPF_CALLS_H
#define BPFPROF_BPF_CALLS_H

#include "prof.h"

#define CALL_MAX_ARGS		 4
#define CALL_MAX_STRINGS	 2  /* of these arguments */
#define CALL_STRING		 64 /* bytes with the 0 */
#define CALL_UNREADABLE		 "[not in memory]"
#define CALL_MAX_OPEN		 64 /* calls of a thread in each other: as the kernel */
#define CALL_MAX_EVENTS		 4096
#define CALL_MAX_ERROR		 4095 /* -errno */
#define CALL_COOKIE(event, args) ((event) | (__u64)(args) << 32)
#define CALL_EVENT(cookie)	 ((__u32)(cookie))
#define CALL_ARGS(cookie)	 ((__u32)((cookie) >> 32))

/* Where an argument is found. */
enum call_arg_kind {
	CALL_ARG_CONST,	   /* it is displacement */
	CALL_ARG_REGISTER, /* in a register */
	CALL_ARG_MEMORY,   /* at register + index << scale + displacement */
	CALL_ARG_FIELD,	   /* displacement bytes into the record of a tracepoint */
	CALL_ARG_TEXT,	   /* the same, a string that begins there */
	CALL_ARG_DYNAMIC,  /* a string; where in the record is in the lower half of that field */
	CALL_ARG_TASK,	   /* of Tokio, whose header is in a register: its id, 0 = not known */
	CALL_ARG_SPAWN,	   /* the same: the line and file where it was spawned, 0 = not known */
};
#define CALL_NO_REGISTER 0xffff
/*
 * Tokio 1.28 to 1.54, checked at each call: the vtable in the header of a task begins with the
 * function that is called. In call_arg, index is where the program counter is, and displacement how
 * far the probe is from the function's entry.
 */
#define TOKIO_VTABLE	 0x10 /* in the header */
#define TOKIO_ID	 0x48 /* in the vtable: where from the header on the id lies */
#define TOKIO_SPAWN	 0x50 /* the same of a struct tokio_location *, if it is behind the id */
#define TOKIO_MOST_BYTES 4096
struct tokio_location {
	__u64 file, len; /* without a 0 */
	__u32 line, column;
};

struct call_arg {
	__u8 kind;  /* enum call_arg_kind */
	__u8 bytes; /* 1, 2, 4 or 8 */
	__u8 is_signed;
	__u8 is_string;	  /* what is found is where a string begins */
	__u16 reg, index; /* bytes into struct pt_regs; CALL_NO_REGISTER */
	__u8 scale;	  /* a shift */
	__u8 is_error;	  /* what a system call returns: 0 unless it is an error */
	__u8 pad[6];
	__s64 displacement;
};
_Static_assert(sizeof(struct call_arg) == 24, "struct call_arg is part of the contract");

/* How arguments are read. */
struct call_args {
	__u8 nr_args;
	__u8 at_return;	   /* bit i: v[i] is read when the call returns, others when it begins */
	__u8 by_goroutine; /* Go: who calls is a goroutine, which no thread is bound to */
	__u8 pad[5];
	struct call_arg v[CALL_MAX_ARGS];
};
_Static_assert(sizeof(struct call_args) == 104, "struct call_args is part of the contract");

/* Values of arguments, interned like stacks: claimed by compare-and-swap of hash, 0 = free. */
struct call_values {
	__u64 hash;
	__u32 args;  /* how they were read: what they mean */
	__u32 ready; /* the rest is there */
	__s64 value[CALL_MAX_ARGS];
	char text[CALL_MAX_STRINGS][CALL_STRING];
	__u64 pad[2];
};
_Static_assert(sizeof(struct call_values) == 192, "whole cache lines");

/*
 * How long calls took: of an event, values and perhaps a process, on one CPU, in the buckets of
 * bpf/hist.h. Claimed by
 * compare-and-swap of hash.
 */
struct call_hist {
	__u64 hash;
	__u32 event;
	__u32 values; /* slot + 1, 0 = none were asked for */
	__u32 pid;    /* with by_process, else 0 */
	__u32 pad;
	char comm[PROF_COMM_LEN]; /* with by_process: of the thread that came first */
	__u64 pads[3];
	struct prof_hist hist;
};
_Static_assert(sizeof(struct call_hist) == 1344, "whole cache lines");

/* Frozen before load. */
struct call_config {
	__u64 min_ns;	   /* of calls that are timed */
	__u32 every;	   /* each so many-th call is recorded, 1 = all */
	__u32 value_slots; /* a power of two, 0 = no arguments */
	__u32 hist_rows;   /* a power of two, 0 = calls are not timed */
	__u32 syscalls;	   /* numbers of system calls that have an event; 0 = they have points */
	__u8 by_process;   /* so are histograms */
	__u8 goroutines;   /* some events are of Go */
	__u8 by_length;	   /* counts tell apart how long calls took: PROF_WAIT_OF_CALL */
	__u8 may_lack;	   /* a call whose values find no room is one without values */
	__u8 counts_only;  /* of calls, nothing but how many: no stacks, values, times */
	__u8 one_event;	   /* number 0 */
	__u8 pad[2];
};
_Static_assert(sizeof(struct call_config) == 32, "struct call_config is part of the contract");

#endif
