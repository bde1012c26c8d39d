/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The walk. Each frame's rule comes from the unwind tables, through a cache on this CPU; what the
 * tables know nothing of is left by frame pointer. (--call-graph fp: all of it, in a loop of its
 * own, fp.bpf.c.)
 *
 * The stack is copied in windows that never cross a page, and walked in the copy: one probe of 512
 * bytes costs hardly more than one of 16, and a word near the end of the stack cannot fail because
 * of the page behind it. The frame pointer is not read at every frame: the walk remembers where it
 * lies, until a rule needs it.
 *
 * Standard rules are all but a few, and the loop knows only these. All state is in the scratch
 * between calls, so that the verifier sees one chunk of frames, not the sum.
 */
#include "defer.bpf.h"
#include "fp.bpf.h"
#include "kernel.bpf.h"
#include "python.bpf.h"
#include "tables.bpf.h"
#include "unwind.bpf.h"

/* The seams of the step. */
struct step_env {
	struct scratch *s;
};

static __always_inline int step_read(struct step_env *env, __u64 at, __u64 *word)
{
	note_read(env->s, prof_cfg.remember, at);
	return bpf_probe_read_user(word, sizeof(*word), (void *)at);
}

static __always_inline int step_read_pair(struct step_env *env, __u64 at, __u64 words[2])
{
	note_read(env->s, prof_cfg.remember, at);
	note_read(env->s, prof_cfg.remember, at + 8);
	return bpf_probe_read_user(words, 2 * sizeof(*words), (void *)at);
}

static __always_inline int step_reg(struct step_env *env, const struct step *w, __u32 reg,
				    __u64 *value)
{
	struct scratch *s = env->s;

	if (prof_cfg.remember)
		s->nr_reads = READ_ELSEWHERE;
	if (w->signal_at)
		return step_read(env, w->signal_at + step_signal_reg(ARCH, reg) * 8, value);
	if (!s->has_regs &&
	    !kernel_entry_regs(bpf_get_current_task_btf(), (struct pt_regs *)s->regs))
		return -1;
	s->has_regs = 1;
	*value = s->regs[step_entry_reg(ARCH, reg)];
	return 0;
}

/* The frame that is left has the number scratch->special, from 1 on. */
static __always_inline __u64 step_called(struct step_env *env, const struct step *w)
{
	__u32 called = env->s->special - 2;
	__u64 frame = env->s->user.frames[called & (PROF_MAX_FRAMES - 1)];

	return frame & PROF_FRAME_EXACT ? frame & ~PROF_FRAME_EXACT : 0;
}

#define STEP_SLOW
#include "step.bpf.h"

/* Left by one call of a separately verified function; fewer where each is more to verify. */
#define CHUNK_FRAMES	 3u
#define CHUNK_OF_SAMPLES 8u

#define CHUNK_RETURNS 4 /* looked at by one call of such a function */

/* The parts of leaving a frame by an exception, verified one by one. */
__noinline int unwind_cfa(__u32 id)
{
	struct scratch *s = scratch_get(id);
	struct step_env env = { .s = s };

	return s ? step_exception_cfa(ARCH, &env, &s->at, &s->exception, &s->cfa)
		 : UNWIND_END_DEPTH;
}

__noinline int unwind_ra(__u32 id)
{
	struct scratch *s = scratch_get(id);
	struct step_env env = { .s = s };

	return s ? step_exception_ra(ARCH, &env, &s->at, &s->exception, s->cfa, &s->ra)
		 : UNWIND_END_DEPTH;
}

__noinline int unwind_fp(__u32 id)
{
	struct scratch *s = scratch_get(id);
	struct step_env env = { .s = s };

	return s ? step_exception_fp(ARCH, &env, &s->at, &s->exception, s->cfa) : UNWIND_END_DEPTH;
}

static __always_inline __u32 leave_by_exception(struct scratch *s, __u32 id, __u32 rule)
{
	__u32 end;

	if (tables_exception(id, s->at.pc - !s->at.inner, rule))
		return UNWIND_END_NO_TABLE;
	end = unwind_cfa(id);
	if (!end)
		end = unwind_ra(id);
	if (!end)
		end = unwind_fp(id);
	return end ? end : step_leave(&s->at, s->cfa, s->ra);
}

/*
 * Looks at some of the calls that return to the trampoline, from scratch->return_at on. Nonzero:
 * the search is over. Separately verified.
 */
