/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables of ELF images made here, as text: "OFFSET:RULE " for each change of the rule, where OFFSET
 * counts from the start of the code and RULE reads as the caller's registers are found.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

#include "tests/unit/assembler.h"
#include "unwind/table.h"

#define TEXT	  0x401000
#define TEXT_SIZE 0x4000 /* unless the test says otherwise */
#define EH_FRAME  0x40000000
#define ARM	  .machine = EM_AARCH64

#if defined(__SANITIZE_ADDRESS__)
#define SLOWER 6 /* sanitizers on a machine shared with other builds */
#else
#define SLOWER 1
#endif

enum section { NONE, SECTION_TEXT, EH, DEBUG, PLT, SYMTAB, DYNSYM, STRTAB, NAMES, NR_SECTIONS };
static const char names[] = "\0.text\0.eh_frame\0.debug_frame\0.plt\0.symtab\0.dynsym\0.strtab";
static const uint8_t name_at[] = { 0, 1, 7, 17, 30, 35, 43, 51, 0 };

struct header_row {
	int32_t start, fde;
};

/* What an image is made of. Zeros: x86-64, and that part is not there. */
struct spec {
	uint16_t machine;
	uint64_t entry, text_sz, plt_at, plt_sz;
	const void *code; /* at code_at; the rest of the code is zeros */
	size_t code_at, code_sz;
	struct bytes eh, debug, symbols, strings;
	struct header_row *rows; /* of .eh_frame_hdr */
	size_t nr_rows;
	uint64_t far; /* a second executable segment there */
	bool no_sections, is_dynamic;
};

struct header {
	Elf64_Ehdr elf;
	Elf64_Phdr segments[4];
	Elf64_Shdr sections[NR_SECTIONS];
	char names[sizeof(names)];
};

static void set_section(struct header *h, enum section i, uint64_t vaddr, uint64_t offset,
			uint64_t sz)
{
	h->sections[i] = (Elf64_Shdr){ .sh_name = name_at[i],
				       .sh_type = SHT_PROGBITS,
				       .sh_addr = vaddr,
				       .sh_offset = offset,
				       .sh_size = sz };
}

static void fill_elf(Elf64_Ehdr *h, const struct spec *s)
{
	memcpy(h->e_ident, ELFMAG, SELFMAG);
	h->e_ident[EI_CLASS] = ELFCLASS64;
	h->e_ident[EI_DATA] = ELFDATA2LSB;
	h->e_machine = s->machine ?: EM_X86_64;
	h->e_entry = s->entry;
	h->e_phoff = offsetof(struct header, segments);
	h->e_phnum = 4;
	h->e_phentsize = sizeof(Elf64_Phdr);
	h->e_shoff = s->no_sections ? 0 : offsetof(struct header, sections);
	h->e_shnum = s->no_sections ? 0 : NR_SECTIONS;
	h->e_shentsize = sizeof(Elf64_Shdr);
	h->e_shstrndx = NAMES;
}

/* Version 1; the pointer to .eh_frame relative to itself; 4-byte count; the usual table. */
static void put_eh_frame_hdr(struct bytes *image, const struct spec *s, uint64_t vaddr)
{
	put(image, "\1\x1b\3\x3b", 4);
	put_number(image, EH_FRAME - (vaddr + 4), 4);
	put_number(image, s->nr_rows, 4);
	for (size_t i = 0; i < s->nr_rows; i++) {
		put_number(image, (uint32_t)(TEXT + s->rows[i].start - vaddr), 4);
		put_number(image, (uint32_t)(EH_FRAME + s->rows[i].fde - vaddr), 4);
	}
}

static size_t put_part(struct bytes *image, const struct bytes *part)
{
	size_t at = image->sz;

	put(image, part->data, part->sz);
	return at;
}

/* Header, code, .eh_frame, .eh_frame_hdr, the rest: in the file one behind the other. */
static struct bytes make_image(const struct spec *s)
{
	uint64_t text_sz = s->text_sz ?: TEXT_SIZE;
	uint8_t *code = calloc(1, text_sz);
	struct bytes image = {};
	struct header h = {};
	size_t at, eh;

	fill_elf(&h.elf, s);
	memcpy(h.names, names, sizeof(names));
	if (s->code)
		memcpy(code + s->code_at, s->code, s->code_sz);
	put(&image, &h, sizeof(h));
	h.segments[0] =
		(Elf64_Phdr){ PT_LOAD, PF_R | PF_X, image.sz, TEXT, TEXT, text_sz, text_sz, 1 };
	set_section(&h, SECTION_TEXT, TEXT, image.sz, text_sz);
	set_section(&h, PLT, TEXT + s->plt_at, image.sz + s->plt_at, s->plt_sz);
	put(&image, code, text_sz);
	free(code);
	eh = put_part(&image, &s->eh);
	set_section(&h, EH, EH_FRAME, eh, s->eh.sz);
	if (s->rows) {
		at = image.sz;
		put_eh_frame_hdr(&image, s, EH_FRAME + s->eh.sz);
		h.segments[1] = (Elf64_Phdr){ .p_type = PT_GNU_EH_FRAME,
					      .p_offset = at,
					      .p_vaddr = EH_FRAME + s->eh.sz,
					      .p_filesz = image.sz - at };
	}
	h.segments[2] =
		(Elf64_Phdr){ PT_LOAD, PF_R, eh, EH_FRAME, EH_FRAME, image.sz - eh, image.sz, 1 };
	if (s->far)
		h.segments[3] = (Elf64_Phdr){ PT_LOAD, PF_R | PF_X, sizeof(h), s->far,
					      s->far,  0x1000,	    0x1000,    1 };
	set_section(&h, DEBUG, 0, put_part(&image, &s->debug), s->debug.sz);
	at = put_part(&image, &s->symbols);
	set_section(&h, s->is_dynamic ? DYNSYM : SYMTAB, 0, at, s->symbols.sz);
	h.sections[SYMTAB].sh_type = s->is_dynamic ? SHT_NULL : SHT_SYMTAB;
	h.sections[DYNSYM].sh_type = s->is_dynamic ? SHT_DYNSYM : SHT_NULL;
	h.sections[SYMTAB].sh_link = h.sections[DYNSYM].sh_link = STRTAB;
	set_section(&h, STRTAB, 0, put_part(&image, &s->strings), s->strings.sz);
	set_section(&h, NAMES, 0, offsetof(struct header, names), sizeof(names));
	memcpy(image.data, &h, sizeof(h));
	return image;
}

