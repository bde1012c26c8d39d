/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Call frame information, one construct at a time, as text: "FROM-TO CFA FP RA;" per row. Places
 * are written as in "r7+8", "[cfa-16]" (saved there), "cfa-16" (is that), "*(r6-8)+0".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

#include "tests/unit/assembler.h"
#include "unwind/cfi.h"
#include "unwind/program.h"

#define FUNCTION 0x401000

struct text {
	char s[4096];
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

static void print_value(struct text *t, const struct cfi_value *v, bool is_cfa)
{
	switch (v->kind) {
	case CFI_SAME:
		print(t, " same");
		break;
	case CFI_UNDEFINED:
		print(t, " undefined");
		break;
	case CFI_AT_CFA:
		print(t, " [cfa%+d]", v->off);
		break;
	case CFI_IS_CFA:
		print(t, " cfa%+d", v->off);
		break;
	case CFI_IN_REG:
		print(t, " r%d", v->reg);
		break;
	case CFI_REG:
		print(t, is_cfa ? " r%d%+d" : " [r%d%+d]", v->reg, v->off);
		break;
	case CFI_DEREF:
		print(t, is_cfa ? " *(r%d%+d)%+d" : " [*(r%d%+d)%+d]", v->reg, v->off, v->off2);
		break;
	case CFI_PLT:
		print(t, " plt%d", v->off);
		break;
	default:
		print(t, " unsupported");
	}
}

static void print_rows(struct text *t, struct cfi *c, size_t offset)
{
	struct cfi_fde fde;
	struct program p;

	if (!cfi_read_fde(c, offset, &fde)) {
		print(t, "none");
		return;
	}
	program_start(&p, c, &fde);
	if (fde.cie->is_signal)
		print(t, "signal ");
	while (program_next(&p)) {
		print(t, "%" PRIx64 "-%" PRIx64, p.from - FUNCTION, p.to - FUNCTION);
		print_value(t, &p.state.cfa, true);
		print_value(t, &p.state.fp, false);
		print_value(t, &p.state.ra, false);
		print(t, "; ");
	}
}

static void open_cfi(struct cfi *c, const struct bytes *b, enum table_arch arch)
{
	*c = (struct cfi){
		.bytes = b->data,
		.sz = b->sz,
		.vaddr = b->vaddr,
		.arch = arch,
		.is_debug = b->is_debug,
		.text = 0x400000,
		.data = 0x500000,
	};
	cfi_init(c);
}

static void check_rows(struct bytes *b, size_t fde, enum table_arch arch, const char *expected)
{
	struct text t = {};
	struct cfi c;

	open_cfi(&c, b, arch);
	print_rows(&t, &c, fde);
	cfi_release(&c);
	bytes_free(b);
	assert_string_equal(t.s, expected);
}

/* A program of a function of 0x100 bytes, behind the usual CIE. */
static void check_program(const void *program, size_t sz, const char *expected)
{
	struct bytes b = {};
	size_t cie = put_usual_cie(&b);

	check_rows(&b, put_fde(&b, cie, FUNCTION, 0x100, program, sz), TABLE_X86, expected);
}
#define CHECK(expected, ...)                                                                       \
	check_program((const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }),  \
		      expected)

static void rows_begin_where_the_program_moves_on(void **state)
{
	CHECK("0-100 r7+8 same [cfa-8]; ", NOP);
	CHECK("0-1 r7+8 same [cfa-8]; 1-4 r7+16 [cfa-16] [cfa-8]; 4-fe r6+16 [cfa-16] [cfa-8]; "
	      "fe-100 r7+8 [cfa-16] [cfa-8]; ",
	      ADVANCE(1), CFA_OFFSET(16), OFFSET(6, 2), ADVANCE(3), CFA_REGISTER(6), ADVANCE1(0xfa),
	      DEF_CFA(7, 8));
	CHECK("0-2 r7+8 same [cfa-8]; 2-5 r7+16 same [cfa-8]; 5-100 r7+24 same [cfa-8]; ",
	      ADVANCE2(2), CFA_OFFSET(16), ADVANCE4(3), CFA_OFFSET(24));
	CHECK("0-80 r7+8 same [cfa-8]; 80-100 r7+16 same [cfa-8]; ", SET_LOC, 0x80, 0x10, 0x40, 0,
	      0, 0, 0, 0, CFA_OFFSET(16));
}

