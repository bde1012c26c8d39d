/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Values of metrics on counts of which the right answer was worked out by hand, from the formulas
 * of the vendors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "metric/rows.h"
#include "metrics.h"

struct expected {
	const char *name;
	double value;
};

static void check(struct machine *m, const char *sets, const struct expected *e)
{
	for (; e->name; e++) {
		struct metric_value v = machine_value(m, sets, e->name);

		if (!v.metric)
			fail_msg("%s: %s has no %s", m->core.name, sets, e->name);
		if (!(fabs(v.raw - e->value) < 1e-4 * (1 + fabs(e->value))))
			fail_msg("%s: %s is %g, not %g (%s)", m->core.name, e->name, v.raw,
				 e->value, v.why);
	}
}

#define EXPECT(m, sets, ...) check(m, sets, (const struct expected[]){ __VA_ARGS__, { NULL, 0 } })

/*
 * C = 1,000,000; of S slots in each, per cycle: front end empty 1.2, back end 2.4, empty 4.0;
 * operations 4.0, of them 3.6 retired (0.9); mispredictions 0.005; flushes 0.03.
 */
static const struct given arm_slots[] = {
	G("cpu_cycles", 1e6),
	G("inst_retired", 3e6),
	G("stall_slot_frontend", 1.2e6),
	G("stall_slot_backend", 2.4e6),
	G("stall_slot", 4e6),
	G("op_retired", 3.6e6),
	G("op_spec", 4e6),
	G("br_mis_pred", 5000),
	G("stall_frontend_flush", 30000),
	G("br_mis_pred_retired", 4000),
	G("br_retired", 200000),
	{ NULL },
};

static void slots_of_v1(void **state)
{
	struct machine m = { .core = NEOVERSE(V1, 8), .given = arm_slots };

	/* 1.2/8 - 4*0.005; 2.4/8; 0.1*(1 - 4/8) + 4*0.005; 0.9*(1 - 4/8) */
	EXPECT(&m, "topdown", { "frontend_bound", 13 }, { "backend_bound", 30 },
	       { "bad_speculation", 7 }, { "retiring", 45 }, { "ipc", 3 },
	       { "branch_mispredict", 2 });
}

static void slots_of_n2_until_r0p2(void **state)
{
	struct machine m = { .core = NEOVERSE(N2, 5), .given = arm_slots };

	m.core.revision = 2;
	/* (1.2-1)/5 - 0.005; 2.4/5 - 3*0.005; 0.1*(1 - 3/5) + 0.02; 0.9*(1 - 3/5) */
	EXPECT(&m, "topdown", { "frontend_bound", 3.5 }, { "backend_bound", 46.5 },
	       { "bad_speculation", 6 }, { "retiring", 36 });
}

static void slots_of_n2_since_r0p3(void **state)
{
	struct machine m = { .core = NEOVERSE(N2, 5), .given = arm_slots };

	m.core.revision = 3;
	/* 1.2/5 - 0.005; 2.4/5 - 0.015; 0.1*(1 - 4/5) + 0.02; 0.9*(1 - 4/5) */
	EXPECT(&m, "topdown", { "frontend_bound", 23.5 }, { "backend_bound", 46.5 },
	       { "bad_speculation", 4 }, { "retiring", 18 });
	m.core.variant = 1;
	m.core.revision = 0;
	EXPECT(&m, "topdown", { "frontend_bound", 23.5 }, { "retiring", 18 });
}

static void slots_of_v2(void **state)
{
	struct machine m = { .core = NEOVERSE(V2, 8), .given = arm_slots };

	/* 1.2/8 - 0.005; 2.4/8 - 0.015; 0.1*(1 - 4/8) + 0.02; 0.9*(1 - 4/8) */
	EXPECT(&m, "topdown", { "frontend_bound", 14.5 }, { "backend_bound", 28.5 },
	       { "bad_speculation", 7 }, { "retiring", 45 });
}

static void slots_of_v3(void **state)
{
	struct machine m = { .core = NEOVERSE(V3, 10), .given = arm_slots };

	/* 1.2/10 - 0.03; 2.4/10; (1 - 4/10)*0.1 + 0.03; 0.9*(1 - 4/10) */
	EXPECT(&m, "topdown", { "frontend_bound", 9 }, { "backend_bound", 24 },
	       { "bad_speculation", 9 }, { "retiring", 54 });
}

