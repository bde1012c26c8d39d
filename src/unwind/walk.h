/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A walk on the host: the kernel's step (bpf/step.bpf.h) over registers and a copy of the stack.
 * Finishes the walks that the kernel deferred, and is what the unwinder is tested by.
 */
#ifndef BPFPROF_UNWIND_WALK_H
#define BPFPROF_UNWIND_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/prof.h"
#include "bpf/table.h"

/* Code that runs on another stack than its caller (Go, C called from it) may do so this often. */
#define WALK_OTHER_STACKS 8

/* The innermost frame. */
struct walk_start {
	enum table_arch arch;
	uint64_t pc, sp, fp, lr;
	uint64_t called;  /* a call that had just returned to pc, 0 = none */
	uint64_t pc_mask; /* clears what is no part of an address */
	/* Where return probes make functions return to, 0 = nowhere; and where they would. */
	uint64_t trampoline;
	struct walk_return {
		uint64_t sp, pc; /* behind the return */
	} returns[PROF_DEFERRED_RETURNS];
	const uint64_t *regs; /* in the order of the kernel's struct pt_regs; NULL = not known */
	const uint8_t *stack; /* from sp up */
	size_t stack_bytes;
	struct {
		uint64_t at;
		const uint8_t *bytes;
		size_t sz;
	} others[WALK_OTHER_STACKS]; /* parts of other stacks */
	size_t nr_others;
	/* Eight bytes of code that the process generates; false: not known. NULL: none are. */
	bool (*code)(void *arg, uint64_t at, uint64_t *bytes);
};

/* What is known of an address. */
struct walk_rule {
	uint32_t rule;
	const struct table_exception *exception; /* of a rule that is one */
	bool anon;				 /* memory without a file */
};

/* Where rules come from. False: not known yet, so the walk cannot be made now. */
typedef bool (*walk_lookup)(void *arg, uint64_t pc, struct walk_rule *rule);

struct walk {
	uint64_t frames[PROF_MAX_FRAMES]; /* leaf first */
	bool exact[PROF_MAX_FRAMES];	  /* the next instruction, no return address */
	uint32_t nr;
	enum unwind_end end;
	uint32_t guessed; /* frames found by frame pointer for want of unwind data */
	uint64_t unread;  /* what the walk wanted to read, when it ended for that (END_READ) */
};

/* False when lookup said so. arg is for start->code, too. */
bool walk_run(struct walk *w, const struct walk_start *start, uint32_t max_depth,
	      enum prof_call_graph how, walk_lookup lookup, void *arg);

#endif
