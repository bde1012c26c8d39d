/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* LDLIBS: -ldw -lelf */
/*
 * oracle [--spoil] FILE...: makes the unwind table of each file and compares all of it with what
 * libdw says. --spoil changes one rule before: an oracle that misses it is none.
 *
 * Every rule is turned back into what it means (where the CFA, the frame pointer and the return
 * address are), and so is every row of libdw; both must be equal at the first and at the last byte
 * of each row of either side, and at the borders of each function. Where libdw knows nothing, the
 * table must not either, but for what src/unwind/stubs.h tells, which is looked up again here, and
 * on x86-64 for what is read off the code (src/unwind/scan.h): these queries are counted, and what
 * the rows are worth is for tests/e2e/t434-*.sh and the edges of t430-*.sh to say.
 *
 * .debug_frame of Go says nothing about the frame pointer, and not where functions go over to
 * another stack: there the former is not compared, and rows of the latter are counted.
 *
 * Prints per file "FILE switches N scanned N rows N read N mismatches N exceptions N unsupported N
 * ms N bytes/row N", and before that the first mismatches. Exit status 1 when there is any, or a
 * file without a table.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <dwarf.h>
#include <elfutils/libdw.h>

#include "base/mem.h"
#include "unwind/rule.h"
#include "unwind/table.h"

#define MAX_SHOWN   5 /* mismatches per file */
#define MAX_PADDING 15
#define MAX_ENTRY   128

enum where { SAME, UNDEFINED, AT_CFA_PLUS, CFA_PLUS, REGISTER, REG_PLUS, MEMORY, UNKNOWN };

struct place {
	enum where where;
	int64_t reg, off, off2;
};

struct meaning {
	int special; /* enum rule_special, -1 = none */
	struct place cfa, fp, ra;
};

struct span {
	uint64_t start, end;
};

struct file {
	const char *name;
	struct table table;
	struct elf_file *elf_file;
	Elf *elf;
	Dwarf *dwarf;
	Dwarf_CFI *cfis[2]; /* .eh_frame, .debug_frame */
	struct span *functions;
	size_t nr, cap;
	size_t nr_mismatches, nr_queries, nr_switches, nr_scanned;
	bool is_go;
};

static int fp_reg(const struct file *f)
{
	return f->table.arch == TABLE_X86 ? 6 : 29;
}

static int sp_reg(const struct file *f)
{
	return f->table.arch == TABLE_X86 ? 7 : 31;
}

/* --- what our rules mean --- */

static struct place place_of(uint8_t kind, int64_t reg, int64_t off, int64_t off2)
{
	static const enum where wheres[] = {
		[AT_SAME] = SAME,    [AT_CFA] = AT_CFA_PLUS, [AT_REG] = REG_PLUS,
		[AT_DEREF] = MEMORY, [IN_REG] = REGISTER,    [IS_CFA] = CFA_PLUS,
		[AT_LOST] = UNKNOWN,
	};

	return (struct place){ wheres[kind], reg, off, off2 };
}

static struct meaning exception_meaning(const struct table_exception *e)
{
	return (struct meaning){
		.special = -1,
		.cfa = { e->cfa_kind == CFA_DEREF ? MEMORY : REG_PLUS, e->cfa_reg, e->cfa_off,
			 e->cfa_kind == CFA_DEREF ? e->cfa_off2 : 0 },
		.fp = place_of(e->fp_kind, e->fp_reg, e->fp_off, e->fp_off2),
		.ra = place_of(e->ra_kind, e->ra_reg, e->ra_off, 0),
	};
}

static struct meaning x86_meaning(const struct file *f, uint32_t rule)
{
	struct meaning m = { .special = -1 };

