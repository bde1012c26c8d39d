/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tables behind metrics: rows by vendor, the ways (methods) to answer a set, and how one row is
 * found from another. Only this folder includes it.
 */
#ifndef BPFPROF_METRIC_ROWS_H
#define BPFPROF_METRIC_ROWS_H

#include <math.h>

#include "metric/metric.h"

/* Each ends with a row without a set. */
extern const struct metric rows_arm[], rows_intel[], rows_amd[], rows_generic[];
extern const struct metric *const metric_tables[]; /* all of them, then NULL */

/* What a way asks of the run. */
enum metric_run {
	METRIC_RUN_ANY,
	METRIC_RUN_SMT_OFF,
	/* It takes the counts of both threads of a core, so nobody's alone. */
	METRIC_RUN_SMT_WHOLE,
};

/*
 * How a set can be answered. Of the ways in the order of the table, the first is taken whose needs
 * this machine has, and for at least one row of which it has the events.
 */
struct metric_method {
	const char *set, *name;
	enum core_vendor vendor; /* CORE_OTHER: any */
	uint32_t cores;		 /* CORE_BIT()s, 0 = all of the vendor */
	const char *needs;	 /* names, by a space; NULL: none */
	const char *title;	 /* "by slots", for notes; NULL: goes without saying */
	enum metric_run run;
};
extern const struct metric_method metric_methods[]; /* ends with one without a set */

/* Not an event but a number that the inputs give. */
bool metric_is_number(const char *name);
/* Is it one of these that somebody has to tell? */
bool metric_is_peak(const char *name);

/* Is it a row for this core, whatever events there are? */
bool metric_row_fits(const struct metric *m, const struct core *core);

/* Is it a row of this way to answer the set? */
bool metric_row_is_of(const struct metric *m, const char *set, const char *method);

/* What "@name" means in this row's formula: the first of that name and way. NULL: nothing. */
const struct metric *metric_row_find(const struct metric *from, const char *name,
				     const struct core *core);

/*
 * Names in the formula, those of rows that it refers to included, in the order of the text, once
 * for each time they are there; numbers too.
 */
void metric_row_names(const struct metric *m, const struct core *core,
		      void (*f)(void *arg, const char *name), void *arg);

/*
 * A count of this row that is 0 as it cannot be, since something ran: the PMU does not have it.
 * NULL: none.
 */
const struct count *metric_row_stuck(const struct metric *m, const struct metric_inputs *in);

/* Rows that refer to rows that refer to rows…: more than enough, and a circle is found. */
#define METRIC_REFER_MAX 8

/* clang-format off */
#define ROW(s, m, n, l, u, f, ...)                                                                 \
	{ .set = s, .method = m, .name = n, .label = l, .unit = u, .formula = f, __VA_ARGS__ }

/*
 * Thresholds: fine up to the first, to investigate beyond the second (NAN: there is no second, so
 * beyond the first). Where they come from, a reader can find: man/bpfprof-stat.8 lists users' rules
 * of thumb and those of the runbook for Graviton.
 */
#define NO_LIMIT       .ok = NAN, .high = NAN, .source = ""
#define PAGE	       .source = "bpfprof-stat(8)"
#define USER(ok_, bad) .ok = ok_, .high = bad, PAGE
#define TMA(ok_)       .ok = ok_, .high = NAN, .source = "Intel TMA 5.1"
#define AWS(ok_)       .ok = ok_, .high = NAN, PAGE

#define MPKI METRIC_PER_KILO

/* Where in the tree of topdown a row stands; of another set it is no part of the tree. */
#define LEVEL(n) .level = n
#define NO_LEVEL LEVEL(0)

/* What to look at next. */
#define SEE_TOPDOWN .advice = "where the cycles go: -M topdown; few stalls: -M mix"
#define SEE_FRONT   .advice = "instruction cache, iTLB and code size: -M cache,tlb"
#define SEE_BACK    .advice = "caches and TLBs: -M cache,tlb,backend-memory"
#define SEE_MEMORY  .advice = "L2 and last-level misses: -M cache; then data locality"
#define SEE_CORE    .advice = "long operations and dependencies: -M mix"
#define SEE_BRANCH  .advice = "which branches: sample mispredictions with bpfprof pmu; -M branch"
#define SEE_CLEARS  .advice = "memory ordering, self-modifying code, assists"
#define SEE_LAYOUT  .advice = "data layout, false sharing, random access"
#define SEE_SET     .advice = "the working set is too large: block loops, make data smaller"
#define SEE_DTLB    .advice = "huge pages, or arenas that keep data together"
#define SEE_ITLB    .advice = "code is spread out: inlining, generics; huge pages for code"
#define SEE_CODE    .advice = "code size: inlining, unrolling, cold code in hot paths"
#define SEE_DENSE   .advice = "many branches: branch-free code, tables, less checking in loops"
#define SEE_UCODE   .advice = "microcoded instructions: -M mix"
#define SEE_SMT     .advice = "the other thread of the core takes slots: compare with it idle"
#define SEE_ROOF    .advice = "flops against peak, bytes against bandwidth: the nearer one limits"
#define SEE_RIDGE                                                                                  \
	.advice = "limited by memory: fewer bytes for each operation (blocking, smaller types), "  \
		  "or fewer misses: -M cache,backend-memory"
/*
 * The roof: what memory lets a program of that intensity do, at most the peak. Williams, Waterman
 * and Patterson, "Roofline", 2009.
 */
#define ROOF(m, intensity)                                                                         \
	ROW("roofline", m, "ceiling", "roof at that intensity", "FLOP/s",                          \
	    "min(peak_flops, @" intensity " * peak_bandwidth)", NO_LIMIT, SEE_ROOF),               \
		ROW("roofline", m, "of_ceiling", "of the roof", "%",                               \
		    "100 * @flops / min(peak_flops, @" intensity " * peak_bandwidth)", NO_LIMIT,   \
		    SEE_ROOF),                                                                     \
		ROW("roofline", m, "of_ridge", "intensity, of the ridge point", "%",               \
		    "100 * @" intensity " * peak_bandwidth / peak_flops", .ok = 100, .high = 50,   \
		    .source = "roofline: below the ridge point memory limits", SEE_RIDGE)
#define RIDGE(m)                                                                                   \
	ROW("roofline", m, "ridge", "ridge point of the machine", "FLOP/byte",                     \
	    "peak_flops / peak_bandwidth", NO_LIMIT, SEE_ROOF)
#define SEE_WORK    .advice = "useful work: do less of it, or with wider vectors: -M mix"
#define SEE_NOTHING .advice = ""

/* Instructions and cycles, by what they are called here. Thresholds of IPC differ by where from. */
#define IPC_ROW(s, m, insns, cycles, ...)                                                         \
	ROW(s, m, "ipc", "instructions per cycle", "", insns " / " cycles, __VA_ARGS__,            \
	    SEE_TOPDOWN)
#define CPI_ROW(s, m, insns, cycles)                                                               \
	ROW(s, m, "cpi", "cycles per instruction", "", cycles " / " insns, USER(1, NAN),           \
	    SEE_TOPDOWN)
#define IPC_SCALE USER(1.5, 0.8)

#define MISPREDICT_ROW(s, m, misses, branches, ...)                                                \
	ROW(s, m, "branch_mispredict", "mispredicted branches", "%",                               \
	    "100 * " misses " / " branches, USER(1, 3), SEE_BRANCH, __VA_ARGS__)
/* clang-format on */

#endif
