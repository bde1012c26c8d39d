/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer -momit-leaf-frame-pointer */
/*
 * waits_leaf [ROUNDS]: two callers with equal frames sleep by one system call in a function without
 * a frame, as hand-written wrappers are. On aarch64 nothing but the link register tells them apart.
 * Each comes several times in a row, so that there is something to remember.
 */
#include "waits.h"

#define IN_A_ROW 4

long nap_without_frame(const struct timespec *ts);

#ifdef __aarch64__
__asm__(".pushsection .text\n"
	".globl nap_without_frame\n"
	".type nap_without_frame, %function\n"
	"nap_without_frame:\n"
	"    .cfi_startproc\n"
	"    mov x8, #101\n" /* nanosleep */
	"    mov x1, #0\n"
	"    svc #0\n"
	"    ret\n"
	"    .cfi_endproc\n"
	".size nap_without_frame, .-nap_without_frame\n"
	".popsection\n");
#else
__asm__(".pushsection .text\n"
	".globl nap_without_frame\n"
	".type nap_without_frame, %function\n"
	"nap_without_frame:\n"
	"    .cfi_startproc\n"
	"    mov $35, %eax\n" /* nanosleep */
	"    xor %esi, %esi\n"
	"    syscall\n"
	"    ret\n"
	"    .cfi_endproc\n"
	".size nap_without_frame, .-nap_without_frame\n"
	".popsection\n");
#endif

static struct truth long_naps = { "nap_long" }, short_naps = { "nap_short" };

static CHAIN void nap_long(const struct timespec *ts)
{
	nap_without_frame(ts);
	__asm__ volatile("");
}

static CHAIN void nap_short(const struct timespec *ts)
{
	nap_without_frame(ts);
	__asm__ volatile("" ::"i"(1));
}

int main(int argc, char **argv)
{
	static const struct timespec ts[2] = { { 0, 9 * NS_PER_MS }, { 0, 3 * NS_PER_MS } };
	void (*const naps[2])(const struct timespec *) = { nap_long, nap_short };
	struct truth *const truths[2] = { &long_naps, &short_naps };
	int rounds = argc > 1 ? atoi(argv[1]) : 50, i;

	for (i = 0; i < rounds * 2 * IN_A_ROW; i++) {
		int which = i / IN_A_ROW % 2;
		struct mark from = mark_now();

		naps[which](&ts[which]);
		truth_add(truths[which], from);
	}
	truth_print(&long_naps);
	truth_print(&short_naps);
	return 0;
}