	m.cfa = (struct place){ REG_PLUS, rule & RULE_X86_BASE_FP ? fp_reg(f) : sp_reg(f),
				RULE_X86_CFA(rule), 0 };
	m.ra = (struct place){ AT_CFA_PLUS, 0, -8, 0 };
	if (rule & 0x7f)
		m.fp = (struct place){ AT_CFA_PLUS, 0, -(int64_t)RULE_X86_SLOT(rule), 0 };
	return m;
}

static struct meaning arm64_meaning(const struct file *f, uint32_t rule)
{
	int64_t cfa = RULE_ARM64_CFA(rule), slot = RULE_ARM64_SLOT(rule);
	bool base_fp = rule & RULE_ARM64_BASE_FP;
	struct meaning m = { .special = -1 };
	struct place from_cfa = { AT_CFA_PLUS, 0, -slot, 0 };
	struct place from_sp = { base_fp ? UNKNOWN : AT_CFA_PLUS, 0, slot - cfa, 0 };

	m.cfa = (struct place){ REG_PLUS, base_fp ? fp_reg(f) : sp_reg(f), cfa, 0 };
	switch (RULE_ARM64_MODE(rule)) {
	case MODE_PAIR_CFA:
		m.fp = m.ra = from_cfa;
		m.ra.off += 8;
		break;
	case MODE_PAIR_SP:
		m.fp = m.ra = from_sp;
		m.ra.off += 8;
		break;
	case MODE_RA_CFA:
		m.ra = from_cfa;
		break;
	case MODE_RA_SP:
		m.ra = from_sp;
		break;
	case MODE_FP_SP:
		m.fp = from_sp;
		break;
	}
	return m;
}

static struct meaning our_meaning(const struct file *f, uint32_t rule)
{
	const struct table_exception *e = table_exception(&f->table, rule);

	if (e)
		return exception_meaning(e);
	if (f->table.arch == TABLE_X86 && RULE_X86_KIND(rule) == 2)
		return (struct meaning){ .special = rule & 0xff };
	if (f->table.arch == TABLE_ARM64 && RULE_ARM64_MODE(rule) == MODE_SPECIAL)
		return (struct meaning){ .special = rule & 0x3f };
	return f->table.arch == TABLE_X86 ? x86_meaning(f, rule) : arm64_meaning(f, rule);
}

/* --- what libdw says --- */

static bool is_breg(const Dwarf_Op *op, struct place *p)
{
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		*p = (struct place){ REG_PLUS, op->atom - DW_OP_breg0, (int64_t)op->number, 0 };
	else if (op->atom == DW_OP_bregx)
		*p = (struct place){ REG_PLUS, (int64_t)op->number, (int64_t)op->number2, 0 };
	else
		return false;
	return true;
}

static struct place expression_place(const Dwarf_Op *ops, size_t nr)
{
	struct place p;
	size_t i = 1;

	if (!nr || !is_breg(&ops[0], &p))
		return (struct place){ .where = UNKNOWN };
	for (; i < nr && ops[i].atom == DW_OP_plus_uconst; i++)
		p.off += (int64_t)ops[i].number;
	if (i < nr && ops[i].atom == DW_OP_deref)
		for (p.where = MEMORY, i++; i < nr && ops[i].atom == DW_OP_plus_uconst; i++)
			p.off2 += (int64_t)ops[i].number;
	return i == nr ? p : (struct place){ .where = UNKNOWN };
}

/* breg7 8, breg16 0, lit15, and, lit11, ge, lit3, shl, plus */
static int plt_byte(const Dwarf_Op *ops, size_t nr)
{
	static const uint8_t atoms[] = { DW_OP_breg7, DW_OP_breg16, DW_OP_lit15, DW_OP_and, 0,
					 DW_OP_ge,    DW_OP_lit3,   DW_OP_shl,	 DW_OP_plus };

	if (nr != sizeof(atoms) || ops[0].number != 8 || ops[1].number != 0)
		return -1;
	for (size_t i = 0; i < nr; i++)
		if (atoms[i] && ops[i].atom != atoms[i])
			return -1;
	return ops[4].atom - DW_OP_lit0;
}

