/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where what is called keeps the register that a frame is told by: calls and functions as code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "unwind/held.h"

#define TEXT	 0x401000
#define AT	 8    /* where a call stands */
#define CALLED	 0x40 /* where the function begins that it leads to */
#define MAX_CODE 256
#define RBX	 3

struct image {
	Elf64_Ehdr elf;
	Elf64_Phdr segment;
	uint8_t code[MAX_CODE];
};

static void make_image(struct image *i)
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
					  .p_filesz = MAX_CODE,
					  .p_memsz = MAX_CODE } };
	memcpy(i->elf.e_ident, "\177ELF\2\1\1", 7);
	memset(i->code, 0x90, MAX_CODE);
}

/* A call at an offset of the code, to another one. */
static void put_call(struct image *i, uint8_t at, uint8_t to)
{
	i->code[at] = 0xe8;
	i->code[at + 1] = to - at - 5;
	memset(i->code + at + 2, to < at + 5 ? 0xff : 0, 3);
}

static bool find_within(struct image *image, uint8_t reg, uint64_t sz, struct held_place *place)
{
	struct elf_file *f = elf_file_open_image(image, sizeof(*image));
	struct layout l;
	struct held k = { .layout = &l };
	struct held_place other;
	bool found;

	assert_non_null(f);
	assert_int_equal(layout_init(&l, f), 0);
	found = held_find(&k, TEXT, TEXT + sz, reg, place);
	k.nr_bytes = HELD_MAX_BYTES - 1;
	assert_false(held_find(&k, TEXT, TEXT + sz, reg, &other)); /* so much of a file */
	layout_release(&l);
	elf_file_close(f);
	return found;
}

static void check(struct image *image, uint8_t reg, int32_t off, uint8_t push)
{
	struct held_place place = {};

	assert_true(find_within(image, reg, CALLED, &place));
	assert_int_equal(place.off, off);
	assert_int_equal(place.push, push);
	assert_int_equal(place.function, CALLED - AT - 5);
}

static void check_none(struct image *image, uint8_t reg)
{
	struct held_place place;

	assert_false(find_within(image, reg, CALLED, &place));
}

/* _dl_fixup of glibc 2.36: push %r13; xor %r9d, %r9d; push %r12; push %rbp; push %rbx; … */
static const uint8_t fixup[] = { 0x41, 0x55, 0x45, 0x31, 0xc9, 0x41, 0x54, 0x55,
				 0x53, 0x48, 0x89, 0xfb, 0x48, 0x83, 0xec, 0x18 };

static void the_linkers_helper_pushes_it(void **state)
{
	struct image image;

	make_image(&image);
	put_call(&image, AT, CALLED);
	memcpy(image.code + CALLED, fixup, sizeof(fixup));
	check(&image, RBX, -40, 8);
	check(&image, 13, -16, 0);
	check_none(&image, 14); /* not pushed */
	check_none(&image, 10); /* r10: nobody preserves it */
}

static void room_before_the_push_counts(void **state)
{
	static const uint8_t code[] = { 0xf3, 0x0f, 0x1e, 0xfa, /* endbr64 */
					0x48, 0x83, 0xec, 0x20, /* sub $32, %rsp */
					0x53 };			/* push %rbx */
	struct image image;

	make_image(&image);
	put_call(&image, AT, CALLED);
	memcpy(image.code + CALLED, code, sizeof(code));
	check(&image, RBX, -48, 8);
	image.code[CALLED + 4] = 0xc3; /* ret, and nothing behind it is the function's */
	check_none(&image, RBX);
}

static void only_one_call_counts(void **state)
{
	struct image image;

	make_image(&image);
	image.code[CALLED] = 0x53; /* push %rbx */
	check_none(&image, RBX);
	put_call(&image, AT, CALLED);
	check(&image, RBX, -16, 0);
	put_call(&image, AT + 8, CALLED);
	check_none(&image, RBX);
	make_image(&image);
	image.code[CALLED] = 0x53;
	image.code[AT] = 0x41; /* call *%r11, which may lead anywhere */
	image.code[AT + 1] = 0xff;
	image.code[AT + 2] = 0xd3;
	check_none(&image, RBX);
}

static void code_beyond_the_file_and_large_rows_say_nothing(void **state)
{
	struct held_place place;
	struct image image;

	make_image(&image);
	put_call(&image, AT, CALLED);
	image.code[CALLED] = 0x53;
	assert_true(find_within(&image, RBX, HELD_MAX_ROW, &place));
	assert_false(find_within(&image, RBX, HELD_MAX_ROW + 1, &place));
	image.code[AT + 3] = 1; /* 64 KiB further */
	check_none(&image, RBX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_linkers_helper_pushes_it),
		cmocka_unit_test(room_before_the_push_counts),
		cmocka_unit_test(only_one_call_counts),
		cmocka_unit_test(code_beyond_the_file_and_large_rows_say_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