static void rows_stay_in_the_function(void **state)
{
	CHECK("0-100 r7+8 same [cfa-8]; ", ADVANCE2(0x100), CFA_OFFSET(16));
	CHECK("0-ff r7+8 same [cfa-8]; ff-100 r7+16 same [cfa-8]; ", ADVANCE1(0xff), CFA_OFFSET(16),
	      ADVANCE4(0xffffff), CFA_OFFSET(24));
	CHECK("0-100 r7+8 same [cfa-8]; ", SET_LOC, 0, 0, 0, 0, 0, 0, 0, 0x80, CFA_OFFSET(16));
}

static void moving_on_by_nothing_makes_no_row(void **state)
{
	CHECK("0-2 r7+32 same [cfa-8]; 2-100 r7+48 same [cfa-8]; ", ADVANCE(0), CFA_OFFSET(32),
	      ADVANCE1(0), ADVANCE(2), CFA_OFFSET(40), ADVANCE2(0), CFA_OFFSET(48));
}

static void registers_can_be_in_many_places(void **state)
{
	CHECK("0-100 r7+8 [cfa-32] [cfa-8]; ", 0x05, 6, 4);    /* offset_extended */
	CHECK("0-100 r7+8 [cfa+32] [cfa-8]; ", 0x11, 6, 0x7c); /* offset_extended_sf */
	CHECK("0-100 r7+8 [cfa+32] [cfa-8]; ", 0x2f, 6, 4);    /* GNU_negative_offset_extended */
	CHECK("0-100 r7+8 cfa-16 [cfa-8]; ", 0x14, 6, 2);      /* val_offset */
	CHECK("0-100 r7+8 cfa+16 [cfa-8]; ", 0x15, 6, 0x7e);   /* val_offset_sf */
	CHECK("0-100 r7+8 same undefined; ", UNDEFINED(16));
	CHECK("0-100 r7+8 undefined [cfa-8]; ", UNDEFINED(6));
	CHECK("0-100 r7+8 same r5; ", REGISTER(16, 5));
	CHECK("0-100 r7+8 same same; ", SAME_VALUE(16));
	CHECK("0-4 r7+8 [cfa-16] [cfa-16]; 4-100 r7+8 same [cfa-8]; ", OFFSET(6, 2), OFFSET(16, 2),
	      ADVANCE(4), RESTORE(6), 0x06, 16);
	CHECK("0-100 r7+8 unsupported [cfa-8]; ", 0x16, 6, 2, 0x77, 0); /* val_expression */
	CHECK("0-100 r7+8 unsupported [cfa-8]; ", OFFSET(6, 0xff), 0xff, 0xff, 0xff, 0x7f);
}

static void other_registers_do_not_matter(void **state)
{
	CHECK("0-100 r7+8 same [cfa-8]; ", OFFSET(3, 2), RESTORE(12), UNDEFINED(0), REGISTER(1, 2),
	      EXPRESSION(13, 2), 0x76, 0x70, 0x05, ULEB2(300), 2, 0x16, 14, 1, 0x30);
}

