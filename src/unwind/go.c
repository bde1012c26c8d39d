/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Of the functions that go over to another stack, the table says that they do (GO_WRITES_SP); where
 * is seen in their code: from behind the first instruction that loads the stack pointer up to
 * behind the last one.
 */
#include "unwind/go.h"

#include <string.h>

#define MAX_CODE   1024 /* bytes that are looked at of a function in assembly */
#define MAX_INSN   16
#define INSN_ARM64 4
#define MAX_TLS	   (0x7ff * 8)
#define GO_BP_NEW  96 /* of struct g, from Go 1.25 on */
#define GO_BP_OLD  104

/* --- code --- */

/* Length of the instruction if it loads the stack pointer of x86-64, else 0. */
static size_t loads_sp_x86(const uint8_t *c)
{
	uint8_t mod = c[2] >> 6, reg = c[2] >> 3 & 7, rm = c[2] & 7;

	if ((c[0] & 0xf8) != 0x48) /* 64 bits wide */
		return 0;
	if (c[1] == 0x83 && c[2] == 0xe4) /* and $-16, %rsp */
		return 4;
	if (c[1] == 0x89 && mod == 3 && rm == 4 && !(c[0] & 1)) /* mov %reg, %rsp */
		return 3;
	if (c[1] != 0x8b || reg != 4 || c[0] & 4 || (mod == 0 && rm == 5)) /* mov …, %rsp */
		return 0;
	return 3 + (rm == 4 && mod != 3) + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

static size_t loads_sp_arm64(const uint8_t *c)
{
	uint32_t insn;

	memcpy(&insn, c, sizeof(insn));
	return (insn & 0xfffffc1f) == 0x9100001f ? INSN_ARM64 : 0; /* mov sp, xN */
}

/* Sets away and back, which are equal when nothing is found. */
static void find_loads(struct go_rows *g, const uint8_t *code, size_t sz)
{
	bool is_x86 = g->layout->arch == TABLE_X86;
	size_t length;

	for (size_t i = 0; i < sz; i += is_x86 ? 1 : INSN_ARM64) {
		length = is_x86 ? loads_sp_x86(code + i) : loads_sp_arm64(code + i);
		if (!length)
			continue;
		g->back = g->fn.start + i + length;
		if (!g->away)
			g->away = g->back;
	}
}

/*
 * stp x29, x30, [sp, #n]: a function that C calls stores them as C would, since where Go keeps them
 * is its caller's. The compiler's own functions begin with str x30, [sp, #-n]! or go by x20.
 */
static void find_pair(struct go_rows *g, const uint8_t *code, size_t sz)
{
	uint32_t insn;

	for (size_t i = 0; i < sz; i += INSN_ARM64) {
		memcpy(&insn, code + i, sizeof(insn));
		if ((insn & 0xffe00fff) == 0xf8000ffe) /* str x30, [sp, #n]! */
			return;
		if ((insn & 0xffe07fff) != 0xa9007bfd || !(insn >> 15 & 0x3f))
			continue;
		g->paired = g->fn.start + i + INSN_ARM64;
		g->pair = (insn >> 15 & 0x3f) * 8;
		return;
	}
}

/* push %rbp; mov %rsp, %rbp; before Go 1.21 mov %rbp, x(%rsp). */
static bool saves_fp(const uint8_t *code)
{
	static const uint8_t push[] = { 0x55, 0x48, 0x89, 0xe5 };

	if (!memcmp(code, push, sizeof(push)))
		return true;
	for (size_t i = 0; i < MAX_INSN; i++)
		if (code[i] == 0x48 && code[i + 1] == 0x89 && (code[i + 2] & 0x3f) == 0x2c &&
		    code[i + 3] == 0x24)
			return true;
	return false;
}

/*
 * How far below the thread pointer the runtime of x86-64 keeps its g; 0 = not seen.
 *
 *	mov %fs:TLS, %reg	or mov $TLS, %reg; mov %fs:(%reg), %reg
 */
static uint32_t find_tls(const uint8_t *code)
{
	int32_t tls = 0;

	for (size_t i = 0; i < MAX_INSN && !tls; i++)
		if (code[i] == 0x64 && code[i + 1] == 0x48 && code[i + 2] == 0x8b &&
		    (code[i + 3] & 0xc7) == 4 && code[i + 4] == 0x25)
			memcpy(&tls, code + i + 5, sizeof(tls));
		else if (code[i] == 0x48 && code[i + 1] == 0xc7 && (code[i + 2] & 0xf8) == 0xc0)
			memcpy(&tls, code + i + 3, sizeof(tls));
	return tls < 0 && tls >= -MAX_TLS && !(tls % 8) ? (uint32_t)-tls : 0;
}

/* Where a goroutine's frame pointer is saved: mov %rbp, BP(%reg). 0 = not seen. */
static uint8_t find_bp(const uint8_t *code, size_t sz)
{
	for (size_t i = 0; i < sz; i++)
		if (code[i] == 0x48 && code[i + 1] == 0x89 && (code[i + 2] & 0xf8) == 0x68)
			return code[i + 3];
	return 0;
}

/* By the registers that the goroutine has saved; where that is depends on the version of Go. */
static uint32_t saved_rule(const uint8_t *code, uint8_t bp, enum rule_special kind)
{
	uint32_t tls = find_tls(code);

	if (!tls || (bp != GO_BP_NEW && bp != GO_BP_OLD))
		return rule_special(TABLE_X86, RULE_STOP);
	return rule_special(TABLE_X86, kind) | tls / 8 << 9 | (uint32_t)(bp == GO_BP_NEW) << 8;
}

/* --- functions --- */

/* Who called them goes on later, or on another thread: what they call has no caller. */
static bool is_end_of_stack(const char *name)
{
	static const char *const names[] = { "gogo",
					     "runtime.gogo",
					     "runtime.mcall",
					     "runtime.morestack",
					     "runtime.switchToCrashStack",
					     "runtime.switchToCrashStack0" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* How the part of a function is left that runs on another stack; size: of its frame. */
static uint32_t away_rule(const struct go_rows *g, uint64_t size, const uint8_t *code, size_t sz)
{
	enum table_arch arch = g->layout->arch;

	if (arch == TABLE_X86 && !strcmp(g->fn.name, "runtime.morestack"))
		return saved_rule(code, find_bp(code, sz), RULE_GO_SAVED);
	if (is_end_of_stack(g->fn.name))
		return rule_special(arch, RULE_STOP);
	if (arch == TABLE_X86 && !g->keeps_fp && !strcmp(g->fn.name, "runtime.systemstack"))
		return saved_rule(code, GO_BP_OLD, RULE_GO_SAVED_SP);
	if (!g->keeps_fp)
		return rule_special(arch, RULE_NONE);
	if (arch == TABLE_X86)
		return rule_special(arch, RULE_OTHER_STACK);
	if (!strcmp(g->fn.name, "runtime.asmcgocall"))
		return rule_special(arch, RULE_GO_CALLS_C);
	return rule_special(arch, RULE_OTHER_STACK) | (uint32_t)(size / 16 & 0xfff) << 9;
}

/* The largest frame that a function has: what it has while it is away. */
static uint64_t largest_frame(const struct go_rows *g)
{
	struct gopclntab_values v = g->sizes;
	int64_t most = 0;

	while (gopclntab_next(&v))
		if (v.value > most)
			most = v.value;
	return most;
}

static void look_at_assembly(struct go_rows *g)
{
	uint8_t code[MAX_CODE + MAX_INSN + 8] = {};
	uint64_t sz = g->fn.end - g->fn.start;

	sz = sz < MAX_CODE ? sz : MAX_CODE;
	layout_read(g->layout, g->fn.start, code, sz);
	if (g->layout->arch == TABLE_X86)
		g->keeps_fp = saves_fp(code);
	else
		find_pair(g, code, sz);
	if (!(g->fn.flags & GO_WRITES_SP))
		return;
	find_loads(g, code, sz);
	if (is_end_of_stack(g->fn.name))
		g->back = g->fn.end;
	g->keeps_fp &= largest_frame(g) > 0;
	g->away_rule = away_rule(g, largest_frame(g), code, sz);
}

/* It is called by the kernel, which left a return address all the same. */
static bool handles_signals(const char *name)
{
	return !strcmp(name, "runtime.sigtramp") || !strcmp(name, "runtime.cgoSigtramp");
}

/* Signal handlers return to it: in front of it is where the unwinder looks for its row. */
static bool returns_from_signals(const char *name)
{
	return !strcmp(name, "runtime.sigreturn__sigaction") || !strcmp(name, "runtime.sigreturn");
}

static void start_function(struct go_rows *g)
{
	g->at = g->fn.start;
	g->away = g->back = g->paired = 0;
	g->pair = 0;
	g->keeps_fp = true;
	if (returns_from_signals(g->fn.name)) {
		g->at -= 1u << TABLE_UNIT_SHIFT(g->layout->arch);
		g->away = g->at;
		g->back = g->fn.end;
		g->away_rule = rule_special(g->layout->arch, RULE_SIGNAL);
	} else if (g->fn.flags & GO_TOP_FRAME && !handles_signals(g->fn.name)) {
		g->away = g->fn.start;
		g->back = g->fn.end;
		g->away_rule = rule_special(g->layout->arch, RULE_STOP);
	} else if (g->fn.flags & (GO_WRITES_SP | GO_IS_ASM)) {
		look_at_assembly(g);
	}
}

static bool next_function(struct go_rows *g)
{
	while (g->i < gopclntab_count(g->table))
		if (gopclntab_get(g->table, g->i++, &g->fn) && g->fn.start >= g->at &&
		    layout_code(g->layout, g->fn.start) &&
		    gopclntab_frame_sizes(g->table, &g->fn, &g->sizes)) {
			start_function(g);
			return true;
		}
	return false;
}

/* --- rules --- */

static uint32_t frame_rule(const struct go_rows *g, struct rules *rules, int64_t size)
{
	enum table_arch arch = g->layout->arch;
	struct cfi_state s = { .cfa = { .kind = CFI_REG, .reg = cfi_sp(arch), .off = size } };

	/* syscall.rawVforkSyscall has popped its return address, which still lies below. */
	if (size < (arch == TABLE_X86 ? -8 : 0) || size > INT32_MAX - 16)
		return rule_special(arch, RULE_NONE);
	if (arch == TABLE_X86) {
		s.cfa.off += 8;
		s.ra = (struct cfi_value){ .kind = CFI_AT_CFA, .off = -8 };
		if (size >= 8 && g->keeps_fp)
			s.fp = (struct cfi_value){ .kind = CFI_AT_CFA, .off = -16 };
	} else if (g->pair && size >= g->pair + 16) {
		if (g->at < g->paired)
			return rules_add(rules, &s, cfi_ra(arch));
		s.fp = (struct cfi_value){ .kind = CFI_AT_CFA, .off = g->pair - (int32_t)size };
		s.ra = (struct cfi_value){ .kind = CFI_AT_CFA, .off = s.fp.off + 8 };
	} else if (size) {
		s.ra = (struct cfi_value){ .kind = CFI_AT_CFA, .off = -(int32_t)size };
		s.fp = (struct cfi_value){ .kind = CFI_AT_CFA, .off = -(int32_t)size - 8 };
	}
	return rules_add(rules, &s, cfi_ra(arch));
}

bool go_rows_next(struct go_rows *g, struct rules *rules, struct go_row *row)
{
	bool is_away;

	if (!g->table || g->nr++ == GO_MAX_ROWS)
		return false;
	while (g->at >= g->sizes.to)
		if (!gopclntab_next(&g->sizes) && !next_function(g))
			return false;
	*row = (struct go_row){ .from = g->at, .to = g->sizes.to };
	is_away = g->at >= g->away && g->at < g->back;
	if (g->at < g->away && g->away < row->to)
		row->to = g->away;
	else if (is_away && g->back < row->to)
		row->to = g->back;
	if (g->at < g->paired && g->paired < row->to)
		row->to = g->paired;
	row->rule = is_away ? g->away_rule : frame_rule(g, rules, g->sizes.value);
	g->at = row->to;
	return true;
}

void go_rows_open(struct go_rows *g, const struct layout *l)
{
	*g = (struct go_rows){ .layout = l, .table = gopclntab_open(l->file) };
}

void go_rows_close(struct go_rows *g)
{
	gopclntab_close(g->table);
	*g = (struct go_rows){};
}