static struct place register_place(Dwarf_Frame *frame, int reg)
{
	Dwarf_Op memory[3], *ops;
	struct place p = { .where = UNKNOWN };
	size_t nr;

	if (dwarf_frame_register(frame, reg, memory, &ops, &nr))
		return p;
	if (!nr)
		return (struct place){ .where = ops ? UNDEFINED : SAME };
	if (ops[0].atom == DW_OP_regx)
		return (struct place){ .where = REGISTER, .reg = (int64_t)ops[0].number };
	if (ops[0].atom != DW_OP_call_frame_cfa)
		return expression_place(ops, nr);
	if (nr > 1 && ops[1].atom != DW_OP_plus_uconst && ops[1].atom != DW_OP_stack_value)
		return expression_place(ops + 1, nr - 1);
	p.where = ops[nr - 1].atom == DW_OP_stack_value ? CFA_PLUS : AT_CFA_PLUS;
	if (nr > 1 && ops[1].atom == DW_OP_plus_uconst)
		p.off = (int64_t)ops[1].number;
	if (nr > 3 || (nr == 3 && ops[2].atom != DW_OP_stack_value))
		p.where = UNKNOWN;
	return p;
}

/* What our rules leave out on purpose (bpf/table.h): slots below SP, registers not known. */
static void simplify(const struct file *f, struct meaning *m, int ra_reg)
{
	struct place *fp = &m->fp;

	if (fp->where == UNDEFINED)
		*fp = (struct place){ .where = SAME };
	if (f->table.arch == TABLE_X86 && fp->where == AT_CFA_PLUS && m->cfa.where == REG_PLUS &&
	    m->cfa.reg == sp_reg(f) && -fp->off > m->cfa.off)
		*fp = (struct place){ .where = SAME };
	if (m->ra.where == SAME && ra_reg != (f->table.arch == TABLE_X86 ? 16 : 30))
		m->ra = (struct place){ .where = REGISTER, .reg = ra_reg };
}

static struct meaning frame_meaning(const struct file *f, Dwarf_Frame *frame, int ra_reg,
				    bool is_signal)
{
	struct meaning m = { .special = -1 };
	Dwarf_Op *ops;
	size_t nr;
	int byte;

	if (is_signal)
		return (struct meaning){ .special = RULE_SIGNAL };
	m.ra = register_place(frame, ra_reg);
	m.fp = register_place(frame, fp_reg(f));
	if (m.ra.where == UNDEFINED)
		return (struct meaning){ .special = RULE_STOP };
	if (dwarf_frame_cfa(frame, &ops, &nr))
		return (struct meaning){ .special = RULE_NONE };
	byte = plt_byte(ops, nr);
	if (byte == 10 || byte == 11)
		return (struct meaning){ .special = byte == 11 ? RULE_PLT11 : RULE_PLT10 };
	m.cfa = expression_place(ops, nr);
	simplify(f, &m, ra_reg);
	if (m.cfa.where == UNKNOWN || m.ra.where == UNKNOWN || m.ra.where == MEMORY ||
	    (m.ra.where == SAME && f->table.arch == TABLE_X86))
		return (struct meaning){ .special = RULE_NONE };
	return m;
}

/* --- functions --- */

static bool encoded_size(uint8_t encoding, size_t *sz)
{
	*sz = (encoding & 0xf) == DW_EH_PE_sdata4 || (encoding & 0xf) == DW_EH_PE_udata4 ? 4 : 8;
	return (encoding & 0x70) == DW_EH_PE_absptr || (encoding & 0x70) == DW_EH_PE_pcrel;
}

static uint8_t encoding_of(const Dwarf_CIE *cie)
{
	const uint8_t *data = cie->augmentation_data;

	for (const char *letter = cie->augmentation; *letter; letter++) {
		if (*letter == 'R')
			return *data;
		if (*letter == 'L')
			data++;
		if (*letter == 'P') {
			size_t sz;

			encoded_size(*data, &sz);
			data += 1 + sz;
		}
	}
	return DW_EH_PE_absptr;
}