static int build_image(struct table *t, const struct bytes *image, bool is_vdso)
{
	struct elf_file *f = elf_file_open_image(image->data, image->sz);
	int err;

	assert_non_null(f);
	err = is_vdso ? table_build_vdso(t, f, NULL) : table_build(t, f, NULL);
	elf_file_close(f);
	return err;
}

static void spec_free(struct spec *s)
{
	bytes_free(&s->eh);
	bytes_free(&s->debug);
	bytes_free(&s->symbols);
	bytes_free(&s->strings);
}

/* Uses up the spec. */
static int build(struct table *t, struct spec *s)
{
	struct bytes image = make_image(s);
	int err = build_image(t, &image, s->is_dynamic);

	bytes_free(&image);
	spec_free(s);
	return err;
}

/* --- tables as text --- */

struct text {
	char s[8192];
	size_t len;
};

__attribute__((format(printf, 2, 3))) static void print(struct text *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	t->len += vsnprintf(t->s + t->len, sizeof(t->s) - t->len, fmt, ap);
	va_end(ap);
	assert_true(t->len < sizeof(t->s));
}

static void print_special(struct text *t, uint32_t code)
{
	static const char *const specials[] = { "stop", "none", "plt11", "plt10", "signal" };

	assert_true(code < 5);
	print(t, "%s", specials[code]);
}

static void print_place(struct text *t, const char *name, uint8_t kind, int reg, int off, int off2)
{
	static const char *const formats[] = {
		[AT_SAME] = "",
		[AT_CFA] = ",%s=[cfa%+d]",
		[AT_REG] = ",%s=[r%d%+d]",
		[AT_DEREF] = ",%s=[*(r%d%+d)%+d]",
		[IN_REG] = ",%s=r%d",
		[IS_CFA] = ",%s=cfa%+d",
		[AT_LOST] = ",%s=lost",
	};

	if (kind == AT_CFA || kind == IS_CFA)
		print(t, formats[kind], name, off);
	else if (kind != AT_SAME)
		print(t, formats[kind], name, reg, off, off2);
}

static void print_exception(struct text *t, const struct table_exception *e)
{
	if (e->cfa_kind == CFA_REG)
		print(t, "!r%d%+d", e->cfa_reg, e->cfa_off);
	else if (e->cfa_kind == CFA_KEPT)
		print(t, "!r%d%+d,kept%+d", e->cfa_reg, e->cfa_off, e->cfa_off2);
	else
		print(t, "!*(r%d%+d)%+d", e->cfa_reg, e->cfa_off, e->cfa_off2);
	print_place(t, "fp", e->fp_kind, e->fp_reg, e->fp_off, e->fp_off2);
	print_place(t, "ra", e->ra_kind, e->ra_reg, e->ra_off, 0);
}

static void print_x86(struct text *t, uint32_t rule)
{
	print(t, "%s+%d", rule & RULE_X86_BASE_FP ? "fp" : "sp", RULE_X86_CFA(rule));
	if (rule & 0x7f)
		print(t, ",fp-%d", RULE_X86_SLOT(rule));
}

static void print_arm64(struct text *t, uint32_t rule)
{
	static const char *const modes[] = { "lr", "pair-", "pair+", "ra-", "ra+", "fp+" };

	print(t, "%s+%d,%s", rule & RULE_ARM64_BASE_FP ? "fp" : "sp", RULE_ARM64_CFA(rule),
	      modes[RULE_ARM64_MODE(rule)]);
	if (RULE_ARM64_MODE(rule))
		print(t, "%d", RULE_ARM64_SLOT(rule));
}

static void print_rule(struct text *t, const struct table *table, uint32_t rule)
{
	const struct table_exception *e = table_exception(table, rule);

	if (e)
		print_exception(t, e);
	else if (table->arch == TABLE_X86 && RULE_X86_KIND(rule) == 2)
		print_special(t, rule & 0xff);
	else if (table->arch == TABLE_ARM64 && RULE_ARM64_MODE(rule) == MODE_SPECIAL)
		print_special(t, rule & 0x3f);
	else if (table->arch == TABLE_X86)
		print_x86(t, rule);
	else
		print_arm64(t, rule);
}

/* By look-ups at every address of the code, and before and behind it. */
static void print_table(struct text *t, const struct table *table)
{
	uint32_t last = table_rule(table, TEXT - 1);

	for (uint64_t vaddr = TEXT; vaddr <= TEXT + TEXT_SIZE; vaddr++) {
		uint32_t rule = table_rule(table, vaddr);

		if (rule == last)
			continue;
		print(t, "%" PRIx64 ":", vaddr - TEXT);
		print_rule(t, table, rule);
		print(t, " ");
		last = rule;
	}
}

static void check(struct spec *s, const char *expected)
{
	struct text text = {};
	struct table t;

	assert_int_equal(build(&t, s), 0);
	print_table(&text, &t);
	table_release(&t);
	assert_string_equal(text.s, expected);
}

/* A function at 0x100 of 0x40 bytes with this program. */
static void check_program(uint16_t machine, const void *program, size_t sz, const char *expected)
{
	struct spec s = { .machine = machine };
	size_t cie = machine == EM_AARCH64
			     ? PUT_CIE(&s.eh, &((struct cie){ .ra_reg = 30, .code_align = 4 }),
				       DEF_CFA(31, 0))
			     : put_usual_cie(&s.eh);

	put_fde(&s.eh, cie, TEXT + 0x100, 0x40, program, sz);
	check(&s, expected);
}
#define X86(expected, ...)                                                                         \
	check_program(EM_X86_64, (const uint8_t[]){ __VA_ARGS__ },                                 \
		      sizeof((const uint8_t[]){ __VA_ARGS__ }), "100:" expected "140:none ")
