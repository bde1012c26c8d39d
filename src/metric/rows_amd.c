/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows of AMD's Zen 4 and Zen 5. AMD gives no thresholds, so its pipeline has none. The top has
 * five parts: with SMT on, slots go to the other thread as well. Fills count prefetches, so
 * thresholds of misses do not hold for them.
 */
#include "metric/rows.h"

#define ZEN4  CORE_BIT(CORE_ZEN4)
#define ZEN5  CORE_BIT(CORE_ZEN5)
#define SLOTS "(slots_per_cycle * cycles)"
#define NONE  "de_no_dispatch_per_slot."
/* Dispatch got nothing at all; the catalog knows the mask by the core's width. */
#define EMPTY NONE "no_ops_from_frontend_all_slots"

#define PIPELINE(depth, n, l, f, see, ...)                                                         \
	ROW("topdown", "pipeline", n, l, "%", f, NO_LIMIT, see, LEVEL(depth), __VA_ARGS__)
#define SHARE(s, n, l, f, limit, see) ROW(s, "amd", n, l, "%", "100 * " f, limit, see)
#define PER_KILO(s, n, l, event, limit, see)                                                       \
	ROW(s, "amd", n, l, MPKI, "1000 * " event " / instructions", limit, see)

/* clang-format off */
const struct metric rows_amd[] = {
	IPC_ROW("topdown", "pipeline", "instructions", "cycles", IPC_SCALE, LEVEL(1)),
	PIPELINE(1, "frontend_bound", "front-end bound",
		 "100 * " NONE "no_ops_from_frontend / " SLOTS, SEE_FRONT),
	PIPELINE(2, "frontend_bound_latency", "front end: latency",
		 "100 * slots_per_cycle * " EMPTY " / " SLOTS, SEE_FRONT),
	PIPELINE(2, "frontend_bound_bandwidth", "front end: bandwidth",
		 "100 * (" NONE "no_ops_from_frontend - slots_per_cycle * " EMPTY ") / " SLOTS,
		 SEE_CODE),
	PIPELINE(1, "bad_speculation", "bad speculation",
		 "100 * (de_src_op_disp.all - ex_ret_ops) / " SLOTS, SEE_BRANCH),
	PIPELINE(2, "bad_speculation_mispredicts", "bad speculation: branches",
		 "@bad_speculation * branch_misses / (branch_misses + resyncs_or_nc_redirects)",
		 SEE_BRANCH, .cores = ZEN4),
	PIPELINE(2, "bad_speculation_mispredicts", "bad speculation: branches",
		 "@bad_speculation * branch_misses / (branch_misses + bp_redirects.resync)",
		 SEE_BRANCH, .cores = ZEN5),
	PIPELINE(2, "bad_speculation_pipeline_restarts", "bad speculation: restarts",
		 "@bad_speculation * resyncs_or_nc_redirects"
		 " / (branch_misses + resyncs_or_nc_redirects)", SEE_CLEARS, .cores = ZEN4),
	PIPELINE(2, "bad_speculation_pipeline_restarts", "bad speculation: restarts",
		 "@bad_speculation * bp_redirects.resync / (branch_misses + bp_redirects.resync)",
		 SEE_CLEARS, .cores = ZEN5),
	PIPELINE(1, "backend_bound", "back-end bound", "100 * " NONE "backend_stalls / " SLOTS,
		 SEE_BACK),
	PIPELINE(2, "backend_bound_memory", "back end: memory",
		 "@backend_bound * ex_no_retire.load_not_complete / ex_no_retire.not_complete",
		 SEE_MEMORY),
	PIPELINE(2, "backend_bound_cpu", "back end: core",
		 "@backend_bound"
		 " * (1 - ex_no_retire.load_not_complete / ex_no_retire.not_complete)", SEE_CORE),
	PIPELINE(1, "smt_contention", "the other thread", "100 * " NONE "smt_contention / " SLOTS,
		 SEE_SMT),
	PIPELINE(1, "retiring", "retiring", "100 * ex_ret_ops / " SLOTS, SEE_NOTHING),
	PIPELINE(2, "retiring_fastpath", "retiring: fast path",
		 "@retiring * (1 - ex_ret_ucode_ops / ex_ret_ops)", SEE_NOTHING),
	PIPELINE(2, "retiring_microcode", "retiring: microcode",
		 "@retiring * ex_ret_ucode_ops / ex_ret_ops", SEE_UCODE),
	MISPREDICT_ROW("topdown", "pipeline", "branch_misses", "branches", LEVEL(2)),

	SHARE("cache", "l1d_miss", "L1D fills by accesses", "ls_any_fills_from_sys.all"
	      " / ls_dispatch.all", NO_LIMIT, SEE_LAYOUT),
	PER_KILO("cache", "l1d_mpki", "L1D fills", "ls_any_fills_from_sys.all", NO_LIMIT,
		 SEE_LAYOUT),
	SHARE("cache", "l1d_from_l2", "L1D fills on demand that the L2 had",
	      "ls_dmnd_fills_from_sys.local_l2 / ls_dmnd_fills_from_sys.all", NO_LIMIT, SEE_SET),
	SHARE("cache", "l2_miss", "L2 misses, prefetches left out",
	      "l2_cache_req_stat.ic_dc_miss_in_l2 / l2_request_g1.all_no_prefetch", USER(10, 20),
	      SEE_SET),
	PER_KILO("cache", "l2_mpki", "L2 misses", "l2_cache_req_stat.ic_dc_miss_in_l2", AWS(10),
		 SEE_SET),
	SHARE("cache", "llc_miss", "L3 misses",
	      "l3_lookup_state.l3_miss / l3_lookup_state.all_coherent_accesses_to_l3", NO_LIMIT,
	      SEE_SET),
	PER_KILO("cache", "dram_mpki", "L1D fills from memory", "ls_any_fills_from_sys.dram_io_all",
		 NO_LIMIT, SEE_SET),
	SHARE("cache", "l1i_miss", "L1I misses",
	      "ic_tag_hit_miss.instruction_cache_miss / ic_tag_hit_miss.all", NO_LIMIT, SEE_CODE),
	SHARE("cache", "icache_miss", "L1I misses by instructions",
	      "ic_tag_hit_miss.instruction_cache_miss / instructions", USER(0.1, 1), SEE_CODE),
	PER_KILO("cache", "l1i_mpki", "L1I misses", "ic_tag_hit_miss.instruction_cache_miss",
		 AWS(20), SEE_CODE),
	SHARE("cache", "op_cache_miss", "op cache misses",
	      "op_cache_hit_miss.op_cache_miss / op_cache_hit_miss.all", NO_LIMIT, SEE_CODE),

	SHARE("tlb", "dtlb_walk", "dTLB misses in L2 by accesses",
	      "ls_l1_d_tlb_miss.all_l2_miss / ls_dispatch.all", USER(0.5, 2), SEE_DTLB),
	PER_KILO("tlb", "dtlb_mpki", "dTLB misses in L2", "ls_l1_d_tlb_miss.all_l2_miss", NO_LIMIT,
		 SEE_DTLB),
	PER_KILO("tlb", "l1d_tlb_mpki", "L1 dTLB misses", "ls_l1_d_tlb_miss.all", NO_LIMIT,
		 SEE_DTLB),
	PER_KILO("tlb", "itlb_mpki", "iTLB misses in L2", "bp_l1_tlb_miss_l2_tlb_miss.all",
		 NO_LIMIT, SEE_ITLB),
	SHARE("tlb", "l2_itlb_miss", "L2 iTLB misses", "bp_l1_tlb_miss_l2_tlb_miss.all"
	      " / (bp_l1_tlb_miss_l2_tlb_miss.all + bp_l1_tlb_miss_l2_tlb_hit)", NO_LIMIT,
	      SEE_ITLB),

	SHARE("mix", "branches", "branches", "branches / instructions", NO_LIMIT, SEE_NOTHING),
	SHARE("mix", "memory", "loads and stores", "ls_dispatch.all / instructions", NO_LIMIT,
	      SEE_NOTHING),
	SHARE("mix", "microcode", "operations from microcode", "ex_ret_ucode_ops / ex_ret_ops",
	      NO_LIMIT, SEE_UCODE),
	ROW("mix", "amd", "ops_per_instruction", "operations per instruction", "",
	    "ex_ret_ops / instructions", NO_LIMIT, SEE_UCODE),
	SHARE("mix", "flops_add", "of floating-point operations, additions",
	      "fp_ret_sse_avx_ops.add_sub / fp_ret_sse_avx_ops.all", NO_LIMIT, SEE_NOTHING),
	SHARE("mix", "flops_mult", "of floating-point operations, multiplications",
	      "fp_ret_sse_avx_ops.mult / fp_ret_sse_avx_ops.all", NO_LIMIT, SEE_NOTHING),
	SHARE("mix", "flops_mac", "of floating-point operations, multiply-adds",
	      "fp_ret_sse_avx_ops.mac / fp_ret_sse_avx_ops.all", NO_LIMIT, SEE_NOTHING),

	SHARE("backend-memory", "backend_memory", "nothing retired for want of a load, of cycles",
	      "ex_no_retire.load_not_complete / cycles", NO_LIMIT, SEE_MEMORY),
	SHARE("backend-memory", "memory_share", "of waits to retire, for loads",
	      "ex_no_retire.load_not_complete / ex_no_retire.not_complete", NO_LIMIT, SEE_MEMORY),
	SHARE("backend-memory", "l2_miss", "L2 misses, prefetches left out",
	      "l2_cache_req_stat.ic_dc_miss_in_l2 / l2_request_g1.all_no_prefetch", USER(10, 20),
	      SEE_SET),
	PER_KILO("backend-memory", "dram_mpki", "L1D fills from memory",
		 "ls_any_fills_from_sys.dram_io_all", NO_LIMIT, SEE_SET),
	ROW("backend-memory", "amd", "core_bandwidth", "L1D fills from memory (estimate)",
	    "bytes/s", "64 * ls_any_fills_from_sys.dram_io_all / seconds", NO_LIMIT, SEE_ROOF),

	ROW("roofline", "amd", "flops", "floating-point operations", "FLOP/s",
	    "fp_ret_sse_avx_ops.all / seconds", NO_LIMIT, SEE_ROOF),
	ROW("roofline", "amd", "flops_per_cycle", "floating-point operations", "FLOP/cycle",
	    "fp_ret_sse_avx_ops.all / cycles", NO_LIMIT, SEE_ROOF),
	ROW("roofline", "amd", "memory_bandwidth", "memory traffic (at its controllers)",
	    "bytes/s", "64 * umc_cas_cmd.all / seconds", NO_LIMIT, SEE_ROOF),
	ROW("roofline", "amd", "core_bandwidth", "memory reads (core-side estimate)", "bytes/s",
	    "64 * ls_any_fills_from_sys.dram_io_all / seconds", NO_LIMIT, SEE_ROOF),
	ROW("roofline", "amd", "intensity", "operations by bytes of memory", "FLOP/byte",
	    "@flops / @memory_bandwidth", NO_LIMIT, SEE_ROOF),
	ROW("roofline", "amd", "core_intensity", "operations by bytes (core-side estimate)",
	    "FLOP/byte", "@flops / @core_bandwidth", NO_LIMIT, SEE_ROOF),
	ROOF("amd", "intensity"),
	ROOF("amd", "core_intensity"),
	RIDGE("amd"),
	{ .set = NULL },
};
/* clang-format on */
