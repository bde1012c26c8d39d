/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows of Intel's big cores. Topdown is a tree (Intel's TMA): a part below says something only if
 * the part above is high. Three ways lead to its top: the PMU's own metrics since Ice Lake, which
 * guests rarely see; ordinary counters of slots; and clocks, before Ice Lake.
 */
#include "metric/rows.h"

#define SKX	CORE_BIT(CORE_SKYLAKE_X)
#define ICX	CORE_BIT(CORE_ICELAKE_X)
#define SPR	CORE_BIT(CORE_SAPPHIRE_RAPIDS)
#define GNR	CORE_BIT(CORE_GRANITE_RAPIDS)
#define OLD	(SKX | ICX)
#define NEW	(SPR | GNR)
#define SLOTTED (ICX | NEW)

#define TOPDOWN(m, n, l, f, limit, see, ...)                                                       \
	ROW("topdown", m, n, l, "%", f, limit, see, __VA_ARGS__)
#define UNDER(n, parent_) .parent = parent_, LEVEL(n)

/* Of the four counts of the group, which the kernel gives in slots. */
#define Q   "(topdown_retiring + topdown_bad_spec + topdown_fe_bound + topdown_be_bound)"
#define S_P "topdown.slots_p"

/* Of 4 slots per clock of the core; two threads have it together, and each counts its clocks. */
#define SLOTS	   "(4 * cycles)"
#define RECOV	   "int_misc.recovery_cycles"
#define SLOTS_BOTH "(2 * cpu_clk_unhalted.thread_any)"
#define RECOV_BOTH "(int_misc.recovery_cycles_any / 2)"

/* Before topdown-br-mispredict and topdown-mem-bound: by how events share what is above. */
#define MISPREDICTS_BY_SHARE(m, c)                                                                 \
	TOPDOWN(m, "branch_mispredicts", "bad speculation: branches",                              \
		"@bad_speculation * branch_misses / (branch_misses + machine_clears.count)",       \
		TMA(10), SEE_BRANCH, UNDER(2, "bad_speculation"), .cores = c)
#define MEMORY_BY_SHARE(m, c)                                                                      \
	TOPDOWN(m, "memory_bound", "back end: memory",                                             \
		"@backend_bound * (cycle_activity.stalls_mem_any + exe_activity.bound_on_stores)"  \
		" / (cycle_activity.stalls_total + exe_activity.1_ports_util"                      \
		" + @retiring / 100 * exe_activity.2_ports_util + exe_activity.bound_on_stores)",  \
		TMA(20), SEE_MEMORY, UNDER(2, "backend_bound"), .cores = c)

/* What is left of a part above. */
#define REST(m, n, l, whole, part, limit, see, ...)                                                \
	TOPDOWN(m, n, l, "max(0, @" whole " - @" part ")", limit, see, __VA_ARGS__)
#define MACHINE_CLEARS(m)                                                                          \
	REST(m, "machine_clears", "bad speculation: machine clears", "bad_speculation",            \
	     "branch_mispredicts", TMA(10), SEE_CLEARS, UNDER(2, "bad_speculation"))
#define FETCH_BANDWIDTH(m)                                                                         \
	REST(m, "fetch_bandwidth", "front end: fetch bandwidth", "frontend_bound",                 \
	     "fetch_latency", TMA(20), SEE_CODE, UNDER(2, "frontend_bound"))
#define CORE_BOUND(m)                                                                              \
	REST(m, "core_bound", "back end: core", "backend_bound", "memory_bound", TMA(10),          \
	     SEE_CORE, UNDER(2, "backend_bound"))
#define LIGHT(m)                                                                                   \
	REST(m, "light_operations", "retiring: light operations", "retiring", "heavy_operations",  \
	     TMA(60), SEE_WORK, UNDER(2, "retiring"))
#define DIVIDER(m, event)                                                                          \
	TOPDOWN(m, "divider", "back end: core: divider", "100 * " event " / cycles", TMA(20),      \
		SEE_CORE, UNDER(3, "core_bound"))