#define ARM64(expected, ...)                                                                       \
	check_program(EM_AARCH64, (const uint8_t[]){ __VA_ARGS__ },                                \
		      sizeof((const uint8_t[]){ __VA_ARGS__ }), "100:" expected "140:none ")

/* --- rules --- */

static void x86_has_a_standard_rule(void **state)
{
	X86("sp+8 ", NOP);
	X86("sp+8 101:sp+16,fp-16 104:fp+16,fp-16 13f:sp+8 ", ADVANCE(1), CFA_OFFSET(16),
	    OFFSET(6, 2), ADVANCE(3), CFA_REGISTER(6), ADVANCE(0x3b), DEF_CFA(7, 8), RESTORE(6));
	X86("sp+32760,fp-1016 ", CFA_OFFSET(ULEB3(32760)), OFFSET(6, 127));
	X86("sp+0 ", CFA_OFFSET(0));
}

static void x86_has_exceptions_for_the_rest(void **state)
{
	X86("!r7+32768,ra=[cfa-8] ", CFA_OFFSET(ULEB3(32768)));
	X86("!r7+2048,fp=[cfa-1024],ra=[cfa-8] ", CFA_OFFSET(ULEB2(2048)), OFFSET(6, ULEB2(128)));
	X86("!r7+12,ra=[cfa-8] ", CFA_OFFSET(12));
	X86("!r7-16,ra=[cfa-8] ", 0x13, 2);
	X86("!r10+0,ra=[cfa-8] ", DEF_CFA(10, 0));
	X86("!r0+8,fp=[cfa-16],ra=[cfa-8] ", DEF_CFA(0, 8), OFFSET(6, 2));
	X86("!*(r6-8)+0,fp=[r6+0],ra=[cfa-8] ", EXPRESSION(6, 2), 0x76, 0, CFA_EXPRESSION(3), 0x76,
	    0x78, 6);
	X86("!*(r7+64)+8,ra=[cfa-8] ", CFA_EXPRESSION(6), 0x77, 0xc0, 0, 6, 0x23, 8);
	X86("!r7+8,ra=r5 ", REGISTER(16, 5)); /* vfork */
	X86("!r7+8,ra=[cfa-16] ", OFFSET(16, 2));
	X86("!r7+8,ra=[r7+0] ", EXPRESSION(16, 2), 0x77, 0);
	X86("!r7+8,ra=cfa-8 ", 0x14, 16, 1);
	X86("!r7+8,fp=r3,ra=[cfa-8] ", REGISTER(6, 3));
	X86("!r7+8,fp=cfa-16,ra=[cfa-8] ", 0x14, 6, 2);
	X86("!r7+8,fp=[*(r3+8)+16],ra=[cfa-8] ", EXPRESSION(6, 5), 0x73, 8, 6, 0x23, 16);
	X86("!r7+8,fp=lost,ra=[cfa-8] ", EXPRESSION(6, 1), 0x30);
	X86("!r7+16,fp=[cfa+0],ra=[cfa-8] ", CFA_OFFSET(16), OFFSET(6, 0));
}

static void no_caller_is_known_by_its_return_address(void **state)
{
	X86("stop ", UNDEFINED(16));
	ARM64("stop ", UNDEFINED(30));
	X86("sp+8 102:stop 104:sp+8 ", ADVANCE(2), UNDEFINED(16), ADVANCE(2), RESTORE(16));
}

static void an_undefined_frame_pointer_is_unchanged(void **state)
{
	X86("sp+8 ", UNDEFINED(6));
	ARM64("sp+0,lr ", UNDEFINED(29));
}

static void a_slot_below_the_stack_pointer_is_stale(void **state)
{
	X86("sp+16,fp-16 101:sp+8 ", CFA_OFFSET(16), OFFSET(6, 2), ADVANCE(1), CFA_OFFSET(8));
	X86("!r7+32768,ra=[cfa-8] ", CFA_OFFSET(ULEB3(32768)), OFFSET(6, ULEB2(5000)));
	X86("fp+8,fp-16 ", DEF_CFA(6, 8), OFFSET(6, 2)); /* of the frame pointer nobody knows */
}

static void what_cannot_be_told_is_none(void **state)
{
	X86("sp+8 101:none 102:sp+8 ", ADVANCE(1), 0x16, 16, 1, 0x30, ADVANCE(1), RESTORE(16));
	X86("sp+8 101:none 102:sp+8 ", ADVANCE(1), EXPRESSION(16, 3), 0x77, 0, 6, ADVANCE(1),
	    RESTORE(16));
	X86("sp+8 101:none 102:sp+8 ", ADVANCE(1), SAME_VALUE(16), ADVANCE(1), RESTORE(16));
	X86("sp+8 101:none 102:sp+8 ", ADVANCE(1), CFA_EXPRESSION(1), 0x30, ADVANCE(1),
	    DEF_CFA(7, 8));
}

static void linker_stubs_have_rules_of_their_own(void **state)
{
	X86("sp+16 106:sp+24 110:plt11 ", CFA_OFFSET(16), ADVANCE(6), CFA_OFFSET(24), ADVANCE(10),
	    PLT_EXPRESSION(11));
	X86("plt10 ", PLT_EXPRESSION(10));
	X86("sp+8 101:none 102:sp+8 ", ADVANCE(1), PLT_EXPRESSION(5), ADVANCE(1), DEF_CFA(7, 8));
}

