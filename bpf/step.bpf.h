/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One step of a walk: from the registers of a frame to those of its caller, by a rule of table.h.
 * Nothing here belongs to BPF: the host compiles the same code to finish walks that the kernel
 * could not (src/unwind/walk.c), and to be tested against other unwinders. Whoever includes this
 * defines the seams first:
 *
 *	struct step_env;			what the seams need
 *	int step_read(env, at, &word)		8 bytes of the stack; nonzero: not readable
 *	int step_read_pair(env, at, words)	16 bytes
 *	int step_reg(env, w, reg, &value)	a register of the innermost frame, as DWARF counts
 *	__u64 step_called(env, w)		where the frame stands that this one has called, if
 *						step_reg() knows its registers; else 0
 *
 *	higher   |  …               |
 *	cfa ───► |  the caller's    |   what sp is in the caller
 *	         |  return address  |   x86-64: always here; aarch64: the rule says where, or in lr
 *	         |  …               |
 *	         |  caller's fp     | ◄── fp_at, read only when a rule needs it
 *	         |  locals          |
 *	sp ────► |                  |
 */
#ifndef BPFPROF_BPF_STEP_BPF_H
#define BPFPROF_BPF_STEP_BPF_H

#include "prof.h"
#include "table.h"

#define STEP_FP_REACH (1u << 20) /* a frame pointer this far above the stack pointer is none */

/* The frame that a walk has come to. */
struct step {
	__u64 pc, sp, fp;
	__u64 fp_at;	 /* the frame pointer lies there; 0: fp is it */
	__u64 lr;	 /* aarch64, while inner */
	__u64 signal_at; /* 0: step_reg asks for the registers of the event; else they lie here */
	/*
	 * All registers are known: the innermost frame, or one that a signal interrupted. There pc
	 * is the next instruction, in all other frames it is a return address.
	 */
	__u32 inner;
	__u32 guessed;	/* frames found by frame pointer for want of unwind data */
	__u16 by_fp;	/* this one was */
	__u8 switched;	/* the walk has gone over to another stack */
	__u8 no_record; /* it has ended, and no other value so far away would have led on */
};

/* Where a frame keeps what its caller had. */
struct step_saved {
	__u64 cfa;
	__u64 ra_at; /* 0: in the link register */
	__u64 fp_at; /* 0: nowhere, the register still holds it */
};

static inline __attribute__((always_inline)) int step_is_standard(int arch, __u32 rule)
{
	return arch == TABLE_X86 ? rule < RULE_X86_EXCEPTION : RULE_ARM64_MODE(rule) < MODE_SPECIAL;
}

static inline __attribute__((always_inline)) int step_is_exception(int arch, __u32 rule)
{
	return arch == TABLE_X86 ? RULE_X86_KIND(rule) == 1
				 : RULE_ARM64_MODE(rule) == MODE_EXCEPTION;
}

static inline __attribute__((always_inline)) __u32 step_exception_index(int arch, __u32 rule)
{
	return arch == TABLE_X86 ? rule & RULE_X86_MAX_INDEX : RULE_ARM64_INDEX(rule);
}

/* enum rule_special of a rule that is neither standard nor an exception. */
static inline __attribute__((always_inline)) __u32 step_special(int arch, __u32 rule)
{
	return arch == TABLE_X86 ? rule & 0xff : rule & 0x3f;
}

static inline __attribute__((always_inline)) __u32 step_make_special(int arch, __u32 code)
{
	return (arch == TABLE_X86 ? RULE_X86_SPECIAL : RULE_ARM64_SPECIAL) | code;
}

static inline __attribute__((always_inline)) int step_needs_fp(int arch, __u32 rule)
{
	return (rule & (arch == TABLE_X86 ? RULE_X86_BASE_FP : RULE_ARM64_BASE_FP)) != 0;
}