static void the_cfa_has_an_offset_or_an_expression(void **state)
{
	CHECK("0-100 r10+0 same [cfa-8]; ", DEF_CFA(10, 0));
	CHECK("0-100 r7-16 same [cfa-8]; ", 0x12, 7, 2); /* def_cfa_sf */
	CHECK("0-100 r7+16 same [cfa-8]; ", 0x13, 0x7e); /* def_cfa_offset_sf */
	CHECK("0-100 *(r6-8)+0 same [cfa-8]; ", CFA_EXPRESSION(3), 0x76, 0x78, 0x06);
	CHECK("0-100 *(r7+64)+8 same [cfa-8]; ", CFA_EXPRESSION(6), 0x77, 0xc0, 0, 0x06, 0x23, 8);
	CHECK("0-100 r3+28 same [cfa-8]; ", CFA_EXPRESSION(6), 0x73, 16, 0x23, 4, 0x23, 8);
	CHECK("0-100 r20+4 same [cfa-8]; ", CFA_EXPRESSION(3), 0x92, 20, 4);
	CHECK("0-100 plt11 same [cfa-8]; ", PLT_EXPRESSION(11));
	CHECK("0-100 plt10 same [cfa-8]; ", PLT_EXPRESSION(10));
	CHECK("0-100 unsupported same [cfa-8]; ", CFA_EXPRESSION(2), 0x77, 8 | 0x80);
	CHECK("0-100 unsupported same [cfa-8]; ", CFA_EXPRESSION(4), 0x77, 8, 0x06, 0x06);
	CHECK("0-100 unsupported same [cfa-8]; ", CFA_EXPRESSION(0));
	CHECK("0-100 unsupported same [cfa-8]; ", DEF_CFA(ULEB2(256), 8));
	CHECK("0-100 unsupported same [cfa-8]; ", CFA_OFFSET(0xff), 0xff, 0xff, 0xff, 0x7f);
}

static void half_a_cfa_needs_the_other_half(void **state)
{
	CHECK("0-2 *(r6-8)+0 same [cfa-8]; 2-4 unsupported same [cfa-8]; 4-100 r7+8 same [cfa-8]; ",
	      CFA_EXPRESSION(3), 0x76, 0x78, 0x06, ADVANCE(2), CFA_OFFSET(16), ADVANCE(2),
	      DEF_CFA(7, 8));
}

/* What GCC makes of a function that aligns its stack. */
static void drap_is_understood(void **state)
{
	CHECK("0-5 r10+0 same [cfa-8]; 5-9 r10+0 [r6+0] [cfa-8]; 9-100 *(r6-8)+0 [r6+0] [cfa-8]; ",
	      DEF_CFA(10, 0), ADVANCE(5), EXPRESSION(6, 2), 0x76, 0, ADVANCE(4), CFA_EXPRESSION(3),
	      0x76, 0x78, 0x06);
}

static void states_are_remembered(void **state)
{
	uint8_t deep[2 * PROGRAM_MAX_REMEMBERED + 4];

	CHECK("0-1 r7+16 [cfa-16] [cfa-8]; 1-2 r7+8 same [cfa-8]; 2-100 r7+16 [cfa-16] [cfa-8]; ",
	      CFA_OFFSET(16), OFFSET(6, 2), REMEMBER, ADVANCE(1), CFA_OFFSET(8), RESTORE(6),
	      ADVANCE(1), RESTORE_STATE);
	CHECK("0-1 r7+8 same [cfa-8]; 1-100 unsupported same same; ", ADVANCE(1), RESTORE_STATE);
	memset(deep, REMEMBER, sizeof(deep));
	check_program(deep, PROGRAM_MAX_REMEMBERED, "0-100 r7+8 same [cfa-8]; ");
	check_program(deep, PROGRAM_MAX_REMEMBERED + 1, "0-100 unsupported same same; ");
	memset(deep + PROGRAM_MAX_REMEMBERED, RESTORE_STATE, PROGRAM_MAX_REMEMBERED);
	check_program(deep, 2 * PROGRAM_MAX_REMEMBERED, "0-100 r7+8 same [cfa-8]; ");
}

static void what_makes_no_sense_ends_the_rows(void **state)
{
	CHECK("0-1 r7+16 same [cfa-8]; 1-100 unsupported same same; ", CFA_OFFSET(16), ADVANCE(1),
	      CFA_OFFSET(24), 0x3e, ADVANCE(1), CFA_OFFSET(32));
	CHECK("0-2 r7+8 same [cfa-8]; 2-100 unsupported same same; ", ADVANCE(2), SET_LOC, 0x01,
	      0x10, 0x40, 0, 0, 0, 0, 0); /* backwards */
	CHECK("0-2 r7+8 same [cfa-8]; 2-100 unsupported same same; ", ADVANCE(2),
	      CFA_EXPRESSION(100), 0x77, 8);
	CHECK("0-2 r7+8 same [cfa-8]; 2-100 unsupported same same; ", ADVANCE(2), 0x0e, 0x80, 0x80,
	      0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
	      0x00);
}

