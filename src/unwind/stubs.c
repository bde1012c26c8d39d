/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds stubs by section, by ELF header, by symbol and by the very bytes of their code. Symbols are
 * looked through only where there is a full symbol table of bounded size: C libraries that describe
 * what signal handlers return to (glibc) need no search, the others (musl, Go) have one.
 */
#include "unwind/stubs.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "unwind/rule.h"

#define MAX_SYMBOLS	 500000u
#define MAX_STRING_BYTES (16u << 20)
#define MAX_FUNCTION	 (64u << 10) /* of a vDSO, in bytes */
#define MAX_RESTORER	 32u	     /* bytes; with padding */

#define INSTRUCTION	  4
#define LDP_STP_MASK	  0xffc07fffu
#define STP_X29_X30_PRE	  0xa9807bfdu /* stp x29, x30, [sp, #imm]! */
#define LDP_X29_X30_POST  0xa8c07bfdu /* ldp x29, x30, [sp], #imm */
#define LDP_STP_IMM(insn) (((int32_t)((insn) << 10) >> 25) * 8)

/* What calls rt_sigreturn, and nothing else. */
static const struct {
	uint8_t bytes[9], sz;
} restorers[] = {
	[TABLE_X86] = { { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 }, 9 },
	[TABLE_ARM64] = { { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 }, 8 },
};

/* The rule behind a call instruction, and before the function has done anything. */
static const uint32_t just_called[] = { [TABLE_X86] = 1 << 7, [TABLE_ARM64] = MODE_LR << 6 };
_Static_assert(RULE_X86_CFA(1 << 7) == 8, "CFA = SP + 8");

static void add(struct stubs *s, uint64_t start, uint64_t end, uint32_t rule, bool whole)
{
	const struct range *code = layout_code(s->layout, start);

	if (!code || s->nr == STUBS_MAX)
		return;
	if (end > code->end)
		end = code->end;
	if (start >= end)
		return;
	s->list = xgrow(s->list, s->nr, &s->cap, sizeof(*s->list));
	s->list[s->nr++] = (struct stub){ start, end, rule, whole };
}

static void add_plts(struct stubs *s)
{
	const struct layout *l = s->layout;

	for (int i = SECTION_PLT; i <= SECTION_IPLT; i++)
		add(s, l->sections[i].start, l->sections[i].end, just_called[l->arch], false);
}

static void add_entry(struct stubs *s)
{
	uint64_t entry = s->layout->file->header.e_entry;

	if (entry && entry <= UINT64_MAX - STUBS_MAX_ENTRY_BYTES)
		add(s, entry, entry + STUBS_MAX_ENTRY_BYTES,
		    rule_special(s->layout->arch, RULE_STOP), true);
}

/* --- symbols --- */

struct symbols {
	Elf64_Sym *list;
	size_t nr;
	char *strings; /* ends with a 0 */
	size_t sz;
};

static const Elf64_Shdr *find_table(const struct elf_file *f, uint32_t type)
{
	for (size_t i = 0; i < f->nr_sections; i++)
		if (f->sections[i].sh_type == type && f->sections[i].sh_link < f->nr_sections)
			return &f->sections[i];
	return NULL;
}

static bool read_symbols(struct symbols *s, const struct elf_file *f, uint32_t type)
{
	const Elf64_Shdr *table = find_table(f, type), *strings;

	*s = (struct symbols){};
	if (!table)
		return false;
	strings = &f->sections[table->sh_link];
	if (table->sh_offset > f->size || table->sh_size > f->size - table->sh_offset ||
	    table->sh_size / sizeof(*s->list) > MAX_SYMBOLS || strings->sh_offset > f->size ||
	    strings->sh_size > f->size - strings->sh_offset || strings->sh_size > MAX_STRING_BYTES)
		return false;
	s->list = xmalloc(table->sh_size);
	s->nr = elf_file_read(f, table->sh_offset, s->list, table->sh_size) / sizeof(*s->list);
	s->strings = xmalloc(strings->sh_size + 1);
	s->sz = elf_file_read(f, strings->sh_offset, s->strings, strings->sh_size);
	s->strings[s->sz] = '\0';
	return true;
}

static void free_symbols(struct symbols *s)
{
	free(s->list);
	free(s->strings);
}

static const char *name_of(const struct symbols *s, const Elf64_Sym *sym)
{
	return sym->st_name < s->sz ? s->strings + sym->st_name : "";
}

static bool is_function(const Elf64_Sym *sym)
{
	unsigned int type = ELF64_ST_TYPE(sym->st_info);

	return (type == STT_FUNC || type == STT_NOTYPE) && sym->st_shndx != SHN_UNDEF;
}