/* What the places of enum rule_mode are, four bits for each: so no walk has to ask six times. */
enum { PLACE_FROM_CFA = 1, PLACE_RA = 2, PLACE_FP = 4, PLACE_PAIR = 8 };
#define PLACES_OF(mode, bits) ((bits) << 4 * (mode))
#define RULE_ARM64_PLACES                                                                          \
	(PLACES_OF(MODE_PAIR_CFA, PLACE_FROM_CFA | PLACE_RA | PLACE_FP | PLACE_PAIR) |             \
	 PLACES_OF(MODE_PAIR_SP, PLACE_RA | PLACE_FP | PLACE_PAIR) |                               \
	 PLACES_OF(MODE_RA_CFA, PLACE_FROM_CFA | PLACE_RA) | PLACES_OF(MODE_RA_SP, PLACE_RA) |     \
	 PLACES_OF(MODE_FP_SP, PLACE_FP))

/* A standard rule. base is the frame pointer if step_needs_fp(), else the stack pointer. */
static inline __attribute__((always_inline)) void step_standard(int arch, __u32 rule, __u64 base,
								struct step_saved *s)
{
	__u32 places = RULE_ARM64_PLACES >> 4 * RULE_ARM64_MODE(rule);
	__u64 slot;

	if (arch == TABLE_X86) {
		s->cfa = base + RULE_X86_CFA(rule);
		s->ra_at = s->cfa - 8;
		s->fp_at = RULE_X86_SLOT(rule) != 0 ? s->cfa - RULE_X86_SLOT(rule) : 0;
		return;
	}
	s->cfa = base + RULE_ARM64_CFA(rule);
	slot = places & PLACE_FROM_CFA ? s->cfa - RULE_ARM64_SLOT(rule)
				       : base + RULE_ARM64_SLOT(rule);
	s->ra_at = places & PLACE_RA ? slot + (places & PLACE_PAIR) : 0;
	s->fp_at = places & PLACE_FP ? slot : 0;
}

/*
 * A frame is left upwards, or it is no frame. Only code that has not yet made one may leave the
 * stack pointer where it is, and only the innermost, where the caller is in the link register.
 * inner: 0 or 1.
 */
static inline __attribute__((always_inline)) int step_goes_up(__u64 sp, __u64 cfa, __u64 inner)
{
	return !(cfa & 7) && cfa + inner > sp;
}

/* The caller becomes the frame that the walk has come to. */
static inline __attribute__((always_inline)) __u32 step_leave(struct step *w, __u64 cfa, __u64 ra)
{
	w->sp = cfa;
	w->pc = ra;
	w->by_fp = 0;
	w->inner = 0;
	return ra ? UNWIND_END_NONE : UNWIND_END_NO_CODE;
}

/*
 * Registers, by DWARF's number, as indices of 8-byte words: in struct pt_regs, and in what a signal
 * frame keeps. x86-64 (ax dx cx bx si di bp sp r8…r15) has neither in order: four bits each.
 */
#define X86_DWARF_FP   6
#define X86_DWARF_SP   7
#define ARM64_DWARF_FP 29
#define ARM64_DWARF_LR 30
#define ARM64_DWARF_SP 31

static inline __attribute__((always_inline)) __u32 step_entry_reg(int arch, __u32 reg)
{
	return arch == TABLE_X86 ? 0x0123678904ed5bcaull >> (reg & 15) * 4 & 15 : reg & 31;
}

static inline __attribute__((always_inline)) __u32 step_signal_reg(int arch, __u32 reg)
{
	return arch == TABLE_X86 ? 0x76543210fa89becdull >> (reg & 15) * 4 & 15 : reg & 31;
}

/* No record of a caller lies there. */
static inline __attribute__((always_inline)) int step_is_far(__u64 fp, __u64 sp)
{
	return fp < sp || fp - sp > STEP_FP_REACH;
}

#endif /* BPFPROF_BPF_STEP_BPF_H */

#if defined(STEP_SLOW) && !defined(BPFPROF_BPF_STEP_SLOW)
#define BPFPROF_BPF_STEP_SLOW
/* All that is not a standard rule; rare. */