#define FETCH_LATENCY(m, f, c)                                                                     \
	TOPDOWN(m, "fetch_latency", "front end: fetch latency", f, TMA(10), SEE_FRONT,             \
		UNDER(2, "frontend_bound"), .cores = c)

#define FE(m, ...)                                                                                 \
	ROW("topdown", m, "frontend_bound", "front-end bound", "%", __VA_ARGS__, TMA(15),          \
	    SEE_FRONT, LEVEL(1))
#define BE(m, ...)                                                                                 \
	ROW("topdown", m, "backend_bound", "back-end bound", "%", __VA_ARGS__, TMA(20), SEE_BACK,  \
	    LEVEL(1))
#define BAD(m, ...)                                                                                \
	ROW("topdown", m, "bad_speculation", "bad speculation", "%", __VA_ARGS__, TMA(15),         \
	    SEE_BRANCH, LEVEL(1))
#define RETIRING(m, ...)                                                                           \
	ROW("topdown", m, "retiring", "retiring", "%", __VA_ARGS__, TMA(70), SEE_WORK, LEVEL(1))
#define HEAVY(m, ...)                                                                              \
	ROW("topdown", m, "heavy_operations", "retiring: heavy operations", "%", __VA_ARGS__,      \
	    TMA(10), SEE_UCODE, LEVEL(2))
#define REMAINDER "max(0, 100 - (@frontend_bound + @backend_bound + @retiring))"

/* The whole tree before Ice Lake, by what counts slots and cycles of recovery. */
#define BY_CLOCKS(m, slots, recov)                                                                 \
	IPC_ROW("topdown", m, "instructions", "cycles", IPC_SCALE, LEVEL(1)),                      \
		FE(m, "100 * idq_uops_not_delivered.core / " slots),                               \
		FETCH_LATENCY(                                                                     \
			m, "100 * 4 * idq_uops_not_delivered.cycles_0_uops_deliv.core / " slots,   \
			0),                                                                        \
		FETCH_BANDWIDTH(m),                                                                \
		BAD(m, "100 * (uops_issued.any - uops_retired.retire_slots + 4 * " recov           \
		       ") / " slots),                                                              \
		MISPREDICTS_BY_SHARE(m, 0), MACHINE_CLEARS(m),                                     \
		BE(m, "100 - @frontend_bound - 100 * (uops_issued.any + 4 * " recov ") / " slots), \
		MEMORY_BY_SHARE(m, 0), CORE_BOUND(m), DIVIDER(m, "arith.divider_active"),          \
		RETIRING(m, "100 * uops_retired.retire_slots / " slots),                           \
		HEAVY(m, "100 * (uops_retired.retire_slots + uops_retired.macro_fused"             \
			 " - instructions) / " slots),                                             \
		LIGHT(m), MISPREDICT_ROW("topdown", m, "branch_misses", "branches", LEVEL(2))

/* The third level, of memory; below memory_bound, or without it below the stalls for memory. */
#define WAITS(n, l, f, limit, see, c)                                                              \
	ROW("backend-memory", "intel", n, l, "%", f, limit, see, .cores = c,                       \
	    UNDER(3, "memory_bound,backend_memory"))
#define L2_HITS "mem_load_retired.l2_hit * (1 + mem_load_retired.fb_hit / mem_load_retired.l1_miss)"
#define L2_BOUND(full, c)                                                                          \
	WAITS("l2_bound", "waits for the L2",                                                      \
	      "100 * " L2_HITS " / (" L2_HITS " + l1d_pend_miss." full                             \
	      ") * (cycle_activity.stalls_l1d_miss - cycle_activity.stalls_l2_miss) / cycles",     \
	      TMA(5), SEE_LAYOUT, c)

#define SHARE(s, n, l, f, limit, see, ...)                                                         \
	ROW(s, "intel", n, l, "%", "100 * " f, limit, see, __VA_ARGS__)
