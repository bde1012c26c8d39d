/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The paths through a function are followed one after the other, each up to code that another one
 * has been to. Where two differ, the first one counts: compilers and people keep the stack pointer
 * the same there, and where it differs it is behind a call that never returns.
 */
#include "unwind/scan.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "unwind/x86.h"

#define UNKNOWN	   INT32_MIN
#define MAX_OFF	   (1 << 24)
#define WORD	   8
#define ALIGNMENT  16	       /* of functions, mostly */
#define MAX_GUESS  (16u << 10) /* bytes of a function */
#define MAX_DOUBTS 256
#define RA_COLUMN  16

/* Distances to the CFA, which is what the stack pointer was before the call. */
struct state {
	int32_t sp, fp; /* CFA - register; UNKNOWN */
	int32_t saved;	/* the caller's frame pointer lies at CFA - saved; 0: in its register */
	uint8_t ra;	/* the register that has the return address; X86_NO_REG: at CFA - 8 */
	bool is_lost;	/* the caller's frame pointer is */
	bool is_root;
	uint8_t pad;
};

struct path {
	uint32_t at;
	struct state state;
};

struct walker {
	const uint8_t *code;
	uint8_t copy[SCAN_MAX_FUNCTION];     /* of the code of a function with a symbol */
	uint8_t state_of[SCAN_MAX_FUNCTION]; /* 1 + index of the state; 0 = no path came there */
	uint32_t sz;
	struct state states[SCAN_MAX_STATES];
	uint32_t nr_states, nr_paths;
	struct path paths[SCAN_MAX_PATHS];
	struct state switched; /* where it jumps by a table */
	bool switches, is_guessed;
	bool is_right; /* it returned with the return address on top, or came to code seen before */
	bool is_wrong; /* there was something else on top */
	uint32_t last; /* behind it nothing is seen but with the state of an entry */
	uint64_t start;
	struct path doubts[MAX_DOUBTS]; /* perhaps not its own any more */
	uint32_t nr_doubts;
	uint8_t before[SCAN_MAX_FUNCTION]; /* state_of, before a doubt was followed */
};

/* --- what an instruction changes --- */

static int32_t sum(int32_t a, int32_t b)
{
	if (a == UNKNOWN || b > MAX_OFF || b < -MAX_OFF || a + b > MAX_OFF || a + b < -MAX_OFF)
		return UNKNOWN;
	return a + b;
}

static void lose_fp(struct state *s)
{
	s->fp = UNKNOWN;
	if (!s->saved)
		s->is_lost = true;
}

static void set_fp(struct state *s, int32_t off)
{
	if (!s->saved)
		s->is_lost = true;
	s->fp = sum(s->sp, -off);
}

static void push(struct state *s, uint8_t reg)
{
	s->sp = sum(s->sp, WORD);
	if (s->sp == WORD && reg == s->ra)
		s->ra = X86_NO_REG;
	else if (reg == X86_FP && s->fp == UNKNOWN && !s->saved && !s->is_lost && s->sp != UNKNOWN)
		s->saved = s->sp;
}

static void pop(struct state *s, uint8_t reg)
{
	if (reg == X86_FP && s->saved && s->saved == s->sp) {
		s->saved = 0;
		s->fp = UNKNOWN;
	} else if (reg == X86_FP) {
		lose_fp(s);
	}
	if (s->sp == WORD && s->ra == X86_NO_REG)
		s->ra = reg;
	s->sp = reg == X86_SP || s->sp < WORD ? UNKNOWN : sum(s->sp, -WORD);
}

static void load_fp(struct state *s, int32_t off)
{
	if (s->saved && s->sp != UNKNOWN && s->saved == sum(s->sp, -off)) {
		s->saved = 0;
		s->fp = UNKNOWN;
	} else {
		lose_fp(s);
	}
}

static void store_fp(struct state *s, int32_t off)
{
	if (s->fp == UNKNOWN && !s->saved && !s->is_lost && sum(s->sp, -off) > 0)
		s->saved = sum(s->sp, -off);
}

/* Who has taken the return address off the stack may take the arguments as well. */
static void set_sp(struct state *s, int32_t sp)
{
	s->sp = s->ra != X86_NO_REG ? 0 : sp;
}

