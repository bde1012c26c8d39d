/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is read off machine code of x86-64, as text: "OFFSET:RULE " for each change, as test_table.c
 * writes rules; "ra" with a number where the return address is in that register.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "unwind/scan.h"
#include "unwind/x86.h"

#define TEXT	 0x401000
#define MAX_CODE 256

struct image {
	Elf64_Ehdr elf;
	Elf64_Phdr segment;
	uint8_t code[MAX_CODE];
};

static void make_image(struct image *i, const uint8_t *code, size_t sz)
{
	*i = (struct image){ .elf = { .e_type = ET_EXEC,
				      .e_machine = EM_X86_64,
				      .e_version = EV_CURRENT,
				      .e_phoff = offsetof(struct image, segment),
				      .e_ehsize = sizeof(Elf64_Ehdr),
				      .e_phentsize = sizeof(Elf64_Phdr),
				      .e_phnum = 1 },
			     .segment = { .p_type = PT_LOAD,
					  .p_flags = PF_R | PF_X,
					  .p_offset = offsetof(struct image, code),
					  .p_vaddr = TEXT,
					  .p_filesz = sz,
					  .p_memsz = sz } };
	memcpy(i->elf.e_ident, "\177ELF\2\1\1", 7);
	memcpy(i->code, code, sz);
}

static void print_rule(FILE *f, const struct rules *rules, uint32_t rule)
{
	const struct table_exception *e;

	if (RULE_X86_KIND(rule) == 2) {
		fprintf(f, rule & 0xff ? "none" : "stop");
	} else if (RULE_X86_KIND(rule) == 1) {
		e = &rules->exceptions[rule & RULE_X86_MAX_INDEX];
		fprintf(f, "%s+%d", e->cfa_reg == 6 ? "fp" : "sp", e->cfa_off);
		fprintf(f, e->ra_kind == IN_REG ? ",ra%d" : "", e->ra_reg);
		fprintf(f, e->fp_kind == AT_LOST ? ",lost" : "");
	} else {
		fprintf(f, "%s+%d", rule & RULE_X86_BASE_FP ? "fp" : "sp", RULE_X86_CFA(rule));
		fprintf(f, RULE_X86_SLOT(rule) > 0 ? ",fp-%d" : "", RULE_X86_SLOT(rule));
	}
}

static void check_code(const uint8_t *code, size_t sz, const char *expected)
{
	struct scan_function function = { TEXT, TEXT + sz, false };
	char text[512] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");
	struct rules rules;
	struct layout l;
	struct image image;
	struct elf_file *f;
	struct scan s;

	make_image(&image, code, sz);
	f = elf_file_open_image(&image, sizeof(image));
	assert_non_null(f);
	assert_int_equal(layout_init(&l, f), 0);
	rules_init(&rules, TABLE_X86);
	scan_init(&s, &l);
	scan_function(&s, &function, &rules);
	for (size_t i = 0; i < s.nr_rows; i++) {
		fprintf(out, "%" PRIx64 ":", s.rows[i].from - TEXT);
		print_rule(out, &rules, s.rows[i].rule);
		fputc(' ', out);
	}
	fclose(out);
	scan_release(&s);
	rules_release(&rules);
	layout_release(&l);
	elf_file_close(f);
	assert_string_equal(text, expected);
}

#define CHECK(expected, ...)                                                                       \
	check_code((const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }),     \
		   expected)

static void leaves_have_their_return_address_on_top(void **state)
{
	CHECK("0:sp+8 ", 0xf3, 0x90, 0xc3); /* pause; ret */
}

static void pushes_and_room_are_counted(void **state)
{
	CHECK("0:sp+8 1:sp+16 2:sp+24,fp-24 6:sp+56,fp-24 f:sp+24,fp-24 10:sp+16 11:sp+8 ",
	      0x53,		      /* push %rbx */
	      0x55,		      /* push %rbp */
	      0x48, 0x83, 0xec, 0x20, /* sub $32, %rsp */
	      0xe8, 0, 0, 0, 0,	      /* call */
	      0x48, 0x83, 0xc4, 0x20, /* add $32, %rsp */
	      0x5d, 0x5b, 0xc3);      /* pop %rbp; pop %rbx; ret */
}

