/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel's own events as rows. */
#include "event/known_generic.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "event/known.h"

#define SW(n) PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##n
#define HW(n) PERF_TYPE_HARDWARE, PERF_COUNT_HW_##n
/* The kernel's encoding of the family. */
#define CACHE_BITS(c, o, r) ((c) | (o) << 8 | (r) << 16)
#define CACHE(c, o, r)                                                                             \
	PERF_TYPE_HW_CACHE, CACHE_BITS(PERF_COUNT_HW_CACHE_##c, PERF_COUNT_HW_CACHE_OP_##o,        \
				       PERF_COUNT_HW_CACHE_RESULT_##r)
#define ALIAS	      .alias = true
#define CGROUP_SWITCH 11 /* PERF_COUNT_SW_CGROUP_SWITCHES: newer than some headers */

/* What drivers have no encoding for does not open there: nothing is said of it. */
#define REAL(arm, intel, amd) .real = { NULL, arm, intel, amd }

static const struct generic rows[] = {
	{ .name = "cpu-clock", SW(CPU_CLOCK), "time of the CPU, by a timer" },
	{ .name = "task-clock", SW(TASK_CLOCK), "time that the thread ran" },
	{ .name = "page-faults", SW(PAGE_FAULTS), "page faults" },
	{ .name = "faults", SW(PAGE_FAULTS), "page faults", ALIAS },
	{ .name = "context-switches", SW(CONTEXT_SWITCHES), "switches from one thread to another" },
	{ .name = "cs", SW(CONTEXT_SWITCHES), "switches from one thread to another", ALIAS },
	{ .name = "cpu-migrations", SW(CPU_MIGRATIONS), "moves of threads to other CPUs" },
	{ .name = "migrations", SW(CPU_MIGRATIONS), "moves of threads to other CPUs", ALIAS },
	{ .name = "minor-faults", SW(PAGE_FAULTS_MIN), "page faults served from memory" },
	{ .name = "major-faults", SW(PAGE_FAULTS_MAJ), "page faults that had to read a device" },
	{ .name = "alignment-faults",
	  SW(ALIGNMENT_FAULTS),
	  "unaligned accesses that the kernel mended" },
	{ .name = "emulation-faults",
	  SW(EMULATION_FAULTS),
	  "instructions that the kernel emulated" },
	{ .name = "cgroup-switches",
	  PERF_TYPE_SOFTWARE,
	  CGROUP_SWITCH,
	  "switches to a thread of another control group" },
	{ .name = "dummy", SW(DUMMY), "counts nothing" },
	{ .name = "bpf-output", SW(BPF_OUTPUT), "data from BPF programs", .uncountable = true },

	{ .name = "cycles",
	  HW(CPU_CYCLES),
	  "cycles of the core",
	  REAL("cycles of the core (CPU_CYCLES)", "cycles of the core (CPU_CLK_UNHALTED.THREAD)",
	       "cycles of the core (ls_not_halted_cyc)") },
	{ .name = "cpu-cycles", HW(CPU_CYCLES), "cycles of the core", ALIAS },
	{ .name = "instructions",
	  HW(INSTRUCTIONS),
	  "instructions completed",
	  REAL("instructions completed (INST_RETIRED)", "instructions completed (INST_RETIRED.ANY)",
	       "instructions completed (ex_ret_instr)") },
	{ .name = "cache-references",
	  HW(CACHE_REFERENCES),
	  "accesses to a cache",
	  REAL("here accesses to the L1D (L1D_CACHE)",
	       "here accesses to the last level (LONGEST_LAT_CACHE.REFERENCE)",
	       "here accesses to the L2 (event 0x60, umask 0xff)") },
	{ .name = "cache-misses",
	  HW(CACHE_MISSES),
	  "misses of a cache",
	  REAL("here misses of the L1D (L1D_CACHE_REFILL)",
	       "here misses of the last level (LONGEST_LAT_CACHE.MISS)",
	       "here misses of the L2 (event 0x64, umask 0x09)") },
	{ .name = "branches",
	  HW(BRANCH_INSTRUCTIONS),
	  "branches completed",
	  REAL("branches completed (BR_RETIRED, of older cores PC_WRITE_RETIRED)",
	       "branches completed (BR_INST_RETIRED.ALL_BRANCHES)",
	       "branches completed (ex_ret_brn)") },
	{ .name = "branch-instructions", HW(BRANCH_INSTRUCTIONS), "branches completed", ALIAS },
	{ .name = "branch-misses",
	  HW(BRANCH_MISSES),
	  "branches mispredicted",
	  REAL("here mispredicts of speculative branches too (BR_MIS_PRED)",
	       "branches mispredicted (BR_MISP_RETIRED.ALL_BRANCHES)",
	       "branches mispredicted (ex_ret_brn_misp)") },
	{ .name = "bus-cycles",
	  HW(BUS_CYCLES),
	  "cycles of the bus",
	  REAL("cycles of the bus (BUS_CYCLES)", "cycles of a reference clock, not halted", NULL) },
	{ .name = "stalled-cycles-frontend",
	  HW(STALLED_CYCLES_FRONTEND),
	  "cycles in which the front end delivered nothing",
	  REAL("cycles without an operation from the front end (STALL_FRONTEND)", NULL,
	       "cycles without an operation from the front end (event 0xa9)") },
	{ .name = "idle-cycles-frontend", HW(STALLED_CYCLES_FRONTEND), "", ALIAS },
	{ .name = "stalled-cycles-backend",
	  HW(STALLED_CYCLES_BACKEND),
	  "cycles in which the back end took nothing",
	  REAL("cycles in which the back end took no operation (STALL_BACKEND)", NULL, NULL) },
	{ .name = "idle-cycles-backend", HW(STALLED_CYCLES_BACKEND), "", ALIAS },
	{ .name = "ref-cycles", HW(REF_CPU_CYCLES), "cycles at a constant rate, not halted" },

	{ .name = "L1-dcache-loads",
	  CACHE(L1D, READ, ACCESS),
	  "loads from the L1D",
	  REAL("accesses to the L1D, stores too (L1D_CACHE)", NULL, NULL) },
	{ .name = "L1-dcache-load-misses",
	  CACHE(L1D, READ, MISS),
	  "loads that missed the L1D",
	  REAL("misses of the L1D, stores too (L1D_CACHE_REFILL)", NULL, NULL) },
	{ .name = "L1-dcache-stores", CACHE(L1D, WRITE, ACCESS), "stores to the L1D" },
	{ .name = "L1-dcache-store-misses", CACHE(L1D, WRITE, MISS), "stores that missed the L1D" },
	{ .name = "L1-dcache-prefetches", CACHE(L1D, PREFETCH, ACCESS), "prefetches into the L1D" },
	{ .name = "L1-dcache-prefetch-misses",
	  CACHE(L1D, PREFETCH, MISS),
	  "those that missed the L1D" },
	{ .name = "L1-icache-loads", CACHE(L1I, READ, ACCESS), "fetches from the L1I" },
	{ .name = "L1-icache-load-misses", CACHE(L1I, READ, MISS), "fetches that missed the L1I" },
	{ .name = "L1-icache-prefetches", CACHE(L1I, PREFETCH, ACCESS), "prefetches into the L1I" },
	{ .name = "L1-icache-prefetch-misses",
	  CACHE(L1I, PREFETCH, MISS),
	  "those that missed the L1I" },
	{ .name = "LLC-loads", CACHE(LL, READ, ACCESS), "loads that reached the last-level cache" },
	{ .name = "LLC-load-misses",
	  CACHE(LL, READ, MISS),
	  "loads that missed the last-level cache" },
	{ .name = "LLC-stores",
	  CACHE(LL, WRITE, ACCESS),
	  "stores that reached the last-level cache" },
	{ .name = "LLC-store-misses",
	  CACHE(LL, WRITE, MISS),
	  "stores that missed the last-level cache" },
	{ .name = "LLC-prefetches", CACHE(LL, PREFETCH, ACCESS), "prefetches that reached it" },
	{ .name = "LLC-prefetch-misses", CACHE(LL, PREFETCH, MISS), "prefetches that missed it" },
	{ .name = "dTLB-loads", CACHE(DTLB, READ, ACCESS), "look-ups of loads in the data TLB" },
	{ .name = "dTLB-load-misses", CACHE(DTLB, READ, MISS), "loads that missed the data TLB" },
	{ .name = "dTLB-stores", CACHE(DTLB, WRITE, ACCESS), "look-ups of stores in the data TLB" },
	{ .name = "dTLB-store-misses",
	  CACHE(DTLB, WRITE, MISS),
	  "stores that missed the data TLB" },
	{ .name = "dTLB-prefetches",
	  CACHE(DTLB, PREFETCH, ACCESS),
	  "look-ups of prefetches in it" },
	{ .name = "dTLB-prefetch-misses",
	  CACHE(DTLB, PREFETCH, MISS),
	  "prefetches that missed it" },
	{ .name = "iTLB-loads", CACHE(ITLB, READ, ACCESS), "look-ups in the instruction TLB" },
	{ .name = "iTLB-load-misses",
	  CACHE(ITLB, READ, MISS),
	  "fetches that missed the instruction TLB" },
	{ .name = "branch-loads", CACHE(BPU, READ, ACCESS), "look-ups in the branch predictor" },
	{ .name = "branch-load-misses", CACHE(BPU, READ, MISS), "branches that it got wrong" },
	{ .name = "node-loads", CACHE(NODE, READ, ACCESS), "loads from memory of this node" },
	{ .name = "node-load-misses", CACHE(NODE, READ, MISS), "loads from memory of other nodes" },
	{ .name = "node-stores", CACHE(NODE, WRITE, ACCESS), "stores to memory of this node" },
	{ .name = "node-store-misses",
	  CACHE(NODE, WRITE, MISS),
	  "stores to memory of other nodes" },
	{ .name = "node-prefetches", CACHE(NODE, PREFETCH, ACCESS), "prefetches from this node" },
	{ .name = "node-prefetch-misses",
	  CACHE(NODE, PREFETCH, MISS),
	  "prefetches from other nodes" },
};
#define NR_ROWS (sizeof(rows) / sizeof(rows[0]))

/* perf's other words for the parts of a cache event's name. */
struct word {
	const char *text;
	unsigned int value;
};

static const struct word caches[] = {
	{ "L1-dcache", PERF_COUNT_HW_CACHE_L1D }, { "L1-data", PERF_COUNT_HW_CACHE_L1D },
	{ "l1-d", PERF_COUNT_HW_CACHE_L1D },	  { "l1d", PERF_COUNT_HW_CACHE_L1D },
	{ "L1-icache", PERF_COUNT_HW_CACHE_L1I }, { "L1-instruction", PERF_COUNT_HW_CACHE_L1I },
	{ "l1-i", PERF_COUNT_HW_CACHE_L1I },	  { "l1i", PERF_COUNT_HW_CACHE_L1I },
	{ "LLC", PERF_COUNT_HW_CACHE_LL },	  { "dTLB", PERF_COUNT_HW_CACHE_DTLB },
	{ "d-tlb", PERF_COUNT_HW_CACHE_DTLB },	  { "Data-TLB", PERF_COUNT_HW_CACHE_DTLB },
	{ "iTLB", PERF_COUNT_HW_CACHE_ITLB },	  { "i-tlb", PERF_COUNT_HW_CACHE_ITLB },
	{ "branches", PERF_COUNT_HW_CACHE_BPU },  { "branch", PERF_COUNT_HW_CACHE_BPU },
	{ "bpu", PERF_COUNT_HW_CACHE_BPU },	  { "btb", PERF_COUNT_HW_CACHE_BPU },
	{ "node", PERF_COUNT_HW_CACHE_NODE },	  {},
};
static const struct word ops[] = {
	{ "loads", PERF_COUNT_HW_CACHE_OP_READ },
	{ "load", PERF_COUNT_HW_CACHE_OP_READ },
	{ "read", PERF_COUNT_HW_CACHE_OP_READ },
	{ "stores", PERF_COUNT_HW_CACHE_OP_WRITE },
	{ "store", PERF_COUNT_HW_CACHE_OP_WRITE },
	{ "write", PERF_COUNT_HW_CACHE_OP_WRITE },
	{ "prefetches", PERF_COUNT_HW_CACHE_OP_PREFETCH },
	{ "prefetch", PERF_COUNT_HW_CACHE_OP_PREFETCH },
	{},
};
static const struct word results[] = {
	{ "refs", PERF_COUNT_HW_CACHE_RESULT_ACCESS },
	{ "reference", PERF_COUNT_HW_CACHE_RESULT_ACCESS },
	{ "ops", PERF_COUNT_HW_CACHE_RESULT_ACCESS },
	{ "access", PERF_COUNT_HW_CACHE_RESULT_ACCESS },
	{ "misses", PERF_COUNT_HW_CACHE_RESULT_MISS },
	{ "miss", PERF_COUNT_HW_CACHE_RESULT_MISS },
	{},
};

/* Takes one of the words, and the '-' behind it, off *name. */
static bool take(const char **name, const struct word *words, unsigned int *value)
{
	char head[64];
	size_t len;

	for (; words->text; words++) {
		len = strlen(words->text);
		snprintf(head, sizeof(head), "%.*s", (int)len, *name);
		if (!known_same(head, words->text) || !strchr("-_", (*name)[len]))
			continue;
		*name += len + ((*name)[len] != '\0');
		*value = words->value;
		return true;
	}
	return false;
}

/* CACHE[-OP][-RESULT], with one of the two at least: "l1d-load-miss". */
static const struct generic *find_cache(const char *name)
{
	unsigned int cache, op = PERF_COUNT_HW_CACHE_OP_READ;
	unsigned int result = PERF_COUNT_HW_CACHE_RESULT_ACCESS;
	bool has_op, has_result;

	if (!take(&name, caches, &cache))
		return NULL;
	has_op = take(&name, ops, &op);
	has_result = take(&name, results, &result);
	if (*name || (!has_op && !has_result))
		return NULL;
	for (size_t i = 0; i < NR_ROWS; i++)
		if (rows[i].type == PERF_TYPE_HW_CACHE &&
		    rows[i].config == CACHE_BITS(cache, op, result))
			return &rows[i];
	return NULL;
}

const struct generic *generic_find(const char *name)
{
	for (size_t i = 0; i < NR_ROWS; i++)
		if (known_same(rows[i].name, name))
			return &rows[i];
	return find_cache(name);
}

const struct generic *generic_get(size_t i)
{
	for (size_t at = 0; at < NR_ROWS; at++)
		if (!rows[at].alias && !i--)
			return &rows[at];
	return NULL;
}

/* An alias means what its first spelling does. */
static const struct generic *first(const struct generic *g)
{
	size_t at = 0;

	while (rows[at].type != g->type || rows[at].config != g->config)
		at++;
	return &rows[at];
}

const char *generic_meaning(const struct generic *g, enum core_vendor vendor)
{
	g = first(g);
	return g->real[vendor] ? g->real[vendor] : g->meaning;
}