static void apply(struct state *s, const struct x86_insn *insn)
{
	switch ((enum x86_effect)insn->effect) {
	case X86_NOTHING:
		break;
	case X86_PUSH:
		push(s, insn->reg);
		break;
	case X86_POP:
		pop(s, insn->reg);
		break;
	case X86_SP_ADD:
		set_sp(s, sum(s->sp, -insn->off));
		break;
	case X86_SP_FROM_FP:
		set_sp(s, sum(s->fp, -insn->off));
		break;
	case X86_FP_FROM_SP:
		set_fp(s, insn->off);
		break;
	case X86_LEAVE:
		s->sp = s->fp;
		pop(s, X86_FP);
		break;
	case X86_FP_STORE:
		store_fp(s, insn->off);
		break;
	case X86_FP_LOAD:
		load_fp(s, insn->off);
		break;
	case X86_FP_ZERO:
		if (!s->saved && !s->is_lost && s->fp == UNKNOWN)
			s->is_root = true;
		lose_fp(s);
		break;
	case X86_SP_OTHER:
		set_sp(s, UNKNOWN);
		break;
	case X86_FP_OTHER:
		lose_fp(s);
		break;
	}
}

/* --- all paths --- */

/* 1 + its index; 0 when there are too many. */
static uint8_t find_state(struct walker *w, const struct state *state)
{
	for (uint32_t i = w->nr_states; i; i--)
		if (!memcmp(&w->states[i - 1], state, sizeof(*state)))
			return i;
	if (w->nr_states == SCAN_MAX_STATES)
		return 0;
	w->states[w->nr_states++] = *state;
	return w->nr_states;
}

/* Of a doubt: it comes to where others have been, in the same state. */
static void meet(struct walker *w, uint32_t at, const struct state *state)
{
	if (w->nr_doubts && w->before[at] && w->before[at] == find_state(w, state))
		w->is_right = true;
}

static void add_path(struct walker *w, int64_t at, const struct state *state)
{
	if (at >= 0 && at < w->sz)
		meet(w, at, state);
	if (at < 0 || at >= w->sz || w->state_of[at] || w->nr_paths == SCAN_MAX_PATHS)
		return;
	w->paths[w->nr_paths++] = (struct path){ (uint32_t)at, *state };
}

/* The next byte that no path has come to, and that is no padding. */
static uint32_t next_unseen(const struct walker *w, uint32_t at)
{
	size_t len;

	while (at < w->sz) {
		if (w->state_of[at]) {
			at++;
			continue;
		}
		len = w->code[at] ? x86_padding(w->code + at, w->sz - at) : 1;
		if (!len)
			break;
		at += len;
	}
	return at < w->sz ? at : w->sz;
}

/*
 * Behind a call there is padding up to where functions begin, or loops: either the one that was
 * called does not return, or it goes on there.
 */
static bool put_off(struct walker *w, uint32_t at, const struct state *state)
{
	uint32_t next = w->is_guessed ? next_unseen(w, at) : at;

	if (next == at || (w->start + next) % ALIGNMENT || w->nr_doubts == MAX_DOUBTS)
		return false;
	w->doubts[w->nr_doubts++] = (struct path){ next, *state };
	return true;
}

static void follow(struct walker *w, uint32_t at, struct state state)
{
	struct x86_insn insn;
	uint8_t index;

	for (; at < w->sz && !w->state_of[at]; at += insn.len) {
		index = find_state(w, &state);
		if (!index || !x86_decode(w->code + at, w->sz - at, &insn))
			return;
		memset(w->state_of + at, index, insn.len);
		if (state.sp != WORD && at + insn.len > w->last)
			w->last = at + insn.len;
		apply(&state, &insn);
		if (insn.flow == X86_BRANCHES || insn.flow == X86_JUMPS)
			add_path(w, (int64_t)at + insn.len + insn.target, &state);
		if (insn.flow == X86_JUMPS_BY_POINTER && !w->switches) {
			w->switches = true;
			w->switched = state;
		}
		if (insn.flow == X86_RETURNS && state.sp == WORD)
			w->is_right = true;
		else if (insn.flow == X86_RETURNS && state.sp != UNKNOWN)
			w->is_wrong = true;
		if (insn.flow >= X86_JUMPS)
			return;
		if (insn.flow == X86_CALLS && put_off(w, at + insn.len, &state))
			return;
	}
	if (at < w->sz)
		meet(w, at, &state);
}

static void follow_all(struct walker *w)
{
	while (w->nr_paths) {
		const struct path *p = &w->paths[--w->nr_paths];

		follow(w, p->at, p->state);
	}
}

/* It is the same function if it returns as it should, or comes to code that belongs to it. */
static void follow_doubts(struct walker *w)
{
	uint32_t last;

	for (uint32_t i = 0; i < w->nr_doubts; i++) {
		last = w->last;
		memcpy(w->before, w->state_of, w->sz);
		w->is_right = w->is_wrong = false;
		add_path(w, w->doubts[i].at, &w->doubts[i].state);
		follow_all(w);
		if (w->is_right && !w->is_wrong)
			continue;
		memcpy(w->state_of, w->before, w->sz);
		w->last = last;
	}
}