static uint64_t read_number(const uint8_t *at, size_t sz)
{
	int32_t small;
	uint64_t large;

	memcpy(&small, at, sizeof(small));
	memcpy(&large, at, sizeof(large));
	return sz == 4 ? (uint64_t)small : large;
}

static void add_function(struct file *f, const Dwarf_FDE *fde, const Elf_Data *data, uint64_t vaddr,
			 uint8_t encoding)
{
	struct span s;
	size_t sz;

	if (!encoded_size(encoding, &sz)) {
		printf("%s: functions are encoded as %#x, beyond this oracle\n", f->name, encoding);
		f->nr_mismatches++;
		return;
	}
	s.start = read_number(fde->start, sz);
	if (encoding & DW_EH_PE_pcrel)
		s.start += vaddr + (uint64_t)(fde->start - (uint8_t *)data->d_buf);
	s.end = s.start + read_number(fde->start + sz, sz);
	if (!s.start || s.start >= s.end)
		return;
	f->functions = xgrow(f->functions, f->nr, &f->cap, sizeof(s));
	f->functions[f->nr++] = s;
}

static void list_section(struct file *f, Elf_Scn *scn, const GElf_Shdr *h, bool is_eh)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	const unsigned char *ident = (unsigned char *)elf_getident(f->elf, NULL);
	Dwarf_Off at = 0, next;
	Dwarf_CFI_Entry e, cie;

	while (data && !dwarf_next_cfi(ident, data, is_eh, at, &next, &e)) {
		Dwarf_Off unused;

		if (!dwarf_cfi_cie_p(&e) &&
		    !dwarf_next_cfi(ident, data, is_eh, e.fde.CIE_pointer, &unused, &cie))
			add_function(f, &e.fde, data, h->sh_addr,
				     is_eh ? encoding_of(&cie.cie) : DW_EH_PE_absptr);
		at = next;
	}
}

static int by_start(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static const char *section_name(const struct file *f, const GElf_Shdr *h)
{
	size_t names = 0;

	elf_getshdrstrndx(f->elf, &names);
	return elf_strptr(f->elf, names, h->sh_name) ?: "";
}

static void list_functions(struct file *f)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr h;

	while ((scn = elf_nextscn(f->elf, scn))) {
		if (!gelf_getshdr(scn, &h) || h.sh_type == SHT_NOBITS)
			continue;
		if (h.sh_flags & SHF_COMPRESSED && elf_compress(scn, 0, 0) >= 0)
			gelf_getshdr(scn, &h);
		if (!strcmp(section_name(f, &h), ".eh_frame"))
			list_section(f, scn, &h, true);
		else if (!strcmp(section_name(f, &h), ".debug_frame"))
			list_section(f, scn, &h, false);
	}
	qsort(f->functions, f->nr, sizeof(*f->functions), by_start);
}