static void frame_pointers_are_those_that_the_code_makes(void **state)
{
	CHECK("0:sp+8 1:sp+16,fp-16 4:fp+16,fp-16 c:sp+8 ", 0x55, 0x48, 0x89,
	      0xe5,			     /* push %rbp; mov %rsp, %rbp */
	      0x48, 0x83, 0xe4, 0xf0,	     /* and $-16, %rsp */
	      0x0f, 0x1f, 0x00, 0xc9, 0xc3); /* nop; leave; ret */
	/* A register like others: the caller's is where it was saved. */
	CHECK("0:sp+8 1:sp+16,fp-16 ", 0x55, 0x31, 0xed, 0xc3);
}

static void branches_take_their_state_along(void **state)
{
	CHECK("0:sp+8 3:sp+16 6:sp+8 8:sp+16 9:sp+8 ", 0x85, 0xff,
	      0x53,		/* test %edi, %edi; push %rbx */
	      0x74, 0x03,	/* je 8 */
	      0x5b, 0x90, 0xc3, /* pop %rbx; nop; ret */
	      0x5b, 0xc3);	/* pop %rbx; ret */
}

static void tables_of_jumps_lead_to_what_nothing_else_does(void **state)
{
	CHECK("0:sp+8 1:sp+16 3:none 4:sp+16 5:sp+8 6:sp+16 7:sp+8 ", 0x53, 0xff,
	      0xe0,	   /* push %rbx; jmp *%rax */
	      0x90,	   /* padding */
	      0x5b, 0xc3,  /* pop %rbx; ret */
	      0x5b, 0xc3); /* pop %rbx; ret */
}

static void return_addresses_may_move_to_a_register(void **state)
{
	CHECK("0:sp+8 1:sp+0,ra2 6:sp+8 ", 0x59, /* pop %rcx */
	      0x48, 0x8d, 0x24, 0xc4,		 /* lea (%rsp,%rax,8), %rsp */
	      0x51, 0xc3);			 /* push %rcx; ret */
}

static void roots_clear_a_frame_pointer_that_they_do_not_save(void **state)
{
	CHECK("0:sp+8 2:stop ", 0x31, 0xed, 0xff, 0xd0, 0xf4); /* xor %ebp, %ebp; call *%rax; hlt */
}

static void unknown_stack_pointers_have_no_rule(void **state)
{
	CHECK("0:sp+8 3:none ", 0x48, 0x89, 0xfc, 0xff, 0xd0, 0xc3); /* mov %rdi, %rsp; call */
	CHECK("0:sp+8 2:none ", 0x90, 0xc3, 0x53, 0xc3);	     /* nobody comes here */
	CHECK("0:none ", 0x06, 0xc3);				     /* is no instruction */
}

/* Each begins behind the one before; an aligned loop behind a call is no function. */
static void functions_without_symbols_are_found(void **state)
{
	static const uint8_t code[] = {
		0x53, 0xe8, 0,	  0,	0,    0,			    /* push %rbx; call */
		0x0f, 0x1f, 0x80, 0,	0,    0,    0,	  0x66, 0x66, 0x90, /* up to 16 */
		0xff, 0xcf, 0x75, 0xfc, 0x5b, 0xc3, /* 1: dec %edi; jne 1b; pop; ret */
		0x90, 0x90, 0x55, 0x90, 0x5d, 0xc3, /* push %rbp; nop; pop %rbp; ret */
		0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
		0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
	};
	struct image image;
	struct scan_function f;
	struct elf_file *file;
	struct rules rules;
	struct layout l;
	struct scan s;

	make_image(&image, code, sizeof(code));
	file = elf_file_open_image(&image, sizeof(image));
	assert_int_equal(layout_init(&l, file), 0);
	rules_init(&rules, TABLE_X86);
	scan_init(&s, &l);
	assert_true(scan_next(&s, 0, UINT64_MAX, &f));
	assert_int_equal(f.start, TEXT);
	scan_function(&s, &f, &rules);
	assert_int_equal(f.end, TEXT + 24);
	assert_true(scan_next(&s, f.end, UINT64_MAX, &f));
	assert_int_equal(f.start, TEXT + 24);
	scan_function(&s, &f, &rules);
	assert_int_equal(s.nr_rows, 4); /* of the padding as well */
	assert_false(scan_next(&s, f.end, UINT64_MAX, &f));
	scan_release(&s);
	rules_release(&rules);
	layout_release(&l);
	elf_file_close(file);
}

