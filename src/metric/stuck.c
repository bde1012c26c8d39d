/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts that no program leaves at 0: some PMUs, of emulators above all, take an event and never
 * count it. Nothing good is to be said of such a 0. A single 0 may be right, so an event is judged
 * by its family: while any of them counts, the others are believed.
 */
#include <string.h>

#include "metric/rows.h"

#define FAMILY_MAX 10

/* What is counted together with the same thing, accesses with their misses. NULL ends each. */
static const char *const families[][FAMILY_MAX] = {
	{ "inst_retired" },
	{ "instructions" },
	{ "inst_spec" },
	{ "op_retired" },
	{ "op_spec" },
	{ "stall_frontend", "stall_backend", "stall_backend_mem" },
	{ "stall_slot", "stall_slot_frontend", "stall_slot_backend" },
	{ "stalled_cycles_frontend", "stalled_cycles_backend" },
	{ "l1d_cache", "l1d_cache_refill", "l1d_cache_lmiss_rd" },
	{ "l2d_cache", "l2d_cache_refill", "l2d_cache_lmiss_rd" },
	{ "l3d_cache", "l3d_cache_refill" },
	{ "ll_cache_rd", "ll_cache_miss_rd" },
	{ "l1i_cache", "l1i_cache_refill", "l1i_cache_lmiss" },
	{ "mem_access", "l1d_tlb", "l1d_tlb_refill", "l2d_tlb", "l2d_tlb_refill", "dtlb_walk" },
	{ "l1i_cache", "l1i_tlb", "l1i_tlb_refill", "itlb_walk" },
	{ "br_retired", "br_mis_pred_retired" },
	{ "br_pred", "br_mis_pred" },

	{ "branches", "branch_misses" },
	{ "l1_dcache_loads", "l1_dcache_load_misses", "l1_dcache_stores" },
	{ "cache_references", "cache_misses" },
	{ "dtlb_loads", "dtlb_load_misses" },
	{ "l1_icache_load_misses" },

	{ "mem_inst_retired.all_loads", "mem_load_retired.l1_hit", "mem_load_retired.l1_miss",
	  "mem_load_retired.l2_hit", "mem_load_retired.l2_miss", "mem_load_retired.l3_hit",
	  "mem_load_retired.l3_miss", "mem_load_retired.fb_hit" },
	{ "longest_lat_cache.reference", "longest_lat_cache.miss" },
	{ "mem_inst_retired.all_loads", "dtlb_load_misses.walk_completed",
	  "dtlb_load_misses.miss_causes_a_walk", "dtlb_load_misses.walk_active",
	  "dtlb_load_misses.stlb_hit" },
	{ "icache_64b.iftag_miss", "frontend_retired.l1i_miss", "icache_data.stalls",
	  "icache_16b.ifdata_stall" },
	{ "topdown.backend_bound_slots", "topdown.bad_spec_slots", "topdown.br_mispredict_slots",
	  "topdown.memory_bound_slots" },
	{ "uops_retired.slots", "uops_retired.heavy" },
	{ "idq_bubbles.core", "idq_uops_not_delivered.core",
	  "idq_uops_not_delivered.cycles_0_uops_deliv.core" },
	{ "uops_issued.any", "uops_retired.retire_slots" },
	{ "cycle_activity.stalls_total", "cycle_activity.stalls_mem_any",
	  "cycle_activity.stalls_l1d_miss", "cycle_activity.stalls_l2_miss",
	  "cycle_activity.stalls_l3_miss" },
	{ "exe_activity.bound_on_loads", "exe_activity.bound_on_stores",
	  "memory_activity.stalls_l1d_miss", "memory_activity.stalls_l2_miss",
	  "memory_activity.stalls_l3_miss" },

	{ "ls_dispatch.all", "ls_any_fills_from_sys.all", "ls_any_fills_from_sys.dram_io_all",
	  "ls_l1_d_tlb_miss.all", "ls_l1_d_tlb_miss.all_l2_miss" },
	{ "ls_dmnd_fills_from_sys.all", "ls_dmnd_fills_from_sys.local_l2" },
	{ "l2_request_g1.all_no_prefetch", "l2_cache_req_stat.ic_dc_miss_in_l2" },
	{ "ic_tag_hit_miss.all", "ic_tag_hit_miss.instruction_cache_miss" },
	{ "op_cache_hit_miss.all", "op_cache_hit_miss.op_cache_miss" },
	{ "de_src_op_disp.all", "ex_ret_ops" },
	{ "de_no_dispatch_per_slot.no_ops_from_frontend",
	  "de_no_dispatch_per_slot.no_ops_from_frontend_all_slots",
	  "de_no_dispatch_per_slot.backend_stalls" },
	{ "ex_no_retire.not_complete", "ex_no_retire.load_not_complete" },
};
#define NR_FAMILIES (sizeof(families) / sizeof(*families))

static const struct count *find_there(const struct metric_inputs *in, const char *name)
{
	const struct count *c = in->find(in->arg, name);

	return c && count_is_there(c) ? c : NULL;
}

/* Did anything run? Instructions say so in sets that take no cycles. */
static bool did_run(const struct metric_inputs *in)
{
	static const char *const names[] = { "cpu_cycles", "cycles", "inst_retired",
					     "instructions" };
	const struct count *c;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		c = find_there(in, names[i]);
		if (c && c->value > 0)
			return true;
	}
	return false;
}

/* One of the family that is there, if all of those are 0. */
static const struct count *stuck_family(const struct metric_inputs *in, const char *const *family)
{
	const struct count *c, *one = NULL;

	for (size_t i = 0; i < FAMILY_MAX && family[i]; i++) {
		c = find_there(in, family[i]);
		if (c && c->raw)
			return NULL;
		if (c)
			one = c;
	}
	return one;
}

struct search {
	const struct metric_inputs *in;
	const struct count *found;
};

static void look_at_event(void *arg, const char *name)
{
	struct search *s = arg;

	for (size_t i = 0; i < NR_FAMILIES && !s->found; i++)
		for (size_t j = 0; j < FAMILY_MAX && families[i][j]; j++)
			if (!strcmp(families[i][j], name))
				s->found = stuck_family(s->in, families[i]);
}

const struct count *metric_row_stuck(const struct metric *m, const struct metric_inputs *in)
{
	struct search s = { .in = in };

	if (did_run(in))
		metric_row_names(m, in->core, look_at_event, &s);
	return s.found;
}