#define X86_SIGNAL_REGS	  40  /* from sp: past uc_flags, uc_link and uc_stack of the ucontext */
#define ARM64_SIGNAL_REGS 312 /* past siginfo, ucontext up to uc_mcontext.regs */

static inline __attribute__((always_inline)) int step_resolve_fp(struct step_env *env,
								 struct step *w)
{
	int err = w->fp_at ? step_read(env, w->fp_at, &w->fp) : 0;

	w->fp_at = 0;
	return err;
}

/* The value of a register that a rule names: UNWIND_END_NONE, or why it is not known. */
static inline __attribute__((always_inline)) __u32
step_value(int arch, struct step_env *env, struct step *w, __u32 reg, __u64 *value)
{
	if (reg == (arch == TABLE_X86 ? X86_DWARF_SP : ARM64_DWARF_SP)) {
		*value = w->sp;
		return UNWIND_END_NONE;
	}
	if (reg == (arch == TABLE_X86 ? X86_DWARF_FP : ARM64_DWARF_FP)) {
		*value = w->fp; /* resolved before */
		return UNWIND_END_NONE;
	}
	if (!w->inner || step_reg(env, w, reg, value))
		return UNWIND_END_LOST_REG;
	return UNWIND_END_NONE;
}

/* How large a frame may be that is told by a register which the called function keeps. */
#define STEP_KEPT_REACH (64u << 10)

/* Such a register: it points into the frame. */
static inline __attribute__((always_inline)) __u32 step_kept(int arch, struct step_env *env,
							     struct step *w,
							     const struct table_exception *e,
							     __u64 *value)
{
	__u64 called = step_called(env, w), function = w->pc + (__s64)e->called;

	if (w->inner)
		return step_value(arch, env, w, e->cfa_reg, value);
	if (called && called - function <= e->push) {
		if (step_reg(env, w, e->cfa_reg, value))
			return UNWIND_END_LOST_REG;
	} else if (step_read(env, w->sp + (__s64)e->cfa_off2, value)) {
		return UNWIND_END_READ;
	}
	return *value - w->sp <= STEP_KEPT_REACH ? UNWIND_END_NONE : UNWIND_END_LOST_REG;
}

/*
 * Leaving a frame by a record of its own, in three parts, in this order: where the CFA is, what the
 * return address is, where the frame pointer is. Then step_leave().
 */
static inline __attribute__((always_inline)) __u32
step_exception_cfa(int arch, struct step_env *env, struct step *w, const struct table_exception *e,
		   __u64 *cfa)
{
	__u32 end;

	if (step_resolve_fp(env, w))
		return UNWIND_END_READ;
	end = e->cfa_kind == CFA_KEPT ? step_kept(arch, env, w, e, cfa)
				      : step_value(arch, env, w, e->cfa_reg, cfa);
	if (end)
		return end;
	*cfa += (__s64)e->cfa_off;
	if (e->cfa_kind == CFA_DEREF) {
		if (step_read(env, *cfa, cfa))
			return UNWIND_END_READ;
		*cfa += (__s64)e->cfa_off2;
	}
	return step_goes_up(w->sp, *cfa, w->inner) ? UNWIND_END_NONE : UNWIND_END_BAD_CFA;
}

static inline __attribute__((always_inline)) __u32
step_exception_ra(int arch, struct step_env *env, struct step *w, const struct table_exception *e,
		  __u64 cfa, __u64 *ra)
{
	__u32 kind = e->ra_kind, end;
	__u64 at = cfa;

	if (kind == AT_LOST || kind == AT_DEREF || kind == IS_CFA)
		return UNWIND_END_BAD_CFA;
	if (kind != AT_CFA) {
		end = step_value(arch, env, w, kind == AT_SAME ? ARM64_DWARF_LR : e->ra_reg, &at);
		if (end)
			return end;
	}
	if (kind != AT_CFA && kind != AT_REG) {
		*ra = at;
		return UNWIND_END_NONE;
	}
	return step_read(env, at + (__s64)e->ra_off, ra) ? UNWIND_END_READ : UNWIND_END_NONE;
}

