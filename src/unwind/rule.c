/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The layout of rules is in bpf/table.h. Each architecture has one function that packs a state;
 * when it does not fit, both share the exceptions.
 */
#include "unwind/rule.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define NR_SLOTS   (2 * RULES_MAX_EXCEPTIONS)
#define MAX_PROBES 64 /* a file that makes its exceptions collide has some of them twice */
#define NO_RULE	   UINT32_MAX

void rules_init(struct rules *r, enum table_arch arch)
{
	*r = (struct rules){ .arch = arch };
	r->slots = xcalloc(NR_SLOTS, sizeof(*r->slots));
}

void rules_release(struct rules *r)
{
	free(r->exceptions);
	free(r->slots);
	*r = (struct rules){};
}

uint32_t rule_special(enum table_arch arch, enum rule_special code)
{
	return (arch == TABLE_X86 ? RULE_X86_SPECIAL : RULE_ARM64_SPECIAL) | code;
}

static uint32_t unsupported(struct rules *r)
{
	r->nr_unsupported++;
	return rule_special(r->arch, RULE_NONE);
}

/* --- exceptions --- */

static const uint8_t places[] = {
	[CFI_SAME] = AT_SAME,	[CFI_UNDEFINED] = AT_LOST, [CFI_AT_CFA] = AT_CFA,
	[CFI_IS_CFA] = IS_CFA,	[CFI_IN_REG] = IN_REG,	   [CFI_REG] = AT_REG,
	[CFI_DEREF] = AT_DEREF, [CFI_PLT] = AT_LOST,	   [CFI_UNSUPPORTED] = AT_LOST,
};

static struct table_exception make_exception(const struct cfi_state *s)
{
	return (struct table_exception){
		.cfa_kind = s->cfa.kind == CFI_REG ? CFA_REG : CFA_DEREF,
		.cfa_reg = s->cfa.reg,
		.cfa_off = s->cfa.off,
		.cfa_off2 = s->cfa.off2,
		.fp_kind = places[s->fp.kind],
		.fp_reg = s->fp.reg,
		.fp_off = s->fp.off,
		.fp_off2 = s->fp.off2,
		.ra_kind = places[s->ra.kind],
		.ra_reg = s->ra.reg,
		.ra_off = s->ra.off,
	};
}

static size_t hash(const struct table_exception *e)
{
	uint64_t words[sizeof(*e) / sizeof(uint64_t)], h = 0;

	memcpy(words, e, sizeof(words));
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		h = (h ^ words[i] ^ words[i] >> 29) * 0x9e3779b97f4a7c15ull;
	return h >> 40;
}

/* The index of an exception, which is added when it is new. NO_RULE: no room. */
static uint32_t find_exception(struct rules *r, const struct table_exception *e)
{
	size_t at = hash(e);
	uint32_t *slot = NULL;

	for (size_t i = 0; i < MAX_PROBES; i++) {
		slot = &r->slots[(at + i) % NR_SLOTS];
		if (!*slot)
			break;
		if (!memcmp(&r->exceptions[*slot - 1], e, sizeof(*e)))
			return *slot - 1;
	}
	if (r->nr_exceptions == RULES_MAX_EXCEPTIONS)
		return NO_RULE;
	r->exceptions = xgrow(r->exceptions, r->nr_exceptions, &r->cap, sizeof(*e));
	r->exceptions[r->nr_exceptions++] = *e;
	*slot = r->nr_exceptions;
	return r->nr_exceptions - 1;
}

static uint32_t add_exception(struct rules *r, const struct cfi_state *s,
			      const struct held_place *held)
{
	struct table_exception e = make_exception(s);
	uint32_t i;

	if ((s->cfa.kind != CFI_REG && s->cfa.kind != CFI_DEREF) || e.ra_kind == AT_DEREF ||
	    e.ra_kind == AT_LOST)
		return unsupported(r);
	if (held) {
		e.cfa_kind = CFA_KEPT;
		e.cfa_off2 = held->off;
		e.called = held->function;
		e.push = held->push;
	}
	i = find_exception(r, &e);
	if (i == NO_RULE)
		return unsupported(r);
	if (r->arch == TABLE_X86)
		return RULE_X86_EXCEPTION | i;
	return RULE_ARM64_EXCEPTION | i >> 6 << 9 | (i & 0x3f);
}

/* --- x86-64 --- */

/* The canonical case; NO_RULE for all others. */
static uint32_t pack_x86(const struct cfi_state *s)
{
	uint32_t base = s->cfa.reg == cfi_fp(TABLE_X86) ? RULE_X86_BASE_FP : 0;
	uint32_t cfa = s->cfa.off, slot = 0;

	if (s->cfa.kind != CFI_REG || (!base && s->cfa.reg != cfi_sp(TABLE_X86)) || cfa % 8 ||
	    cfa > RULE_X86_MAX_CFA || s->ra.kind != CFI_AT_CFA || s->ra.off != -8)
		return NO_RULE;
	if (s->fp.kind == CFI_AT_CFA) {
		slot = -(uint32_t)s->fp.off;
		if (!slot || slot % 8 || slot > RULE_X86_MAX_SLOT)
			return NO_RULE;
	} else if (s->fp.kind != CFI_SAME) {
		return NO_RULE;
	}
	return base | cfa / 8 << 7 | slot / 8;
}

