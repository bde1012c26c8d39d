/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Differences of counters, per count: row slot * nr_values + i of the map. Both verified apart. */
#include "columns.bpf.h"
#include "pmu.bpf.h"

struct value_state {
	struct prof_event_base base;
	struct prof_event_count delta[PMU_MAX_EVENTS];
	__u64 have; /* bit i: delta[i] holds */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct value_state);
} value_states SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct prof_event_count);
} values SEC(".maps");

/*
 * kernel < 6.8: global functions are verified though nobody calls them, and without columns there
 * is no such map.
 */
static __always_inline struct value_state *state(void)
{
	__u32 zero = 0;

	if (!prof_cfg.nr_values)
		return NULL;
	return bpf_map_lookup_elem(&value_states, &zero);
}

__noinline int columns_read(void)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct value_state *s = state();

	if (!s)
		return 0;
	s->have = 0;
	for (__u32 i = 0; i < PMU_MAX_EVENTS && i < prof_cfg.nr_values; i++)
		if (!pmu_delta(&s->base, cpu, i, &s->delta[i]))
			s->have |= 1ull << i;
	return 0;
}

/* CPUs share counts. */
static __always_inline void add(struct prof_event_count *to, const struct prof_event_count *delta)
{
	__sync_fetch_and_add(&to->value, delta->value);
	__sync_fetch_and_add(&to->enabled_ns, delta->enabled_ns);
	__sync_fetch_and_add(&to->running_ns, delta->running_ns);
}

__noinline int columns_add(__u32 count)
{
	struct value_state *s = state();
	struct prof_event_count *row;
	__u32 at;

	if (!s)
		return 0;
	for (__u32 i = 0; i < PMU_MAX_EVENTS && i < prof_cfg.nr_values; i++) {
		at = (count - 1) * prof_cfg.nr_values + i;
		row = bpf_map_lookup_elem(&values, &at);
		if (row && s->have >> i & 1)
			add(row, &s->delta[i]);
	}
	return 0;
}