/* The index of the first function that begins behind pc. */
static size_t behind(const struct file *f, uint64_t pc)
{
	size_t lo = 0, hi = f->nr, mid;

	while (lo < hi) {
		mid = (lo + hi) / 2;
		if (f->functions[mid].start <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* --- where libdw knows nothing --- */

static bool is_in_plt(const struct file *f, uint64_t pc)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr h;

	while ((scn = elf_nextscn(f->elf, scn)))
		if (gelf_getshdr(scn, &h) && pc >= h.sh_addr && pc - h.sh_addr < h.sh_size) {
			const char *name = section_name(f, &h);

			return !strncmp(name, ".plt", 4) || !strcmp(name, ".iplt");
		}
	return false;
}

static bool is_sigreturn(const struct file *f, uint64_t pc)
{
	static const uint8_t code[2][8] = { { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f },
					    { 0x68, 0x11, 0x80, 0xd2, 1, 0, 0, 0xd4 } };
	uint8_t bytes[32];
	uint64_t offset = pc;

	for (size_t i = 0; i < f->elf_file->nr_segments; i++) {
		const Elf64_Phdr *s = &f->elf_file->segments[i];

		if (s->p_type == PT_LOAD && pc >= s->p_vaddr && pc - s->p_vaddr < s->p_filesz)
			offset = pc - s->p_vaddr + s->p_offset;
	}
	return elf_file_read(f->elf_file, offset - 9, bytes, sizeof(bytes)) == sizeof(bytes) &&
	       memmem(bytes, sizeof(bytes), code[f->table.arch], 8);
}

static bool is_entry(const struct file *f, uint64_t pc)
{
	uint64_t entry = f->elf_file->header.e_entry;

	return pc >= entry && pc - entry < MAX_ENTRY;
}

/* Between the end of a function and what is known next: near enough for padding. */
static bool is_padding(const struct file *f, uint64_t pc)
{
	size_t i = behind(f, pc);
	uint64_t end = 0, next = pc;

	for (size_t k = i; k-- && i - k < 64;)
		if (f->functions[k].end > end)
			end = f->functions[k].end;
	while (next - pc <= MAX_PADDING && (i == f->nr || next < f->functions[i].start) &&
	       !is_entry(f, next) && !is_in_plt(f, next) && !is_sigreturn(f, next))
		next++;
	return end && next - end <= MAX_PADDING;
}

static bool may_be_said(struct file *f, uint64_t pc, uint32_t rule)
{
	struct meaning m = our_meaning(f, rule);

	if (m.special == RULE_NONE)
		return true;
	if (m.special == RULE_STOP && is_entry(f, pc))
		return true;
	if (m.special == RULE_SIGNAL && is_sigreturn(f, pc))
		return true;
	if (is_in_plt(f, pc))
		return rule == (f->table.arch == TABLE_X86 ? 1u << 7 : 0);
	if (is_padding(f, pc))
		return true;
	if (f->table.arch != TABLE_X86 || (m.special >= 0 && m.special != RULE_STOP))
		return false;
	f->nr_scanned++;
	return true;
}

/* --- comparing --- */

static void show_place(const char *name, const struct place *p)
{
	static const char *const wheres[] = { "same", "undefined", "cfa[",   "cfa+",
					      "reg",  "reg+",	   "memory", "unknown" };

	printf(" %s=%s,r%" PRId64 ",%+" PRId64 ",%+" PRId64, name, wheres[p->where], p->reg, p->off,
	       p->off2);
}

static void show(const char *who, const struct meaning *m)
{
	printf("   %s special=%d", who, m->special);
	show_place("cfa", &m->cfa);
	show_place("fp", &m->fp);
	show_place("ra", &m->ra);
	putchar('\n');
}

static void mismatch(struct file *f, uint64_t pc, uint32_t rule, const struct meaning *theirs)
{
	struct meaning ours = our_meaning(f, rule);

	if (f->nr_mismatches++ >= MAX_SHOWN)
		return;
	printf("%s: mismatch at %#" PRIx64 ", rule %#x\n", f->name, pc, rule);
	show("ours ", &ours);
	if (theirs)
		show("libdw", theirs);
	else
		printf("   libdw: nothing\n");
}

static bool same_place(const struct place *a, const struct place *b)
{
	return a->where == b->where && a->reg == b->reg && a->off == b->off && a->off2 == b->off2;
}

static bool same_meaning(const struct meaning *a, const struct meaning *b)
{
	return a->special == b->special && same_place(&a->cfa, &b->cfa) &&
	       same_place(&a->fp, &b->fp) && same_place(&a->ra, &b->ra);
}

static bool is_go(const struct file *f)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr h;

	while ((scn = elf_nextscn(f->elf, scn)))
		if (gelf_getshdr(scn, &h) && !strcmp(section_name(f, &h), ".go.buildinfo"))
			return true;
	return false;
}

/* What Go's .debug_frame does not say is taken over from our side. */
static void complete(struct file *f, const struct meaning *ours, struct meaning *theirs)
{
	theirs->fp = ours->fp;
	/* The last instruction of some: the caller's frame was left before. */
	if (ours->special == RULE_NONE && theirs->cfa.off < 0)
		*theirs = *ours;
	/* Signal handlers, which the kernel has called. */
	if (theirs->special == RULE_STOP || ours->special == RULE_SIGNAL)
		*theirs = *ours;
	if (ours->special != RULE_STOP && ours->special != RULE_OTHER_STACK &&
	    ours->special != RULE_GO_CALLS_C && ours->special != RULE_GO_SAVED &&
	    ours->special != RULE_GO_SAVED_SP && ours->special != RULE_NONE)
		return;
	*theirs = *ours;
	f->nr_switches++;
}

/* Compares at pc; returns how far libdw's row, or its not knowing, reaches. */
static uint64_t compare(struct file *f, uint64_t pc, uint32_t rule)
{
	Dwarf_Frame *frame = NULL;
	Dwarf_Addr start, end;
	struct meaning ours, theirs;
	bool is_signal;
	size_t i;
	int ra_reg;

	f->nr_queries++;
	for (i = 0; i < 2 && !frame; i++)
		if (f->cfis[i] && dwarf_cfi_addrframe(f->cfis[i], pc, &frame))
			frame = NULL;
	if (!frame) {
		if (!may_be_said(f, pc, rule))
			mismatch(f, pc, rule, NULL);
		i = behind(f, pc);
		return i < f->nr ? f->functions[i].start : UINT64_MAX;
	}
	ra_reg = dwarf_frame_info(frame, &start, &end, &is_signal);
	ours = our_meaning(f, rule);
	theirs = frame_meaning(f, frame, ra_reg, is_signal);
	if (f->is_go && i == 2)
		complete(f, &ours, &theirs);
	if (ours.special == -1 && ours.fp.where == UNKNOWN)
		ours.fp = (struct place){ .where = UNKNOWN };
	if (!same_meaning(&ours, &theirs))
		mismatch(f, pc, rule, &theirs);
	free(frame);
	return end > pc ? end : pc + 1;
}

/* All of libdw's rows in [start, end), where the table has one rule. */
static void compare_span(struct file *f, uint64_t start, uint64_t end, uint32_t rule)
{
	if (start >= end)
		return;
	if (table_rule(&f->table, start) != rule || table_rule(&f->table, end - 1) != rule)
		mismatch(f, start, rule, NULL);
	for (uint64_t pc = start; pc < end;)
		pc = compare(f, pc, rule);
	compare(f, end - 1, rule);
}

static void compare_table(struct file *f)
{
	const struct table *t = &f->table;
	const struct table_page *pages = (const struct table_page *)t->words;
	unsigned int shift = TABLE_PAGE_SHIFT(t->arch), unit = TABLE_UNIT_SHIFT(t->arch);

	for (uint32_t i = 0; i < t->nr_pages; i++) {
		uint64_t page = (t->first_page + i) << shift, from = page, next;
		uint32_t rule = pages[i].rule_count >> 10;

		for (uint32_t k = 0; k < (pages[i].rule_count & TABLE_MAX_ROWS); k++) {
			uint32_t row = t->words[pages[i].rows + k];

			next = page + ((uint64_t)(row >> ROW_RULE_BITS) << unit);
			compare_span(f, from, next, rule);
			from = next;
			rule = row & ROW_RULE_MASK;
		}
		compare_span(f, from, page + (1u << shift), rule);
	}
}

static void compare_borders(struct file *f)
{
	for (size_t i = 0; i < f->nr; i++) {
		const struct span *s = &f->functions[i];
		const uint64_t at[] = { s->start - 1, s->start, s->end - 1, s->end };

		for (size_t k = 0; k < 4; k++)
			compare(f, at[k], table_rule(&f->table, at[k]));
	}
}

static bool is_in_function(const struct file *f, uint64_t pc)
{
	size_t i = behind(f, pc);

	return i && pc < f->functions[i - 1].end;
}

static bool spoil_row(struct file *f, uint64_t pc, uint32_t *row)
{
	uint32_t rule = *row & ROW_RULE_MASK;

	if (our_meaning(f, rule).special != -1 || table_exception(&f->table, rule) ||
	    !is_in_function(f, pc))
		return false;
	*row ^= f->table.arch == TABLE_X86 ? 1 << 7 : 1 << 9;
	return true;
}

/* A CFA 8 or 16 bytes off, in the first row that libdw knows of where that can be. */
static void spoil(struct file *f)
{
	const struct table *t = &f->table;
	const struct table_page *pages = (const struct table_page *)t->words;

	for (uint32_t i = 0; i < t->nr_pages; i++)
		for (uint32_t k = 0; k < (pages[i].rule_count & TABLE_MAX_ROWS); k++) {
			uint32_t *row = &t->words[pages[i].rows + k];
			uint64_t at = (uint64_t)(*row >> ROW_RULE_BITS)
				      << TABLE_UNIT_SHIFT(t->arch);

			if (spoil_row(f, ((t->first_page + i) << TABLE_PAGE_SHIFT(t->arch)) + at,
				      row))
				return;
		}
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

static bool compare_file(struct file *f, int fd, bool is_spoilt)
{
	double start = now();
	int err = -ENOEXEC;

	f->elf_file = elf_file_open(fd);
	if (f->elf_file)
		err = table_build(&f->table, f->elf_file, NULL);
	if (err) {
		printf("%s: no table: %s\n", f->name, strerror(-err));
		return false;
	}
	start = now() - start;
	f->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	f->cfis[0] = dwarf_getcfi_elf(f->elf);
	f->dwarf = dwarf_begin_elf(f->elf, DWARF_C_READ, NULL);
	if (f->dwarf)
		f->cfis[1] = dwarf_getcfi(f->dwarf);
	list_functions(f);
	f->is_go = is_go(f);
	if (is_spoilt)
		spoil(f);
	compare_table(f);
	compare_borders(f);
	printf("%s switches %zu scanned %zu rows %zu read %zu mismatches %zu exceptions %u "
	       "unsupported %zu ms %.1f bytes/row %.2f queries %zu\n",
	       f->name, f->nr_switches, f->nr_scanned, f->table.nr_rows, f->table.nr_read,
	       f->nr_mismatches, f->table.nr_exceptions, f->table.nr_unsupported, start,
	       4.0 * f->table.nr_words / f->table.nr_rows, f->nr_queries);
	return !f->nr_mismatches;
}

static bool check_file(const char *name, bool is_spoilt)
{
	struct file f = { .name = name };
	int fd = open(name, O_RDONLY);
	bool ok = fd >= 0 && compare_file(&f, fd, is_spoilt);

	if (fd < 0)
		printf("%s: %s\n", name, strerror(errno));
	table_release(&f.table);
	elf_file_close(f.elf_file);
	dwarf_cfi_end(f.cfis[0]);
	dwarf_end(f.dwarf);
	elf_end(f.elf);
	free(f.functions);
	close(fd);
	return ok;
}

int main(int argc, char **argv)
{
	bool is_spoilt = argc > 1 && !strcmp(argv[1], "--spoil");
	bool ok = argc > 1 + is_spoilt;

	elf_version(EV_CURRENT);
	for (int i = 1 + is_spoilt; i < argc; i++)
		ok = check_file(argv[i], is_spoilt) && ok;
	return !ok;
}