__noinline int unwind_returns(__u32 id)
{
	struct scratch *s = scratch_get(id);
	struct return_instance *at;
	__u64 to;

	if (!s)
		return 1;
	at = (struct return_instance *)s->return_at;
	for (__u32 i = 0; i < CHUNK_RETURNS && at; i++) {
		if (BPF_CORE_READ(at, stack) == s->at.sp - RETURN_ADDRESS_BYTES) {
			to = BPF_CORE_READ(at, orig_ret_vaddr);
			if (to != s->at.pc) { /* else two probes stand there */
				s->at.pc = to;
				return 1;
			}
		}
		at = BPF_CORE_READ(at, next);
	}
	s->return_at = (__u64)at;
	return !at;
}

/*
 * A function on which a return probe stands returns to the kernel's trampoline, which is no caller:
 * the kernel knows where to. The frame is one of them. False: not this time. Separately verified.
 */
__noinline int unwind_trampoline(__u32 id)
{
	struct scratch *s = scratch_get(id);
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 trampoline;

	if (!s || s->at.inner)
		return 0;
	trampoline = s->at.pc;
	s->nr_reads = READ_ELSEWHERE;
	s->return_at = (__u64)BPF_CORE_READ(task, utask, return_instances);
	for (__u32 i = 0; i < KERNEL_RETURN_DEPTH / CHUNK_RETURNS; i++)
		if (unwind_returns(id))
			break;
	if (s->at.pc == trampoline)
		return 0;
	s->user.frames[(s->special - 1) & (PROF_MAX_FRAMES - 1)] = PROF_FRAME_NONE;
	return 1;
}

/* Looked up once in a walk: code that a program generates has many frames without a rule. */
static __always_inline bool is_at_trampoline(struct scratch *s)
{
	if (!s->knows_trampoline) {
		s->knows_trampoline = 1;
		s->trampoline = kernel_trampoline(bpf_get_current_task_btf());
	}
	return s->trampoline && s->at.pc == s->trampoline;
}

/* Separately verified: rare. */
__noinline int unwind_epilogue(__u32 id)
{
	struct scratch *s = scratch_get(id);
	struct step_env env = { .s = s };
	__u64 code;

	if (!s || ARCH != TABLE_X86 || s->at.inner ||
	    bpf_probe_read_user(&code, sizeof(code), (void *)s->at.pc))
		return UNWIND_END_NO_CFI;
	return step_by_epilogue(ARCH, &env, &s->at, code);
}

/*
 * Generated code. CPython keeps anything in the frame pointer; elsewhere the bytes of the code are
 * not looked at while frame records lead on.
 */
static __always_inline __u32 leave_generated(struct scratch *s, __u32 id, __u32 rule)
{
	struct step_env env = { .s = s };
	__u32 end;

	if (s->python) {
		end = unwind_epilogue(id);
		if (end != UNWIND_END_NO_CFI)
			return end;
	}
	end = step_by_fp(ARCH, &env, &s->at, 1, rule);
	return end == UNWIND_END_NO_CFI && !s->python ? (__u32)unwind_epilogue(id) : end;
}

static __always_inline __u32 leave_by_special(struct scratch *s, __u32 id, __u32 rule)
{
	__u32 code = step_special(ARCH, rule);
	struct step_env env = { .s = s };

	if (code == RULE_STOP)
		return UNWIND_END_CFI_ROOT;
	if (is_at_trampoline(s) && unwind_trampoline(id))
		return UNWIND_END_NONE;
	if (code == RULE_NO_TABLE || (code == RULE_NO_CODE && !s->final)) {
		s->deferred = 1;
		return UNWIND_END_NO_TABLE;
	}
	if (code == RULE_NO_CODE)
		return UNWIND_END_NO_CODE;
	if (code == RULE_REFUSED)
		return UNWIND_END_NO_TABLE;
	if (code == RULE_SIGNAL)
		return step_signal(ARCH, &env, &s->at);
	if (ARCH == TABLE_X86 && (code == RULE_GO_SAVED || code == RULE_GO_SAVED_SP))
		return prof_cfg.remember ? UNWIND_END_CFI_ROOT : unwind_goroutine(id, rule);
	if (ARCH == TABLE_ARM64 && code == RULE_GO_CALLS_C)
		return step_go_calls_c(&env, &s->at);
	if (code == RULE_PLT10 || code == RULE_PLT11)
		return step_plt(&env, &s->at, code == RULE_PLT11 ? 11 : 10);
	if (code != RULE_OTHER_STACK && prof_cfg.call_graph == CALL_GRAPH_DWARF)
		return UNWIND_END_NO_CFI;
	if (code == RULE_ANON)
		return leave_generated(s, id, rule);
	return step_by_fp(ARCH, &env, &s->at, 0, rule);
}