static void slots_of_any_other_arm_core(void **state)
{
	struct machine m = { .core = { .vendor = CORE_ARM, .name = "unknown", .slots = 6 },
			     .given = arm_slots };

	/* 1.2/6; 2.4/6; 0.1*(1 - 4/6); 0.9*(1 - 4/6) */
	EXPECT(&m, "topdown", { "frontend_bound", 20 }, { "backend_bound", 40 },
	       { "bad_speculation", 3.333333 }, { "retiring", 30 });
}

static void levels_of_v3(void **state)
{
	static const struct given counts[] = {
		G("cpu_cycles", 1e6),
		G("inst_retired", 1e6),
		G("stall_slot_frontend", 1e6),
		G("stall_slot_backend", 2e6),
		G("stall_slot", 3e6),
		G("op_retired", 1e6),
		G("op_spec", 2e6),
		G("stall_frontend", 200000),
		G("stall_frontend_membound", 50000),
		G("stall_frontend_l1i", 10000),
		G("stall_frontend_mem", 15000),
		G("stall_frontend_tlb", 5000),
		G("stall_backend", 400000),
		G("stall_backend_mem", 60000),
		G("stall_backend_membound", 200000),
		G("stall_backend_l1d", 40000),
		G("stall_backend_tlb", 30000),
		G("stall_backend_st", 20000),
		{ NULL },
	};
	struct machine m = { .core = NEOVERSE(V3, 10), .given = counts };

	EXPECT(&m, "topdown,backend-memory", { "frontend_mem", 25 }, { "frontend_mem_cache", 50 },
	       { "frontend_mem_tlb", 10 }, { "backend_mem", 50 }, { "backend_mem_cache", 50 },
	       { "backend_cache_l1d", 40 }, { "backend_mem_tlb", 15 }, { "backend_mem_store", 10 },
	       { "memory_share", 15 });
}

/* The user's own: cycles 2,000, instructions 1,500 (in thousands). */
static const struct given n1_counts[] = {
	G("cpu_cycles", 2e6),
	G("inst_retired", 1.5e6),
	G("stall_frontend", 300000),
	G("stall_backend", 900000),
	G("br_mis_pred", 6000),
	G("br_pred", 300000),
	G("br_mis_pred_retired", 6000),
	G("br_retired", 300000),
	G("l1d_cache", 500000),
	G("l1d_cache_refill", 30000),
	G("l2d_cache", 60000),
	G("l2d_cache_refill", 9000),
	G("l1i_cache", 400000),
	G("l1i_cache_refill", 3000),
	G("mem_access", 500000),
	G("dtlb_walk", 2500),
	G("itlb_walk", 1000),
	G("l1d_tlb", 625000),
	G("l1i_tlb", 250000),
	G("ll_cache_rd", 8000),
	G("ll_cache_miss_rd", 2000),
	G("l1d_tlb_refill", 13500),
	G("l1i_tlb_refill", 7500),
	G("l2d_tlb_refill", 4500),
	{ NULL },
};

static void questions_of_the_user_on_n1(void **state)
{
	struct machine m = { .core = NEOVERSE(N1, 0), .given = n1_counts, .seconds = 2 };

	EXPECT(&m, "all", { "ipc", 0.75 }, { "cpi", 1.333333 }, { "frontend_bound", 15 },
	       { "backend_bound", 45 }, { "branch_mispredict", 2 }, { "branch_mispredict_spec", 2 },
	       { "branch_density", 20 }, { "branch_mpki", 4 }, { "l1d_miss", 6 },
	       { "l1d_mpki", 20 }, { "l2_miss", 15 }, { "l2_mpki", 6 }, { "icache_miss", 0.2 },
	       { "l1i_mpki", 2 }, { "llc_miss", 25 }, { "read_bandwidth", 64000 });
	EXPECT(&m, "cache,tlb", { "llc_hit", 75 }, { "l1d_tlb_mpki", 9 }, { "l1i_tlb_mpki", 5 },
	       { "l2_tlb_mpki", 3 });
}

