/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* USDT notes made here, and the operands of both architectures. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

#include <cmocka.h>

#include "tests/unit/made_elf.h"
#include "uprobe/usdt.h"

#define NOTE(where, base, semaphore, strings)                                                      \
	made_note(&image, where, base, semaphore, strings, sizeof(strings))

static struct made_elf image;

static void probes_have_all_places(void **state)
{
	const struct usdt_probe *all;
	struct usdt_probe *found;
	struct elf_file *f;
	struct usdt *u;
	size_t nr;

	made_init(&image, EM_X86_64);
	NOTE(CODE_VADDR + 0x20, DATA_VADDR, DATA_VADDR + 6,
	     "db\0query\0"
	     "8@%rdi");
	NOTE(CODE_VADDR + 0x10, DATA_VADDR, DATA_VADDR + 6,
	     "db\0query\0"
	     "8@%rsi");
	NOTE(CODE_VADDR + 0x30, DATA_VADDR, 0, "db\0commit\0");
	/* Linked elsewhere and moved: by how much the base says. */
	NOTE(CODE_VADDR - 0x1000, DATA_VADDR - 0x1000, DATA_VADDR - 0x1000 + 8, "web\0get\0");
	NOTE(CODE_VADDR + CODE_SIZE, DATA_VADDR, 0, "bad\0outside\0");
	NOTE(CODE_VADDR, DATA_VADDR, 0, "bad\0");
	f = elf_file_open_image(image.bytes, sizeof(image.bytes));
	u = usdt_open(f);
	all = usdt_all(u, &nr);
	assert_int_equal(nr, 3);
	assert_int_equal(usdt_nr_bad(u), 2);
	assert_string_equal(all[0].name, "commit");
	assert_int_equal(all[0].locations->semaphore, 0);
	assert_string_equal(all[1].name, "query");
	assert_int_equal(all[1].nr_locations, 2);
	assert_int_equal(all[1].locations[0].offset, CODE_OFFSET + 0x10);
	assert_int_equal(all[1].locations[1].offset, CODE_OFFSET + 0x20);
	assert_int_equal(all[1].locations[1].semaphore, DATA_OFFSET + 6);
	assert_string_equal(all[1].locations[1].args, "8@%rdi");
	assert_int_equal(all[2].locations->address, CODE_VADDR);
	assert_int_equal(all[2].locations->semaphore, DATA_OFFSET + 8);
	assert_int_equal(usdt_find(u, "d*", "*", &found), 2);
	free(found);
	assert_int_equal(usdt_find(u, "db", "get", &found), 0);
	free(found);
	usdt_free(u);
	elf_file_close(f);
}

struct row {
	const char *text;
	struct usdt_arg arg;
};

static const struct row x86[] = {
	{ "4@$5", { USDT_CONSTANT, 4, false, 0, 0, 1, 5 } },
	{ "-4@$-5", { USDT_CONSTANT, 4, true, 0, 0, 1, -5 } },
	{ "8@$0xffffffffffffffff", { USDT_CONSTANT, 8, false, 0, 0, 1, -1 } },
	{ "4@%edi", { USDT_REGISTER, 4, false, 7, 0, 1, 0 } },
	{ "-1@%r10b", { USDT_REGISTER, 1, true, 10, 0, 1, 0 } },
	{ "8@%r15", { USDT_REGISTER, 8, false, 15, 0, 1, 0 } },
	{ "2@%bp", { USDT_REGISTER, 2, false, 5, 0, 1, 0 } },
	{ "-4@-1204(%rbp)", { USDT_MEMORY, 4, true, 5, 0, 1, -1204 } },
	{ "8@(%r8)", { USDT_MEMORY, 8, false, 8, 0, 1, 0 } },
	{ "8@8(%rax,%rbx,4)", { USDT_INDEXED, 8, false, 0, 3, 4, 8 } },
	{ "8@(%rax,%r12)", { USDT_INDEXED, 8, false, 0, 12, 1, 0 } },
};

static const struct row arm64[] = {
	{ "4@5", { USDT_CONSTANT, 4, false, 0, 0, 1, 5 } },
	{ "-8@x0", { USDT_REGISTER, 8, true, 0, 0, 1, 0 } },
	{ "4@w30", { USDT_REGISTER, 4, false, 30, 0, 1, 0 } },
	{ "8@sp", { USDT_REGISTER, 8, false, 31, 0, 1, 0 } },
	{ "8@[x1]", { USDT_MEMORY, 8, false, 1, 0, 1, 0 } },
	{ "8@[sp, 60]", { USDT_MEMORY, 8, false, 31, 0, 1, 60 } },
	{ "8@[x1, -8]", { USDT_MEMORY, 8, false, 1, 0, 1, -8 } },
	{ "8@[x1, x2]", { USDT_INDEXED, 8, false, 1, 2, 1, 0 } },
	{ "8@[x1, x2, lsl 3]", { USDT_INDEXED, 8, false, 1, 2, 8, 0 } },
};

static void check_row(uint16_t machine, const struct row *row)
{
	struct usdt_arg args[USDT_MAX_ARGS];
	const struct usdt_arg *w = &row->arg;
	size_t nr;
	char *why;

	assert_int_equal(usdt_parse_args(machine, row->text, args, &nr, &why), 0);
	assert_int_equal(nr, 1);
	assert_int_equal(args->kind, w->kind);
	assert_int_equal(args->size, w->size);
	assert_int_equal(args->is_signed, w->is_signed);
	assert_int_equal(args->base, w->base);
	assert_int_equal(args->index, w->index);
	assert_int_equal(args->scale, w->scale);
	assert_int_equal(args->displacement, w->displacement);
}