static void instructions_have_their_lengths(void **state)
{
	static const char *const insns[] = {
		"\x01\x90",
		"\x02\xf3\x90",
		"\x04\x0f\x1f\x40\x00",
		"\x08\x0f\x1f\x84\x00\x00\x00\x00\x00",
		"\x0a\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08", /* movabs */
		"\x05\xb8\x01\x02\x03\x04",
		"\x04\x66\xb8\x01\x02",
		"\x07\x48\x8b\x05\x01\x02\x03\x04", /* by %rip */
		"\x09\x64\x48\x8b\x04\x25\x28\x00\x00\x00",
		"\x03\xf6\xc1\x01",	    /* test, with a constant */
		"\x02\xf7\xd9",		    /* neg, without */
		"\x04\xc5\xf9\x6f\xc1",	    /* VEX */
		"\x05\xc5\xf9\x70\xc1\x01", /* and a constant */
		"\x05\xc4\xe2\x79\x18\xc0",
		"\x06\x62\xf1\xfd\x48\x6f\xc1", /* EVEX */
		"\x06\x8f\xe8\x78\xa2\xc1\x10", /* XOP */
		"\x06\x66\x0f\x3a\x0f\xc1\x08", /* palignr */
		"\x05\x66\x0f\x38\x00\xc1",	/* pshufb */
		"\x04\xc8\x10\x00\x00",		/* enter */
		"\x06\x0f\x84\x01\x02\x03\x04", /* je */
	};
	struct x86_insn insn;

	for (size_t i = 0; i < sizeof(insns) / sizeof(*insns); i++) {
		size_t len = insns[i][0];

		assert_true(x86_decode((const uint8_t *)insns[i] + 1, len, &insn));
		assert_int_equal(insn.len, len);
		assert_false(x86_decode((const uint8_t *)insns[i] + 1, len - 1, &insn));
	}
}

/* Of random bytes, each as long as it may be: nothing behind them is read (sanitizers see it). */
static void random_bytes_are_decoded_or_refused(void **state)
{
	uint32_t x = 1;

	for (int i = 0; i < 300000; i++) {
		size_t sz = 1 + i % 16;
		uint8_t *code = malloc(sz);
		struct x86_insn insn;

		for (size_t k = 0; k < sz; k++) {
			x = x * 1664525 + 1013904223;
			code[k] = x >> 24;
		}
		if (x86_decode(code, sz, &insn))
			assert_in_range(insn.len, 1, sz);
		free(code);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leaves_have_their_return_address_on_top),
		cmocka_unit_test(pushes_and_room_are_counted),
		cmocka_unit_test(frame_pointers_are_those_that_the_code_makes),
		cmocka_unit_test(branches_take_their_state_along),
		cmocka_unit_test(tables_of_jumps_lead_to_what_nothing_else_does),
		cmocka_unit_test(return_addresses_may_move_to_a_register),
		cmocka_unit_test(roots_clear_a_frame_pointer_that_they_do_not_save),
		cmocka_unit_test(unknown_stack_pointers_have_no_rule),
		cmocka_unit_test(functions_without_symbols_are_found),
		cmocka_unit_test(instructions_have_their_lengths),
		cmocka_unit_test(random_bytes_are_decoded_or_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