static void arm64_has_six_modes(void **state)
{
	ARM64("sp+0,lr ", NOP);
	ARM64("sp+16,lr ", CFA_OFFSET(16));
	ARM64("sp+32,pair-32 108:fp+32,pair-32 ", CFA_OFFSET(32), OFFSET(29, 4), OFFSET(30, 3),
	      ADVANCE(2), CFA_REGISTER(29));
	ARM64("sp+1024,pair+0 ", CFA_OFFSET(ULEB2(1024)), OFFSET(29, ULEB2(128)),
	      OFFSET(30, ULEB2(127)));
	ARM64("sp+1024,pair+504 ", CFA_OFFSET(ULEB2(1024)), OFFSET(29, ULEB2(65)), OFFSET(30, 64));
	ARM64("sp+1024,pair-504 ", CFA_OFFSET(ULEB2(1024)), OFFSET(29, 63), OFFSET(30, 62));
	ARM64("sp+32,ra-16 ", CFA_OFFSET(32), OFFSET(30, 2));
	ARM64("sp+1024,ra+8 ", CFA_OFFSET(ULEB2(1024)), OFFSET(30, ULEB2(127)));
	ARM64("sp+32,fp+0 ", CFA_OFFSET(32), OFFSET(29, 4));
	ARM64("sp+65520,pair-16 ", CFA_OFFSET(ULEB3(65520)), OFFSET(29, 2), OFFSET(30, 1));
}

static void arm64_has_exceptions_for_the_rest(void **state)
{
	ARM64("!r31+65536,fp=[cfa-16],ra=[cfa-8] ", CFA_OFFSET(ULEB3(65536)), OFFSET(29, 2),
	      OFFSET(30, 1));
	ARM64("!r31+70016,fp=[cfa-70016],ra=[cfa-70008] ", CFA_OFFSET(ULEB3(70016)),
	      OFFSET(29, ULEB3(70016 / 8)), OFFSET(30, ULEB3(70008 / 8)));
	ARM64("!r31+8 ", CFA_OFFSET(8));
	ARM64("!r31+32,fp=[cfa-32],ra=[cfa-16] ", CFA_OFFSET(32), OFFSET(29, 4), OFFSET(30, 2));
	ARM64("!r31+32,fp=[cfa-24],ra=[cfa-32] ", CFA_OFFSET(32), OFFSET(29, 3), OFFSET(30, 4));
	ARM64("!r29+2048,fp=[cfa-2048],ra=[cfa-2040] ", DEF_CFA(29, ULEB2(2048)),
	      OFFSET(29, ULEB2(256)), OFFSET(30, ULEB2(255)));
	ARM64("!r31+2048,fp=[cfa-1024],ra=[cfa-1016] ", CFA_OFFSET(ULEB2(2048)),
	      OFFSET(29, ULEB2(128)), OFFSET(30, ULEB2(127)));
	ARM64("!r29+16,fp=[cfa-16] ", DEF_CFA(29, 16), OFFSET(29, 2));
	ARM64("!r15+0 ", DEF_CFA(15, 0));
	ARM64("!r31+0,ra=r9 ", REGISTER(30, 9));
}

static void arm64_signatures_change_nothing(void **state)
{
	ARM64("sp+0,lr 108:sp+16,pair-16 ", ADVANCE(1), 0x2d, ADVANCE(1), CFA_OFFSET(16),
	      OFFSET(29, 2), OFFSET(30, 1), ADVANCE(1), 0x2c, ADVANCE(1), 0x2d);
}

static void another_return_register_is_named(void **state)
{
	struct spec s = { ARM };
	size_t cie = PUT_CIE(&s.eh, &((struct cie){ .ra_reg = 17 }), DEF_CFA(31, 0));

	PUT_FDE(&s.eh, cie, TEXT, 0x40, NOP);
	cie = PUT_CIE(&s.eh, &((struct cie){ .ra_reg = 200 }), DEF_CFA(31, 0));
	PUT_FDE(&s.eh, cie, TEXT + 0x40, 0x40, NOP);
	check(&s, "0:!r31+0,ra=r17 40:!r31+0,ra=r200 80:none ");
}

static void signal_frames_are_one_rule(void **state)
{
	const struct cie signal = { .augmentation = "zRS", .data = (void *)"", .data_sz = 1 };
	struct spec s = {};
	size_t cie = PUT_CIE(&s.eh, &signal, USUAL);

	PUT_FDE(&s.eh, cie, TEXT + 0xff, 0x20, ADVANCE(5), CFA_OFFSET(16), UNDEFINED(16));
	check(&s, "ff:signal 11f:none ");
}

static void the_same_exception_is_kept_once(void **state)
{
	struct spec s = {};
	size_t cie = put_usual_cie(&s.eh);
	struct table t;

	for (int i = 0; i < 100; i++)
		PUT_FDE(&s.eh, cie, TEXT + i * 16, 16, DEF_CFA(10, 0), ADVANCE(4),
			CFA_OFFSET(8 * (i % 3)), ADVANCE(4), PLT_EXPRESSION(3));
	assert_int_equal(build(&t, &s), 0);
	assert_int_equal(t.nr_exceptions, 3);
	assert_int_equal(t.exceptions % TABLE_EXCEPTION_WORDS, 0);
	assert_int_equal(t.nr_words, t.exceptions + 3 * TABLE_EXCEPTION_WORDS);
	assert_int_equal(t.nr_unsupported, 100);
	table_release(&t);
}

/* On aarch64 their index is in two parts. */
static void exceptions_are_found_by_their_index(void **state)
{
	const uint16_t machines[] = { EM_X86_64, EM_AARCH64 };

	for (size_t m = 0; m < 2; m++) {
		struct spec s = { .machine = machines[m] };
		size_t cie = put_usual_cie(&s.eh);
		struct table t;

		for (int i = 0; i < 1000; i++)
			PUT_FDE(&s.eh, cie, TEXT + i * 4, 4, DEF_CFA(10, ULEB2(128 + i)));
		assert_int_equal(build(&t, &s), 0);
		assert_int_equal(t.nr_exceptions, 1000);
		for (int i = 0; i < 1000; i++) {
			uint32_t rule = table_rule(&t, TEXT + i * 4);
			const struct table_exception *e = table_exception(&t, rule);

			assert_non_null(e);
			assert_int_equal(e->cfa_off, 128 + i);
		}
		table_release(&t);
	}
}

/* --- functions --- */