static uint32_t plt_rule(struct rules *r, const struct cfi_value *cfa)
{
	if (cfa->off == 11)
		return rule_special(r->arch, RULE_PLT11);
	if (cfa->off == 10)
		return rule_special(r->arch, RULE_PLT10);
	return unsupported(r);
}

/*
 * In the end of a function compilers do not always say that the frame pointer is restored: the
 * place where it was saved then is below the stack pointer, and may hold anything.
 */
static bool is_stale(const struct cfi_state *s)
{
	return s->cfa.kind == CFI_REG && s->cfa.reg == cfi_sp(TABLE_X86) &&
	       s->fp.kind == CFI_AT_CFA && -(int64_t)s->fp.off > s->cfa.off;
}

/* --- aarch64 --- */

/*
 * Compilers save the pair near either end of the frame, so a place counts from the end it is nearer
 * to: from the stack pointer only where the CFA does too.
 */
static uint32_t pack_slot(const struct cfi_state *s, int64_t off, uint32_t from_cfa,
			  uint32_t from_sp)
{
	int64_t sp_off = s->cfa.off + off;

	if (off % 8)
		return NO_RULE;
	if (from_cfa && off <= 0 && -off <= RULE_ARM64_MAX_SLOT)
		return from_cfa << 6 | (uint32_t)(-off / 8);
	if (s->cfa.reg == cfi_sp(TABLE_ARM64) && sp_off >= 0 && sp_off <= RULE_ARM64_MAX_SLOT)
		return from_sp << 6 | (uint32_t)(sp_off / 8);
	return NO_RULE;
}

static uint32_t pack_places(const struct cfi_state *s)
{
	const struct cfi_value *fp = &s->fp, *ra = &s->ra;

	if (fp->kind == CFI_SAME && ra->kind == CFI_SAME)
		return MODE_LR << 6;
	if (fp->kind == CFI_SAME && ra->kind == CFI_AT_CFA)
		return pack_slot(s, ra->off, MODE_RA_CFA, MODE_RA_SP);
	if (fp->kind == CFI_AT_CFA && ra->kind == CFI_SAME)
		return pack_slot(s, fp->off, 0, MODE_FP_SP);
	if (fp->kind == CFI_AT_CFA && ra->kind == CFI_AT_CFA && (int64_t)ra->off - fp->off == 8)
		return pack_slot(s, fp->off, MODE_PAIR_CFA, MODE_PAIR_SP);
	return NO_RULE;
}

static uint32_t pack_arm64(const struct cfi_state *s)
{
	uint32_t base = s->cfa.reg == cfi_fp(TABLE_ARM64) ? RULE_ARM64_BASE_FP : 0;
	uint32_t cfa = s->cfa.off, rest;

	if (s->cfa.kind != CFI_REG || (!base && s->cfa.reg != cfi_sp(TABLE_ARM64)) || cfa % 16 ||
	    cfa > RULE_ARM64_MAX_CFA)
		return NO_RULE;
	rest = pack_places(s);
	return rest == NO_RULE ? NO_RULE : base | cfa / 16 << 9 | rest;
}

/* A return address still where the call has put it: in the link register, if there is one. */
static void name_register(struct cfi_value *ra, enum table_arch arch, uint8_t ra_reg)
{
	if (ra->kind != CFI_SAME)
		return;
	if (ra_reg != cfi_ra(arch))
		*ra = (struct cfi_value){ .kind = CFI_IN_REG, .reg = ra_reg };
	else if (arch == TABLE_X86)
		ra->kind = CFI_UNSUPPORTED;
}

uint32_t rules_add(struct rules *r, const struct cfi_state *state, uint8_t ra_reg)
{
	return rules_add_held(r, state, ra_reg, NULL);
}

uint32_t rules_add_held(struct rules *r, const struct cfi_state *state, uint8_t ra_reg,
			const struct held_place *held)
{
	struct cfi_state s = *state;
	uint32_t rule;

	if (s.ra.kind == CFI_UNDEFINED && s.cfa.kind != CFI_UNSUPPORTED)
		return rule_special(r->arch, RULE_STOP);
	if (s.cfa.kind == CFI_PLT)
		return plt_rule(r, &s.cfa);
	if (s.fp.kind == CFI_UNDEFINED || (r->arch == TABLE_X86 && is_stale(&s)))
		s.fp = (struct cfi_value){ .kind = CFI_SAME };
	name_register(&s.ra, r->arch, ra_reg);
	rule = r->arch == TABLE_X86 ? pack_x86(&s) : pack_arm64(&s);
	return rule == NO_RULE ? add_exception(r, &s, held) : rule;
}
