/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The walk along frame pointers. On both architectures a frame record is two words, the caller's
 * frame pointer and the return address, and the frame pointer points to it:
 *
 *	higher   | return address   |
 *	fp ────► | caller's fp      | ──► the next record, always higher
 *	         | locals …         |
 *	sp ────► |                  |
 */
#include "fp.bpf.h"

#define WORD_BYTES   8u
#define RECORD_BYTES 16u
#define CHUNK_FRAMES 16u
/*
 * From main's frame record up to where the kernel put argc: what libc's start code keeps there (272
 * on x86-64 glibc).
 */
#define ENTRY_BYTES 512u

__hidden int unwind_window(struct scratch *s, __u64 at)
{
	__u32 bytes = PAGE_BYTES - (at & (PAGE_BYTES - 1));

	if (bytes > WINDOW_BYTES)
		bytes = WINDOW_BYTES;
	if (bytes < WORD_BYTES) /* the word lies across two pages */
		bytes = WORD_BYTES;
	s->window_start = at;
	s->window_bytes = bytes;
	if (!bpf_probe_read_user(s->window, bytes, (void *)at))
		return 0;
	s->window_bytes = 0;
	return -1;
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

/* A record in the window, which is moved when need be; one across two pages is read by itself. */
static __always_inline bool read_record(struct scratch *s, bool remember, __u64 fp, __u64 record[2])
{
	__u64 at = fp - s->window_start;

	note_read(s, remember, fp);
	note_read(s, remember, fp + 8);
	if (at >= WINDOW_BYTES || at + RECORD_BYTES > s->window_bytes) {
		if (unwind_window(s, fp))
			return false;
		if (s->window_bytes < RECORD_BYTES)
			return !bpf_probe_read_user(record, RECORD_BYTES, (void *)fp);
		at = 0;
	}
	record[0] = window_word(s, at);
	record[1] = window_word(s, at + 8);
	return true;
}

/* A loop for each of two cases, since samples want it short: remember is a constant. */
static __always_inline __u32 walk_chunk(struct scratch *s, bool remember)
{
	__u32 nr, end = UNWIND_END_NONE, most = prof_cfg.max_depth;
	__u64 pc, fp, last, hash, record[2], pc_mask = prof_cfg.pc_mask;

	pc = s->at.pc;
	fp = s->at.fp;
	last = s->at.sp;
	hash = s->user.hash;
	nr = s->user.nr;
	for (__u32 i = 0; i < CHUNK_FRAMES; i++) {
		if (nr >= most) {
			end = UNWIND_END_DEPTH;
			break;
		}
		s->user.frames[nr++ & (PROF_MAX_FRAMES - 1)] = pc;
		hash = hash_mix(hash, pc);
		end = fp_fault(fp, last);
		if (end)
			break;
		if (!read_record(s, remember, fp, record)) {
			end = UNWIND_END_READ;
			break;
		}
		last = fp + RECORD_BYTES;
		fp = record[0];
		pc = record[1] & pc_mask;
		if (!pc) {
			end = UNWIND_END_ROOT;
			break;
		}
	}
	s->at.pc = pc;
	s->at.fp = fp;
	s->at.sp = last;
	s->user.hash = hash;
	s->user.nr = nr;
	return end;
}

/*
 * Goes on with the walk for up to CHUNK_FRAMES frames. Returns why it ended, or NONE when there may
 * be more. All state is in the scratch between calls, so the verifier sees one chunk, not the sum.
 */
__noinline int fp_chunk(__u32 id)
{
	struct scratch *s = scratch_get(id);

	/* kernel < 6.8: functions of their own are verified even if nothing calls them. */
	if (!s || prof_cfg.call_graph != CALL_GRAPH_FP)
		return UNWIND_END_DEPTH;
	return prof_cfg.remember ? walk_chunk(s, true) : walk_chunk(s, false);
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

__hidden __u32 fp_walk(struct scratch *s, __u32 id)
{
	__u32 end = UNWIND_END_NONE;

	note_fp(s, prof_cfg.remember);
	for (__u32 i = 0; i < PROF_MAX_FRAMES / CHUNK_FRAMES && !end; i++)
		end = fp_chunk(id);
	if (end == UNWIND_END_NONE)
		end = UNWIND_END_DEPTH;
	if (end == UNWIND_END_BAD_FP && is_entry(s->at.sp - RECORD_BYTES))
		end = UNWIND_END_ENTRY;
	return end;
}
