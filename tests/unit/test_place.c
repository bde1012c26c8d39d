/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rules of uprobe/place.h, one by one, on code made here. The function probed is at FUNCTION,
 * 64 bytes; others are before and behind it.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/made_elf.h"
#include "uprobe/listing.h"
#include "uprobe/place.h"

#define FUNCTION 0x100
#define OTHER	 0x400
#define ENTRY	 (CODE_VADDR + FUNCTION)

#define ENDBR  0xf3, 0x0f, 0x1e, 0xfa
#define PUSH   0x55
#define NOP5   0x0f, 0x1f, 0x44, 0x00, 0x00
#define NOP10  0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00
#define RET    0xc3
#define PADDED 0x90, 0x90, 0x90

static struct made_elf *image;

static void begin(uint16_t machine, const void *code, size_t sz)
{
	free(image);
	image = malloc(sizeof(*image));
	made_init(image, machine);
	memset(image->bytes + CODE_OFFSET, machine == EM_X86_64 ? 0xcc : 0, CODE_SIZE);
	made_code(image, FUNCTION, code, sz);
	made_symbol(image, "before", 0x80, FUNCTION - 0x80, STB_GLOBAL, STT_FUNC);
	made_symbol(image, "function", FUNCTION, 64, STB_GLOBAL, STT_FUNC);
	made_symbol(image, "other", OTHER, 64, STB_GLOBAL, STT_FUNC);
}

#define X86(...) begin(EM_X86_64, (uint8_t[]){ __VA_ARGS__ }, sizeof((uint8_t[]){ __VA_ARGS__ }))
#define ARM64(...)                                                                                 \
	begin(EM_AARCH64, (uint32_t[]){ __VA_ARGS__ }, sizeof((uint32_t[]){ __VA_ARGS__ }))
#define CODE(at, ...)                                                                              \
	made_code(image, at, (uint8_t[]){ __VA_ARGS__ }, sizeof((uint8_t[]){ __VA_ARGS__ }))
#define WORDS(at, ...)                                                                             \
	made_code(image, at, (uint32_t[]){ __VA_ARGS__ }, sizeof((uint32_t[]){ __VA_ARGS__ }))

static const struct uprobe_function *find(const struct functions *fs)
{
	const struct uprobe_function *f = functions_at(fs, ENTRY);

	assert_non_null(f);
	assert_string_equal(f->name, "function");
	return f;
}

static struct place choose(unsigned int flags)
{
	struct functions *fs = functions_open_image(image->bytes, sizeof(image->bytes));
	struct places *p = places_open(fs);
	struct place at;

	assert_non_null(p);
	assert_int_equal(place_choose(p, find(fs), flags, &at), 0);
	places_free(p);
	functions_free(fs);
	return at;
}

/* Bytes behind the entry, and the price. */
static void check(unsigned int flags, unsigned int behind, enum place_price price)
{
	struct place at = choose(flags);

	assert_int_equal(at.address, ENTRY + behind);
	assert_int_equal(at.offset, CODE_OFFSET + FUNCTION + behind);
	assert_int_equal(at.price, price);
	assert_int_equal(!at.skipped, !behind);
	assert_non_null(at.why);
}

static void emulated_entries_stay(void **state)
{
	X86(PUSH, RET);
	check(PLACE_RETURN, 0, PLACE_EMULATED);
	X86(0x41, 0x57, RET); /* push %r15 */
	check(PLACE_RETURN, 0, PLACE_EMULATED);
	X86(0x90, RET);
	check(0, 0, PLACE_EMULATED);
	X86(0xe9, 0, 1, 0, 0);
	check(0, 0, PLACE_EMULATED);
	X86(0xe8, 0, 1, 0, 0);
	check(0, 0, PLACE_EMULATED);
	X86(0x75, 0x10);
	check(0, 0, PLACE_EMULATED);
	X86(0x0f, 0x84, 0, 1, 0, 0);
	check(0, 0, PLACE_EMULATED);
}