static void padding_keeps_the_rule_before(void **state)
{
	struct spec s = {};
	size_t cie = put_usual_cie(&s.eh);

	PUT_FDE(&s.eh, cie, TEXT + 0x100, 0x11, CFA_OFFSET(16));
	PUT_FDE(&s.eh, cie, TEXT + 0x120, 0x10, CFA_OFFSET(32)); /* 15 bytes behind */
	PUT_FDE(&s.eh, cie, TEXT + 0x140, 0x10, CFA_OFFSET(48)); /* 16 bytes behind */
	check(&s, "100:sp+16 120:sp+32 130:none 140:sp+48 150:none ");
}

static void of_two_functions_the_first_has_the_code(void **state)
{
	struct spec s = {};
	size_t cie = put_usual_cie(&s.eh);

	PUT_FDE(&s.eh, cie, TEXT + 0x180, 0x100, CFA_OFFSET(24), ADVANCE2(0x90), CFA_OFFSET(32));
	PUT_FDE(&s.eh, cie, TEXT + 0x100, 0x100, CFA_OFFSET(16));
	PUT_FDE(&s.eh, cie, TEXT + 0x150, 0x20, CFA_OFFSET(40));
	PUT_FDE(&s.eh, cie, TEXT + 0x160, 0, CFA_OFFSET(48));
	check(&s, "100:sp+16 200:sp+24 210:sp+32 280:none ");
}

static void a_bad_function_costs_itself(void **state)
{
	struct spec s = {};
	size_t good = put_usual_cie(&s.eh),
	       bad = PUT_CIE(&s.eh, &((struct cie){ .version = 7 }), NOP);

	PUT_FDE(&s.eh, good, TEXT, 0x40, ADVANCE(2), CFA_OFFSET(16), ADVANCE(2), 0x3e, ADVANCE(2));
	PUT_FDE(&s.eh, bad, TEXT + 0x40, 0x40, CFA_OFFSET(24));
	PUT_FDE(&s.eh, good, TEXT + 0x80, 0x40, CFA_OFFSET(32));
	check(&s, "0:sp+8 2:sp+16 4:none 80:sp+32 c0:none ");
}

static void functions_end_with_their_segment(void **state)
{
	struct spec s = {};
	size_t cie = put_usual_cie(&s.eh);

	PUT_FDE(&s.eh, cie, TEXT + TEXT_SIZE - 0x10, 0x100000, CFA_OFFSET(16));
	PUT_FDE(&s.eh, cie, TEXT + TEXT_SIZE + 0x10, 0x10, CFA_OFFSET(24));
	PUT_FDE(&s.eh, cie, TEXT - 8, 0x100, CFA_OFFSET(24));
	check(&s, "3ff0:sp+16 4000:none ");
}

static void other_sections_fill_the_gaps(void **state)
{
	struct spec s = { .plt_at = 0x80, .plt_sz = 0x100, .debug = { .is_debug = true } };
	size_t cie = put_usual_cie(&s.eh);

	PUT_FDE(&s.eh, cie, TEXT + 0x20, 0x20, CFA_OFFSET(16));
	PUT_FDE(&s.eh, cie, TEXT + 0x60, 0x30, CFA_OFFSET(24));
	put_number(&s.debug, 0, 4); /* a hole */
	cie = put_usual_cie(&s.debug);
	PUT_FDE(&s.debug, cie, TEXT, 0x100, CFA_OFFSET(32), ADVANCE1(0x70), CFA_OFFSET(40),
		ADVANCE(0x30), CFA_OFFSET(48));
	check(&s, "0:sp+32 20:sp+16 40:sp+32 60:sp+24 90:sp+40 a0:sp+48 100:sp+8 180:none ");
}

static void stubs_without_information_have_called_nobody(void **state)
{
	struct spec x86 = { .plt_at = 0x100, .plt_sz = 0x40 };
	struct spec arm64 = { ARM, .plt_at = 0x100, .plt_sz = 0x40 };

	check(&x86, "100:sp+8 140:none ");
	check(&arm64, "100:sp+0,lr 140:none ");
}

static void the_entry_point_has_no_caller(void **state)
{
	struct spec alone = { .entry = TEXT + 0x100 }, arm64 = { ARM, .entry = TEXT };
	struct spec next = { .entry = TEXT + 0x100 }, covered = { .entry = TEXT + 0x110 };
	struct spec before_plt = { .entry = TEXT + 0xf0, .plt_at = 0x100, .plt_sz = 0x40 };
	size_t cie;

	check(&before_plt, "f0:stop 100:sp+8 140:none ");

	check(&alone, "100:stop 180:none ");
	check(&arm64, "0:stop 80:none ");
	cie = put_usual_cie(&next.eh);
	PUT_FDE(&next.eh, cie, TEXT + 0x140, 0x10, NOP);
	check(&next, "100:stop 140:sp+8 150:none ");
	cie = put_usual_cie(&covered.eh);
	PUT_FDE(&covered.eh, cie, TEXT + 0x100, 0x20, NOP);
	check(&covered, "100:sp+8 120:none ");
}

/* --- .eh_frame_hdr --- */

static void put_three(struct spec *s, struct header_row rows[3])
{
	static const uint16_t starts[] = { 0x200, 0x100, 0x300 };
	size_t cie = put_usual_cie(&s->eh);

	for (int i = 0; i < 3; i++)
		rows[i] = (struct header_row){ starts[i], PUT_FDE(&s->eh, cie, TEXT + starts[i],
								  0x10, CFA_OFFSET(16 + 8 * i)) };
	put_number(&s->eh, 0, 4);
}