static void lmiss_are_their_own_question(void **state)
{
	static const struct given counts[] = {
		G("l1d_cache", 500000),
		G("l1d_cache_refill", 30000),
		G("l1d_cache_lmiss_rd", 12000),
		G("l2d_cache", 40000),
		G("l2d_cache_refill", 10000),
		G("l2d_cache_lmiss_rd", 5000),
		{ NULL },
	};
	struct machine m = { .core = NEOVERSE(V1, 8), .given = counts };

	EXPECT(&m, "cache", { "l1d_to_l2", 40 }, { "l2_to_llc", 50 });
	assert_int_equal(machine_value(&m, "cache", "l1d_to_l2").verdict, METRIC_WATCH);
	assert_int_equal(machine_value(&m, "cache", "l2_to_llc").verdict, METRIC_INVESTIGATE);
}

/* 1,000,000 cycles; 4 slots each. */
static const struct given skx_counts[] = {
	G("cycles", 1e6),
	G("instructions", 1.9e6),
	G("cpu_clk_unhalted.thread_any", 1.6e6),
	G("idq_uops_not_delivered.core", 800000),
	G("idq_uops_not_delivered.cycles_0_uops_deliv.core", 120000),
	G("uops_issued.any", 2.4e6),
	G("uops_retired.retire_slots", 2e6),
	G("uops_retired.macro_fused", 100000),
	G("int_misc.recovery_cycles", 50000),
	G("int_misc.recovery_cycles_any", 80000),
	G("branch_misses", 30000),
	G("branches", 400000),
	G("machine_clears.count", 10000),
	G("cycle_activity.stalls_mem_any", 400000),
	G("cycle_activity.stalls_total", 500000),
	G("cycle_activity.stalls_l1d_miss", 300000),
	G("cycle_activity.stalls_l2_miss", 200000),
	G("cycle_activity.stalls_l3_miss", 150000),
	G("exe_activity.bound_on_stores", 50000),
	G("exe_activity.1_ports_util", 100000),
	G("exe_activity.2_ports_util", 200000),
	G("mem_load_retired.l2_hit", 8000),
	G("mem_load_retired.fb_hit", 2000),
	G("mem_load_retired.l1_miss", 10000),
	G("l1d_pend_miss.fb_full", 9600),
	G("l1d_pend_miss.fb_full_cycles", 2400),
	G("l1d_pend_miss.fb_full_periods", 2400),
	G("arith.divider_active", 30000),
	{ NULL },
};

static void tree_of_skylake_x(void **state)
{
	struct machine m = { .core = X86(SKYLAKE_X, INTEL, 4), .given = skx_counts };

	/*
	 * Of 4,000,000 slots: 0.8; (2.4 - 2.0 + 4*0.05)/4; 100 - 20 - (2.4 + 0.2)/4; 2/4.
	 * Memory: (0.4 + 0.05) / (0.5 + 0.1 + 0.5*0.2 + 0.05) = 0.6 of 15.
	 */
	EXPECT(&m, "topdown", { "frontend_bound", 20 }, { "bad_speculation", 15 },
	       { "backend_bound", 15 }, { "retiring", 50 }, { "fetch_latency", 12 },
	       { "fetch_bandwidth", 8 }, { "branch_mispredicts", 11.25 },
	       { "machine_clears", 3.75 }, { "memory_bound", 9 }, { "core_bound", 6 },
	       { "heavy_operations", 5 }, { "light_operations", 45 }, { "divider", 3 });
}

static void tree_of_skylake_x_with_smt(void **state)
{
	struct machine m = { .core = X86(SKYLAKE_X, INTEL, 4), .given = skx_counts, .smt = true };
	struct metric_value v;

	/* 0.8 M cycles of the core, 40,000 of recovery: 0.8/3.2; (0.4 + 0.16)/3.2; 2/3.2. */
	EXPECT(&m, "topdown", { "frontend_bound", 25 }, { "bad_speculation", 17.5 },
	       { "retiring", 62.5 }, { "backend_bound", -5 });
	/* Not for people, but for files. */
	v = machine_value(&m, "topdown", "backend_bound");
	assert_float_equal(v.value, 0, 0);
	assert_float_equal(v.raw, -5, 1e-9);
}