static void signatures_and_argument_sizes_change_nothing(void **state)
{
	struct bytes b = {};
	size_t cie = PUT_CIE(&b, &((struct cie){ .ra_reg = 30, .code_align = 4 }), DEF_CFA(31, 0));

	CHECK("0-4 r7+8 same [cfa-8]; 4-100 r7+8 same [cfa-8]; ", 0x2e, ULEB2(300), ADVANCE(4),
	      0x2e, 0);
	check_rows(&b,
		   PUT_FDE(&b, cie, FUNCTION, 0x100, ADVANCE(1), 0x2d, ADVANCE(1), CFA_OFFSET(16),
			   OFFSET(29, 2), OFFSET(30, 1), ADVANCE(2), 0x2c),
		   TABLE_ARM64,
		   "0-4 r31+0 same same; 4-8 r31+0 same same; 8-10 r31+16 [cfa-16] [cfa-8]; "
		   "10-100 r31+16 [cfa-16] [cfa-8]; ");
}

/* A function so far behind, or before, what its address counts from. */
static void check_encoding(uint8_t encoding, int distance)
{
	static const uint64_t bases[] = { 0, 0, 0x400000, 0x500000 };
	struct bytes b = { .vaddr = 0x600000 };
	size_t cie = PUT_CIE(&b, &((struct cie){ .encoding = encoding }), USUAL);
	size_t at = begin_fde(&b, cie);
	uint64_t base = bases[encoding >> 4], start;
	struct cfi_fde fde;
	struct cfi c;

	start = (encoding & 0x70) == 0x10 ? b.vaddr + b.sz : base;
	start += (uint64_t)(int64_t)distance;
	put_pointer(&b, encoding, start, base);
	put_pointer(&b, encoding & 0xf, 0x80, 0);
	put_uleb(&b, 0);
	end_entry(&b, at);
	open_cfi(&c, &b, TABLE_X86);
	assert_true(cfi_read_fde(&c, at, &fde));
	assert_int_equal(fde.start, start);
	assert_int_equal(fde.end, start + 0x80);
	cfi_release(&c);
	bytes_free(&b);
}

static void addresses_come_in_every_encoding(void **state)
{
	static const uint8_t formats[] = { 0x00, 0x01, 0x02, 0x03, 0x04, 0x09, 0x0a, 0x0b, 0x0c };

	for (size_t i = 0; i < sizeof(formats); i++)
		for (uint8_t base = 0; base <= 0x30; base += 0x10) {
			check_encoding(formats[i] | base, 0x4321);
			if (base && (formats[i] == 0 || formats[i] == 4 || formats[i] >= 9))
				check_encoding(formats[i] | base, -0x4321);
		}
}

static void other_encodings_are_refused(void **state)
{
	static const uint8_t encodings[] = { 0x80, 0x9b, 0x40, 0x50, 0x60, 0x70, 0x05, 0x0f, 0xff };

	for (size_t i = 0; i < sizeof(encodings); i++) {
		const struct cie cie = { .encoding = encodings[i] };
		struct bytes b = {};
		size_t c = PUT_CIE(&b, &cie, USUAL);

		check_rows(&b, PUT_FDE(&b, c, FUNCTION, 0x100, NOP), TABLE_X86, "none");
	}
}

static void lengths_may_have_64_bits(void **state)
{
	struct bytes eh = { .is_64 = true }, debug = { .is_64 = true, .is_debug = true };
	size_t cie = put_usual_cie(&eh);

	check_rows(&eh, PUT_FDE(&eh, cie, FUNCTION, 0x10, ADVANCE(1), CFA_OFFSET(16)), TABLE_X86,
		   "0-1 r7+8 same [cfa-8]; 1-10 r7+16 same [cfa-8]; ");
	put_usual_cie(&debug);
	cie = PUT_CIE(&debug, &((struct cie){ .version = 3 }), DEF_CFA(7, 16), OFFSET(16, 1));
	check_rows(&debug, PUT_FDE(&debug, cie, FUNCTION, 0x10, NOP), TABLE_X86,
		   "0-10 r7+16 same [cfa-8]; ");
}