static void the_search_table_is_optional(void **state)
{
	static const char expected[] = "100:sp+24 110:none 200:sp+16 210:none 300:sp+32 310:none ";
	struct header_row rows[3], sorted[3];
	struct spec none = {}, in_order = {}, out_of_order = {}, no_sections = {};

	put_three(&none, rows);
	check(&none, expected);
	put_three(&out_of_order, rows);
	out_of_order.rows = rows;
	out_of_order.nr_rows = 3;
	check(&out_of_order, expected);
	sorted[0] = rows[1];
	sorted[1] = rows[0];
	sorted[2] = rows[2];
	put_three(&in_order, rows);
	in_order.rows = sorted;
	in_order.nr_rows = 3;
	check(&in_order, expected);
	put_three(&no_sections, rows);
	no_sections.rows = sorted;
	no_sections.nr_rows = 3;
	no_sections.no_sections = true;
	check(&no_sections, expected);
	put_three(&no_sections, rows);
	no_sections.rows = sorted;
	no_sections.nr_rows = 0; /* only says where .eh_frame is */
	no_sections.no_sections = true;
	check(&no_sections, expected);
}

static void the_search_table_is_not_believed(void **state)
{
	struct header_row rows[3], wrong[4];
	struct spec s = {};

	put_three(&s, rows);
	wrong[0] = (struct header_row){ 0x80, rows[2].fde }; /* another start than the function's */
	wrong[1] = (struct header_row){ 0x100, rows[1].fde };
	wrong[2] = (struct header_row){ 0x200, rows[0].fde + 4 };
	wrong[3] = (struct header_row){ 0x300, 1 << 24 };
	s.rows = wrong;
	s.nr_rows = 4;
	check(&s, "100:sp+24 110:none ");
}

/* 100,000 functions whose programs are the same 3 MB, behind augmentations of any size. */
static void the_same_bytes_are_read_once(void **state)
{
	const size_t nr = 100000, sz = 29, program = 3000000;
	struct header_row *rows = calloc(nr, sizeof(*rows));
	struct spec s = { .text_sz = 0x200000 };
	size_t cie = put_usual_cie(&s.eh), end = s.eh.sz + nr * sz;
	clock_t start;
	struct table t;

	for (size_t i = 0; i < nr; i++) {
		size_t at = s.eh.sz, skip = end - at - sz;

		rows[i] = (struct header_row){ i * 16, at };
		put_number(&s.eh, end - at - 4 + program, 4);
		put_number(&s.eh, s.eh.sz - cie, 4);
		put_number(&s.eh, TEXT + i * 16, 8);
		put_number(&s.eh, 16, 8);
		put_number(&s.eh,
			   (skip & 0x7f) | (skip >> 7 & 0x7f) << 8 | (skip >> 14 & 0x7f) << 16 |
				   (skip >> 21) << 24 | 0x808080,
			   4);
		put_number(&s.eh, NOP, 1);
	}
	for (size_t i = 0; i < program / 3; i++)
		put(&s.eh, (const uint8_t[]){ ADVANCE(0), CFA_OFFSET(16) }, 3);
	s.rows = rows;
	s.nr_rows = nr;
	start = clock();
	assert_int_equal(build(&t, &s), 0);
	assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 0.5 * SLOWER);
	assert_int_equal(table_rule(&t, TEXT), 2 << 7);
	assert_int_equal(table_rule(&t, TEXT + 16 * (nr - 1)), RULE_X86_SPECIAL | RULE_NONE);
	table_release(&t);
	free(rows);
}

/* --- signals and the vDSO --- */

static void put_symbol(struct spec *s, const char *name, uint64_t at, uint64_t sz)
{
	const Elf64_Sym sym = { .st_name = s->strings.sz,
				.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
				.st_shndx = SECTION_TEXT,
				.st_value = TEXT + at,
				.st_size = sz };

	put(&s->symbols, &sym, sizeof(sym));
	put(&s->strings, name, strlen(name) + 1);
}

static void restorers_are_known_by_their_bytes(void **state)
{
	static const uint8_t x86_code[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	static const uint8_t arm64_code[] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 };
	struct spec x86 = { .code = x86_code, .code_at = 0x100, .code_sz = sizeof(x86_code) };
	struct spec arm64 = { ARM, .code = arm64_code, .code_at = 0x100,
			      .code_sz = sizeof(arm64_code) };
	struct spec other = { .code = x86_code, .code_at = 0x100, .code_sz = 8, .entry = TEXT };

	put_symbol(&x86, "__restore_rt", 0x100, 0);
	put_symbol(&x86, "sigreturn", 0x200, 9);	      /* is not */
	check(&x86, "ff:signal 109:none 200:sp+8 208:none "); /* zeros are instructions as well */
	put_symbol(&arm64, "runtime.sigreturn__sigaction", 0x100, 8);
	check(&arm64, "fc:signal 108:none ");
	put_symbol(&other, "__restore_rt", 0x100, 9); /* one byte is not right */
	check(&other, "0:stop 80:none 100:sp+8 107:none ");
}

static void an_arm64_vdso_is_looked_into(void **state)
{
	static const uint32_t code[] = {
		0xd503245f, /* 100: bti c */
		0xa9be7bfd, /* 104: stp x29, x30, [sp, #-32]! */
		0x910003fd, /* 108: mov x29, sp */
		0x94000000, /* 10c: bl */
		0xa8c27bfd, /* 110: ldp x29, x30, [sp], #32 */
		0xd65f03c0, /* 114: ret */
		0xd503201f, /* 118: nop */
		0xd2801168, /* 11c: mov x8, #139 */
		0xd4000001, /* 120: svc 0 */
		0xa9befbfd, /* 124: stp x29, x30, [sp, #-24]! */
		0xa9817bfd, /* 128: stp x29, x30, [sp, #16]! */
		0xa9bf7bfd, /* 12c: stp x29, x30, [sp, #-16]! */
		0xd65f03c0, /* 130: ret */
	};
	struct spec s = { ARM, .code = code, .code_at = 0x100, .code_sz = sizeof(code),
			  .is_dynamic = true };
	size_t cie = PUT_CIE(&s.eh, &((struct cie){ .ra_reg = 30 }), DEF_CFA(31, 16));

	put_symbol(&s, "__kernel_clock_gettime", 0x100, 0x18);
	put_symbol(&s, "__kernel_rt_sigreturn", 0x11c, 8);
	put_symbol(&s, "__kernel_odd", 0x124, 0x10);
	put_symbol(&s, "__kernel_leaf", 0x200, 0x20);
	put_symbol(&s, "__kernel_described", 0x300, 0x20);
	PUT_FDE(&s.eh, cie, TEXT + 0x300, 0x20, NOP);
	check(&s, "100:sp+0,lr 108:sp+32,pair+0 114:sp+0,lr 118:signal 124:sp+0,lr "
		  "130:sp+16,pair+0 134:none 200:sp+0,lr 220:none 300:sp+16,lr 320:none ");
}

