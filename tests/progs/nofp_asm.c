/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer -momit-leaf-frame-pointer */
/*
 * nofp_asm WHAT [SECONDS]: functions as only assembly can have them, called by way of main and
 * outermost.
 *
 *	register   call_it, ra_in_register: burns with its return address in a register that is not
 *	           the one for that
 *	callback   without_cfi, called_back: the first has a frame pointer but no unwind data; the
 *	           second burns
 *	frame      call_it, frame_without_cfi: burns in a function of that sort
 *	leaf       call_it, leaf_without_cfi: the same, but it has no frame
 */
#include <string.h>

#include "nofp.h"

void ra_in_register(void);
void frame_without_cfi(void);
void leaf_without_cfi(void);
void without_cfi(void (*callback)(uint64_t), uint64_t arg);

#define BEGIN(name) ".globl " #name "\n.type " #name ", %function\n" #name ":\n"
#define END(name)   ".size " #name ", .-" #name "\n"

#ifdef __aarch64__
#define BURN                                                                                       \
	"    mov w1, #0x100000\n"                                                                  \
	"1:  subs w1, w1, #1\n"                                                                    \
	"    b.ne 1b\n"
__asm__(".pushsection .text\n"
	/* clang-format off */
	BEGIN(ra_in_register)
	"    .cfi_startproc\n"
	"    mov x17, x30\n"
	"    .cfi_register x30, x17\n"
	"    mov x30, xzr\n"
	BURN
	"    mov x30, x17\n"
	"    .cfi_restore x30\n"
	"    ret\n"
	"    .cfi_endproc\n"
	END(ra_in_register)
	BEGIN(without_cfi)
	"    stp x29, x30, [sp, #-16]!\n"
	"    mov x29, sp\n"
	"    mov x2, x0\n"
	"    mov x0, x1\n"
	"    blr x2\n"
	"    ldp x29, x30, [sp], #16\n"
	"    ret\n"
	END(without_cfi)
	BEGIN(frame_without_cfi)
	"    stp x29, x30, [sp, #-16]!\n"
	"    mov x29, sp\n"
	BURN
	"    ldp x29, x30, [sp], #16\n"
	"    ret\n"
	END(frame_without_cfi)
	BEGIN(leaf_without_cfi)
	BURN
	"    ret\n"
	END(leaf_without_cfi)
	/* clang-format on */
	".popsection\n");
#else
#define BURN                                                                                       \
	"    mov $0x100000, %ecx\n"                                                                \
	"1:  dec %ecx\n"                                                                           \
	"    jne 1b\n"
#define FRAME                                                                                      \
	"    push %rbp\n"                                                                          \
	"    mov %rsp, %rbp\n"
__asm__(".pushsection .text\n"
	/* clang-format off */
	BEGIN(ra_in_register)
	"    .cfi_startproc\n"
	"    pop %rdi\n"
	"    .cfi_adjust_cfa_offset -8\n"
	"    .cfi_register %rip, %rdi\n"
	BURN
	"    push %rdi\n"
	"    .cfi_adjust_cfa_offset 8\n"
	"    .cfi_offset %rip, -8\n"
	"    ret\n"
	"    .cfi_endproc\n"
	END(ra_in_register)
	BEGIN(without_cfi)
	FRAME
	"    mov %rdi, %rax\n"
	"    mov %rsi, %rdi\n"
	"    call *%rax\n"
	"    pop %rbp\n"
	"    ret\n"
	END(without_cfi)
	BEGIN(frame_without_cfi)
	FRAME
	BURN
	"    pop %rbp\n"
	"    ret\n"
	END(frame_without_cfi)
	BEGIN(leaf_without_cfi)
	"    xchg %rbx, %rdi\n"
	BURN
	"    xchg %rbx, %rdi\n"
	"    ret\n"
	END(leaf_without_cfi)
	/* clang-format on */
	".popsection\n");
#endif

static CHAIN void called_back(uint64_t until)
{
	burn_until(CLOCK_MONOTONIC, until);
}

static CHAIN void call_it(void (*it)(void), uint64_t until)
{
	while (wall_ns() < until)
		it();
}

static CHAIN void outermost(const char *what, uint64_t until)
{
	if (!strcmp(what, "register"))
		call_it(ra_in_register, until);
	else if (!strcmp(what, "callback"))
		without_cfi(called_back, until);
	else if (!strcmp(what, "frame"))
		call_it(frame_without_cfi, until);
	else
		call_it(leaf_without_cfi, until);
}

int main(int argc, char **argv)
{
	outermost(argc > 1 ? argv[1] : "register", wall_ns() + arg_ns(argc, argv, 2, 5));
	return 0;
}
