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

#define MAX_SYMBOLS 500000u
#define UNKNOWN	    INT32_MIN
#define MAX_OFF	    (1 << 24)
#define WORD	    8
#define RA_COLUMN   16

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
	uint8_t code[SCAN_MAX_FUNCTION];
	uint8_t state_of[SCAN_MAX_FUNCTION]; /* 1 + index of the state; 0 = no path came there */
	uint32_t sz;
	struct state states[SCAN_MAX_STATES];
	uint32_t nr_states, nr_paths;
	struct path paths[SCAN_MAX_PATHS];
	struct state switched; /* where it jumps by a table */
	bool switches;
};

/* --- which functions there are --- */

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static size_t add_symbols(struct range *list, const Elf64_Sym *symbols, size_t nr)
{
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++) {
		const Elf64_Sym *sym = &symbols[i];
		uint64_t end = sym->st_value + sym->st_size;

		if (ELF64_ST_TYPE(sym->st_info) != STT_FUNC || sym->st_shndx == SHN_UNDEF ||
		    end < sym->st_value)
			continue;
		list[kept++] = (struct range){ .start = sym->st_value, .end = end };
	}
	return kept;
}

/* One for each start; without a size, or with one too large, it ends where the next one begins. */
static size_t make_disjoint(struct range *list, size_t nr)
{
	size_t kept = 0;

	qsort(list, nr, sizeof(*list), by_start);
	for (size_t i = 0; i < nr; i++) {
		if (kept && list[kept - 1].start == list[i].start) {
			if (list[kept - 1].end < list[i].end)
				list[kept - 1].end = list[i].end;
			continue;
		}
		list[kept++] = list[i];
	}
	for (size_t i = 0; i < kept; i++) {
		uint64_t next = i + 1 < kept ? list[i + 1].start : UINT64_MAX;

		if (list[i].end == list[i].start)
			list[i].end = next;
		if (list[i].end > next)
			list[i].end = next;
	}
	return kept;
}

static void read_functions(struct scan *s)
{
	const struct elf_file *f = s->layout->file;
	size_t cap = 0;

	for (size_t i = 0; i < f->nr_sections; i++) {
		const Elf64_Shdr *table = &f->sections[i];
		Elf64_Sym *symbols;
		size_t nr;

		if ((table->sh_type != SHT_SYMTAB && table->sh_type != SHT_DYNSYM) ||
		    table->sh_offset > f->size || table->sh_size > f->size - table->sh_offset ||
		    table->sh_size / sizeof(*symbols) > MAX_SYMBOLS)
			continue;
		symbols = xmalloc(table->sh_size);
		nr = elf_file_read(f, table->sh_offset, symbols, table->sh_size) / sizeof(*symbols);
		if (s->nr_functions + nr > cap) {
			cap = s->nr_functions + nr;
			s->functions = xreallocarray(s->functions, cap, sizeof(*s->functions));
		}
		s->nr_functions += add_symbols(s->functions + s->nr_functions, symbols, nr);
		free(symbols);
	}
	if (s->nr_functions)
		s->nr_functions = make_disjoint(s->functions, s->nr_functions);
}

const struct range *scan_find(struct scan *s, uint64_t from, uint64_t to)
{
	size_t lo = 0, hi, mid;

	if (s->layout->arch != TABLE_X86)
		return NULL;
	if (!s->has_functions)
		read_functions(s);
	s->has_functions = true;
	hi = s->nr_functions;
	while (lo < hi) {
		mid = (lo + hi) / 2;
		if (s->functions[mid].start < from)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < s->nr_functions && s->functions[lo].start < to ? &s->functions[lo] : NULL;
}

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

static void add_path(struct walker *w, int64_t at, const struct state *state)
{
	if (at < 0 || at >= w->sz || w->state_of[at] || w->nr_paths == SCAN_MAX_PATHS)
		return;
	w->paths[w->nr_paths++] = (struct path){ (uint32_t)at, *state };
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
		apply(&state, &insn);
		if (insn.flow == X86_BRANCHES || insn.flow == X86_JUMPS)
			add_path(w, (int64_t)at + insn.len + insn.target, &state);
		if (insn.flow == X86_JUMPS_BY_POINTER && !w->switches) {
			w->switches = true;
			w->switched = state;
		}
		if (insn.flow >= X86_JUMPS)
			return;
	}
}

static void follow_all(struct walker *w)
{
	while (w->nr_paths) {
		const struct path *p = &w->paths[--w->nr_paths];

		follow(w, p->at, p->state);
	}
}

static bool is_padding(uint8_t byte)
{
	return !byte || byte == 0x90 || byte == 0xcc;
}

/* What a table of jumps leads to has no other path: it begins behind code that ends. */
static void follow_tables(struct walker *w)
{
	for (uint32_t at = 0; w->switches && at < w->sz; at++) {
		if (w->state_of[at] || is_padding(w->code[at]))
			continue;
		add_path(w, at, &w->switched);
		follow_all(w);
	}
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

static void make_rows(struct scan *s, uint64_t start, struct rules *rules)
{
	const struct walker *w = s->walker;
	uint32_t none = rule_special(TABLE_X86, RULE_NONE);

	for (uint32_t at = 0; at < w->sz; at++) {
		uint8_t index = w->state_of[at];

		if (!at || index != w->state_of[at - 1])
			add_row(s, start + at,
				index ? rule_of(rules, &w->states[index - 1]) : none);
	}
	if (w->sz == SCAN_MAX_FUNCTION)
		add_row(s, start + w->sz, none);
}

void scan_function(struct scan *s, const struct range *function, struct rules *rules)
{
	static const struct state entry = { .sp = WORD, .fp = UNKNOWN, .ra = X86_NO_REG };
	uint64_t sz = function->end - function->start;
	struct walker *w;

	s->nr_rows = 0;
	if (!s->walker)
		s->walker = xmalloc(sizeof(*s->walker));
	w = s->walker;
	w->sz = layout_read(s->layout, function->start, w->code,
			    sz < SCAN_MAX_FUNCTION ? sz : SCAN_MAX_FUNCTION);
	w->nr_states = w->nr_paths = 0;
	w->switches = false;
	memset(w->state_of, 0, w->sz);
	add_path(w, 0, &entry);
	follow_all(w);
	follow_tables(w);
	make_rows(s, function->start, rules);
}

void scan_init(struct scan *s, const struct layout *l)
{
	*s = (struct scan){ .layout = l };
}

void scan_release(struct scan *s)
{
	free(s->functions);
	free(s->rows);
	free(s->walker);
	*s = (struct scan){};
}