/* Nothing is asked for that the state of SMT does not need, so nothing of it can be missing. */
static void tree_of_skylake_x_lacks_nothing_of_the_other_state(void **state)
{
	struct given counts[sizeof(skx_counts) / sizeof(*skx_counts)];
	struct machine m = { .core = X86(SKYLAKE_X, INTEL, 4), .events = "*", .given = counts };
	size_t i;

	memcpy(counts, skx_counts, sizeof(counts));
	for (i = 0; counts[i].name; i++)
		if (strstr(counts[i].name, "cycles_any") || strstr(counts[i].name, "thread_any"))
			counts[i].state = COUNT_NOT_COUNTED;
	EXPECT(&m, "topdown", { "frontend_bound", 20 }, { "bad_speculation", 15 },
	       { "retiring", 50 });
}

static void memory_levels_of_skylake_x_and_ice_lake(void **state)
{
	struct machine skx = { .core = X86(SKYLAKE_X, INTEL, 4), .given = skx_counts };
	struct machine icx = { .core = X86(ICELAKE_X, INTEL, 5), .given = skx_counts };

	/* L2: hits 8,000*(1 + 0.2) = 9,600 of 12,000 with full buffers: 0.8 of 10. */
	EXPECT(&skx, "backend-memory", { "backend_memory", 40 }, { "l1_bound", 10 },
	       { "l2_bound", 8 }, { "l3_bound", 5 }, { "dram_bound", 17 }, { "store_bound", 5 });
	EXPECT(&icx, "backend-memory", { "l2_bound", 8 }, { "dram_bound", 17 });
}

/* 5,000,000 slots. */
static const struct given icx_counts[] = {
	G("cycles", 1e6),
	G("instructions", 1.9e6),
	G("slots", 5e6),
	G("topdown_retiring", 2e6),
	G("topdown_bad_spec", 0.5e6),
	G("topdown_fe_bound", 1e6),
	G("topdown_be_bound", 1.5e6),
	G("int_misc.uop_dropping", 50000),
	G("int_misc.clears_count", 20000),
	G("idq_uops_not_delivered.cycles_0_uops_deliv.core", 100000),
	G("branch_misses", 30000),
	G("machine_clears.count", 10000),
	G("cycle_activity.stalls_mem_any", 200000),
	G("exe_activity.bound_on_stores", 50000),
	G("cycle_activity.stalls_total", 300000),
	G("exe_activity.1_ports_util", 100000),
	G("exe_activity.2_ports_util", 200000),
	{ NULL },
};

static void tree_of_ice_lake(void **state)
{
	struct machine m = { .core = X86(ICELAKE_X, INTEL, 5), .given = icx_counts };

	/*
	 * 20 - 1; 30 + 5*0.4; 40; the rest 9. Latency (5*0.1 - 0.05)/5. Branches 9*0.75.
	 * Memory 32 * 0.25 / (0.3 + 0.1 + 0.4*0.2 + 0.05).
	 */
	EXPECT(&m, "topdown", { "frontend_bound", 19 }, { "backend_bound", 32 }, { "retiring", 40 },
	       { "bad_speculation", 9 }, { "fetch_latency", 9 }, { "fetch_bandwidth", 10 },
	       { "branch_mispredicts", 6.75 }, { "machine_clears", 2.25 },
	       { "memory_bound", 15.094340 }, { "core_bound", 16.905660 });
	assert_null(machine_value(&m, "topdown", "heavy_operations").metric);
}

/* 6,000,000 slots. */
static const struct given spr_counts[] = {
	G("cycles", 1e6),
	G("instructions", 1.9e6),
	G("slots", 6e6),
	G("topdown_retiring", 2.4e6),
	G("topdown_bad_spec", 0.6e6),
	G("topdown_fe_bound", 1.2e6),
	G("topdown_be_bound", 1.8e6),
	G("topdown_heavy_ops", 0.3e6),
	G("topdown_br_mispredict", 0.63e6),
	G("topdown_fetch_lat", 0.72e6),
	G("topdown_mem_bound", 1.26e6),
	G("int_misc.uop_dropping", 60000),
	G("exe_activity.bound_on_loads", 400000),
	G("exe_activity.bound_on_stores", 50000),
	G("memory_activity.stalls_l1d_miss", 300000),
	G("memory_activity.stalls_l2_miss", 200000),
	G("memory_activity.stalls_l3_miss", 150000),
	{ NULL },
};