static void debug_frame_has_versions(void **state)
{
	static const uint8_t versions[] = { 1, 3, 4 };

	for (size_t i = 0; i < sizeof(versions); i++) {
		const struct cie cie = { .version = versions[i] };
		struct bytes b = { .is_debug = true };
		size_t c = PUT_CIE(&b, &cie, USUAL);

		check_rows(&b, PUT_FDE(&b, c, FUNCTION, 0x10, NOP), TABLE_X86,
			   "0-10 r7+8 same [cfa-8]; ");
	}
}

static void version_4_says_how_long_addresses_are(void **state)
{
	const struct cie cie = { .version = 4, .address_sz = 4, .segment_sz = 2 };
	struct bytes b = { .is_debug = true };
	size_t at, c = PUT_CIE(&b, &cie, USUAL);

	at = begin_fde(&b, c);
	put_number(&b, 7, 2);
	put_number(&b, FUNCTION, 4);
	put_number(&b, 0x10, 4);
	put(&b, (const uint8_t[]){ ADVANCE(2), CFA_OFFSET(16) }, 3);
	end_entry(&b, at);
	check_rows(&b, at, TABLE_X86, "0-2 r7+8 same [cfa-8]; 2-10 r7+16 same [cfa-8]; ");
}

static void versions_that_do_not_exist_are_refused(void **state)
{
	static const struct cie cies[] = { { .version = 2 },
					   { .version = 5 },
					   { .version = 4, .address_sz = 3 } };

	for (size_t i = 0; i < 3; i++) {
		struct bytes b = { .is_debug = true };
		size_t c = PUT_CIE(&b, &cies[i], USUAL);

		check_rows(&b, PUT_FDE(&b, c, FUNCTION, 0x10, NOP), TABLE_X86, "none");
	}
}

static void check_augmentation(const char *letters, const void *data, size_t sz,
			       const char *expected)
{
	const struct cie cie = { .augmentation = letters, .data = data, .data_sz = sz };
	struct bytes b = {};
	size_t at, c = PUT_CIE(&b, &cie, USUAL);

	at = begin_fde(&b, c);
	put_number(&b, FUNCTION, 8);
	put_number(&b, 0x10, 8);
	if (*letters == 'z')
		put(&b, "\3abc", 4);
	end_entry(&b, at);
	check_rows(&b, at, TABLE_X86, expected);
}

static void augmentations_are_skipped_by_their_sizes(void **state)
{
	static const char rows[] = "0-10 r7+8 same [cfa-8]; ";
	static const char signal[] = "signal 0-10 r7+8 same [cfa-8]; ";

	check_augmentation("zR", "\0", 1, rows);
	check_augmentation("zPLR", "\x9b\1\2\3\4\x1b\0", 7, rows);
	check_augmentation("zPLR", "\xff\x1b\0", 3, rows);
	check_augmentation("zRS", "\0", 1, signal);
	check_augmentation("zRBG", "\0", 1, rows);
	check_augmentation("zR?", "\0junk", 5, rows);
	check_augmentation("z?R", "junk", 4, rows);
	check_augmentation("", "", 0, rows);
	check_augmentation("S", "", 0, signal);
	check_augmentation("?", "", 0, "none");
	check_augmentation("eh", "12345678", 8, "none");
	check_augmentation("zR", "", 0, "none");	  /* its data end before the encoding */
	check_augmentation("zPR", "\x05\0\0", 3, "none"); /* a format that does not exist */
}