static void others_are_stepped(void **state)
{
	X86(RET);
	check(0, 0, PLACE_STEPPED);
	X86(0x5d, RET); /* pop %rbp */
	check(0, 0, PLACE_STEPPED);
	X86(0x41, 0x90, PUSH); /* xchg %rax,%r8 */
	check(0, 0, PLACE_STEPPED);
	X86(0xff, 0x25, 0, 0, 0, 0); /* jmp *0(%rip) */
	check(0, 0, PLACE_STEPPED);
	X86(0x49, 0x57, RET); /* push with a prefix that kernels do not know */
	check(0, 0, PLACE_STEPPED);
}

static void refused_instructions_are_told(void **state)
{
	X86(0xf0, 0x48, 0xff, 0x07, RET); /* lock incq (%rdi) */
	check(0, 0, PLACE_REFUSED);
	X86(0x3e, 0xff, 0xe0); /* notrack jmp *%rax */
	check(0, 0, PLACE_REFUSED);
	ARM64(0xd50323bf, 0xd65f03c0); /* autiasp */
	check(0, 0, PLACE_REFUSED);
	ARM64(0x885f7c01, 0xd65f03c0); /* ldxr w1, [x0] */
	check(0, 0, PLACE_REFUSED);
}

static void landing_pads_are_skipped(void **state)
{
	X86(ENDBR, PUSH, RET);
	check(PLACE_RETURN, 4, PLACE_EMULATED);
	assert_non_null(strstr(choose(0).insn, "%rbp"));
	assert_int_equal(choose(0).skipped, 1);
	ARM64(0xd503245f, 0xb4000040, 0xd65f03c0); /* bti c; cbz x0 */
	check(PLACE_RETURN, 4, PLACE_EMULATED);
}

static void registers_are_skipped(void **state)
{
	X86(ENDBR, 0x49, 0x89, 0xfb, PUSH); /* mov %rdi,%r11 */
	check(PLACE_RETURN, 7, PLACE_EMULATED);
	X86(0x48, 0x85, 0xff, 0x74, 0x10); /* test %rdi,%rdi; je */
	check(PLACE_RETURN, 3, PLACE_EMULATED);
	X86(0x31, 0xed, 0x31, 0xdb, 0x45, 0x31, 0xe4, PUSH); /* xor ebp, ebx, r12d */
	check(PLACE_RETURN, 7, PLACE_EMULATED);
	X86(0x4c, 0x8d, 0x5c, 0x24, 0x08, PUSH); /* lea 8(%rsp),%r11 */
	check(PLACE_RETURN, 5, PLACE_EMULATED);
	ARM64(0x52800029, 0x7100041f, 0x54000040, 0xd65f03c0); /* mov w9; cmp w0; b.eq */
	check(PLACE_RETURN, 8, PLACE_EMULATED);
}

static void three_are_the_most(void **state)
{
	X86(0x31, 0xed, 0x31, 0xdb, 0x45, 0x31, 0xe4, 0x45, 0x31, 0xed, PUSH);
	check(0, 0, PLACE_STEPPED);
	ARM64(0x52800029, 0x5280002a, 0x5280002b, 0x5280002c, 0x54000040);
	check(0, 0, PLACE_STEPPED);
}

static void memory_is_not_skipped(void **state)
{
	X86(0x4c, 0x8b, 0x1f, PUSH); /* mov (%rdi),%r11 */
	check(0, 0, PLACE_STEPPED);
	X86(0x4c, 0x39, 0x1f, PUSH); /* cmp %r11,(%rdi) */
	check(0, 0, PLACE_STEPPED);
	X86(0x5d, PUSH);
	check(0, 0, PLACE_STEPPED);
	X86(0x0f, 0xa2, PUSH); /* cpuid */
	check(0, 0, PLACE_STEPPED);
	X86(0x64, 0x4c, 0x8b, 0x1c, 0x25, 0x28, 0, 0, 0, PUSH); /* mov %fs:0x28,%r11 */
	check(0, 0, PLACE_STEPPED);
	ARM64(0xf9400009, 0xb4000040); /* ldr x9, [x0] */
	check(0, 0, PLACE_STEPPED);
	ARM64(0xa9be7bfd, 0x94000010); /* stp x29, x30, [sp, #-32]! */
	check(0, 0, PLACE_STEPPED);
}