static void operands_are_understood(void **state)
{
	for (size_t i = 0; i < sizeof(x86) / sizeof(*x86); i++)
		check_row(EM_X86_64, &x86[i]);
	for (size_t i = 0; i < sizeof(arm64) / sizeof(*arm64); i++)
		check_row(EM_AARCH64, &arm64[i]);
}

static void several_arguments(void **state)
{
	struct usdt_arg args[USDT_MAX_ARGS];
	size_t nr;
	char *why;

	assert_int_equal(usdt_parse_args(EM_X86_64, "8@%rdi  -4@-8(%rsp) 4@$7", args, &nr, &why),
			 0);
	assert_int_equal(nr, 3);
	assert_int_equal(usdt_parse_args(EM_AARCH64, "8@[x0, 8] 4@w1", args, &nr, &why), 0);
	assert_int_equal(nr, 2);
	assert_int_equal(args[1].base, 1);
	assert_int_equal(usdt_parse_args(EM_AARCH64, "", args, &nr, &why), 0);
	assert_int_equal(nr, 0);
	assert_int_equal(usdt_parse_args(EM_X86_64,
					 "1@%al 1@%al 1@%al 1@%al 1@%al 1@%al 1@%al 1@%al 1@%al "
					 "1@%al 1@%al 1@%al 1@%al",
					 args, &nr, &why),
			 -EINVAL);
	assert_non_null(strstr(why, "at most 12"));
	free(why);
}

static void other_operands_are_refused(void **state)
{
	static const struct {
		uint16_t machine;
		const char *text, *operand;
	} bad[] = {
		{ EM_X86_64, "8@%rdi 8@sym(%rip)", "'8@sym(%rip)'" },
		{ EM_X86_64, "8f@%xmm0", "'8f@%xmm0'" },
		{ EM_X86_64, "8@%xmm0", "'8@%xmm0'" },
		{ EM_X86_64, "1@%ah", "'1@%ah'" },
		{ EM_X86_64, "3@%eax", "'3@%eax'" },
		{ EM_X86_64, "16@%rax", "'16@%rax'" },
		{ EM_X86_64, "0@%rax", "'0@%rax'" },
		{ EM_X86_64, "8@(%rax,%rbx,3)", "'8@(%rax,%rbx,3)'" },
		{ EM_X86_64, "8@(,%rbx,8)", "'8@(,%rbx,8)'" },
		{ EM_X86_64, "8@(%rax", "'8@(%rax'" },
		{ EM_X86_64, "8@%r16", "'8@%r16'" },
		{ EM_X86_64, "-9223372036854775808@%rax", "'-9223372036854775808@%rax'" },
		{ EM_X86_64, "x", "'x'" },
		{ EM_AARCH64, "8@x31", "'8@x31'" },
		{ EM_AARCH64, "8@[x0, 8", "'8@[x0, 8'" },
		{ EM_AARCH64, "8@[x0, x1, lsl 4]", "'8@[x0, x1, lsl 4]'" },
		{ EM_AARCH64, "8@%rdi", "'8@%rdi'" },
	};
	struct usdt_arg args[USDT_MAX_ARGS];
	size_t nr;
	char *why;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(usdt_parse_args(bad[i].machine, bad[i].text, args, &nr, &why),
				 -EINVAL);
		assert_non_null(strstr(why, bad[i].operand));
		free(why);
	}
}

/* Names and order of the kernel's and of ptrace's structures are the same. */
static void registers_are_where_the_kernel_has_them(void **state)
{
#if defined(__x86_64__)
	assert_int_equal(usdt_register_offset(EM_X86_64, 0),
			 offsetof(struct user_regs_struct, rax));
	assert_int_equal(usdt_register_offset(EM_X86_64, 3),
			 offsetof(struct user_regs_struct, rbx));
	assert_int_equal(usdt_register_offset(EM_X86_64, 4),
			 offsetof(struct user_regs_struct, rsp));
	assert_int_equal(usdt_register_offset(EM_X86_64, 5),
			 offsetof(struct user_regs_struct, rbp));
	assert_int_equal(usdt_register_offset(EM_X86_64, 1),
			 offsetof(struct user_regs_struct, rcx));
	assert_int_equal(usdt_register_offset(EM_X86_64, 2),
			 offsetof(struct user_regs_struct, rdx));
	assert_int_equal(usdt_register_offset(EM_X86_64, 6),
			 offsetof(struct user_regs_struct, rsi));
	assert_int_equal(usdt_register_offset(EM_X86_64, 7),
			 offsetof(struct user_regs_struct, rdi));
	assert_int_equal(usdt_register_offset(EM_X86_64, 8), offsetof(struct user_regs_struct, r8));
	assert_int_equal(usdt_register_offset(EM_X86_64, 9), offsetof(struct user_regs_struct, r9));
	assert_int_equal(usdt_register_offset(EM_X86_64, 12),
			 offsetof(struct user_regs_struct, r12));
	assert_int_equal(usdt_register_offset(EM_X86_64, 15),
			 offsetof(struct user_regs_struct, r15));
#endif
	assert_int_equal(usdt_register_offset(EM_X86_64, 16), -1);
	assert_int_equal(usdt_register_offset(EM_AARCH64, 30), 240);
	assert_int_equal(usdt_register_offset(EM_AARCH64, 31), 248);
	assert_int_equal(usdt_register_offset(EM_AARCH64, 32), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(probes_have_all_places),
		cmocka_unit_test(operands_are_understood),
		cmocka_unit_test(several_arguments),
		cmocka_unit_test(other_operands_are_refused),
		cmocka_unit_test(registers_are_where_the_kernel_has_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
