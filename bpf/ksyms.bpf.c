/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of kernel addresses, from the kernel itself. User space writes addresses, runs the program
 * once, reads what the kernel would print for them. A list of all symbols (/proc/kallsyms, 200,000
 * lines of which a profile needs some hundred) is never made.
 */
#include "counters.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, PROF_KSYM_BATCH);
	__type(key, __u32);
	__type(value, struct prof_ksym);
} ksyms SEC(".maps");

SEC("?syscall")
int ksyms_name(void *ctx)
{
	static const char symbol_and_offset[] = "%pS";

	for (__u32 i = 0; i < PROF_KSYM_BATCH; i++) {
		__u32 at = i;
		struct prof_ksym *k = bpf_map_lookup_elem(&ksyms, &at);
		__u64 addr;

		if (!k || !k->addr)
			break;
		addr = k->addr;
		bpf_snprintf(k->text, sizeof(k->text), symbol_and_offset, &addr, sizeof(addr));
	}
	return 0;
}
