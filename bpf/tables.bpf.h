/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind tables on the kernel's side: from an address of the current process to the rule that holds
 * there. User space writes the tables (table.h) and learns here what is wanted.
 */
#ifndef BPFPROF_BPF_TABLES_BPF_H
#define BPFPROF_BPF_TABLES_BPF_H

#include "arena.bpf.h"
#include "table.h"

#if defined(__TARGET_ARCH_x86)
#define ARCH TABLE_X86
#else
#define ARCH TABLE_ARM64
#endif

/*
 * Rules that were looked up on this CPU. Programs interrupt each other here, so an entry is
 * believed only when both of its words tell of the same address, in the same list of mappings.
 */
#define RULE_SLOTS 1024
struct rule_slot {
	__u64 pc;
	__u64 rule_check; /* rule in the low half */
};
struct rule_cache {
	struct rule_slot slots[RULE_SLOTS];
};

static __always_inline __u32 rule_slot_of(__u64 pc)
{
	return (pc >> 2 ^ pc >> 13) & (RULE_SLOTS - 1);
}

static __always_inline __u32 rule_check(__u64 pc, __u32 space)
{
	return (__u32)(pc >> 12) * 0x9e3779b1u + (__u32)pc + space;
}

__hidden struct rule_cache *tables_cache(void);

/*
 * Begins a walk in the current process: finds its list of mappings. False: there is none that is
 * valid for this image.
 */
__hidden bool tables_begin(struct scratch *s, struct task_struct *task);

/*
 * The rule for an address, which for a return address is that of the call's last byte: of 22 bits,
 * or special. Fills the cache. Separately verified.
 */
int tables_rule(__u32 id, __u64 pc);

/*
 * The record of an exception rule that tables_rule() gave for pc, copied to scratch->exception.
 * Nonzero: there is none. Separately verified.
 */
int tables_exception(__u32 id, __u64 pc, __u32 rule);

#endif
