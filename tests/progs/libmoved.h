/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hold(call, arg, fake) calls call(arg), with fake in its frame where a return address would lie if
 * the frame had 16 bytes. It has 48. What the unwind data says is up to who includes this: SAYS.
 */
#define TEXT(x)	  #x
#define STRING(x) TEXT(x)

#ifdef __aarch64__
#define TAKE "sub sp, sp, #48\n"
#define BODY                                                                                       \
	"str x30, [sp, #40]\n"                                                                     \
	"str x2, [sp, #8]\n"                                                                       \
	"mov x3, x0\n"                                                                             \
	"mov x0, x1\n"                                                                             \
	"blr x3\n"                                                                                 \
	"ldr x30, [sp, #40]\n"                                                                     \
	"add sp, sp, #48\n"
#define RETURN_AT ".cfi_offset 30, -8\n"
#else
#define TAKE "sub $40, %rsp\n"
#define BODY                                                                                       \
	"mov %rdx, 8(%rsp)\n"                                                                      \
	"mov %rdi, %rax\n"                                                                         \
	"mov %rsi, %rdi\n"                                                                         \
	"call *%rax\n"                                                                             \
	"add $40, %rsp\n"
#define RETURN_AT
#endif

__asm__(".pushsection .text\n"
	".globl hold\n"
	".type hold, %function\n"
	"hold:\n"
	".cfi_startproc\n" TAKE ".cfi_def_cfa_offset " STRING(SAYS) "\n" RETURN_AT BODY "ret\n"
								    ".cfi_endproc\n"
								    ".size hold, .-hold\n"
								    ".popsection\n");