/* --- the blob --- */

static const struct table_page *pages_of(const struct table *t)
{
	return (const struct table_page *)t->words;
}

static void a_rule_that_begins_a_page_is_no_row(void **state)
{
	struct spec s = {};
	size_t cie = put_usual_cie(&s.eh);
	struct table t;

	PUT_FDE(&s.eh, cie, TEXT + 0x800, 0x1000, CFA_OFFSET(16), ADVANCE2(0x400), CFA_OFFSET(24),
		ADVANCE2(0x810), CFA_OFFSET(32));
	assert_int_equal(build(&t, &s), 0);
	assert_int_equal(t.first_page, (TEXT + 0x800) >> 10);
	assert_int_equal(t.nr_pages, 5); /* the last one for the end */
	assert_int_equal(t.nr_rows, 4);
	assert_int_equal(pages_of(&t)[0].rule_count, 2 << 7 << 10);
	assert_int_equal(pages_of(&t)[1].rule_count, 3 << 7 << 10);
	assert_int_equal(pages_of(&t)[2].rule_count, 3 << 7 << 10);
	assert_int_equal(pages_of(&t)[3].rule_count, (3 << 7 << 10) | 1);
	assert_int_equal(t.words[pages_of(&t)[3].rows], 0x10 << 22 | 4 << 7);
	assert_int_equal(pages_of(&t)[4].rule_count, (RULE_X86_SPECIAL | RULE_NONE) << 10);
	assert_int_equal(t.nr_words, 5 * 2 + 6); /* nothing but padding behind: 1 row, to 8 words */
	table_release(&t);
}

static void rows_that_change_nothing_are_dropped(void **state)
{
	struct spec s = {};
	size_t cie = put_usual_cie(&s.eh);
	struct table t;

	PUT_FDE(&s.eh, cie, TEXT, 0x10, ADVANCE(1), OFFSET(3, 2), ADVANCE(1), OFFSET(12, 3));
	PUT_FDE(&s.eh, cie, TEXT + 0x10, 0x10, ADVANCE(1), CFA_OFFSET(16));
	assert_int_equal(build(&t, &s), 0);
	assert_int_equal(t.nr_read, 5);
	assert_int_equal(t.nr_rows, 3);
	assert_int_equal(pages_of(&t)[0].rule_count & TABLE_MAX_ROWS, 2);
	table_release(&t);
}

static void arm64_counts_instructions(void **state)
{
	struct spec s = { ARM };
	size_t cie = PUT_CIE(&s.eh, &((struct cie){ .ra_reg = 30 }), DEF_CFA(31, 0));
	struct table t;

	PUT_FDE(&s.eh, cie, TEXT + 0x10, 0x2ff0, ADVANCE(8), CFA_OFFSET(16), ADVANCE(2),
		CFA_OFFSET(32), ADVANCE(2), CFA_OFFSET(48));
	assert_int_equal(build(&t, &s), 0);
	assert_int_equal(t.first_page, TEXT >> 12);
	assert_int_equal(pages_of(&t)[0].rule_count & 1023, 3);
	assert_int_equal(t.words[pages_of(&t)[0].rows] >> 22, 0x10 / 4);
	assert_int_equal(t.words[pages_of(&t)[0].rows + 1] >> 22, 0x18 / 4);
	assert_int_equal(t.words[pages_of(&t)[0].rows + 2] >> 22, 0x1c / 4);
	assert_int_equal(table_rule(&t, TEXT + 0x1b), 1 << 9);
	assert_int_equal(table_rule(&t, TEXT + 0x1c), 3 << 9);
	table_release(&t);
}

static void arm64_has_no_row_inside_of_an_instruction(void **state)
{
	struct spec s = { ARM }, nothing = { ARM };
	size_t cie = PUT_CIE(&nothing.eh, &((struct cie){ .ra_reg = 30 }), DEF_CFA(31, 0));
	struct table t;

	PUT_FDE(&nothing.eh, cie, TEXT + 0x21, 2, CFA_OFFSET(16));
	assert_int_equal(build(&t, &nothing), -ENODATA);
	cie = PUT_CIE(&s.eh, &((struct cie){ .ra_reg = 30 }), DEF_CFA(31, 0));
	PUT_FDE(&s.eh, cie, TEXT + 0x42, 0x10, CFA_OFFSET(16), ADVANCE(1), CFA_OFFSET(32),
		ADVANCE(3), CFA_OFFSET(48));
	check(&s, "44:sp+32,lr 48:sp+48,lr 54:none ");
}

/* A row at every byte of 1.2 MB of code: more than a segment holds. */
static void no_page_lies_across_segments(void **state)
{
	struct spec s = { .text_sz = 0x130000 };
	size_t cie = put_usual_cie(&s.eh), nr = s.text_sz, at, straddling = 0, i;
	struct table t;

	at = begin_fde(&s.eh, cie);
	put_number(&s.eh, TEXT, 8);
	put_number(&s.eh, nr, 8);
	put_uleb(&s.eh, 0);
	for (i = 0; i < nr; i++)
		put(&s.eh, (const uint8_t[]){ CFA_OFFSET(8 + 8 * (i & 1)), ADVANCE(1) }, 3);
	end_entry(&s.eh, at);
	assert_int_equal(build(&t, &s), 0);
	assert_int_equal(t.nr_pages, nr / 1024 + 1);
	assert_true(t.nr_words > TABLE_SEGMENT_WORDS);
	for (i = 0; i < t.nr_pages - 1; i++) {
		const struct table_page *p = &pages_of(&t)[i];

		assert_int_equal(p->rule_count & TABLE_MAX_ROWS, TABLE_MAX_ROWS);
		assert_int_equal(p->rows / TABLE_SEGMENT_WORDS,
				 (p->rows + TABLE_MAX_ROWS - 1) / TABLE_SEGMENT_WORDS);
		straddling += i && p->rows != p[-1].rows + TABLE_MAX_ROWS;
	}
	assert_int_equal(straddling, 1);
	for (i = 0; i < nr; i++)
		assert_int_equal(table_rule(&t, TEXT + i), (1 + (i & 1)) << 7);
	table_release(&t);
}

