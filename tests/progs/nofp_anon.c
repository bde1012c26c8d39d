/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer -momit-leaf-frame-pointer */
/*
 * nofp_anon [SECONDS]: burns in a function generated at run time that has a frame record, as those
 * of V8 and the JVM do. On aarch64 it has called a leaf before, so what the link register holds is
 * an address within itself, not its caller's.
 */
#include <string.h>
#include <sys/mman.h>

#include "nofp.h"

#ifdef __aarch64__
static const uint32_t code[] = {
	0xa9bf7bfd, /*    stp x29, x30, [sp, #-16]! */
	0x910003fd, /*    mov x29, sp */
	0x94000005, /*    bl 2f */
	0xf1000400, /* 1: subs x0, x0, #1 */
	0x54ffffe1, /*    b.ne 1b */
	0xa8c17bfd, /*    ldp x29, x30, [sp], #16 */
	0xd65f03c0, /*    ret */
	0xd65f03c0, /* 2: ret */
};
#else
static const uint8_t code[] = {
	0x55,		  /*    push %rbp */
	0x48, 0x89, 0xe5, /*    mov %rsp, %rbp */
	0x48, 0xff, 0xcf, /* 1: dec %rdi */
	0x75, 0xfb,	  /*    jne 1b */
	0x5d,		  /*    pop %rbp */
	0xc3,		  /*    ret */
};
#endif

#define PAGE 65536 /* the largest of any kernel we run on */

static CHAIN void run_generated(void (*generated)(uint64_t), uint64_t until)
{
	while (wall_ns() < until)
		generated(1000000);
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	void (*generated)(uint64_t);
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return 1;
	memcpy(page, code, sizeof(code));
	if (mprotect(page, PAGE, PROT_READ | PROT_EXEC))
		return 1;
	__builtin___clear_cache(page, (char *)page + sizeof(code));
	memcpy(&generated, &page, sizeof(generated));
	run_generated(generated, wall_ns() + arg_ns(argc, argv, 1, 60));
	return 0;
}