#define PER_KILO(s, n, l, event, limit, see)                                                       \
	ROW(s, "intel", n, l, MPKI, "1000 * " event " / instructions", limit, see)

#define FP(width)   "fp_arith_inst_retired." width
#define FLOP_SCALAR "(" FP("scalar_double") " + " FP("scalar_single") ")"
#define FLOP_128    "(2 * " FP("128b_packed_double") " + 4 * " FP("128b_packed_single") ")"
#define FLOP_256    "(4 * " FP("256b_packed_double") " + 8 * " FP("256b_packed_single") ")"
#define FLOP_512    "(8 * " FP("512b_packed_double") " + 16 * " FP("512b_packed_single") ")"
#define FLOP	    "(" FLOP_SCALAR " + " FLOP_128 " + " FLOP_256 " + " FLOP_512 ")"
#define WIDTH(n, l, part)                                                                          \
	SHARE("roofline", n, "of those, by " l, part " / " FLOP, NO_LIMIT, SEE_ROOF)

/* clang-format off */
const struct metric rows_intel[] = {
	IPC_ROW("topdown", "tma", "instructions", "cycles", IPC_SCALE, LEVEL(1)),
	FE("tma", "100 * (topdown_fe_bound / " Q " - int_misc.uop_dropping / slots)",
	   .cores = SLOTTED),
	FE("tma", "100 * topdown_fe_bound / " Q),
	FETCH_LATENCY("tma", "100 * (5 * idq_uops_not_delivered.cycles_0_uops_deliv.core"
		      " - int_misc.uop_dropping) / slots", ICX),
	FETCH_LATENCY("tma", "100 * (topdown_fetch_lat / " Q " - int_misc.uop_dropping / slots)",
		      NEW),
	FETCH_LATENCY("tma", "100 * topdown_fetch_lat / " Q, 0),
	FETCH_BANDWIDTH("tma"),
	BAD("tma", REMAINDER, .cores = SLOTTED),
	BAD("tma", "100 * topdown_bad_spec / " Q),
	MISPREDICTS_BY_SHARE("tma", ICX),
	TOPDOWN("tma", "branch_mispredicts", "bad speculation: branches",
		"100 * topdown_br_mispredict / " Q, TMA(10), SEE_BRANCH,
		UNDER(2, "bad_speculation")),
	MACHINE_CLEARS("tma"),
	BE("tma", "100 * (topdown_be_bound / " Q " + 5 * int_misc.clears_count / slots)",
	   .cores = ICX),
	BE("tma", "100 * topdown_be_bound / " Q),
	MEMORY_BY_SHARE("tma", ICX),
	TOPDOWN("tma", "memory_bound", "back end: memory", "100 * topdown_mem_bound / " Q, TMA(20),
		SEE_MEMORY, UNDER(2, "backend_bound")),
	CORE_BOUND("tma"),
	DIVIDER("tma", "arith.div_active"),
	DIVIDER("tma", "arith.divider_active"),
	RETIRING("tma", "100 * topdown_retiring / " Q),
	/* Ice Lake would need events of its micro-sequencer. */
	HEAVY("tma", "100 * topdown_heavy_ops / " Q),
	LIGHT("tma"),
	MISPREDICT_ROW("topdown", "tma", "branch_misses", "branches", LEVEL(2)),

	IPC_ROW("topdown", "tma-counters", "instructions", "cycles", IPC_SCALE, LEVEL(1)),
	FE("tma-counters", "100 * (idq_uops_not_delivered.core - int_misc.uop_dropping) / " S_P,
	   .cores = ICX),
	FE("tma-counters", "100 * (idq_bubbles.core - int_misc.uop_dropping) / " S_P),
	FETCH_LATENCY("tma-counters", "100 * (5 * idq_uops_not_delivered.cycles_0_uops_deliv.core"
		      " - int_misc.uop_dropping) / " S_P, ICX),
	FETCH_LATENCY("tma-counters", "100 * (6 * idq_uops_not_delivered.cycles_0_uops_deliv.core"
		      " - int_misc.uop_dropping) / " S_P, NEW),
	FETCH_BANDWIDTH("tma-counters"),
	BAD("tma-counters", REMAINDER, .cores = ICX),
	BAD("tma-counters", "100 * topdown.bad_spec_slots / " S_P),
	MISPREDICTS_BY_SHARE("tma-counters", ICX),
	TOPDOWN("tma-counters", "branch_mispredicts", "bad speculation: branches",
		"100 * topdown.br_mispredict_slots / " S_P, TMA(10), SEE_BRANCH,
		UNDER(2, "bad_speculation")),
	MACHINE_CLEARS("tma-counters"),
	BE("tma-counters", "100 * topdown.backend_bound_slots / " S_P),
	MEMORY_BY_SHARE("tma-counters", ICX),
	TOPDOWN("tma-counters", "memory_bound", "back end: memory",
		"100 * topdown.memory_bound_slots / " S_P, TMA(20), SEE_MEMORY,
		UNDER(2, "backend_bound")),
	CORE_BOUND("tma-counters"),
	DIVIDER("tma-counters", "arith.div_active"),
	DIVIDER("tma-counters", "arith.divider_active"),
	RETIRING("tma-counters", "100 * uops_retired.slots / " S_P),
	HEAVY("tma-counters", "100 * uops_retired.heavy / " S_P),
	LIGHT("tma-counters"),
	MISPREDICT_ROW("topdown", "tma-counters", "branch_misses", "branches", LEVEL(2)),

	BY_CLOCKS("tma-clocks", SLOTS, RECOV),
	BY_CLOCKS("tma-core-clocks", SLOTS_BOTH, RECOV_BOTH),

	SHARE("cache", "l1d_miss", "L1D misses of loads",
	      "mem_load_retired.l1_miss / mem_inst_retired.all_loads", USER(5, 10), SEE_LAYOUT),
	PER_KILO("cache", "l1d_mpki", "L1D misses of loads", "mem_load_retired.l1_miss", AWS(20),
		 SEE_LAYOUT),
	SHARE("cache", "l2_miss", "L2 misses of loads that missed the L1D",
	      "mem_load_retired.l2_miss / (mem_load_retired.l2_hit + mem_load_retired.l2_miss)",
	      NO_LIMIT, SEE_SET),
	PER_KILO("cache", "l2_mpki", "L2 misses of loads", "mem_load_retired.l2_miss", AWS(10),
		 SEE_SET),
	SHARE("cache", "l3_miss", "L3 misses of loads that missed the L2",
	      "mem_load_retired.l3_miss / (mem_load_retired.l3_hit + mem_load_retired.l3_miss)",
	      NO_LIMIT, SEE_SET),
	SHARE("cache", "llc_miss", "last-level misses, of all kinds",
	      "longest_lat_cache.miss / longest_lat_cache.reference", NO_LIMIT, SEE_SET),
	PER_KILO("cache", "llc_mpki", "last-level misses, of all kinds", "longest_lat_cache.miss",
		 AWS(10), SEE_SET),
	SHARE("cache", "icache_miss", "L1I tag misses by instructions",
	      "icache_64b.iftag_miss / instructions", USER(0.1, 1), SEE_CODE),
	SHARE("cache", "icache_miss", "L1I misses by instructions",
	      "frontend_retired.l1i_miss / instructions", USER(0.1, 1), SEE_CODE),
	PER_KILO("cache", "l1i_mpki", "L1I misses", "frontend_retired.l1i_miss", AWS(20), SEE_CODE),
	SHARE("cache", "icache_stalls", "cycles waiting for the L1I",
	      "icache_data.stalls / cycles", TMA(5), SEE_CODE, UNDER(3, "fetch_latency")),
	SHARE("cache", "icache_stalls", "cycles waiting for the L1I",
	      "icache_16b.ifdata_stall / cycles", TMA(5), SEE_CODE, UNDER(3, "fetch_latency")),

	/* Gone since Ice Lake: there only walks that were completed are counted. */
	SHARE("tlb", "dtlb_walk", "dTLB walks by loads",
	      "dtlb_load_misses.miss_causes_a_walk / mem_inst_retired.all_loads", USER(0.5, 2),
	      SEE_DTLB),
	SHARE("tlb", "dtlb_walk", "dTLB walks completed by loads",
	      "dtlb_load_misses.walk_completed / mem_inst_retired.all_loads", USER(0.5, 2),
	      SEE_DTLB),
	PER_KILO("tlb", "dtlb_mpki", "dTLB walks of loads", "dtlb_load_misses.walk_completed",
		 NO_LIMIT, SEE_DTLB),
	PER_KILO("tlb", "dtlb_store_mpki", "dTLB walks of stores",
		 "dtlb_store_misses.walk_completed", NO_LIMIT, SEE_DTLB),
	SHARE("tlb", "dtlb_walk_cycles", "cycles with a walk for a load",
	      "dtlb_load_misses.walk_active / cycles", NO_LIMIT, SEE_DTLB),
	SHARE("tlb", "stlb_miss", "L2 TLB misses of loads",
	      "dtlb_load_misses.walk_completed"
	      " / (dtlb_load_misses.walk_completed + dtlb_load_misses.stlb_hit)", NO_LIMIT,
	      SEE_DTLB),
	PER_KILO("tlb", "itlb_mpki", "iTLB walks", "itlb_misses.walk_completed", NO_LIMIT,
		 SEE_ITLB),
	SHARE("tlb", "itlb_stalls", "cycles waiting for the iTLB", "icache_tag.stalls / cycles",
	      TMA(5), SEE_ITLB, UNDER(3, "fetch_latency")),

	MISPREDICT_ROW("branch", "intel", "branch_misses", "branches", NO_LEVEL),
	PER_KILO("branch", "branch_mpki", "mispredicted branches", "branch_misses", AWS(10),
		 SEE_BRANCH),
	SHARE("branch", "branch_density", "branches of all instructions", "branches / instructions",
	      USER(20, 30), SEE_DENSE),
	SHARE("branch", "branch_taken", "taken, of branches",
	      "br_inst_retired.near_taken / branches", NO_LIMIT, SEE_BRANCH),
	SHARE("branch", "branch_resteers", "cycles of fetching again after a clear",
	      "int_misc.clear_resteer_cycles / cycles", TMA(5), SEE_BRANCH,
	      UNDER(3, "fetch_latency")),

	SHARE("mix", "loads", "loads", "mem_inst_retired.all_loads / instructions", NO_LIMIT,
	      SEE_NOTHING),
	SHARE("mix", "branches", "branches", "branches / instructions", NO_LIMIT, SEE_NOTHING),
	SHARE("mix", "float_scalar", "scalar floating point", FLOP_SCALAR " / instructions",
	      NO_LIMIT, SEE_NOTHING),
	SHARE("mix", "float_vector", "vector floating point",
	      "(" FP("128b_packed_double") " + " FP("128b_packed_single") " + "
	      FP("256b_packed_double") " + " FP("256b_packed_single") " + "
	      FP("512b_packed_double") " + " FP("512b_packed_single") ") / instructions",
	      NO_LIMIT, SEE_NOTHING),

	SHARE("backend-memory", "backend_memory", "back end waits for memory, of cycles",
	      "cycle_activity.stalls_mem_any / cycles", USER(15, 25), SEE_MEMORY, .cores = OLD),
	SHARE("backend-memory", "backend_memory", "back end waits for memory, of cycles",
	      "(exe_activity.bound_on_loads + exe_activity.bound_on_stores) / cycles",
	      USER(15, 25), SEE_MEMORY, .cores = NEW),
	WAITS("l1_bound", "waits for the L1D", "max(0, 100 * (cycle_activity.stalls_mem_any"
	      " - cycle_activity.stalls_l1d_miss) / cycles)", TMA(10), SEE_DTLB, OLD),
	WAITS("l1_bound", "waits for the L1D", "max(0, 100 * (exe_activity.bound_on_loads"
	      " - memory_activity.stalls_l1d_miss) / cycles)", TMA(10), SEE_DTLB, NEW),
	L2_BOUND("fb_full_cycles", SKX),
	L2_BOUND("fb_full_periods", ICX),
	WAITS("l2_bound", "waits for the L2", "100 * (memory_activity.stalls_l1d_miss"
	      " - memory_activity.stalls_l2_miss) / cycles", TMA(5), SEE_LAYOUT, NEW),
	WAITS("l3_bound", "waits for the L3", "100 * (cycle_activity.stalls_l2_miss"
	      " - cycle_activity.stalls_l3_miss) / cycles", TMA(5), SEE_SET, OLD),
	WAITS("l3_bound", "waits for the L3", "100 * (memory_activity.stalls_l2_miss"
	      " - memory_activity.stalls_l3_miss) / cycles", TMA(5), SEE_SET, NEW),
	WAITS("dram_bound", "waits for memory itself", "100 * (cycle_activity.stalls_l3_miss"
	      " + cycle_activity.stalls_l1d_miss - cycle_activity.stalls_l2_miss) / cycles"
	      " - @l2_bound", TMA(10), SEE_SET, OLD),
	WAITS("dram_bound", "waits for memory itself",
	      "100 * memory_activity.stalls_l3_miss / cycles", TMA(10), SEE_SET, NEW),
	WAITS("store_bound", "waits for stores", "100 * exe_activity.bound_on_stores / cycles",
	      TMA(20), SEE_LAYOUT, 0),
	PER_KILO("backend-memory", "l3_mpki", "L3 misses of loads", "mem_load_retired.l3_miss",
		 AWS(10), SEE_SET),

	ROW("roofline", "intel", "flops", "floating-point operations", "FLOP/s", FLOP " / seconds",
	    NO_LIMIT, SEE_ROOF),
	ROW("roofline", "intel", "flops_per_cycle", "floating-point operations", "FLOP/cycle",
	    FLOP " / cycles", NO_LIMIT, SEE_ROOF),
	WIDTH("flops_scalar", "scalars", FLOP_SCALAR),
	WIDTH("flops_128", "vectors of 128 bits", FLOP_128),
	WIDTH("flops_256", "vectors of 256 bits", FLOP_256),
	WIDTH("flops_512", "vectors of 512 bits", FLOP_512),
	ROW("roofline", "intel", "memory_bandwidth", "memory traffic (at its controllers)",
	    "bytes/s", "64 * (unc_m_cas_count.rd + unc_m_cas_count.wr) / seconds", NO_LIMIT,
	    SEE_ROOF),
	/* Loads only, no prefetches; and evictions of the L2 go to the L3, not to memory. */
	ROW("roofline", "intel", "core_bandwidth", "memory traffic (core-side estimate)",
	    "bytes/s", "64 * (mem_load_retired.l3_miss + l2_lines_out.non_silent) / seconds",
	    NO_LIMIT, SEE_ROOF),
	ROW("roofline", "intel", "intensity", "operations by bytes of memory", "FLOP/byte",
	    "@flops / @memory_bandwidth", NO_LIMIT, SEE_ROOF),
	ROW("roofline", "intel", "core_intensity", "operations by bytes (core-side estimate)",
	    "FLOP/byte", "@flops / @core_bandwidth", NO_LIMIT, SEE_ROOF),
	ROOF("intel", "intensity"),
	ROOF("intel", "core_intensity"),
	RIDGE("intel"),
	{ .set = NULL },
};
/* clang-format on */