static void arguments_stay(void **state)
{
	static const uint8_t zeroes[][4] = {
		/* xor of eax, ecx, edx, esi, edi, r8d, r9d, r10d */
		{ 0x31, 0xc0, PUSH },	    { 0x31, 0xc9, PUSH },	{ 0x31, 0xd2, PUSH },
		{ 0x31, 0xf6, PUSH },	    { 0x31, 0xff, PUSH },	{ 0x45, 0x31, 0xc0, PUSH },
		{ 0x45, 0x31, 0xc9, PUSH }, { 0x45, 0x31, 0xd2, PUSH },
	};

	for (size_t i = 0; i < sizeof(zeroes) / sizeof(*zeroes); i++) {
		begin(EM_X86_64, zeroes[i], sizeof(zeroes[i]));
		check(0, 0, PLACE_STEPPED);
	}
	X86(0xb4, 0x01, PUSH); /* mov $1,%ah */
	check(0, 0, PLACE_STEPPED);
	for (uint32_t reg = 0; reg <= 8; reg++) {
		ARM64(0x52800020 | reg, 0x54000040); /* mov wN, #1 */
		check(0, 0, PLACE_STEPPED);
	}
	ARM64(0x0f000400, 0x54000040); /* movi v0.2s, #0 */
	check(0, 0, PLACE_STEPPED);
}

static void return_address_stays_for_returns(void **state)
{
	X86(0x48, 0x83, 0xec, 0x18, 0x75, 0x10); /* sub $24,%rsp; jne */
	check(0, 4, PLACE_EMULATED);
	check(PLACE_RETURN, 0, PLACE_STEPPED);
	ARM64(0xd10083ff, 0x54000040); /* sub sp, sp, #32 */
	check(0, 4, PLACE_EMULATED);
	check(PLACE_RETURN, 0, PLACE_STEPPED);
	ARM64(0xd503233f, 0x54000040); /* paciasp */
	check(0, 4, PLACE_EMULATED);
	check(PLACE_RETURN, 0, PLACE_STEPPED);
	ARM64(0xaa0903fe, 0x54000040); /* mov x30, x9 */
	check(PLACE_RETURN, 0, PLACE_STEPPED);
}

static void code_of_go_is_not_skipped(void **state)
{
	X86(0x31, 0xdb, PUSH); /* its second argument is in rbx */
	check(0, 2, PLACE_EMULATED);
	made_symbol(image, "runtime.morestack", 0x500, 16, STB_GLOBAL, STT_FUNC);
	check(0, 0, PLACE_STEPPED);
}

#define CALL(at) 0xe8, (uint8_t)(0x500 - (at)-5), (uint8_t)((0x500 - (at)-5) >> 8), 0, 0