/* The address before it as well: that is where the unwinder looks for a return address. */
static void add_signal(struct stubs *s, uint64_t start, uint64_t end)
{
	uint64_t before = s->layout->arch == TABLE_X86 ? 1 : INSTRUCTION;

	if (layout_code(s->layout, start - before))
		start -= before;
	add(s, start, end, rule_special(s->layout->arch, RULE_SIGNAL), false);
}

static bool is_restorer(const struct stubs *s, uint64_t vaddr)
{
	size_t sz = restorers[s->layout->arch].sz;
	uint8_t bytes[sizeof(restorers[0].bytes)];

	return layout_read(s->layout, vaddr, bytes, sz) == sz &&
	       !memcmp(bytes, restorers[s->layout->arch].bytes, sz);
}

/* Names are compared up to a limit, so that a table of long ones costs no more. */
static bool names_restorer(const char *name)
{
	return memmem(name, strnlen(name, 64), "restore_rt", strlen("restore_rt")) ||
	       memmem(name, strnlen(name, 64), "sigreturn", strlen("sigreturn"));
}

static void add_restorers(struct stubs *s)
{
	struct symbols symbols;

	if (read_symbols(&symbols, s->layout->file, SHT_SYMTAB))
		for (size_t i = 0; i < symbols.nr; i++) {
			const Elf64_Sym *sym = &symbols.list[i];

			if (is_function(sym) && sym->st_size <= MAX_RESTORER &&
			    names_restorer(name_of(&symbols, sym)) && is_restorer(s, sym->st_value))
				add_signal(s, sym->st_value,
					   sym->st_value + restorers[s->layout->arch].sz);
		}
	free_symbols(&symbols);
}

/* --- the vDSO of aarch64 --- */

/*
 *	stp x29, x30, [sp, #-N]!	from here on both lie at SP, and the CFA is SP + N,
 *	...
 *	ldp x29, x30, [sp], #N		until here; elsewhere the return address is in its register
 */
static void add_function(struct stubs *s, uint64_t start, const uint32_t *code, size_t nr)
{
	uint32_t rule = just_called[TABLE_ARM64];
	uint64_t from = start;

	for (size_t i = 0; i < nr; i++) {
		uint64_t next = start + (i + 1) * INSTRUCTION;
		int32_t frame = -LDP_STP_IMM(code[i]);
		uint32_t new = rule;

		if ((code[i] & LDP_STP_MASK) == STP_X29_X30_PRE && frame > 0 && !(frame % 16))
			new = (uint32_t)frame / 16 << 9 | MODE_PAIR_SP << 6;
		else if ((code[i] & LDP_STP_MASK) == LDP_X29_X30_POST)
			new = just_called[TABLE_ARM64];
		if (new == rule)
			continue;
		add(s, from, next, rule, false);
		from = next;
		rule = new;
	}
	add(s, from, start + nr * INSTRUCTION, rule, false);
}

static void scan_function(struct stubs *s, uint64_t start, uint64_t sz)
{
	uint32_t *code;

	if (sz > MAX_FUNCTION)
		return;
	code = xmalloc(sz);
	add_function(s, start, code, layout_read(s->layout, start, code, sz) / INSTRUCTION);
	free(code);
}

static void add_vdso(struct stubs *s)
{
	struct symbols symbols;

	if (read_symbols(&symbols, s->layout->file, SHT_DYNSYM))
		for (size_t i = 0; i < symbols.nr && s->nr < STUBS_MAX; i++) {
			const Elf64_Sym *sym = &symbols.list[i];

			if (!is_function(sym) || !sym->st_size || sym->st_size > MAX_FUNCTION)
				continue;
			if (!strcmp(name_of(&symbols, sym), "__kernel_rt_sigreturn"))
				add_signal(s, sym->st_value, sym->st_value + sym->st_size);
			else
				scan_function(s, sym->st_value, sym->st_size);
		}
	free_symbols(&symbols);
}

/* --- all of them --- */

static int by_start(const void *a, const void *b)
{
	const struct stub *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Each ends where the next begins; of two that begin together only one has anything left. */
static void make_disjoint(struct stubs *s)
{
	if (s->nr)
		qsort(s->list, s->nr, sizeof(*s->list), by_start);
	for (size_t i = 1; i < s->nr; i++)
		if (s->list[i - 1].end > s->list[i].start)
			s->list[i - 1].end = s->list[i].start;
}

void stubs_init(struct stubs *s, const struct layout *l, bool is_vdso)
{
	*s = (struct stubs){ .layout = l };
	add_plts(s);
	add_entry(s);
	add_restorers(s);
	if (is_vdso && l->arch == TABLE_ARM64)
		add_vdso(s);
	make_disjoint(s);
}

void stubs_release(struct stubs *s)
{
	free(s->list);
	*s = (struct stubs){};
}
