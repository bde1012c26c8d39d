/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the parts of a capture share: capture.c takes what the kernel wrote and walks what it left,
 * capture_frames.c turns addresses into frames, capture_finish.c counts into samples. Only they
 * include it.
 */
#ifndef BPFPROF_COLLECT_CAPTURE_PARTS_H
#define BPFPROF_COLLECT_CAPTURE_PARTS_H

#include "collect/capture.h"

/*
 * What we call a stack: its id in the profile or, with this bit, a number in late[]. One whose
 * frames did not fit the log, and one that turns out to be none.
 */
#define REF_LATE (1u << 31)
#define REF_LOST UINT32_MAX
#define REF_NONE (UINT32_MAX - 1)

/* capture_frames.c, capture_jit.c */

/* Where the symbols of a module are. */
void capture_put_source(struct capture *c, uint32_t module, struct symbol_file source);
/* The process of a stack, read from /proc if it is new; NULL when nobody knows it. */
struct process *capture_find_process(struct capture *c, const struct arena_stack *s);
/* What was mapped there then; /proc is asked again when nothing explains the address. */
const struct proc_mapping *capture_find_mapping(struct capture *c, struct process *p, uint64_t addr,
						uint64_t time_ns);
/* The frames of Python of a thread that was asleep at the start, whose native ones s has. */
void capture_read_python(struct capture *c, struct process *p, struct defer_item *item,
			 const struct arena_stack *s);
/* Eight bytes of code that a process generates. False: they cannot be read. */
bool capture_code(struct capture *c, uint32_t pid, uint64_t at, uint64_t *bytes);
/* Ids of stacks of the profile. */
uint32_t capture_user_stack(struct capture *c, const struct arena_stack *s);
uint32_t capture_kernel_stack(struct capture *c, const struct arena_stack *s);

/* capture.c */

/* Everything of a generation but what late stacks are. */
void capture_take_counts(struct capture *c, uint32_t generation);
/* There is no more time for walks that are left. */
void capture_give_up(struct capture *c);

#endif