static void calls_of_go_are_seen_behind_the_check_of_the_stack(void **state)
{
	/* cmp 0x10(%r14),%rsp; jbe more; push; ret; more: push %rax; call; jmp to the entry */
	X86(0x49, 0x3b, 0x66, 0x10, 0x76, 2, PUSH, RET, 0x50, CALL(FUNCTION + 9), 0xeb, 0xf0);
	check(PLACE_RETURN, 0, PLACE_STEPPED); /* it is not of Go */
	made_symbol(image, "runtime.morestack_noctxt.abi0", 0x500, 16, STB_GLOBAL, STT_FUNC);
	made_symbol(image, "runtime.morestack", 0x520, 16, STB_GLOBAL, STT_FUNC);
	check(PLACE_RETURN, 6, PLACE_EMULATED);
	check(0, 6, PLACE_EMULATED);
	/* The same with another function called: it does not begin once more. */
	X86(0x49, 0x3b, 0x66, 0x10, 0x76, 2, PUSH, RET, 0x50, CALL(FUNCTION + 9), 0xeb, 0xf0);
	made_symbol(image, "runtime.panic", 0x500, 16, STB_GLOBAL, STT_FUNC);
	made_symbol(image, "runtime.morestack", 0x520, 16, STB_GLOBAL, STT_FUNC);
	check(0, 0, PLACE_STEPPED);
	/* Also where what is behind is dear: sub $8,%rsp. */
	X86(0x49, 0x3b, 0x66, 0x10, 0x76, 5, 0x48, 0x83, 0xec, 8, RET, CALL(FUNCTION + 11));
	made_symbol(image, "runtime.morestack", 0x500, 16, STB_GLOBAL, STT_FUNC);
	check(0, 6, PLACE_STEPPED);
	/* ldr x16, [x28, #16]; cmp sp, x16; b.ls more; stp; ret; more: str; bl; b to the entry */
	ARM64(0xf9400b90, 0xeb3063ff, 0x54000069, 0xa9be7bfd, 0xd65f03c0, 0xf90007e0,
	      0x94000000 | (0x500 - FUNCTION - 24) / 4, 0x17fffff9);
	made_symbol(image, "runtime.morestack", 0x500, 16, STB_GLOBAL, STT_FUNC);
	check(0, 12, PLACE_STEPPED);
}

static void places_are_inside(void **state)
{
	X86(ENDBR, PUSH, RET);
	((Elf64_Sym *)(image->bytes + MADE_SYMBOLS))[1].st_size = 4;
	check(0, 0, PLACE_STEPPED);
	X86(ENDBR, 0x06, PUSH); /* 06 is no instruction */
	check(0, 0, PLACE_STEPPED);
}

static void long_nops_by_kernel(void **state)
{
	X86(NOP5, PUSH);
	check(0, 5, PLACE_EMULATED);
	check(PLACE_KERNEL_NOPS, 0, PLACE_EMULATED);
	check(PLACE_KERNEL_NOPS | PLACE_KERNEL_NOP5, 0, PLACE_OPTIMISED);
	X86(ENDBR, NOP5, PUSH);
	check(PLACE_KERNEL_NOPS | PLACE_KERNEL_NOP5, 4, PLACE_OPTIMISED);
	/* What is behind arithmetic may have a red zone: rather the next one. */
	X86(0x31, 0xdb, NOP5, PUSH);
	check(PLACE_KERNEL_NOPS | PLACE_KERNEL_NOP5, 7, PLACE_EMULATED);
	check(PLACE_KERNEL_NOPS, 2, PLACE_EMULATED);
	X86(NOP10, RET);
	check(PLACE_KERNEL_NOPS, 0, PLACE_REFUSED);
	check(PLACE_KERNEL_NOPS | PLACE_KERNEL_NOP10, 0, PLACE_OPTIMISED);
	ARM64(0xd503201f, 0xa9be7bfd);
	check(0, 0, PLACE_STEPPED);
	check(PLACE_KERNEL_NOPS, 0, PLACE_EMULATED);
}

static void short_jumps_in_are_seen(void **state)
{
	X86(ENDBR, PUSH, PADDED, 0xeb, 0xfa, RET); /* jmp to the push */
	check(0, 0, PLACE_STEPPED);
	X86(ENDBR, PUSH, PADDED, 0xeb, 0xf6, RET); /* jmp to the endbr64 */
	check(0, 4, PLACE_EMULATED);
	X86(ENDBR, PUSH, PADDED, 0xe2, 0xfa, RET); /* loop */
	check(0, 0, PLACE_STEPPED);
	/* From the function before. */
	X86(ENDBR, PUSH, RET);
	memset(image->bytes + CODE_OFFSET + 0x80, 0x90, 0x80);
	CODE(0xf0, 0x74, 0x12);
	check(0, 0, PLACE_STEPPED);
	/* The same bytes as a part of another instruction: mov $0x9090900a1274,%r11 or so. */
	CODE(0xee, 0x49, 0xbb, 0x74, 0x12, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90);
	check(0, 4, PLACE_EMULATED);
}