static void a_bad_cie_costs_only_its_own_functions(void **state)
{
	struct bytes b = {};
	size_t bad = PUT_CIE(&b, &((struct cie){ .version = 9 }), USUAL);
	size_t moves = PUT_CIE(&b, &((struct cie){}), USUAL, ADVANCE(1));
	size_t unknown = PUT_CIE(&b, &((struct cie){}), USUAL, 0x3e);
	size_t good = put_usual_cie(&b);
	size_t fdes[] = { PUT_FDE(&b, bad, FUNCTION, 0x10, NOP),
			  PUT_FDE(&b, moves, FUNCTION, 0x10, NOP),
			  PUT_FDE(&b, unknown, FUNCTION, 0x10, NOP),
			  PUT_FDE(&b, 1 << 20, FUNCTION, 0x10, NOP),
			  PUT_FDE(&b, good + 4, FUNCTION, 0x10, NOP),
			  PUT_FDE(&b, -1, FUNCTION, 0x10, NOP),
			  PUT_FDE(&b, good, FUNCTION, 0x10, NOP) };
	struct text t = {};
	struct cfi c;

	open_cfi(&c, &b, TABLE_X86);
	for (size_t i = 0; i < sizeof(fdes) / sizeof(*fdes); i++)
		print_rows(&t, &c, fdes[i]);
	cfi_release(&c);
	bytes_free(&b);
	assert_string_equal(t.s, "nonenonenonenonenonenone0-10 r7+8 same [cfa-8]; ");
}

/* Two CIEs of sz bytes that have the same place among those kept. */
static void put_rivals(struct bytes *b, size_t sz, size_t fdes[2])
{
	uint8_t *program = calloc(1, sz);
	size_t cies[2];

	for (int i = 0; i < 2; i++) {
		memcpy(program, (const uint8_t[]){ USUAL, CFA_OFFSET(16 + 8 * i) }, 7);
		cies[i] = put_cie(b, &(struct cie){}, program, sz);
		while (b->sz % (4 * CFI_NR_CIES))
			put_number(b, 0, 1);
	}
	for (int i = 0; i < 2; i++)
		fdes[i] = PUT_FDE(b, cies[i], FUNCTION, 0x10, NOP);
	free(program);
}

static void cies_may_be_rivals(void **state)
{
	struct bytes b = {};
	struct text t = {};
	size_t fdes[2];
	struct cfi c;

	put_rivals(&b, 64, fdes);
	open_cfi(&c, &b, TABLE_X86);
	for (int i = 0; i < 4; i++)
		print_rows(&t, &c, fdes[i & 1]);
	cfi_release(&c);
	bytes_free(&b);
	assert_string_equal(t.s, "0-10 r7+16 same [cfa-8]; 0-10 r7+24 same [cfa-8]; "
				 "0-10 r7+16 same [cfa-8]; 0-10 r7+24 same [cfa-8]; ");
}

static void large_cies_are_not_read_on_and_on(void **state)
{
	struct bytes b = {};
	struct cfi_fde fde;
	size_t fdes[2];
	struct cfi c;
	clock_t start;

	put_rivals(&b, 1000000, fdes);
	open_cfi(&c, &b, TABLE_X86);
	start = clock();
	assert_true(cfi_read_fde(&c, fdes[0], &fde));
	for (int i = 0; i < 100000; i++)
		cfi_read_fde(&c, fdes[i & 1], &fde);
	assert_false(cfi_read_fde(&c, fdes[0], &fde));
	assert_true(clock() - start < CLOCKS_PER_SEC);
	cfi_release(&c);
	bytes_free(&b);
}

static void functions_of_no_size_or_at_0_are_none(void **state)
{
	static const uint64_t starts[] = { FUNCTION, 0, FUNCTION, UINT64_MAX - 3 };
	static const uint64_t ranges[] = { 0, 0x10, UINT64_MAX - 4, 0x10 };

	for (size_t i = 0; i < 4; i++) {
		struct bytes b = {};
		size_t cie = put_usual_cie(&b);

		check_rows(&b, PUT_FDE(&b, cie, starts[i], ranges[i], NOP), TABLE_X86, "none");
	}
}

static void addresses_are_in_units_of_the_code(void **state)
{
	const struct cie cie = { .code_align = 4, .data_align = -4, .ra_reg = 30 };
	struct bytes b = {};
	size_t c = PUT_CIE(&b, &cie, DEF_CFA(31, 0));

	check_rows(&b, PUT_FDE(&b, c, FUNCTION, 0x100, ADVANCE(2), CFA_OFFSET(32), OFFSET(30, 6)),
		   TABLE_ARM64, "0-8 r31+0 same same; 8-100 r31+32 same [cfa-24]; ");
}

