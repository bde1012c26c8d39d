/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's own unwind tables (x86-64, CONFIG_UNWINDER_ORC), part of the contract: where they
 * lie, and a directory that user space makes of them. A kernel has some 500,000 entries, sorted:
 *
 *	ips	 int of each: where its code begins, less where the int lies
 *	entries	 struct orc_entry of each: how that code is left
 *	pages	 of 1 KiB of code: number of the last entry that begins at or below the page's start
 */
#ifndef BPFPROF_BPF_ORC_H
#define BPFPROF_BPF_ORC_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define PROF_ORC_SHIFT	 10
#define PROF_ORC_PAGES	 65536u /* a power of two: 64 MiB of code */
#define PROF_ORC_RETURNS 4
#define PROF_ORC_CHUNK	 16384u /* of ips that user space is given at a time */

struct prof_orc {
	__u64 text, text_end; /* code of the kernel itself, without modules */
	__u64 ips, ips_end;
	__u64 entries;
	__u64 returns[PROF_ORC_RETURNS]; /* code that the kernel sees through; 0 = none */
	__u64 from;			 /* where the chunk is to be read */
	__u32 ready;			 /* written last: the directory is made */
	__u32 reg_sp, reg_cfa;		 /* numbers that struct orc_entry has for them */
	__u32 pad;
	__u32 pages[PROF_ORC_PAGES + 16]; /* and one more, for where the last one ends */
	__u32 chunk[PROF_ORC_CHUNK];
};

#endif