static void short_jumps_of_nobody_count(void **state)
{
	X86(ENDBR, PUSH, RET);
	((Elf64_Sym *)(image->bytes + MADE_SYMBOLS))[0].st_size = 1;
	CODE(0xee, 0x49, 0xbb, 0x74, 0x12, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90);
	check(0, 0, PLACE_STEPPED);
}

/* A branch of 4 bytes at OTHER + 0x10 to a byte of the function. */
static void far_branch(uint8_t first, int second, int32_t target)
{
	size_t opcode = second < 0 ? 1 : 2;
	int32_t offset = FUNCTION + target - (OTHER + 0x10 + (int)opcode + 4);

	X86(ENDBR, PUSH, RET);
	CODE(OTHER + 0x10, first, second);
	made_code(image, OTHER + 0x10 + opcode, &offset, 4);
}

static void far_branches_in_are_seen(void **state)
{
	static const int opcodes[][2] = {
		{ 0xe9, -1 }, { 0xe8, -1 }, { 0x0f, 0x84 }, { 0xc7, 0xf8 }
	};

	for (size_t i = 0; i < sizeof(opcodes) / sizeof(*opcodes); i++) {
		far_branch(opcodes[i][0], opcodes[i][1], 4);
		check(0, 0, PLACE_STEPPED);
		far_branch(opcodes[i][0], opcodes[i][1], 0);
		check(0, 4, PLACE_EMULATED);
		far_branch(opcodes[i][0], opcodes[i][1], 5);
		check(0, 4, PLACE_EMULATED);
	}
}

static void branches_of_arm64_in_are_seen(void **state)
{
	/* From the word behind the place: b, cbz, tbz, b.ne, adr by -4 and -8 bytes. */
	static const uint32_t to_place[] = { 0x17ffffff, 0xb4ffffe0, 0x3607ffe0, 0x54ffffe1,
					     0x10ffffe9 };
	static const uint32_t to_entry[] = { 0x17fffffe, 0xb4ffffc0, 0x3607ffc0, 0x54ffffc1,
					     0x10ffffc9 };

	for (size_t i = 0; i < sizeof(to_place) / sizeof(*to_place); i++) {
		ARM64(0x52800029, 0x54000060, to_place[i], 0xd65f03c0);
		check(0, 0, PLACE_STEPPED);
		ARM64(0x52800029, 0x54000060, to_entry[i], 0xd65f03c0);
		check(0, 4, PLACE_EMULATED);
	}
	/* Through a register: a table that nobody sees. Stubs and tail calls use x16. */
	ARM64(0x52800029, 0x54000060, 0xd61f0120, 0xd65f03c0);
	check(0, 0, PLACE_STEPPED);
	ARM64(0x52800029, 0x54000060, 0xd61f0200, 0xd65f03c0);
	check(0, 4, PLACE_EMULATED);
}

static void labels_in_are_seen(void **state)
{
	X86(ENDBR, PUSH, RET);
	made_symbol(image, "inside", FUNCTION + 4, 0, STB_LOCAL, STT_NOTYPE);
	check(0, 0, PLACE_STEPPED);
	X86(ENDBR, PUSH, RET);
	made_symbol(image, "behind", FUNCTION + 5, 0, STB_LOCAL, STT_NOTYPE);
	check(0, 4, PLACE_EMULATED);
	X86(ENDBR, PUSH, RET);
	made_symbol(image, "alias", FUNCTION, 64, STB_LOCAL, STT_FUNC);
	check(0, 4, PLACE_EMULATED);
}

