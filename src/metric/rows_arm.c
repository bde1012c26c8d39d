/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows of Arm cores. Formulas by slots correct the raw counts by constants that differ between
 * cores, so a part can come out a little below 0; cores without a row of their own get the plain
 * one.
 */
#include "metric/rows.h"

#define V1    CORE_BIT(CORE_NEOVERSE_V1)
#define N2    CORE_BIT(CORE_NEOVERSE_N2)
#define V2    CORE_BIT(CORE_NEOVERSE_V2)
#define V3    CORE_BIT(CORE_NEOVERSE_V3)
#define N2_V2 (N2 | V2)

/* The first N2s counted a slot too many for each cycle: until r0p2. */
static bool is_early_n2(const struct core *core)
{
	return core->id == CORE_NEOVERSE_N2 && !core->variant && core->revision < 3;
}

/* V2, and N2 since r0p3. */
static bool is_not_early_n2(const struct core *core)
{
	return !is_early_n2(core);
}

#define CYCLES	"cpu_cycles"
#define INSNS	"inst_retired"
#define SLOTS	"(slots_per_cycle * cpu_cycles)"
#define WASTED	"op_retired / op_spec"
#define FLUSHES "br_mis_pred / cpu_cycles"

/* The same share of cycles, in every set that asks for it. */
#define BACKEND_MEMORY(s, m, n)                                                                    \
	ROW(s, m, "backend_memory", "back end waits for memory, of cycles", "%",                   \
	    "100 * stall_backend_mem / cpu_cycles", USER(15, 25), SEE_MEMORY, LEVEL(n))
#define FRONTEND_CYCLES(s, m, n, ...)                                                              \
	ROW(s, m, n, "front-end stalls, of cycles", "%", "100 * stall_frontend / cpu_cycles",      \
	    USER(10, 20), SEE_FRONT, __VA_ARGS__)
#define BACKEND_CYCLES(s, m, n, ...)                                                               \
	ROW(s, m, n, "back-end stalls, of cycles", "%", "100 * stall_backend / cpu_cycles",        \
	    USER(30, 40), SEE_BACK, __VA_ARGS__)

#define FRONTEND(...)                                                                              \
	ROW("topdown", "slots", "frontend_bound", "front-end bound", "%", __VA_ARGS__,             \
	    USER(10, 20), SEE_FRONT, LEVEL(1))
#define BACKEND(...)                                                                               \
	ROW("topdown", "slots", "backend_bound", "back-end bound", "%", __VA_ARGS__, USER(30, 40), \
	    SEE_BACK, LEVEL(1))
#define BAD(...)                                                                                   \
	ROW("topdown", "slots", "bad_speculation", "bad speculation", "%", __VA_ARGS__,            \
	    USER(15, NAN), SEE_BRANCH, LEVEL(1))
#define RETIRING(...)                                                                              \
	ROW("topdown", "slots", "retiring", "retiring", "%", __VA_ARGS__, NO_LIMIT, SEE_NOTHING,   \
	    LEVEL(1))

#define PER_KILO(s, n, l, event, limit, see)                                                       \
	ROW(s, "arm", n, l, MPKI, "1000 * " event " / inst_retired", limit, see)
#define PART(n, l, event)                                                                          \
	ROW("mix", "arm", n, l, "%", "100 * " event " / inst_spec", NO_LIMIT, SEE_NOTHING)
#define SHARE(s, n, l, u, f, limit, see) ROW(s, "arm", n, l, u, "100 * " f, limit, see)
/* Levels below the two ends, as V3 has them: shares of the stalls above. */
#define V3_PART(s, m, depth, n, l, f, see)                                                         \
	ROW(s, m, n, l ", of stalls there", "%", "100 * " f, NO_LIMIT, see, .cores = V3,           \
	    LEVEL(depth))

