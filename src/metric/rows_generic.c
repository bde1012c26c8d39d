/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows by the kernel's generic events, for cores that we have no table of. cache-misses are those
 * of the L1D on Arm, of the last level on Intel and of the L2 on AMD: no threshold holds for them.
 */
#include "metric/rows.h"

#define G     "generic"
#define CACHE "cache misses (which cache depends on the CPU)"

/* clang-format off */
const struct metric rows_generic[] = {
	IPC_ROW("topdown", G, "instructions", "cycles", IPC_SCALE, LEVEL(1)),
	ROW("topdown", G, "frontend_bound", "front-end stalls, of cycles", "%",
	    "100 * stalled_cycles_frontend / cycles", USER(10, 20), SEE_FRONT, LEVEL(1)),
	ROW("topdown", G, "backend_bound", "back-end stalls, of cycles", "%",
	    "100 * stalled_cycles_backend / cycles", USER(30, 40), SEE_BACK, LEVEL(1)),
	MISPREDICT_ROW("topdown", G, "branch_misses", "branches", LEVEL(2)),

	IPC_ROW("ipc", G, "instructions", "cycles", IPC_SCALE),
	CPI_ROW("ipc", G, "instructions", "cycles"),
	ROW("ipc", G, "frontend_stalls", "front-end stalls, of cycles", "%",
	    "100 * stalled_cycles_frontend / cycles", USER(10, 20), SEE_FRONT),
	ROW("ipc", G, "backend_stalls", "back-end stalls, of cycles", "%",
	    "100 * stalled_cycles_backend / cycles", USER(30, 40), SEE_BACK),

	ROW("cpu", G, "cpus_used", "CPUs used", "CPUs", "task_clock / (1000000000 * seconds)",
	    NO_LIMIT, SEE_NOTHING),
	ROW("cpu", G, "clock_rate", "cycles per ns on a CPU", "GHz", "cycles / task_clock",
	    NO_LIMIT, SEE_NOTHING),

	ROW("cache", G, "l1d_miss", "L1D misses of loads", "%",
	    "100 * l1_dcache_load_misses / l1_dcache_loads", USER(5, 10), SEE_LAYOUT),
	ROW("cache", G, "l1d_mpki", "L1D misses of loads", MPKI,
	    "1000 * l1_dcache_load_misses / instructions", AWS(20), SEE_LAYOUT),
	ROW("cache", G, "cache_miss", CACHE, "%", "100 * cache_misses / cache_references",
	    NO_LIMIT, SEE_SET),
	ROW("cache", G, "cache_mpki", CACHE, MPKI, "1000 * cache_misses / instructions", NO_LIMIT,
	    SEE_SET),
	ROW("cache", G, "l1i_mpki", "L1I misses", MPKI,
	    "1000 * l1_icache_load_misses / instructions", AWS(20), SEE_CODE),

	ROW("tlb", G, "dtlb_miss", "dTLB misses of loads", "%",
	    "100 * dtlb_load_misses / dtlb_loads", NO_LIMIT, SEE_DTLB),
	ROW("tlb", G, "dtlb_mpki", "dTLB misses of loads", MPKI,
	    "1000 * dtlb_load_misses / instructions", NO_LIMIT, SEE_DTLB),
	ROW("tlb", G, "itlb_mpki", "iTLB misses", MPKI, "1000 * itlb_load_misses / instructions",
	    NO_LIMIT, SEE_ITLB),

	MISPREDICT_ROW("branch", G, "branch_misses", "branches", NO_LEVEL),
	ROW("branch", G, "branch_mpki", "mispredicted branches", MPKI,
	    "1000 * branch_misses / instructions", AWS(10), SEE_BRANCH),
	ROW("branch", G, "branch_density", "branches of all instructions", "%",
	    "100 * branches / instructions", USER(20, 30), SEE_DENSE),

	ROW("mix", G, "loads", "loads", "%", "100 * l1_dcache_loads / instructions", NO_LIMIT,
	    SEE_NOTHING),
	ROW("mix", G, "stores", "stores", "%", "100 * l1_dcache_stores / instructions", NO_LIMIT,
	    SEE_NOTHING),
	ROW("mix", G, "branches", "branches", "%", "100 * branches / instructions", NO_LIMIT,
	    SEE_NOTHING),

	ROW("backend-memory", G, "backend_stalls", "back-end stalls, of cycles", "%",
	    "100 * stalled_cycles_backend / cycles", USER(30, 40), SEE_BACK),
	ROW("backend-memory", G, "cache_mpki", CACHE, MPKI, "1000 * cache_misses / instructions",
	    NO_LIMIT, SEE_SET),
	{ .set = NULL },
};
/* clang-format on */
