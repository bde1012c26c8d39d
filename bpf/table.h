/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind tables, the contract between those who make them (src/unwind) and those who walk stacks by
 * them (bpf/unwind.bpf.c, and the same step on the host). Types and constants only.
 *
 * A table says for every address of a file's code how to get from the registers there to those of
 * the caller. It is an array of 32-bit words that refers to itself only by index, so it can lie
 * anywhere:
 *
 *	word 0       directory: one struct table_page per page of code, from first_page on
 *	...          rows, the ones of a page together and ascending
 *	exceptions   struct table_exception, 8 words each, for rules that do not fit a row
 *
 * A row is (offset in its page : 10 | rule : 22): the rule holds from that offset up to the next
 * row. Pages are 1 KiB of code on x86-64, offsets in bytes; 4 KiB on aarch64, offsets in
 * instructions. The rule in force where a page begins stands in the directory, so pages without
 * rows of their own cost nothing more.
 *
 * Tables lie in segments of 4 MiB. A table that does not fit one begins at the start of a segment;
 * the rows of a page, an entry of the directory and an exception never lie across two.
 */
#ifndef BPFPROF_BPF_TABLE_H
#define BPFPROF_BPF_TABLE_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define TABLE_SEGMENT_SHIFT 20 /* words */
#define TABLE_SEGMENT_WORDS (1u << TABLE_SEGMENT_SHIFT)
#define TABLE_SEGMENT_BYTES (4u << TABLE_SEGMENT_SHIFT)
#define TABLE_MAX_SEGMENTS  256u /* 1 GiB */

enum table_arch { TABLE_X86 = 0, TABLE_ARM64 = 1 };
#define TABLE_PAGE_SHIFT(arch) ((arch) == TABLE_X86 ? 10 : 12)
#define TABLE_UNIT_SHIFT(arch) ((arch) == TABLE_X86 ? 0 : 2)

struct table_page {
	__u32 rows;	  /* index of the first one's word */
	__u32 rule_count; /* rule at the start of the page : 22 | number of rows : 10 */
};
_Static_assert(sizeof(struct table_page) == 8, "struct table_page is two words");
#define TABLE_PAGE_WORDS 2
#define TABLE_MAX_ROWS	 1023u /* of one page */

#define ROW_RULE_BITS 22
#define ROW_RULE_MASK ((1u << ROW_RULE_BITS) - 1)

/*
 * Rules. The canonical frame address (CFA) is what the stack pointer was in the caller before the
 * call. Both architectures have three kinds:
 *
 *   standard   CFA = stack or frame pointer + constant; return address and saved frame pointer at
 *              constant places
 *   exception  an index into the table's exceptions
 *   special    one of enum rule_special
 *
 * x86-64, from bit 21 down:
 *
 *   standard   0:2 | CFA from the frame pointer:1 | (CFA - base) / 8 : 12 | slot : 7
 *              The return address lies at CFA - 8, the caller's frame pointer at CFA - 8 * slot;
 *              slot 0: the frame pointer still is the caller's.
 *   exception  1:2 | index : 20
 *   special    2:2 | 0 : 12 | code : 8
 *              RULE_OTHER_STACK: CFA = FP + 16
 *              RULE_GO_SAVED…: bit 8 = Go 1.25 or newer; bits 19..9 * 8 = how far below the
 *              thread pointer the runtime keeps its g
 *
 * aarch64:
 *
 *              CFA from the frame pointer:1 | (CFA - base) / 16 : 12 | mode : 3 | slot : 6
 *              (enum rule_mode tells where return address and frame pointer are; from SP only
 *              where the CFA is, too)
 *   exception  mode 7; index = bits 21..9 above bits 5..0
 *   special    mode 6; code = bits 5..0
 *              RULE_OTHER_STACK: CFA = FP + 8 + bits 20..9 * 16
 */