static void pointers_in_are_seen(void **state)
{
	uint64_t address = ENTRY + 4;

	X86(ENDBR, PUSH, RET);
	made_data(image, 0x40, &address, 8);
	check(0, 0, PLACE_STEPPED);
	X86(ENDBR, PUSH, RET);
	made_data(image, 0x44, &address, 8); /* not where a pointer is */
	check(0, 4, PLACE_EMULATED);
	address = ENTRY;
	made_data(image, 0x40, &address, 8);
	check(0, 4, PLACE_EMULATED);
	made_rela(image, R_X86_64_RELATIVE, ENTRY);
	check(0, 4, PLACE_EMULATED);
	made_rela(image, R_X86_64_RELATIVE, ENTRY + 4);
	check(0, 0, PLACE_STEPPED);
}

/* lea of a table, whose entries are relative to it. */
static void jump_table(int32_t last_target)
{
	int32_t base = DATA_VADDR + 0x60,
		entries[3] = { ENTRY + 40 - base, ENTRY - base, ENTRY + last_target - base };
	int32_t offset = base - (CODE_VADDR + OTHER + 7);

	X86(ENDBR, PUSH, RET);
	CODE(OTHER, 0x4c, 0x8d, 0x1d);
	made_code(image, OTHER + 3, &offset, 4);
	made_data(image, 0x60, entries, sizeof(entries));
}

static void jump_tables_in_are_seen(void **state)
{
	jump_table(4);
	check(0, 0, PLACE_STEPPED);
	jump_table(8);
	check(0, 4, PLACE_EMULATED);
}

static void constants_of_fixed_code_are_seen(void **state)
{
	uint32_t address = ENTRY + 4;

	X86(ENDBR, PUSH, RET);
	CODE(OTHER, 0xbf); /* mov $address,%edi */
	made_code(image, OTHER + 1, &address, 4);
	check(0, 4, PLACE_EMULATED);
	((Elf64_Ehdr *)image->bytes)->e_type = ET_EXEC;
	check(0, 0, PLACE_STEPPED);
}

static void prices_inside(void **state)
{
	struct functions *fs;
	struct places *p;
	struct place at;

	X86(ENDBR, PUSH, RET, NOP5);
	fs = functions_open_image(image->bytes, sizeof(image->bytes));
	p = places_open(fs);
	assert_int_equal(place_at(p, find(fs), ENTRY + 5, 0, &at), 0);
	assert_int_equal(at.price, PLACE_STEPPED);
	assert_int_equal(strncmp(at.insn, "ret", 3), 0);
	assert_int_equal(place_at(p, find(fs), ENTRY + 2, 0, &at), -EINVAL);
	assert_int_equal(place_at(p, find(fs), ENTRY + 64, 0, &at), -EINVAL);
	assert_int_equal(place_at(p, find(fs), ENTRY + 6, PLACE_KERNEL_NOP5, &at), 0);
	assert_int_equal(at.price, PLACE_REFUSED);
	assert_true(place_is_instruction(p, find(fs), ENTRY + 4));
	assert_false(place_is_instruction(p, find(fs), ENTRY + 3));
	assert_false(place_is_instruction(p, find(fs), ENTRY - 4));
	places_free(p);
	functions_free(fs);
}

static void check_returns(const uint64_t *wanted, size_t nr_wanted)
{
	struct functions *fs = functions_open_image(image->bytes, sizeof(image->bytes));
	struct places *p = places_open(fs);
	uint64_t *offsets;
	size_t nr;

	assert_int_equal(place_returns(p, find(fs), &offsets, &nr), 0);
	assert_int_equal(nr, nr_wanted);
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(offsets[i], CODE_OFFSET + FUNCTION + wanted[i]);
	free(offsets);
	places_free(p);
	functions_free(fs);
}

