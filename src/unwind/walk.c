/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The walk, with the seams of the step over a copy of the stack. */
#include "unwind/walk.h"

#include <string.h>

struct step_env {
	const struct walk_start *start;
	const struct walk *walk;
	void *arg; /* of start->code */
	uint64_t unread;
};
struct step;

static int step_read(struct step_env *env, uint64_t at, __u64 *word);
static int step_read_pair(struct step_env *env, uint64_t at, __u64 words[2]);
static int step_reg(struct step_env *env, const struct step *w, uint32_t reg, __u64 *value);
static __u64 step_called(struct step_env *env, const struct step *w);

#define STEP_SLOW
#include "bpf/step.bpf.h"

static bool copy_from(const uint8_t *bytes, size_t have, uint64_t off, void *to, size_t sz)
{
	if (off >= have || sz > have - off)
		return false;
	memcpy(to, bytes + off, sz);
	return true;
}

static int read_stack(struct step_env *env, uint64_t at, void *to, size_t sz)
{
	const struct walk_start *s = env->start;

	if (copy_from(s->stack, s->stack_bytes, at - s->sp, to, sz))
		return 0;
	for (size_t i = 0; i < s->nr_others; i++)
		if (copy_from(s->others[i].bytes, s->others[i].sz, at - s->others[i].at, to, sz))
			return 0;
	env->unread = at + sz - 1;
	return -1;
}

static int step_read(struct step_env *env, uint64_t at, __u64 *word)
{
	return read_stack(env, at, word, sizeof(*word));
}

static int step_read_pair(struct step_env *env, uint64_t at, __u64 words[2])
{
	return read_stack(env, at, words, 2 * sizeof(*words));
}

static int step_reg(struct step_env *env, const struct step *w, uint32_t reg, __u64 *value)
{
	int arch = env->start->arch;

	if (w->signal_at)
		return step_read(env, w->signal_at + step_signal_reg(arch, reg) * 8, value);
	if (!env->start->regs)
		return -1;
	*value = env->start->regs[step_entry_reg(arch, reg)];
	return 0;
}

static __u64 step_called(struct step_env *env, const struct step *w)
{
	const struct walk *walk = env->walk;

	return walk->nr > 1 && walk->exact[walk->nr - 2] ? walk->frames[walk->nr - 2] : 0;
}

static uint32_t leave_by_exception(int arch, struct step_env *env, struct step *at,
				   const struct table_exception *e)
{
	__u64 cfa = 0, ra = 0;
	uint32_t end = step_exception_cfa(arch, env, at, e, &cfa);

	if (!end)
		end = step_exception_ra(arch, env, at, e, cfa, &ra);
	if (!end)
		end = step_exception_fp(arch, env, at, e, cfa);
	return end ? end : step_leave(at, cfa, ra);
}

/* Its bytes first: where they say nothing, it is taken to keep frame records. */
static uint32_t leave_generated(int arch, struct step_env *env, struct step *at, uint32_t rule)
{
	const struct walk_start *s = env->start;
	uint64_t code;
	uint32_t end = UNWIND_END_NO_CFI;

	if (arch == TABLE_X86 && !at->inner && s->code && s->code(env->arg, at->pc, &code))
		end = step_by_epilogue(arch, env, at, code);
	return end == UNWIND_END_NO_CFI ? step_by_fp(arch, env, at, 1, rule) : end;
}