static void tree_of_sapphire_and_granite_rapids(void **state)
{
	struct machine spr = { .core = X86(SAPPHIRE_RAPIDS, INTEL, 6), .given = spr_counts };
	struct machine gnr = { .core = X86(GRANITE_RAPIDS, INTEL, 6), .given = spr_counts };
	struct machine *both[] = { &spr, &gnr };

	for (size_t i = 0; i < 2; i++) {
		/* 20 - 1; 30; 40; the rest 11; latency 12 - 1. */
		EXPECT(both[i], "topdown", { "frontend_bound", 19 }, { "backend_bound", 30 },
		       { "retiring", 40 }, { "bad_speculation", 11 }, { "heavy_operations", 5 },
		       { "light_operations", 35 }, { "branch_mispredicts", 10.5 },
		       { "machine_clears", 0.5 }, { "fetch_latency", 11 }, { "fetch_bandwidth", 8 },
		       { "memory_bound", 21 }, { "core_bound", 9 });
		EXPECT(both[i], "backend-memory", { "backend_memory", 45 }, { "l1_bound", 10 },
		       { "l2_bound", 10 }, { "l3_bound", 5 }, { "dram_bound", 15 },
		       { "store_bound", 5 });
	}
}

static void tree_of_intel_in_a_guest(void **state)
{
	static const struct given counts[] = {
		G("cycles", 1e6),
		G("topdown.slots_p", 6e6),
		G("topdown.backend_bound_slots", 1.8e6),
		G("topdown.bad_spec_slots", 0.6e6),
		G("topdown.br_mispredict_slots", 0.48e6),
		G("topdown.memory_bound_slots", 1.2e6),
		G("uops_retired.slots", 2.4e6),
		G("uops_retired.heavy", 0.3e6),
		G("idq_bubbles.core", 1.26e6),
		G("idq_uops_not_delivered.cycles_0_uops_deliv.core", 130000),
		G("int_misc.uop_dropping", 60000),
		{ NULL },
	};
	struct machine m = { .core = X86(SAPPHIRE_RAPIDS, INTEL, 6), .given = counts };

	/* (1.26 - 0.06)/6; latency (6*0.13 - 0.06)/6 */
	EXPECT(&m, "topdown", { "frontend_bound", 20 }, { "backend_bound", 30 },
	       { "bad_speculation", 10 }, { "retiring", 40 }, { "heavy_operations", 5 },
	       { "light_operations", 35 }, { "branch_mispredicts", 8 }, { "machine_clears", 2 },
	       { "memory_bound", 20 }, { "core_bound", 10 }, { "fetch_latency", 12 },
	       { "fetch_bandwidth", 8 });
}

/* By what dispatch takes: 6 in Zen 4, 8 in Zen 5, where the counts are 8/6 as large. */
static struct given *zen_counts(double k)
{
	static struct given g[20];
	const struct given counts[] = {
		G("cycles", 1e6),
		G("instructions", 2e6),
		G("de_no_dispatch_per_slot.no_ops_from_frontend", k * 600000),
		G("de_no_dispatch_per_slot.no_ops_from_frontend_all_slots", 60000),
		G("de_no_dispatch_per_slot.backend_stalls", k * 1.8e6),
		G("de_no_dispatch_per_slot.smt_contention", k * 0.3e6),
		G("de_src_op_disp.all", k * 3.3e6),
		G("ex_ret_ops", k * 3e6),
		G("ex_ret_ucode_ops", k * 150000),
		G("branch_misses", 30000),
		G("branches", 1e6),
		G(k == 1 ? "resyncs_or_nc_redirects" : "bp_redirects.resync", 10000),
		G("ex_no_retire.load_not_complete", 400000),
		G("ex_no_retire.not_complete", 500000),
		{ NULL },
	};

	return memcpy(g, counts, sizeof(counts));
}