/* Without a rule of its own the return address is still where the call has left it, if anywhere. */
static void the_return_address_has_a_default(void **state)
{
	struct bytes x86 = {}, arm64 = {};
	size_t cie = PUT_CIE(&x86, &((struct cie){}), DEF_CFA(7, 8));

	check_rows(&x86, PUT_FDE(&x86, cie, FUNCTION, 4, NOP), TABLE_X86,
		   "0-4 r7+8 same undefined; ");
	cie = PUT_CIE(&arm64, &((struct cie){ .ra_reg = 30 }), DEF_CFA(31, 0));
	check_rows(&arm64, PUT_FDE(&arm64, cie, FUNCTION, 4, NOP), TABLE_ARM64,
		   "0-4 r31+0 same same; ");
}

/* Every cut: what is left is read or refused, and never a byte behind (the sanitizer watches). */
static void everything_may_be_cut(void **state)
{
	const struct cie cie = { .augmentation = "zPLRS",
				 .data = (void *)"\0AAAAAAAA\x1b\0",
				 .data_sz = 11 };
	struct bytes b = {}, cut;
	size_t c = PUT_CIE(&b, &cie, USUAL);
	size_t at = PUT_FDE(&b, c, FUNCTION, 0x100, ADVANCE2(2), CFA_EXPRESSION(3), 0x76, 0x78, 6,
			    ADVANCE4(3), EXPRESSION(6, 2), 0x76, 0, SET_LOC, 0x80, 0x10, 0x40, 0, 0,
			    0, 0, 0, OFFSET(6, 0x82), 1);

	for (size_t sz = 0; sz <= b.sz; sz++)
		for (size_t length = 0; length <= b.sz - at; length++) {
			struct text t = {};
			struct cfi cfi;

			cut = (struct bytes){};
			put(&cut, b.data, sz);
			if (sz > at + 4)
				cut.data[at] = length;
			cut.data = realloc(cut.data, sz + !sz);
			open_cfi(&cfi, &cut, TABLE_X86);
			for (size_t i = 0; i <= sz; i++)
				cfi_next(&cfi, i);
			print_rows(&t, &cfi, at);
			cfi_release(&cfi);
			bytes_free(&cut);
			if (sz < b.sz && sz <= at + 4)
				assert_string_equal(t.s, "none");
		}
	bytes_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_begin_where_the_program_moves_on),
		cmocka_unit_test(rows_stay_in_the_function),
		cmocka_unit_test(moving_on_by_nothing_makes_no_row),
		cmocka_unit_test(registers_can_be_in_many_places),
		cmocka_unit_test(other_registers_do_not_matter),
		cmocka_unit_test(the_cfa_has_an_offset_or_an_expression),
		cmocka_unit_test(half_a_cfa_needs_the_other_half),
		cmocka_unit_test(drap_is_understood),
		cmocka_unit_test(states_are_remembered),
		cmocka_unit_test(what_makes_no_sense_ends_the_rows),
		cmocka_unit_test(signatures_and_argument_sizes_change_nothing),
		cmocka_unit_test(addresses_come_in_every_encoding),
		cmocka_unit_test(other_encodings_are_refused),
		cmocka_unit_test(lengths_may_have_64_bits),
		cmocka_unit_test(debug_frame_has_versions),
		cmocka_unit_test(version_4_says_how_long_addresses_are),
		cmocka_unit_test(versions_that_do_not_exist_are_refused),
		cmocka_unit_test(augmentations_are_skipped_by_their_sizes),
		cmocka_unit_test(a_bad_cie_costs_only_its_own_functions),
		cmocka_unit_test(cies_may_be_rivals),
		cmocka_unit_test(large_cies_are_not_read_on_and_on),
		cmocka_unit_test(functions_of_no_size_or_at_0_are_none),
		cmocka_unit_test(addresses_are_in_units_of_the_code),
		cmocka_unit_test(the_return_address_has_a_default),
		cmocka_unit_test(everything_may_be_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
