/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The walk along frame pointers. On both architectures a frame record is two words, the caller's
 * frame pointer and the return address, and the frame pointer points to it:
 *
 *	higher   | return address   |
 *	fp ────► | caller's fp      | ──► the next record, always higher
 *	         | locals …         |
 *	sp ────► |                  |
 *
 * The stack is copied in windows that never cross a page, and walked in the copy: one probe of 512
 * bytes costs hardly more than one of 16, and a record near the end of the stack cannot fail
 * because of the page behind it.
 */
#include "unwind.bpf.h"
#include "kernel.bpf.h"

#define WINDOW_BYTES 512u
#define PAGE_BYTES   4096u /* the smallest page of any kernel we run on */
#define RECORD_BYTES 16u
#define CHUNK_FRAMES 32u
/*
 * From main's frame record up to where the kernel put argc: what libc's start code keeps there (272
 * on x86-64 glibc).
 */
#define ENTRY_BYTES 512u

/*
 * Makes [at, at + 16) readable in the window. Separately verified: the walk below has one path less
 * per frame.
 */
__noinline int unwind_window(__u32 id, __u64 at)
{
	struct scratch *s = scratch_get(id);
	__u32 bytes = PAGE_BYTES - (at & (PAGE_BYTES - 1));

	if (!s)
		return -1;
	if (bytes > WINDOW_BYTES)
		bytes = WINDOW_BYTES;
	if (bytes < RECORD_BYTES) /* the record lies across two pages */
		bytes = RECORD_BYTES;
	s->window_start = at;
	s->window_bytes = bytes;
	return bpf_probe_read_user(s->window, bytes, (void *)at);
}

/*
 * Why the walk cannot go on from a record at fp, or NONE. last is the lowest address the record may
 * have: the stack pointer, then the end of the record before, since records only ever lie higher.
 */
static __always_inline __u32 fp_fault(__u64 fp, __u64 last)
{
	if (!fp)
		return UNWIND_END_ROOT;
	return fp < last || (fp & 7) ? UNWIND_END_BAD_FP : UNWIND_END_NONE;
}

/*
 * Goes on with the walk for up to CHUNK_FRAMES frames. Returns why it ended, or NONE when there may
 * be more. All state is in the scratch between calls, so the verifier sees one chunk, not the sum.
 */
__noinline int unwind_chunk(__u32 id)
{
	struct scratch *s = scratch_get(id);
	__u64 pc, fp, last, at, hash;
	__u32 nr, end = UNWIND_END_NONE;

	if (!s)
		return UNWIND_END_DEPTH;
	pc = s->pc;
	fp = s->fp;
	last = s->sp;
	hash = s->user.hash;
	nr = s->user.nr;
	for (__u32 i = 0; i < CHUNK_FRAMES; i++) {
		if (nr >= prof_cfg.max_depth) {
			end = UNWIND_END_DEPTH;
			break;
		}
		s->user.frames[nr++ & (PROF_MAX_FRAMES - 1)] = pc;
		hash = hash_mix(hash, pc);
		end = fp_fault(fp, last);
		if (end)
			break;
		at = fp - s->window_start;
		if (at > WINDOW_BYTES || at + RECORD_BYTES > s->window_bytes) {
			if (unwind_window(id, fp)) {
				end = UNWIND_END_READ;
				break;
			}
			at = 0;
		}
		last = fp + RECORD_BYTES;
		fp = s->window[(at / 8) & 63];
		pc = s->window[(at / 8 + 1) & 63] & prof_cfg.pc_mask;
		if (!pc) {
			end = UNWIND_END_ROOT;
			break;
		}
	}
	s->pc = pc;
	s->fp = fp;
	s->sp = last;
	s->user.hash = hash;
	s->user.nr = nr;
	return end;
}

/*
 * The C library's own start code has no frame pointers, so main's record holds whatever stood in
 * the register. A record that lies right below the process's initial stack pointer has nothing but
 * that start code above it.
 */
static __always_inline bool is_entry(__u64 record)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 top = task->mm->start_stack;

	return record < top && top - record <= ENTRY_BYTES;
}

__noinline int unwind_user(__u32 id)
{
	struct scratch *s = scratch_get(id);
	__u32 end = UNWIND_END_NONE;

	if (!s)
		return 0;
	s->user.hash = prof_cfg.seed;
	s->user.nr = 0;
	s->window_bytes = 0;
	for (__u32 i = 0; i < PROF_MAX_FRAMES / CHUNK_FRAMES && !end; i++)
		end = unwind_chunk(id);
	if (end == UNWIND_END_NONE)
		end = UNWIND_END_DEPTH;
	if (end == UNWIND_END_BAD_FP && is_entry(s->sp - RECORD_BYTES))
		end = UNWIND_END_ENTRY;
	s->user.end = end;
	return s->user.nr;
}

__hidden bool unwind_regs_saved(struct scratch *s, struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)s->regs;

	if (!kernel_entry_regs(task, regs))
		return false;
	s->pc = REGS_PC(regs);
	s->sp = REGS_SP(regs);
	s->fp = REGS_FP(regs);
	return s->pc && STATUS_IS_USER(REGS_STATUS(regs)) && !STATUS_IS_COMPAT(REGS_STATUS(regs));
}