static void pipeline_of_zen_has_five_parts(void **state)
{
	struct machine zen4 = { .core = X86(ZEN4, AMD, 6), .given = zen_counts(1) };
	struct machine zen5 = { .core = X86(ZEN5, AMD, 8) };
	static const struct expected expected[] = {
		{ "frontend_bound", 10 },
		{ "bad_speculation", 5 },
		{ "backend_bound", 30 },
		{ "smt_contention", 5 },
		{ "retiring", 50 },
		{ "frontend_bound_latency", 6 },
		{ "frontend_bound_bandwidth", 4 },
		{ "bad_speculation_mispredicts", 3.75 },
		{ "bad_speculation_pipeline_restarts", 1.25 },
		{ "backend_bound_memory", 24 },
		{ "backend_bound_cpu", 6 },
		{ "retiring_fastpath", 47.5 },
		{ "retiring_microcode", 2.5 },
		{ "branch_mispredict", 3 },
		{ NULL, 0 },
	};

	check(&zen4, "topdown", expected);
	/* AMD gives no thresholds. */
	assert_int_equal(machine_value(&zen4, "topdown", "backend_bound").verdict, METRIC_NONE);
	zen5.given = zen_counts(8.0 / 6);
	check(&zen5, "topdown", expected);
}

static void floating_point_counts_all_widths(void **state)
{
	static const struct given counts[] = {
		G("cycles", 1000),
		G("fp_arith_inst_retired.scalar_double", 1000),
		G("fp_arith_inst_retired.scalar_single", 100),
		G("fp_arith_inst_retired.128b_packed_double", 10),
		G("fp_arith_inst_retired.128b_packed_single", 20),
		G("fp_arith_inst_retired.256b_packed_double", 30),
		G("fp_arith_inst_retired.256b_packed_single", 40),
		G("fp_arith_inst_retired.512b_packed_double", 50),
		G("fp_arith_inst_retired.512b_packed_single", 60),
		G("mem_load_retired.l3_miss", 30),
		G("l2_lines_out.non_silent", 20),
		G("unc_m_cas_count.rd", 40),
		G("unc_m_cas_count.wr", 60),
		{ NULL },
	};
	struct machine m = { .core = X86(ICELAKE_X, INTEL, 5), .given = counts, .seconds = 2 };

	/* 1,100 + 20 + 80 + 120 + 320 + 400 + 960 = 3,000 in 2 s; 64*100 and 64*50 bytes. */
	EXPECT(&m, "roofline", { "flops", 1500 }, { "flops_per_cycle", 3 },
	       { "flops_scalar", 36.666667 }, { "flops_512", 45.333333 },
	       { "memory_bandwidth", 3200 }, { "core_bandwidth", 1600 }, { "intensity", 0.46875 },
	       { "core_intensity", 0.9375 });
}

static void scalable_vectors_count_by_128_bits(void **state)
{
	static const struct given counts[] = { G("fp_scale_ops_spec", 300),
					       G("fp_fixed_ops_spec", 200),
					       G("ll_cache_miss_rd", 5),
					       { NULL } };
	struct machine v1 = { .core = NEOVERSE(V1, 8), .given = counts };
	struct machine v2 = { .core = NEOVERSE(V2, 8), .given = counts };

	EXPECT(&v1, "roofline", { "flops", 800 }, { "sve_share", 75 }, { "core_intensity", 2.5 });
	EXPECT(&v2, "roofline", { "flops", 500 }, { "sve_share", 60 });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slots_of_v1),
		cmocka_unit_test(slots_of_n2_until_r0p2),
		cmocka_unit_test(slots_of_n2_since_r0p3),
		cmocka_unit_test(slots_of_v2),
		cmocka_unit_test(slots_of_v3),
		cmocka_unit_test(slots_of_any_other_arm_core),
		cmocka_unit_test(levels_of_v3),
		cmocka_unit_test(questions_of_the_user_on_n1),
		cmocka_unit_test(lmiss_are_their_own_question),
		cmocka_unit_test(tree_of_skylake_x),
		cmocka_unit_test(tree_of_skylake_x_with_smt),
		cmocka_unit_test(tree_of_skylake_x_lacks_nothing_of_the_other_state),
		cmocka_unit_test(memory_levels_of_skylake_x_and_ice_lake),
		cmocka_unit_test(tree_of_ice_lake),
		cmocka_unit_test(tree_of_sapphire_and_granite_rapids),
		cmocka_unit_test(tree_of_intel_in_a_guest),
		cmocka_unit_test(pipeline_of_zen_has_five_parts),
		cmocka_unit_test(floating_point_counts_all_widths),
		cmocka_unit_test(scalable_vectors_count_by_128_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