/*
 * What a table of jumps leads to has no other path: it begins behind code that ends. Returns where
 * the function ends: if that is to be guessed, before the first code that is neither.
 */
static uint32_t follow_tables(struct walker *w)
{
	uint32_t at = next_unseen(w, 0);
	bool may_begin;

	for (; at < w->sz; at = next_unseen(w, at + 1)) {
		may_begin = !((w->start + at) % ALIGNMENT) && at && !w->state_of[at - 1];
		if (w->is_guessed && at >= w->last && (!w->switches || may_begin))
			return at;
		if (!w->switches)
			continue;
		add_path(w, at, &w->switched);
		follow_all(w);
	}
	return w->sz;
}

static uint8_t dwarf_register(uint8_t reg)
{
	static const uint8_t numbers[] = { 0, 2, 1, 3, 7, 6, 4, 5 };

	return reg < sizeof(numbers) ? numbers[reg] : reg;
}

static uint32_t rule_of(struct rules *rules, const struct state *s)
{
	bool by_fp = s->fp != UNKNOWN;
	struct cfi_state cfi = {};

	if (s->is_root)
		return rule_special(TABLE_X86, RULE_STOP);
	if (!by_fp && s->sp == UNKNOWN)
		return rule_special(TABLE_X86, RULE_NONE);
	cfi.cfa.kind = CFI_REG;
	cfi.cfa.reg = by_fp ? cfi_fp(TABLE_X86) : dwarf_register(X86_SP);
	cfi.cfa.off = by_fp ? s->fp : s->sp;
	cfi.fp.kind = s->saved ? CFI_AT_CFA : s->is_lost ? CFI_UNDEFINED : CFI_SAME;
	cfi.fp.off = -s->saved;
	cfi.ra.kind = s->ra == X86_NO_REG ? CFI_AT_CFA : CFI_IN_REG;
	cfi.ra.off = s->ra == X86_NO_REG ? -WORD : 0;
	cfi.ra.reg = s->ra == X86_NO_REG ? 0 : dwarf_register(s->ra);
	return rules_add(rules, &cfi, RA_COLUMN);
}

static void add_row(struct scan *s, uint64_t from, uint32_t rule)
{
	if (s->nr_rows && s->rows[s->nr_rows - 1].rule == rule)
		return;
	s->rows = xgrow(s->rows, s->nr_rows, &s->cap_rows, sizeof(*s->rows));
	s->rows[s->nr_rows++] = (struct scan_row){ from, rule };
}

static void make_rows(struct scan *s, uint64_t start, uint32_t sz, struct rules *rules)
{
	const struct walker *w = s->walker;
	uint32_t none = rule_special(TABLE_X86, RULE_NONE);

	for (uint32_t at = 0; at < sz; at++) {
		uint8_t index = w->state_of[at];

		if (!at || index != w->state_of[at - 1])
			add_row(s, start + at,
				index ? rule_of(rules, &w->states[index - 1]) : none);
	}
	if (sz == SCAN_MAX_FUNCTION)
		add_row(s, start + sz, none);
}

void scan_function(struct scan *s, struct scan_function *f, struct rules *rules)
{
	static const struct state entry = { .sp = WORD, .fp = UNKNOWN, .ra = X86_NO_REG };
	uint64_t sz = f->end - f->start;
	struct walker *w;

	s->nr_rows = 0;
	if (!s->walker)
		s->walker = xmalloc(sizeof(*s->walker));
	w = s->walker;
	if (sz > (f->is_guessed ? MAX_GUESS : SCAN_MAX_FUNCTION))
		sz = f->is_guessed ? MAX_GUESS : SCAN_MAX_FUNCTION;
	if (f->is_guessed)
		w->code = s->part + (f->start - s->part_from);
	else
		w->code = w->copy;
	w->sz = f->is_guessed ? sz : layout_read(s->layout, f->start, w->copy, sz);
	w->nr_states = w->nr_paths = w->nr_doubts = 0;
	w->last = 0;
	w->switches = false;
	w->is_guessed = f->is_guessed;
	w->start = f->start;
	memset(w->state_of, 0, w->sz);
	memset(w->before, 0, w->sz);
	add_path(w, 0, &entry);
	follow_all(w);
	follow_doubts(w);
	sz = follow_tables(w);
	make_rows(s, f->start, sz, rules);
	if (f->is_guessed)
		f->end = f->start + (sz ? sz : 1);
}

void scan_init(struct scan *s, const struct layout *l)
{
	*s = (struct scan){ .layout = l };
}

void scan_release(struct scan *s)
{
	free(s->functions);
	free(s->calls);
	free(s->part);
	free(s->rows);
	free(s->walker);
	*s = (struct scan){};
}