/*
 * A frame that has no standard rule. Returns why the walk ends, or NONE. Separately verified: few
 * frames come here.
 */
__noinline int unwind_special(__u32 id, __u32 rule)
{
	struct scratch *s = scratch_get(id);
	__u32 end;

	if (!s)
		return UNWIND_END_DEPTH;
	note_fp(s, prof_cfg.remember);
	s->lr_used |= s->at.inner;
	if (step_is_exception(ARCH, rule))
		end = leave_by_exception(s, id, rule);
	else
		end = leave_by_special(s, id, rule);
	s->at.pc &= prof_cfg.pc_mask;
	return end;
}

/* One word of the stack, by way of the window. */
static __always_inline bool read_stack(struct scratch *s, bool remember, __u64 at, __u64 *word)
{
	__u64 off = at - s->window_start;

	note_read(s, remember, at);
	if (off >= WINDOW_BYTES || off + 8 > s->window_bytes) {
		if (unwind_window(s, at))
			return false;
		off = 0;
	}
	*word = window_word(s, off);
	return true;
}

/* Of scratch->at, what the loop keeps in registers. */
struct frame {
	__u64 pc, sp, inner;
};

/* Return addresses may be signed, but not on x86-64: nobody loads the mask there. */
static __always_inline __u64 plain_pc(__u64 pc)
{
	return ARCH == TABLE_X86 ? pc : pc & prof_cfg.pc_mask;
}

/* Where a caller is that no memory tells: in the link register, if this is the innermost frame. */
static __always_inline bool read_lr(struct scratch *s, bool remember, const struct frame *f,
				    __u64 *pc)
{
	*pc = s->at.lr;
	if (remember)
		s->lr_used = 1;
	return f->inner;
}

/* Leaves a frame by its standard rule: what nearly all frames have. */
static __always_inline __u32 leave_by_standard(struct scratch *s, bool remember, __u32 rule,
					       struct frame *f)
{
	__u64 base = f->sp, pc;
	struct step_saved saved;

	if (step_needs_fp(ARCH, rule)) {
		note_fp(s, remember);
		if (s->at.fp_at && !read_stack(s, remember, s->at.fp_at, &s->at.fp))
			return UNWIND_END_READ;
		s->at.fp_at = 0;
		base = s->at.fp;
	}
	step_standard(ARCH, rule, base, &saved);
	if (!step_goes_up(f->sp, saved.cfa, f->inner))
		return UNWIND_END_BAD_CFA;
	if (ARCH != TABLE_X86 && !saved.ra_at) {
		if (!read_lr(s, remember, f, &pc))
			return UNWIND_END_LOST_REG;
	} else if (!read_stack(s, remember, saved.ra_at, &pc)) {
		return UNWIND_END_READ;
	}
	if (saved.fp_at)
		s->at.fp_at = saved.fp_at;
	f->pc = plain_pc(pc);
	f->sp = saved.cfa;
	f->inner = 0;
	return f->pc ? UNWIND_END_NONE : UNWIND_END_NO_CODE;
}

/* Leaves frame number nr, from 1 on, which has none. */
static __always_inline __u32 leave_otherwise(struct scratch *s, __u32 id, __u32 rule, __u32 nr,
					     struct frame *f)
{
	__u32 end;

	if (s->special + 1 != nr)
		s->at.by_fp = 0; /* as standard rules leave it to us to say */
	s->special = nr;
	s->at.pc = f->pc;
	s->at.sp = f->sp;
	s->at.inner = f->inner;
	end = unwind_special(id, rule);
	*f = (struct frame){ s->at.pc, s->at.sp, s->at.inner };
	return end;
}

/* The rule for an address, out of the cache if it is there. slot: where that may be. */
static __always_inline __u32 rule_at(struct scratch *s, struct rule_cache *cache, __u32 id,
				     __u64 pc, __u32 *slot)
{
	__u64 rule = rule_find(cache->slots, cache->homes, RULE_SLOT_BITS, rule_hash(s, pc), slot);

	if (rule > ROW_RULE_MASK) {
		*slot = tables_rule(id, pc);
		rule = s->rule;
	}
	*slot += 1;
	return rule;
}