static inline __attribute__((always_inline)) __u32
step_exception_fp(int arch, struct step_env *env, struct step *w, const struct table_exception *e,
		  __u64 cfa)
{
	__u32 kind = e->fp_kind, end;
	__u64 v = cfa;

	if (kind == AT_SAME || kind == AT_LOST)
		return UNWIND_END_NONE;
	if (kind == AT_REG || kind == AT_DEREF || kind == IN_REG) {
		end = step_value(arch, env, w, e->fp_reg, &v);
		if (end)
			return end;
	}
	v += (__s64)e->fp_off;
	if (kind == AT_DEREF) {
		if (step_read(env, v, &v))
			return UNWIND_END_READ;
		v += (__s64)e->fp_off2;
	}
	if (kind == IN_REG || kind == IS_CFA)
		w->fp = v;
	else
		w->fp_at = v;
	return UNWIND_END_NONE;
}

/*
 * Reads the frame record that the frame pointer points to, if it does. Code that keeps frame
 * records may have gone over to another stack (Go's runtime does): believed once. Not of generated
 * code (anon): the JVM's has any address there, and finds numbers that are no code where it points.
 */
static inline __attribute__((always_inline)) __u32 step_record(struct step_env *env, struct step *w,
							       int anon, int sure, __u64 record[2])
{
	int far = !sure && step_is_far(w->fp, w->sp);

	w->no_record = anon || w->switched;
	if (w->fp & 7 || !w->fp || (far && (anon || !w->by_fp || w->switched)))
		return UNWIND_END_NO_CFI;
	w->switched |= far;
	return step_read_pair(env, w->fp, record) ? UNWIND_END_READ : UNWIND_END_NONE;
}

/*
 * By frame pointer, where nothing is known of the code, or (RULE_OTHER_STACK) just that. The root
 * is a record without a return address, or one whose own link is zero, in code that was itself
 * reached by a record. Elsewhere a zero is no sign: code without unwind data may keep any number
 * there. aarch64: code of a file without unwind data is written by hand, and its leaves leave the
 * return address where it is; generated code (anon) keeps frame records.
 */
static inline __attribute__((always_inline)) __u32 step_by_fp(int arch, struct step_env *env,
							      struct step *w, int anon, __u32 rule)
{
	int sure = step_special(arch, rule) == RULE_OTHER_STACK;
	__u64 record[2] = {};
	__u32 end;

	if (step_resolve_fp(env, w))
		return UNWIND_END_READ;
	end = step_record(env, w, anon, sure, record);
	if (arch == TABLE_ARM64 && !sure && w->inner && w->lr && !anon &&
	    (end || record[1] != w->lr)) {
		w->pc = w->lr;
		w->inner = 0;
		w->guessed++;
		return UNWIND_END_NONE;
	}
	if (end)
		return !w->fp && w->by_fp ? UNWIND_END_ROOT : end;
	w->sp = w->fp + 16;
	if (arch == TABLE_ARM64 && sure)
		w->sp += RULE_ARM64_CFA(rule) - 8;
	w->fp = record[0];
	w->pc = record[1];
	w->inner = 0;
	w->by_fp = !sure;
	w->guessed += !sure;
	return w->pc ? UNWIND_END_NONE : UNWIND_END_ROOT;
}

/*
 * x86-64: the standard rule of code that returns as soon as what it called does, told by its next
 * bytes: [add imm8,%rsp] [pop %rbp] ret. 0: they are others.
 */
static inline __attribute__((always_inline)) __u32 step_epilogue(__u64 code)
{
	__u32 words = 1, slot = 0;

	if ((code & 0xffffff) == 0xc48348) {
		if (code & 0x87000000) /* not upwards, or not by whole words */
			return 0;
		words += code >> 27 & 0xf;
		code >>= 32;
	}
	if ((code & 0xff) == 0x5d) {
		words++;
		slot = 2;
		code >>= 8;
	}
	return (code & 0xff) == 0xc3 ? words << 7 | slot : 0;
}