static uint32_t leave_by_special(int arch, struct step_env *env, struct step *at,
				 const struct walk_rule *r, enum prof_call_graph how)
{
	switch (step_special(arch, r->rule)) {
	case RULE_STOP:
	case RULE_GO_SAVED: /* what was saved lies in memory that was not copied */
	case RULE_GO_SAVED_SP:
		return UNWIND_END_CFI_ROOT;
	case RULE_NO_TABLE:
	case RULE_REFUSED:
		return UNWIND_END_NO_TABLE;
	case RULE_NO_CODE:
		return UNWIND_END_NO_CODE;
	case RULE_SIGNAL:
		return step_signal(arch, env, at);
	case RULE_PLT10:
		return step_plt(env, at, 10);
	case RULE_PLT11:
		return step_plt(env, at, 11);
	case RULE_OTHER_STACK:
		return step_by_fp(arch, env, at, 0, r->rule);
	case RULE_GO_CALLS_C:
		return step_go_calls_c(env, at);
	default:
		if (how == CALL_GRAPH_DWARF)
			return UNWIND_END_NO_CFI;
		return r->anon ? leave_generated(arch, env, at, r->rule)
			       : step_by_fp(arch, env, at, 0, r->rule);
	}
}

static uint32_t leave_by_standard(int arch, struct step_env *env, struct step *at, uint32_t rule)
{
	bool by_fp = step_needs_fp(arch, rule);
	struct step_saved saved;
	__u64 ra = at->lr;

	if (by_fp && step_resolve_fp(env, at))
		return UNWIND_END_READ;
	step_standard(arch, rule, by_fp ? at->fp : at->sp, &saved);
	if (!step_goes_up(at->sp, saved.cfa, at->inner))
		return UNWIND_END_BAD_CFA;
	if (saved.ra_at && step_read(env, saved.ra_at, &ra))
		return UNWIND_END_READ;
	if (!saved.ra_at && !at->inner)
		return UNWIND_END_LOST_REG;
	if (saved.fp_at)
		at->fp_at = saved.fp_at;
	return step_leave(at, saved.cfa, ra);
}

static uint32_t leave(struct step_env *env, struct step *at, const struct walk_rule *r,
		      enum prof_call_graph how)
{
	int arch = env->start->arch;
	uint32_t end;

	if (step_is_standard(arch, r->rule))
		end = leave_by_standard(arch, env, at, r->rule);
	else if (step_is_exception(arch, r->rule))
		end = leave_by_exception(arch, env, at, r->exception);
	else
		end = leave_by_special(arch, env, at, r, how);
	at->pc &= env->start->pc_mask;
	if (!end && !at->pc)
		end = UNWIND_END_NO_CODE;
	return end;
}

/* As unwind_trampoline() in bpf/unwind.bpf.c. */
static bool leave_trampoline(const struct walk_start *start, struct step *at)
{
	if (at->inner || !start->trampoline || at->pc != start->trampoline)
		return false;
	for (size_t i = 0; i < PROF_DEFERRED_RETURNS; i++)
		if (start->returns[i].sp == at->sp && start->returns[i].pc != at->pc) {
			at->pc = start->returns[i].pc;
			return true;
		}
	return false;
}

bool walk_run(struct walk *w, const struct walk_start *start, uint32_t max_depth,
	      enum prof_call_graph how, walk_lookup lookup, void *arg)
{
	struct step_env env = { .start = start, .walk = w, .arg = arg };
	struct step at = { .pc = start->pc,
			   .sp = start->sp,
			   .fp = start->fp,
			   .lr = start->lr,
			   .inner = !start->called };
	struct walk_rule rule;
	uint32_t end = UNWIND_END_NONE;

	w->nr = 0;
	if (start->called) {
		w->exact[w->nr] = true;
		w->frames[w->nr++] = start->called;
	}
	while (!end) {
		if (w->nr >= max_depth) {
			end = UNWIND_END_DEPTH;
			break;
		}
		w->exact[w->nr] = at.inner;
		w->frames[w->nr++] = at.pc;
		if (leave_trampoline(start, &at)) {
			w->nr--;
			continue;
		}
		rule = (struct walk_rule){};
		if (!lookup(arg, at.pc - !at.inner, &rule))
			return false;
		end = leave(&env, &at, &rule, how);
	}
	w->end = end;
	w->guessed = at.guessed;
	w->unread = env.unread;
	return true;
}