/* clang-format off */
const struct metric rows_arm[] = {
	IPC_ROW("topdown", "slots", INSNS, CYCLES, USER(2, 1), LEVEL(1)),
	FRONTEND("100 * (stall_slot_frontend / " SLOTS " - 4 * " FLUSHES ")", .cores = V1),
	FRONTEND("100 * ((stall_slot_frontend - cpu_cycles) / " SLOTS " - " FLUSHES ")",
		 .cores = N2, .fits = is_early_n2),
	FRONTEND("100 * (stall_slot_frontend / " SLOTS " - " FLUSHES ")", .cores = N2_V2,
		 .fits = is_not_early_n2),
	FRONTEND("100 * (stall_slot_frontend / " SLOTS " - stall_frontend_flush / cpu_cycles)",
		 .cores = V3),
	FRONTEND("100 * stall_slot_frontend / " SLOTS),
	BACKEND("100 * (stall_slot_backend / " SLOTS " - 3 * " FLUSHES ")", .cores = N2_V2),
	BACKEND("100 * stall_slot_backend / " SLOTS),
	BACKEND_MEMORY("topdown", "slots", 2),
	BAD("100 * ((1 - " WASTED ") * (1 - (stall_slot - cpu_cycles) / " SLOTS ") + 4 * " FLUSHES
	    ")", .cores = N2, .fits = is_early_n2),
	BAD("100 * ((1 - " WASTED ") * (1 - stall_slot / " SLOTS ") + 4 * " FLUSHES ")",
	    .cores = V1 | N2_V2, .fits = is_not_early_n2),
	BAD("100 * ((1 - " WASTED ") * (1 - stall_slot / " SLOTS
	    ") + stall_frontend_flush / cpu_cycles)", .cores = V3),
	BAD("100 * (1 - " WASTED ") * (1 - stall_slot / " SLOTS ")"),
	RETIRING("100 * " WASTED " * (1 - (stall_slot - cpu_cycles) / " SLOTS ")", .cores = N2,
		 .fits = is_early_n2),
	RETIRING("100 * " WASTED " * (1 - stall_slot / " SLOTS ")"),
	MISPREDICT_ROW("topdown", "slots", "br_mis_pred_retired", "br_retired", LEVEL(2)),
	V3_PART("topdown", "slots", 2, "frontend_mem", "front end: memory",
		"stall_frontend_membound / stall_frontend", SEE_FRONT),
	V3_PART("topdown", "slots", 3, "frontend_mem_cache", "front end: memory: L1I and beyond",
		"(stall_frontend_l1i + stall_frontend_mem) / stall_frontend_membound", SEE_CODE),
	V3_PART("topdown", "slots", 3, "frontend_mem_tlb", "front end: memory: iTLB",
		"stall_frontend_tlb / stall_frontend_membound", SEE_ITLB),
	V3_PART("topdown", "slots", 2, "frontend_core", "front end: core",
		"stall_frontend_cpubound / stall_frontend", SEE_BRANCH),
	V3_PART("topdown", "slots", 3, "frontend_core_flow", "front end: core: branch prediction",
		"stall_frontend_flow / stall_frontend_cpubound", SEE_BRANCH),
	V3_PART("topdown", "slots", 3, "frontend_core_flush", "front end: core: flushes",
		"stall_frontend_flush / stall_frontend_cpubound", SEE_BRANCH),
	V3_PART("topdown", "slots", 2, "backend_core", "back end: core",
		"stall_backend_cpubound / stall_backend", SEE_CORE),
	V3_PART("topdown", "slots", 3, "backend_core_busy", "back end: core: queues full",
		"stall_backend_busy / stall_backend", SEE_CORE),
	V3_PART("topdown", "slots", 3, "backend_core_interlock", "back end: core: dependencies",
		"stall_backend_ilock / stall_backend", SEE_CORE),
	V3_PART("topdown", "slots", 3, "backend_core_rename", "back end: core: registers",
		"stall_backend_rename / stall_backend_cpubound", SEE_CORE),

	IPC_ROW("topdown", "cycles", INSNS, CYCLES, USER(2, 1), LEVEL(1)),
	FRONTEND_CYCLES("topdown", "cycles", "frontend_bound", LEVEL(1)),
	BACKEND_CYCLES("topdown", "cycles", "backend_bound", LEVEL(1)),
	BACKEND_MEMORY("topdown", "cycles", 2),
	MISPREDICT_ROW("topdown", "cycles", "br_mis_pred_retired", "br_retired", LEVEL(2)),

	IPC_ROW("ipc", "arm", INSNS, CYCLES, USER(2, 1)),
	CPI_ROW("ipc", "arm", INSNS, CYCLES),
	FRONTEND_CYCLES("ipc", "arm", "frontend_stalls", NO_LEVEL),
	BACKEND_CYCLES("ipc", "arm", "backend_stalls", NO_LEVEL),

	SHARE("cache", "l1d_miss", "L1D misses", "%", "l1d_cache_refill / l1d_cache",
	      USER(5, 10), SEE_LAYOUT),
	SHARE("cache", "l1d_to_l2", "L1D misses that had to wait", "%",
	      "l1d_cache_lmiss_rd / l1d_cache_refill", USER(30, 50), SEE_LAYOUT),
	PER_KILO("cache", "l1d_mpki", "L1D misses", "l1d_cache_refill", AWS(20), SEE_LAYOUT),
	SHARE("cache", "l2_miss", "L2 misses", "%", "l2d_cache_refill / l2d_cache", USER(10, 20),
	      SEE_SET),
	SHARE("cache", "l2_to_llc", "L2 misses that had to wait for the last level or memory", "%",
	      "l2d_cache_lmiss_rd / l2d_cache_refill", USER(20, 40), SEE_SET),
	PER_KILO("cache", "l2_mpki", "L2 misses", "l2d_cache_refill", AWS(10), SEE_SET),
	SHARE("cache", "llc_miss", "last-level misses of reads", "%",
	      "ll_cache_miss_rd / ll_cache_rd", NO_LIMIT, SEE_SET),
	SHARE("cache", "llc_hit", "last-level hits of reads", "%",
	      "(ll_cache_rd - ll_cache_miss_rd) / ll_cache_rd", NO_LIMIT, SEE_SET),
	SHARE("cache", "llc_miss", "last-level misses", "%", "l3d_cache_refill / l3d_cache",
	      NO_LIMIT, SEE_SET),
	PER_KILO("cache", "llc_mpki", "last-level misses of reads", "ll_cache_miss_rd", AWS(10),
		 SEE_SET),
	PER_KILO("cache", "llc_mpki", "last-level misses", "l3d_cache_refill", AWS(10), SEE_SET),
	SHARE("cache", "l1i_miss", "L1I misses", "%", "l1i_cache_refill / l1i_cache", NO_LIMIT,
	      SEE_CODE),
	SHARE("cache", "l1i_wait", "L1I misses that had to wait", "%",
	      "l1i_cache_lmiss / l1i_cache_refill", NO_LIMIT, SEE_CODE),
	SHARE("cache", "icache_miss", "L1I misses by instructions", "%",
	      "l1i_cache_refill / inst_retired", USER(0.1, 1), SEE_CODE),
	PER_KILO("cache", "l1i_mpki", "L1I misses", "l1i_cache_refill", AWS(20), SEE_CODE),

	SHARE("tlb", "dtlb_walk", "dTLB walks by memory accesses", "%", "dtlb_walk / mem_access",
	      USER(0.5, 2), SEE_DTLB),
	SHARE("tlb", "dtlb_walk_ratio", "dTLB walks by L1 TLB look-ups (Arm's ratio)", "%",
	      "dtlb_walk / l1d_tlb", NO_LIMIT, SEE_DTLB),
	PER_KILO("tlb", "dtlb_mpki", "dTLB walks", "dtlb_walk", NO_LIMIT, SEE_DTLB),
	SHARE("tlb", "l1d_tlb_miss", "L1 data TLB misses", "%", "l1d_tlb_refill / l1d_tlb",
	      NO_LIMIT, SEE_DTLB),
	PER_KILO("tlb", "l1d_tlb_mpki", "L1 data TLB misses", "l1d_tlb_refill", NO_LIMIT, SEE_DTLB),
	SHARE("tlb", "itlb_walk", "iTLB walks by L1I accesses", "%", "itlb_walk / l1i_cache",
	      USER(0.1, 1), SEE_ITLB),
	SHARE("tlb", "itlb_walk_ratio", "iTLB walks by L1 TLB look-ups (Arm's ratio)", "%",
	      "itlb_walk / l1i_tlb", NO_LIMIT, SEE_ITLB),
	PER_KILO("tlb", "itlb_mpki", "iTLB walks", "itlb_walk", NO_LIMIT, SEE_ITLB),
	SHARE("tlb", "l1i_tlb_miss", "L1 instruction TLB misses", "%", "l1i_tlb_refill / l1i_tlb",
	      NO_LIMIT, SEE_ITLB),
	PER_KILO("tlb", "l1i_tlb_mpki", "L1 instruction TLB misses", "l1i_tlb_refill", NO_LIMIT,
		 SEE_ITLB),
	SHARE("tlb", "l2_tlb_miss", "L2 TLB misses", "%", "l2d_tlb_refill / l2d_tlb", NO_LIMIT,
	      SEE_DTLB),
	PER_KILO("tlb", "l2_tlb_mpki", "L2 TLB misses", "l2d_tlb_refill", NO_LIMIT, SEE_DTLB),

	MISPREDICT_ROW("branch", "arm", "br_mis_pred_retired", "br_retired", NO_LEVEL),
	SHARE("branch", "branch_mispredict_spec", "mispredicted, speculative ones too", "%",
	      "br_mis_pred / br_pred", USER(2, 5), SEE_BRANCH),
	PER_KILO("branch", "branch_mpki", "mispredicted branches", "br_mis_pred_retired", AWS(10),
		 SEE_BRANCH),
	SHARE("branch", "branch_density", "branches of all instructions", "%",
	      "br_retired / inst_retired", USER(20, 30), SEE_DENSE),

	PART("loads", "loads", "ld_spec"),
	PART("stores", "stores", "st_spec"),
	PART("integer", "integer", "dp_spec"),
	PART("simd", "SIMD (NEON)", "ase_spec"),
	PART("float", "scalar floating point", "vfp_spec"),
	PART("branches", "branches", "(br_immed_spec + br_indirect_spec)"),
	PART("crypto", "cryptography", "crypto_spec"),
	PART("sve", "SVE", "sve_inst_spec"),
	PART("barriers", "barriers", "(isb_spec + dsb_spec + dmb_spec)"),
	SHARE("mix", "executed", "completed, of instructions executed", "%",
	      "inst_retired / inst_spec", NO_LIMIT, SEE_BRANCH),
	SHARE("mix", "ops_executed", "completed, of operations executed", "%",
	      "op_retired / op_spec", NO_LIMIT, SEE_BRANCH),
	SHARE("mix", "stalled", "cycles without an operation", "%", "stall / cpu_cycles",
	      NO_LIMIT, SEE_TOPDOWN),

	BACKEND_CYCLES("backend-memory", "arm", "backend_stalls", NO_LEVEL),
	BACKEND_MEMORY("backend-memory", "arm", 0),
	SHARE("backend-memory", "memory_share", "of back-end stalls, for memory", "%",
	      "stall_backend_mem / stall_backend", NO_LIMIT, SEE_MEMORY),
	V3_PART("backend-memory", "arm", 2, "backend_mem", "back end: memory",
		"stall_backend_membound / stall_backend", SEE_MEMORY),
	V3_PART("backend-memory", "arm", 3, "backend_mem_cache", "back end: memory: caches",
		"(stall_backend_l1d + stall_backend_mem) / stall_backend_membound", SEE_MEMORY),
	V3_PART("backend-memory", "arm", 4, "backend_cache_l1d", "back end: memory: caches: L1D",
		"stall_backend_l1d / (stall_backend_l1d + stall_backend_mem)", SEE_LAYOUT),
	V3_PART("backend-memory", "arm", 3, "backend_mem_tlb", "back end: memory: dTLB",
		"stall_backend_tlb / stall_backend_membound", SEE_DTLB),
	V3_PART("backend-memory", "arm", 3, "backend_mem_store", "back end: memory: stores",
		"stall_backend_st / stall_backend_membound", SEE_MEMORY),
	SHARE("backend-memory", "l2_miss", "L2 misses", "%", "l2d_cache_refill / l2d_cache",
	      USER(10, 20), SEE_SET),
	PER_KILO("backend-memory", "llc_mpki", "last-level misses of reads", "ll_cache_miss_rd",
		 AWS(10), SEE_SET),
	ROW("backend-memory", "arm", "read_bandwidth", "reads beyond the last level (estimate)",
	    "bytes/s", "64 * ll_cache_miss_rd / seconds", NO_LIMIT, SEE_ROOF),

	/* By 128 bits of a vector: V1's are 256 long, those of the others 128. */
	ROW("roofline", "arm", "flops", "floating-point operations", "FLOP/s",
	    "(2 * fp_scale_ops_spec + fp_fixed_ops_spec) / seconds", NO_LIMIT, SEE_ROOF,
	    .cores = V1),
	ROW("roofline", "arm", "flops", "floating-point operations (SVE as of 128 bits)", "FLOP/s",
	    "(fp_scale_ops_spec + fp_fixed_ops_spec) / seconds", NO_LIMIT, SEE_ROOF),
	ROW("roofline", "arm", "core_bandwidth", "memory reads (core-side estimate)", "bytes/s",
	    "64 * ll_cache_miss_rd / seconds", NO_LIMIT, SEE_ROOF),
	ROW("roofline", "arm", "core_intensity", "operations by bytes (core-side estimate)",
	    "FLOP/byte", "@flops / @core_bandwidth", NO_LIMIT, SEE_ROOF),
	ROW("roofline", "arm", "flops_per_cycle", "floating-point operations", "FLOP/cycle",
	    "(2 * fp_scale_ops_spec + fp_fixed_ops_spec) / cpu_cycles", NO_LIMIT, SEE_ROOF,
	    .cores = V1),
	ROW("roofline", "arm", "flops_per_cycle", "floating-point operations", "FLOP/cycle",
	    "(fp_scale_ops_spec + fp_fixed_ops_spec) / cpu_cycles", NO_LIMIT, SEE_ROOF),
	ROW("roofline", "arm", "sve_share", "of those, by scalable vectors", "%",
	    "100 * 2 * fp_scale_ops_spec / (2 * fp_scale_ops_spec + fp_fixed_ops_spec)", NO_LIMIT,
	    SEE_ROOF, .cores = V1),
	ROW("roofline", "arm", "sve_share", "of those, by scalable vectors", "%",
	    "100 * fp_scale_ops_spec / (fp_scale_ops_spec + fp_fixed_ops_spec)", NO_LIMIT,
	    SEE_ROOF),
	ROW("roofline", "arm", "fp_instructions", "floating-point and SIMD instructions",
	    "instructions/s", "(vfp_spec + ase_spec) / seconds", NO_LIMIT, SEE_ROOF),
	ROOF("arm", "core_intensity"),
	RIDGE("arm"),
	{ .set = NULL },
};
/* clang-format on */