/*
 * Leaves code that a program generates and that calls last of all, before it returns: CPython's
 * trampolines (-X perf), which keep no frame records. NO_CFI: this is none.
 */
static inline __attribute__((always_inline)) __u32 step_by_epilogue(int arch, struct step_env *env,
								    struct step *w, __u64 code)
{
	__u32 rule = arch == TABLE_X86 && !w->inner ? step_epilogue(code) : 0;
	struct step_saved saved;
	__u64 ra;

	if (!rule)
		return UNWIND_END_NO_CFI;
	step_standard(arch, rule, w->sp, &saved);
	if (step_read(env, saved.ra_at, &ra))
		return UNWIND_END_READ;
	if (saved.fp_at)
		w->fp_at = saved.fp_at;
	w->no_record = 0;
	return step_leave(w, saved.cfa, ra);
}

/* A signal handler returned: all registers of the interrupted code lie on the stack. */
static inline __attribute__((always_inline)) __u32 step_signal(int arch, struct step_env *env,
							       struct step *w)
{
	__u64 at = w->sp + (arch == TABLE_X86 ? X86_SIGNAL_REGS : ARM64_SIGNAL_REGS), pair[2];
	__u32 fp = arch == TABLE_X86 ? X86_DWARF_FP : ARM64_DWARF_FP;
	__u32 sp = arch == TABLE_X86 ? X86_DWARF_SP : ARM64_DWARF_SP;

	w->signal_at = at;
	w->fp_at = 0;
	if (step_read(env, at + step_signal_reg(arch, fp) * 8, &w->fp) ||
	    step_read_pair(env, at + step_signal_reg(arch, sp) * 8, pair)) /* then the pc */
		return UNWIND_END_READ;
	if (arch == TABLE_ARM64 && step_read(env, at + ARM64_DWARF_LR * 8, &w->lr))
		return UNWIND_END_READ;
	w->sp = pair[0];
	w->pc = pair[1];
	w->inner = 1;
	return w->pc ? UNWIND_END_NONE : UNWIND_END_NO_CODE;
}

/* Of a goroutine of Go, see docs/unwinding.md. */
#define GO_STACK_HI	 8  /* where its stack ends */
#define GO_ASMCGOCALL_SZ 16 /* the frame of runtime.asmcgocall on aarch64 */

/*
 * runtime.asmcgocall of aarch64, which keeps on its stack its goroutine and how far below the end
 * of the goroutine's stack it was: that stack may move meanwhile. Without a goroutine (it was on
 * this stack before) that is where it was.
 */
static inline __attribute__((always_inline)) __u32 step_go_calls_c(struct step_env *env,
								   struct step *w)
{
	__u64 kept[2], hi = 0, record[2], sp;

	if (step_read_pair(env, w->sp, kept) ||
	    (kept[0] && step_read(env, kept[0] + GO_STACK_HI, &hi)))
		return UNWIND_END_READ;
	sp = kept[0] ? hi - kept[1] : kept[1];
	if (!sp || sp & 7)
		return UNWIND_END_BAD_CFA;
	if (step_read_pair(env, sp - 8, record))
		return UNWIND_END_READ;
	w->fp_at = 0;
	w->fp = record[0];
	return step_leave(w, sp + GO_ASMCGOCALL_SZ, record[1]);
}

/* A stub of the procedure linkage table, which has pushed one word from some byte on. */
static inline __attribute__((always_inline)) __u32 step_plt(struct step_env *env, struct step *w,
							    __u32 pushed_from)
{
	__u64 cfa = w->sp + 8 + ((w->pc & 15) >= pushed_from ? 8 : 0), ra;

	if (step_read(env, cfa - 8, &ra))
		return UNWIND_END_READ;
	return step_leave(w, cfa, ra);
}

#endif /* STEP_SLOW */