/* --- what is refused, and what it costs --- */

static void other_files_are_refused(void **state)
{
	struct spec empty = {}, mips = { .machine = EM_MIPS, .entry = TEXT };
	struct table t;

	assert_int_equal(build(&t, &empty), -ENODATA);
	assert_null(t.words);
	table_release(&t);
	assert_int_equal(build(&t, &mips), -ENOEXEC);
	assert_null(t.words);
	assert_int_equal(table_rule(&t, TEXT), RULE_X86_SPECIAL | RULE_NONE);
}

static void code_far_apart_is_refused(void **state)
{
	struct spec s = { .far = TEXT + (3ull << 30), .entry = TEXT };
	size_t cie = put_usual_cie(&s.eh);
	struct table t;

	PUT_FDE(&s.eh, cie, TEXT + (3ull << 30), 0x10, NOP);
	assert_int_equal(build(&t, &s), -E2BIG);
	assert_null(t.words);
}

static void code_behind_the_end_of_the_file_is_none(void **state)
{
	struct spec s = {};
	size_t cie = put_usual_cie(&s.eh);
	struct bytes image;
	struct table t;

	PUT_FDE(&s.eh, cie, TEXT + 0x30000000, 0x10, NOP);
	image = make_image(&s);
	spec_free(&s);
	((struct header *)image.data)->segments[0].p_filesz = 1ull << 40;
	/* What there is of it is read as code, for want of anything else. */
	assert_int_equal(build_image(&t, &image, false), 0);
	assert_int_equal(table_rule(&t, TEXT + 0x30000000), RULE_X86_SPECIAL | RULE_NONE);
	table_release(&t);
	bytes_free(&image);
}

/* Every byte gone wrong in turn, and every cut: a table or none. */
static void damaged_files_give_a_table_or_none(void **state)
{
	struct header_row rows[3];
	struct spec s = { .text_sz = 0x400, .plt_at = 0x10, .plt_sz = 0x20, .entry = TEXT + 0x80 };
	struct bytes image, copy = {};
	struct table t;

	put_three(&s, rows);
	s.rows = rows;
	s.nr_rows = 3;
	put_symbol(&s, "__restore_rt", 0x10, 8);
	image = make_image(&s);
	spec_free(&s);
	for (size_t i = 0; i < image.sz; i++)
		for (int bit = 0; bit < 8; bit++) {
			image.data[i] ^= 1 << bit;
			if (i >= 4) { /* of the magic number elf_file_open() judges */
				struct elf_file *f = elf_file_open_image(image.data, image.sz);

				if (f && !table_build(&t, f, NULL)) {
					for (uint64_t v = TEXT; v < TEXT + 0x400; v += 61)
						table_rule(&t, v);
					table_release(&t);
				}
				elf_file_close(f);
			}
			image.data[i] ^= 1 << bit;
		}
	for (size_t sz = sizeof(Elf64_Ehdr); sz < image.sz; sz++) {
		put(&copy, image.data, sz);
		copy.data = realloc(copy.data, sz);
		build_image(&t, &copy, true);
		table_release(&t);
		bytes_free(&copy);
	}
	bytes_free(&image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x86_has_a_standard_rule),
		cmocka_unit_test(x86_has_exceptions_for_the_rest),
		cmocka_unit_test(no_caller_is_known_by_its_return_address),
		cmocka_unit_test(an_undefined_frame_pointer_is_unchanged),
		cmocka_unit_test(a_slot_below_the_stack_pointer_is_stale),
		cmocka_unit_test(what_cannot_be_told_is_none),
		cmocka_unit_test(linker_stubs_have_rules_of_their_own),
		cmocka_unit_test(arm64_has_six_modes),
		cmocka_unit_test(arm64_has_exceptions_for_the_rest),
		cmocka_unit_test(arm64_signatures_change_nothing),
		cmocka_unit_test(another_return_register_is_named),
		cmocka_unit_test(signal_frames_are_one_rule),
		cmocka_unit_test(the_same_exception_is_kept_once),
		cmocka_unit_test(exceptions_are_found_by_their_index),
		cmocka_unit_test(padding_keeps_the_rule_before),
		cmocka_unit_test(of_two_functions_the_first_has_the_code),
		cmocka_unit_test(a_bad_function_costs_itself),
		cmocka_unit_test(functions_end_with_their_segment),
		cmocka_unit_test(other_sections_fill_the_gaps),
		cmocka_unit_test(stubs_without_information_have_called_nobody),
		cmocka_unit_test(the_entry_point_has_no_caller),
		cmocka_unit_test(the_search_table_is_optional),
		cmocka_unit_test(the_search_table_is_not_believed),
		cmocka_unit_test(the_same_bytes_are_read_once),
		cmocka_unit_test(restorers_are_known_by_their_bytes),
		cmocka_unit_test(an_arm64_vdso_is_looked_into),
		cmocka_unit_test(a_rule_that_begins_a_page_is_no_row),
		cmocka_unit_test(rows_that_change_nothing_are_dropped),
		cmocka_unit_test(arm64_counts_instructions),
		cmocka_unit_test(arm64_has_no_row_inside_of_an_instruction),
		cmocka_unit_test(no_page_lies_across_segments),
		cmocka_unit_test(other_files_are_refused),
		cmocka_unit_test(code_far_apart_is_refused),
		cmocka_unit_test(code_behind_the_end_of_the_file_is_none),
		cmocka_unit_test(damaged_files_give_a_table_or_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