/* A loop for each of two cases, since samples want it short: remember is a constant. */
static __always_inline __u32 walk_chunk(struct scratch *s, struct rule_cache *cache, __u32 id,
					bool remember)
{
	const __u32 frames = remember ? CHUNK_FRAMES : CHUNK_OF_SAMPLES;
	struct frame f = { s->at.pc, s->at.sp, s->at.inner };
	__u32 nr = s->user.nr, slot = s->rule_slot, rule, end = UNWIND_END_NONE;
	__u32 most = prof_cfg.max_depth;
	__u64 hash = s->user.hash;

	for (__u32 i = 0; i < frames; i++) {
		if (nr >= most) {
			end = UNWIND_END_DEPTH;
			break;
		}
		s->user.frames[nr++ & (PROF_MAX_FRAMES - 1)] =
			f.pc | f.inner << PROF_FRAME_EXACT_BIT;
		hash = hash_mix(hash, f.pc);
		rule = rule_at(s, cache, id, f.pc - 1 + f.inner, &slot);
		end = step_is_standard(ARCH, rule) ? leave_by_standard(s, remember, rule, &f)
						   : leave_otherwise(s, id, rule, nr, &f);
		if (end)
			break;
	}
	s->at.pc = f.pc;
	s->at.sp = f.sp;
	s->at.inner = f.inner;
	s->user.hash = hash;
	s->user.nr = nr;
	s->rule_slot = slot;
	return end;
}

/*
 * Goes on with the walk for some frames. Returns why it ended, or NONE when there may be more.
 */
__noinline int unwind_chunk(__u32 id)
{
	struct scratch *s = scratch_get(id);
	struct rule_cache *cache = tables_cache();

	if (!s || !cache)
		return UNWIND_END_DEPTH;
	return prof_cfg.remember ? walk_chunk(s, cache, id, true) : walk_chunk(s, cache, id, false);
}

/* The frame that the walk begins with is not there any more. */
static __always_inline void begin_above(struct scratch *s)
{
	s->user.frames[0] = s->called | PROF_FRAME_EXACT;
	s->user.hash = hash_mix(s->user.hash, s->called);
	s->user.nr = 1;
	s->at.inner = 0;
}

static __always_inline void begin(struct scratch *s)
{
	s->user.hash = prof_cfg.seed;
	s->user.nr = 0;
	s->user.kind = PROF_STACK_USER;
	s->window_bytes = 0;
	s->has_regs = 0;
	s->special = 0;
	s->knows_trampoline = 0;
	s->python = 0;
	unwind_fresh(s);
	s->at = (struct step){ .pc = s->pc, .sp = s->sp, .fp = s->fp, .lr = s->lr, .inner = 1 };
	if (s->called)
		begin_above(s);
}

__noinline int unwind_user(__u32 id)
{
	struct scratch *s = scratch_get(id);
	__u32 end = UNWIND_END_NONE;

	if (!s)
		return 0;
	begin(s);
	if (prof_cfg.call_graph == CALL_GRAPH_FP) {
		s->user.end = fp_walk(s, id);
		s->user.guessed = 0;
		return 0;
	}
	if (!tables_begin(s, bpf_get_current_task_btf())) {
		s->deferred = 1;
		end = UNWIND_END_NO_TABLE;
	}
	for (__u32 i = 0; i <= PROF_MAX_FRAMES / CHUNK_FRAMES && !end; i++)
		end = unwind_chunk(id);
	s->user.end = end ? end : UNWIND_END_DEPTH;
	s->user.guessed = s->at.guessed < 255 ? s->at.guessed : 255;
	if (s->deferred)
		defer_walk(id);
	python_note(s);
	s->python_end = PROF_MAX_FRAMES - 1;
	if (s->python)
		python_walk(id);
	return 0;
}

__hidden bool unwind_regs_saved(struct scratch *s, struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)s->regs;

	if (!kernel_entry_regs(task, regs))
		return false;
	UNWIND_FROM(s, regs);
	return s->pc && STATUS_IS_USER(REGS_STATUS(regs)) && !STATUS_IS_COMPAT(REGS_STATUS(regs));
}
