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
 * Rules that were looked up on this CPU, in the order in which walks came to need them: those of
 * one stack lie side by side, and a walk that has found one tries the next first. So a stack that
 * was walked before costs a cache line for eight of its frames, not one for each; where a sample
 * comes only every few milliseconds, all of them are cold. The oldest rule goes.
 *
 *	homes  by the first bits of the hash: some more bits of it | slot
 *	slots  hash:42 | rule:22
 *
 * Programs interrupt each other here, so a slot is one word. That 42 bits of two addresses are
 * equal happens once in 4e12 comparisons; addresses of one function always differ.
 */
#define RULE_SLOT_BITS 11
#define RULE_SLOTS     (1u << RULE_SLOT_BITS)
#define RULE_CACHE(name, slot_bits)                                                                \
	struct name {                                                                              \
		__u32 oldest;                                                                      \
		__u32 pad[15];                                                                     \
		__u64 slots[1u << (slot_bits)];                                                    \
		__u16 homes[2u << (slot_bits)];                                                    \
	}
RULE_CACHE(rule_cache, RULE_SLOT_BITS);

static __always_inline __u64 rule_hash(const struct scratch *s, __u64 pc)
{
	return (pc ^ s->rule_key) * 0x9e3779b97f4a7c15ull;
}

static __always_inline __u32 rule_home(__u64 hash, __u32 slot_bits)
{
	return hash >> (63 - slot_bits);
}

static __always_inline __u32 rule_tag(__u64 hash, __u32 slot_bits)
{
	return (hash >> 47 & ((1u << (16 - slot_bits)) - 1)) << slot_bits;
}

/* A rule if the slot is of the address with that hash, else more. */
static __always_inline __u64 rule_in(__u64 slot, __u64 hash)
{
	return slot ^ (hash & ~(__u64)ROW_RULE_MASK);
}

/* The same number, about which neither clang nor the verifier knows anything. */
static __always_inline __u32 unknown(__u32 number)
{
	asm volatile("" : "+r"(number));
	return number;
}

/*
 * The rule of that hash, if it is in the cache, else more. slot: where it may be; then, where it
 * is.
 */
static __always_inline __u64 rule_find(const __u64 *slots, const __u16 *homes, __u32 bits,
				       __u64 hash, __u32 *slot)
{
	__u32 at = *slot, mask = (1u << bits) - 1;
	__u64 rule = rule_in(slots[at & mask], hash);

	if (rule <= ROW_RULE_MASK)
		return rule;
	at = homes[rule_home(hash, bits)] ^ rule_tag(hash, bits);
	if (at > mask)
		return rule;
	*slot = at;
	return rule_in(slots[unknown(at) & mask], hash);
}

/* Into the cache; returns its slot there. */
static __always_inline __u32 rule_keep(__u32 *oldest, __u64 *slots, __u16 *homes, __u32 bits,
				       __u64 hash, __u32 rule)
{
	__u32 at = (*oldest)++ & ((1u << bits) - 1);

	*(volatile __u64 *)&slots[at] = (hash & ~(__u64)ROW_RULE_MASK) | rule;
	homes[rule_home(hash, bits)] = rule_tag(hash, bits) | at;
	return at;
}

/*
 * All ones when a > b, else 0; both below 2^63. The searches add by this mask: a branch would let
 * the verifier try each way at each step, and a processor guess wrong at every other.
 */
static __always_inline __u64 above(__u64 a, __u64 b)
{
	__s64 mask = (__s64)(b - a) >> 63;

	asm volatile("" : "+r"(mask)); /* or clang makes a branch of it */
	return mask;
}

__hidden struct rule_cache *tables_cache(void);

/*
 * Begins a walk in the current process: finds its list of mappings. False: there is none that is
 * valid for this image.
 */
__hidden bool tables_begin(struct scratch *s, struct task_struct *task);

/*
 * Looks up the rule for an address, which for a return address is that of the call's last byte,
 * into scratch->rule. Keeps it in the cache, if it holds for longer than this walk; then returns
 * its slot, else RULE_SLOTS. Separately verified.
 */
int tables_rule(__u32 id, __u64 pc);

/*
 * The record of an exception rule that tables_rule() gave for pc, copied to scratch->exception.
 * Nonzero: there is none. Separately verified.
 */
int tables_exception(__u32 id, __u64 pc, __u32 rule);

#endif