static void returns_are_all_found(void **state)
{
	uint64_t *offsets;
	struct functions *fs;
	struct places *p;
	size_t nr;

	/* ret; mov $0xc3,%eax; repz ret; ret $8, then int3 */
	X86(RET, 0xb8, RET, 0, 0, 0, 0xf3, RET, 0xc2, 8, 0);
	check_returns((uint64_t[]){ 0, 6, 8 }, 3);
	ARM64(0xd65f03c0, 0xd503201f, 0xd65f0bff);
	((Elf64_Sym *)(image->bytes + MADE_SYMBOLS))[1].st_size = 12;
	check_returns((uint64_t[]){ 0, 8 }, 2);
	X86(0x06, RET);
	fs = functions_open_image(image->bytes, sizeof(image->bytes));
	p = places_open(fs);
	assert_int_equal(place_returns(p, find(fs), &offsets, &nr), -EILSEQ);
	assert_null(offsets);
	places_free(p);
	functions_free(fs);
}

static void other_machines_are_refused(void **state)
{
	struct functions *fs;

	X86(PUSH);
	((Elf64_Ehdr *)image->bytes)->e_machine = EM_RISCV;
	fs = functions_open_image(image->bytes, sizeof(image->bytes));
	assert_null(places_open(fs));
	assert_int_equal(errno, ENOTSUP);
	functions_free(fs);
}

static int end(void **state)
{
	free(image);
	return 0;
}

static void take_length(void *arg, const struct listing_insn *insn)
{
	uint32_t **at = arg;

	*(*at)++ = insn->len;
}

/* Libraries that decode are older than CPUs: what they do not know has its length. */
static void what_no_decoder_knows_is_listed_whole(void **state)
{
	static const uint8_t code[] = {
		0xc5, 0xfb, 0x92, 0xd1,				/* kmovd %ecx,%k2 */
		0x62, 0xe1, 0x7f, 0x2a, 0x6f, 0x16,		/* vmovdqu8 (%rsi),%ymm18{%k2} */
		0x62, 0xf3, 0x6d, 0x22, 0x3e, 0x4f, 0x02, 0x04, /* vpcmpnequb, 64(%rdi) */
		0xc5, 0xf8, 0x77,				/* vzeroupper */
		0xc3,
	};
	static const uint32_t lengths[] = { 4, 6, 8, 3, 1 };
	uint32_t found[sizeof(code)], *at = found;
	struct functions *fs;

	(void)state;
	begin(EM_X86_64, code, sizeof(code));
	fs = functions_open_image(image->bytes, sizeof(image->bytes));
	assert_int_equal(
		listing_for_each(functions_file(fs), ENTRY, sizeof(code), take_length, &at), 0);
	assert_int_equal(at - found, sizeof(lengths) / sizeof(*lengths));
	assert_memory_equal(found, lengths, sizeof(lengths));
	functions_free(fs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(emulated_entries_stay),
		cmocka_unit_test(others_are_stepped),
		cmocka_unit_test(refused_instructions_are_told),
		cmocka_unit_test(landing_pads_are_skipped),
		cmocka_unit_test(registers_are_skipped),
		cmocka_unit_test(three_are_the_most),
		cmocka_unit_test(memory_is_not_skipped),
		cmocka_unit_test(arguments_stay),
		cmocka_unit_test(return_address_stays_for_returns),
		cmocka_unit_test(code_of_go_is_not_skipped),
		cmocka_unit_test(calls_of_go_are_seen_behind_the_check_of_the_stack),
		cmocka_unit_test(places_are_inside),
		cmocka_unit_test(long_nops_by_kernel),
		cmocka_unit_test(short_jumps_in_are_seen),
		cmocka_unit_test(short_jumps_of_nobody_count),
		cmocka_unit_test(far_branches_in_are_seen),
		cmocka_unit_test(branches_of_arm64_in_are_seen),
		cmocka_unit_test(labels_in_are_seen),
		cmocka_unit_test(pointers_in_are_seen),
		cmocka_unit_test(jump_tables_in_are_seen),
		cmocka_unit_test(constants_of_fixed_code_are_seen),
		cmocka_unit_test(prices_inside),
		cmocka_unit_test(returns_are_all_found),
		cmocka_unit_test(other_machines_are_refused),
		cmocka_unit_test(what_no_decoder_knows_is_listed_whole),
	};

	return cmocka_run_group_tests(tests, NULL, end);
}