#define RULE_X86_EXCEPTION (1u << 20)
#define RULE_X86_SPECIAL   (2u << 20)
#define RULE_X86_KIND(r)   ((r) >> 20)
#define RULE_X86_BASE_FP   (1u << 19)
#define RULE_X86_CFA(r)	   (((r) >> 7 & 0xfff) * 8)
#define RULE_X86_SLOT(r)   (((r)&0x7f) * 8)
#define RULE_X86_MAX_CFA   (0xfff * 8)
#define RULE_X86_MAX_SLOT  (0x7f * 8)
#define RULE_X86_MAX_INDEX 0xfffffu

enum rule_mode {
	MODE_LR = 0,	   /* return address in the link register, frame pointer unchanged */
	MODE_PAIR_CFA = 1, /* frame pointer at CFA - 8 * slot, return address 8 above it */
	MODE_PAIR_SP = 2,  /* frame pointer at SP + 8 * slot, return address 8 above it */
	MODE_RA_CFA = 3,   /* return address at CFA - 8 * slot, frame pointer unchanged */
	MODE_RA_SP = 4,	   /* return address at SP + 8 * slot, frame pointer unchanged */
	MODE_FP_SP = 5,	   /* frame pointer at SP + 8 * slot, return address in the link register */
	MODE_SPECIAL = 6,
	MODE_EXCEPTION = 7,
};
#define RULE_ARM64_BASE_FP   (1u << 21)
#define RULE_ARM64_CFA(r)    (((r) >> 9 & 0xfff) * 16)
#define RULE_ARM64_MODE(r)   ((r) >> 6 & 7)
#define RULE_ARM64_SLOT(r)   (((r)&0x3f) * 8)
#define RULE_ARM64_INDEX(r)  (((r) >> 9 << 6) | ((r)&0x3f))
#define RULE_ARM64_MAX_CFA   (0xfff * 16)
#define RULE_ARM64_MAX_SLOT  (0x3f * 8)
#define RULE_ARM64_SPECIAL   (MODE_SPECIAL << 6)
#define RULE_ARM64_EXCEPTION (MODE_EXCEPTION << 6)

enum rule_special {
	RULE_STOP = 0,	 /* no caller: the root of the thread */
	RULE_NONE = 1,	 /* the file says nothing about this code */
	RULE_PLT11 = 2,	 /* x86-64: CFA = SP + 8, or 16 from byte 11 of each 16 on */
	RULE_PLT10 = 3,	 /* x86-64: the same from byte 10 on */
	RULE_SIGNAL = 4, /* what a signal handler returns to: registers lie on the stack */
	/* Never in a table; what looking up an address may end with: */
	RULE_NO_TABLE = 5, /* code of a file whose table is not there yet */
	RULE_NO_CODE = 6,  /* no known code */
	RULE_REFUSED = 7,  /* code of a file whose table did not fit */
	RULE_ANON = 8,	   /* generated code: like RULE_NONE, but it keeps frame records */
	/* In a table again: functions of Go that run on another stack than their caller. */
	RULE_OTHER_STACK = 9,  /* the frame pointer is that of this frame, wherever it is */
	RULE_GO_CALLS_C = 10,  /* aarch64: asmcgocall, which keeps on its stack where it was */
	RULE_GO_SAVED = 11,    /* x86-64: morestack; its caller is what the goroutine has saved */
	RULE_GO_SAVED_SP = 12, /* x86-64: systemstack before Go 1.21; it has saved where it was */
};

/*
 * Registers in exceptions are numbered as DWARF does. All but the stack and the frame pointer are
 * known only in the innermost frame, and in one that a signal interrupted.
 */
enum exception_cfa {
	CFA_REG = 0,   /* reg + off */
	CFA_DEREF = 1, /* *(reg + off) + off2 */
	CFA_KEPT = 2,  /* reg + off; the called function keeps reg at SP + off2, from a push on */
};
enum exception_at {
	AT_SAME = 0,  /* unchanged: still in its register (return address: in the link register) */
	AT_CFA = 1,   /* saved at CFA + off */
	AT_REG = 2,   /* saved at reg + off (registers of this frame) */
	AT_DEREF = 3, /* saved at *(reg + off) + off2: not used for the return address */
	IN_REG = 4,   /* in register reg */
	IS_CFA = 5,   /* is CFA + off (DW_CFA_val_offset) */
	AT_LOST = 6,  /* not known */
};
struct table_exception {
	__u8 cfa_kind; /* enum exception_cfa */
	__u8 cfa_reg;
	__u8 fp_kind; /* enum exception_at */
	__u8 fp_reg;
	__u8 ra_kind; /* enum exception_at */
	__u8 ra_reg;
	__u8 push; /* CFA_KEPT: up to this offset of the called function it is not yet kept */
	__u8 pad;
	__s32 cfa_off, cfa_off2;
	__s32 fp_off, fp_off2;
	__s32 ra_off;
	__s32 called; /* CFA_KEPT: that function - the address that it returns to */
};
_Static_assert(sizeof(struct table_exception) == 32, "struct table_exception is eight words");
#define TABLE_EXCEPTION_WORDS 8

/*
 * An executable: one file that is mapped from one offset on. User space waits for all programs to
 * end before it uses the words of a table again.
 */
enum table_state {
	TABLE_ABSENT = 0, /* not built yet, or taken away: wanted when a walk comes here */
	TABLE_READY = 1,
	TABLE_NONE = 2,	   /* there is nothing to build one from: go by frame pointers */
	TABLE_REFUSED = 3, /* no room for it: the stack ends here */
};
struct table_exe {
	__u32 seq;   /* see below */
	__u32 state; /* enum table_state */
	__u32 base;  /* word where the table begins: segment << TABLE_SEGMENT_SHIFT | word there */
	__u32 nr_pages, exceptions; /* as in the table, from base */
	/* Written by BPF: */
	__u32 wanted; /* a walk came here, and there was no table */
	__u64 first_page;
	__u64 delta; /* address as linked - offset in the file */
	__u32 used;  /* by BPF: epoch of the last walk that looked something up */
	__u32 pad;
};
_Static_assert(sizeof(struct table_exe) == 48, "struct table_exe is part of the contract");
#define TABLE_MAX_EXES 8192u
#define TABLE_EXE_ANON 0u /* the row of executable memory without a file: always TABLE_NONE */

/* Where a process has mapped code. Lists are sorted, disjoint, and lie in one segment. */
struct table_mapping {
	__u64 start, end; /* [start, end) */
	__u64 bias;	  /* address - bias = offset in the file */
	__u32 exe;
	__u32 pad;
};
_Static_assert(sizeof(struct table_mapping) == 32, "struct table_mapping is eight words");
#define TABLE_MAPPING_WORDS 8
#define TABLE_MAX_MAPPINGS  32768u /* of one process */

/*
 * A process as walks see it. A walk in another image than the list was made of must not use it:
 * where the stack began tells them apart, since every exec moves it.
 *
 * Rows are found by their PID: the home row, or one of the next TABLE_PROC_PROBES - 1. PID 0 is a
 * row that was never used, so the search ends there; TABLE_PROC_GONE one that is free again.
 */
struct table_proc {
	__u32 seq; /* see below */
	__u32 pid;
	__u64 start_stack; /* mm_struct.start_stack, field 28 of /proc/PID/stat */
	__u32 list;	   /* word where its mappings begin */
	__u32 nr_mappings;
	__u32 space;  /* different for every list there ever was */
	__u8 final;   /* code outside of the list is no code: /proc was asked */
	__u8 defer;   /* addresses change hands too often to walk by any list */
	__u16 python; /* row of its struct python_layout (python.h), 0 = none */
};
_Static_assert(sizeof(struct table_proc) == 32, "two rows are one cache line");
#define TABLE_PROC_ROWS	  32768u /* a power of two */
#define TABLE_PROC_PROBES 8u
#define TABLE_PROC_GONE	  (~0u)
#define TABLE_PROC_HOME(pid)                                                                       \
	((((__u32)(pid)*0x9e3779b1u) >> 17) & (TABLE_PROC_ROWS - TABLE_PROC_PROBES))

/*
 * seq of a row, of an executable or a process, is odd while user space writes it and another number
 * afterwards. A walk that saw an odd one, or two different ones, has read parts of two rows, and
 * does not go by them.
 */

#endif
