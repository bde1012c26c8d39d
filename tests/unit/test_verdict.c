/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a value says of itself: verdicts, why there is none, and how far it is to be trusted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "metrics.h"

static struct metric_value on_n1(const char *set, const char *name, const struct given *counts)
{
	struct machine m = { .core = NEOVERSE(N1, 0), .events = "*", .given = counts };
	struct metric_value v = machine_value(&m, set, name);

	if (!v.metric)
		fail_msg("no %s", name);
	return v;
}

static void a_count_that_is_missing_makes_no_number(void **state)
{
	static const struct {
		enum count_state state;
		const char *why;
	} cases[] = {
		{ COUNT_NOT_COUNTED, "stall_backend was not counted" },
		{ COUNT_NOT_SUPPORTED, "stall_backend is not supported by this PMU" },
		{ COUNT_NOT_ADVERTISED,
		  "stall_backend is not advertised by this PMU, and counted 0" },
		{ COUNT_LOST, "stall_backend was lost: others hold the counters" },
		{ COUNT_NO_PERMISSION, "no permission to count stall_backend" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct given counts[] = {
			G("cpu_cycles", 1000),
			{ .name = "stall_backend", .state = cases[i].state },
			{ NULL },
		};
		struct metric_value v = on_n1("ipc", "backend_stalls", counts);

		assert_true(isnan(v.value) && isnan(v.raw));
		assert_int_equal(v.verdict, METRIC_NONE);
		assert_string_equal(v.why, cases[i].why);
		assert_false(v.warns);
	}
}

static void an_event_that_nobody_asked_for_makes_no_number(void **state)
{
	static const struct given counts[] = { G("cpu_cycles", 1000), { NULL } };
	struct metric_value v = on_n1("ipc", "ipc", counts);

	assert_true(isnan(v.value));
	assert_string_equal(v.why, "inst_retired was not asked for");
}

static void division_by_0_makes_no_number(void **state)
{
	static const struct given counts[] = { G("br_mis_pred_retired", 0),
					       G("br_retired", 0),
					       { NULL } };
	struct metric_value v = on_n1("branch", "branch_mispredict", counts);

	assert_true(isnan(v.value));
	assert_string_equal(v.why, "br_retired is 0");
	assert_int_equal(v.verdict, METRIC_NONE);
}

/* The part below lacks an event, or the part above does: both say which. */
static void what_a_row_refers_to_may_be_missing(void **state)
{
	static const struct given counts[] = {
		G("slots", 6e6),
		G("topdown_retiring", 2e6),
		G("topdown_bad_spec", 1e6),
		G("topdown_fe_bound", 1e6),
		MISSING("topdown_be_bound", NOT_COUNTED),
		G("int_misc.uop_dropping", 0),
		{ NULL },
	};
	struct machine m = { .core = X86(SAPPHIRE_RAPIDS, INTEL, 6),
			     .events = "*",
			     .given = counts };
	struct metric_value v = machine_value(&m, "topdown", "machine_clears");

	assert_true(isnan(v.value));
	assert_string_equal(v.why, "topdown_be_bound was not counted");
}

static enum metric_verdict verdict_of(const char *set, const char *name, const char *over,
				      const char *under, double share)
{
	const struct given counts[] = { G(over, share * 1e6), G(under, 1e6), { NULL } };

	return on_n1(set, name, counts).verdict;
}

static void verdicts_change_beyond_a_threshold(void **state)
{
	static const struct {
		double share;
		enum metric_verdict less, more;
	} cases[] = {
		/* Front end: 10 and 20 %; instructions per cycle: 2 and 1. */
		{ 0.1, METRIC_OK, METRIC_INVESTIGATE },
		{ 0.100001, METRIC_WATCH, METRIC_INVESTIGATE },
		{ 0.2, METRIC_WATCH, METRIC_INVESTIGATE },
		{ 0.200001, METRIC_INVESTIGATE, METRIC_INVESTIGATE },
		{ 0.999999, METRIC_INVESTIGATE, METRIC_INVESTIGATE },
		{ 1, METRIC_INVESTIGATE, METRIC_WATCH },
		{ 1.999999, METRIC_INVESTIGATE, METRIC_WATCH },
		{ 2, METRIC_INVESTIGATE, METRIC_OK },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(verdict_of("ipc", "frontend_stalls", "stall_frontend",
					    "cpu_cycles", cases[i].share),
				 cases[i].less);
		assert_int_equal(
			verdict_of("ipc", "ipc", "inst_retired", "cpu_cycles", cases[i].share),
			cases[i].more);
	}
	/* One threshold only: beyond it there is something to investigate. */
	assert_int_equal(verdict_of("ipc", "cpi", "cpu_cycles", "inst_retired", 1), METRIC_OK);
	assert_int_equal(verdict_of("ipc", "cpi", "cpu_cycles", "inst_retired", 9),
			 METRIC_INVESTIGATE);
	assert_int_equal(verdict_of("cache", "l1i_miss", "l1i_cache_refill", "l1i_cache", 1),
			 METRIC_NONE);
}

struct limit {
	const char *sets, *name, *source;
	double ok, high; /* 0: there is none */
};

static void check_limit(struct machine *m, const struct limit *l)
{
	const struct metric *row = machine_value(m, l->sets, l->name).metric;

	if (!row)
		fail_msg("%s has no %s", m->core.name, l->name);
	if (strcmp(row->source, l->source) || row->ok != l->ok ||
	    (l->high ? row->high != l->high : !isnan(row->high)))
		fail_msg("%s: %s: %g and %g by %s", m->core.name, l->name, row->ok, row->high,
			 row->source);
}

static void thresholds_are_those_of_their_source(void **state)
{
	static const struct limit arm[] = {
		{ "ipc", "ipc", "bpfprof-stat(8)", 2, 1 },
		{ "ipc", "cpi", "bpfprof-stat(8)", 1, 0 },
		{ "ipc", "frontend_stalls", "bpfprof-stat(8)", 10, 20 },
		{ "ipc", "backend_stalls", "bpfprof-stat(8)", 30, 40 },
		{ "topdown", "backend_memory", "bpfprof-stat(8)", 15, 25 },
		{ "topdown", "bad_speculation", "bpfprof-stat(8)", 15, 0 },
		{ "branch", "branch_mispredict", "bpfprof-stat(8)", 1, 3 },
		{ "branch", "branch_mispredict_spec", "bpfprof-stat(8)", 2, 5 },
		{ "branch", "branch_density", "bpfprof-stat(8)", 20, 30 },
		{ "cache", "l1d_miss", "bpfprof-stat(8)", 5, 10 },
		{ "cache", "l1d_to_l2", "bpfprof-stat(8)", 30, 50 },
		{ "cache", "l2_miss", "bpfprof-stat(8)", 10, 20 },
		{ "cache", "l2_to_llc", "bpfprof-stat(8)", 20, 40 },
		{ "cache", "icache_miss", "bpfprof-stat(8)", 0.1, 1 },
		{ "tlb", "dtlb_walk", "bpfprof-stat(8)", 0.5, 2 },
		{ "tlb", "itlb_walk", "bpfprof-stat(8)", 0.1, 1 },
		{ "branch", "branch_mpki", "bpfprof-stat(8)", 10, 0 },
		{ "cache", "l1i_mpki", "bpfprof-stat(8)", 20, 0 },
		{ "cache", "l1d_mpki", "bpfprof-stat(8)", 20, 0 },
		{ "cache", "l2_mpki", "bpfprof-stat(8)", 10, 0 },
		{ "cache", "llc_mpki", "bpfprof-stat(8)", 10, 0 },
		{ NULL },
	};
	static const struct limit intel[] = {
		{ "topdown", "frontend_bound", "Intel TMA 5.1", 15, 0 },
		{ "topdown", "bad_speculation", "Intel TMA 5.1", 15, 0 },
		{ "topdown", "backend_bound", "Intel TMA 5.1", 20, 0 },
		{ "topdown", "fetch_latency", "Intel TMA 5.1", 10, 0 },
		{ "topdown", "fetch_bandwidth", "Intel TMA 5.1", 20, 0 },
		{ "topdown", "branch_mispredicts", "Intel TMA 5.1", 10, 0 },
		{ "topdown", "machine_clears", "Intel TMA 5.1", 10, 0 },
		{ "topdown", "memory_bound", "Intel TMA 5.1", 20, 0 },
		{ "topdown", "core_bound", "Intel TMA 5.1", 10, 0 },
		{ "topdown", "heavy_operations", "Intel TMA 5.1", 10, 0 },
		{ "topdown", "light_operations", "Intel TMA 5.1", 60, 0 },
		{ "topdown", "retiring", "Intel TMA 5.1", 70, 0 },
		{ "topdown", "divider", "Intel TMA 5.1", 20, 0 },
		{ "backend-memory", "l1_bound", "Intel TMA 5.1", 10, 0 },
		{ "backend-memory", "l2_bound", "Intel TMA 5.1", 5, 0 },
		{ "backend-memory", "l3_bound", "Intel TMA 5.1", 5, 0 },
		{ "backend-memory", "dram_bound", "Intel TMA 5.1", 10, 0 },
		{ "backend-memory", "store_bound", "Intel TMA 5.1", 20, 0 },
		{ "cache", "icache_stalls", "Intel TMA 5.1", 5, 0 },
		{ "tlb", "itlb_stalls", "Intel TMA 5.1", 5, 0 },
		{ NULL },
	};
	struct machine v1 = { .core = NEOVERSE(V1, 8), .events = "*" };
	struct machine intels[] = {
		{ .core = X86(SKYLAKE_X, INTEL, 4), .events = "*" },
		{ .core = X86(SAPPHIRE_RAPIDS, INTEL, 6), .events = "*" },
	};

	for (const struct limit *l = arm; l->name; l++)
		check_limit(&v1, l);
	for (size_t i = 0; i < 2; i++)
		for (const struct limit *l = intel; l->name; l++)
			check_limit(&intels[i], l);
}

/* Fills count prefetches: no threshold of misses is theirs. */
static void fills_have_no_thresholds(void **state)
{
	struct machine m = { .core = X86(ZEN5, AMD, 8), .events = "*" };

	assert_true(isnan(machine_value(&m, "cache", "dram_mpki").metric->ok));
	assert_true(isnan(machine_value(&m, "backend-memory", "dram_mpki").metric->ok));
	assert_true(isnan(machine_value(&m, "cache", "l1d_mpki").metric->ok));
}

static void keys_of_verdicts(void **state)
{
	assert_string_equal(metric_verdict_key(METRIC_NONE), "");
	assert_string_equal(metric_verdict_key(METRIC_OK), "ok");
	assert_string_equal(metric_verdict_key(METRIC_WATCH), "watch");
	assert_string_equal(metric_verdict_key(METRIC_INVESTIGATE), "investigate");
}

/* Words of files: of this release, and of those before, which had "investigate" for "watch". */
static void keys_of_verdicts_are_read(void **state)
{
	assert_int_equal(metric_verdict_read("", NAN, NAN, NAN), METRIC_NONE);
	assert_int_equal(metric_verdict_read("ok", 1, 10, 20), METRIC_OK);
	assert_int_equal(metric_verdict_read("watch", 15, 10, 20), METRIC_WATCH);
	assert_int_equal(metric_verdict_read("investigate", 25, 10, 20), METRIC_INVESTIGATE);
	assert_int_equal(metric_verdict_read("investigate", 15, 10, 20), METRIC_WATCH);
	assert_int_equal(metric_verdict_read("investigate", 1.5, 2, 1), METRIC_WATCH);
	assert_int_equal(metric_verdict_read("investigate", 15, 10, NAN), METRIC_INVESTIGATE);
	assert_int_equal(metric_verdict_read("high", 25, 10, 20), METRIC_INVESTIGATE);
	assert_int_equal(metric_verdict_read("low", 25, 10, 20), -1);
}

/* An emulator advertises both and counts neither: 0 % is not a healthy back end. */
static void stalls_that_are_all_0_are_no_good_news(void **state)
{
	static const struct given both[] = {
		G("cpu_cycles", 1e6), G("stall_frontend", 0), G("stall_backend", 0), { NULL }
	};
	static const struct given one[] = {
		G("cpu_cycles", 1e6), G("stall_frontend", 5), G("stall_backend", 0), { NULL }
	};
	static const struct given idle[] = {
		G("cpu_cycles", 0), G("stall_frontend", 0), G("stall_backend", 0), { NULL }
	};
	static const char *const names[] = { "frontend_bound", "backend_bound" };
	struct machine m = { .core = NEOVERSE(N1, 0), .given = both };

	for (size_t i = 0; i < 2; i++) {
		struct metric_value v = machine_value(&m, "topdown", names[i]);

		assert_float_equal(v.value, 0, 0);
		assert_int_equal(v.verdict, METRIC_NONE);
		assert_string_equal(
			v.why,
			"counted 0 in 1.00 s: the PMU probably does not implement this event");
		assert_false(v.warns);
	}
	assert_int_equal(on_n1("ipc", "backend_stalls", one).verdict, METRIC_OK);
	assert_string_equal(on_n1("ipc", "backend_stalls", one).why, "");
	assert_string_equal(on_n1("ipc", "backend_stalls", idle).why, "cpu_cycles is 0");
}

static void slots_that_are_all_0_are_no_good_news_either(void **state)
{
	static const struct given counts[] = { G("cpu_cycles", 1e6),
					       G("stall_slot", 0),
					       G("stall_slot_frontend", 0),
					       G("stall_slot_backend", 0),
					       G("op_retired", 9),
					       G("op_spec", 10),
					       { NULL } };
	struct machine m = { .core = NEOVERSE(V1, 8), .given = counts };

	assert_int_equal(machine_value(&m, "topdown", "backend_bound").verdict, METRIC_NONE);
	assert_non_null(strstr(machine_value(&m, "topdown", "backend_bound").why, "0 in 1.00 s"));
}

static void stalls_for_memory_alone_may_be_0(void **state)
{
	static const struct given counts[] = { G("cpu_cycles", 1e6),
					       G("stall_frontend", 7),
					       G("stall_backend", 9),
					       G("stall_backend_mem", 0),
					       { NULL } };

	assert_int_equal(on_n1("backend-memory", "backend_memory", counts).verdict, METRIC_OK);
}

struct stuck {
	struct core core;
	const char *set, *name;
	struct given counts[4];
};

/* A PMU that takes events and never counts them makes no program good, or bad. */
static void families_that_are_all_0_have_no_verdict(void **state)
{
	static const struct stuck cases[] = {
		{ NEOVERSE(N1, 0),
		  "branch",
		  "branch_mpki",
		  { G("inst_retired", 1e9), G("br_mis_pred_retired", 0), G("br_retired", 0) } },
		{ NEOVERSE(N1, 0),
		  "branch",
		  "branch_density",
		  { G("inst_retired", 1e9), G("br_retired", 0) } },
		{ NEOVERSE(N1, 0),
		  "cache",
		  "l1d_mpki",
		  { G("inst_retired", 1e9), G("l1d_cache_refill", 0), G("l1d_cache", 0) } },
		/* Its accesses were not counted: a program without a miss is not credible. */
		{ NEOVERSE(N1, 0),
		  "cache",
		  "l2_mpki",
		  { G("inst_retired", 1e9), G("l2d_cache_refill", 0) } },
		{ NEOVERSE(N1, 0),
		  "cache",
		  "icache_miss",
		  { G("inst_retired", 1e9), G("l1i_cache_refill", 0) } },
		{ NEOVERSE(N1, 0), "ipc", "ipc", { G("cpu_cycles", 1e9), G("inst_retired", 0) } },
		{ X86(SAPPHIRE_RAPIDS, INTEL, 6),
		  "cache",
		  "l2_mpki",
		  { G("instructions", 1e9), G("mem_load_retired.l2_miss", 0) } },
		{ X86(SAPPHIRE_RAPIDS, INTEL, 6),
		  "cache",
		  "llc_mpki",
		  { G("instructions", 1e9), G("longest_lat_cache.miss", 0),
		    G("longest_lat_cache.reference", 0) } },
		{ X86(SAPPHIRE_RAPIDS, INTEL, 6),
		  "topdown",
		  "backend_bound",
		  { G("cycles", 1e9), G("topdown.slots_p", 6e9),
		    G("topdown.backend_bound_slots", 0) } },
		{ X86(SAPPHIRE_RAPIDS, INTEL, 6),
		  "backend-memory",
		  "backend_memory",
		  { G("cycles", 1e9), G("exe_activity.bound_on_loads", 0),
		    G("exe_activity.bound_on_stores", 0) } },
		{ X86(ZEN4, AMD, 6),
		  "cache",
		  "l2_mpki",
		  { G("instructions", 1e9), G("l2_cache_req_stat.ic_dc_miss_in_l2", 0) } },
		{ X86(UNKNOWN, OTHER, 0),
		  "branch",
		  "branch_mpki",
		  { G("instructions", 1e9), G("branch_misses", 0), G("branches", 0) } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct machine m = { .core = cases[i].core, .given = cases[i].counts };
		struct metric_value v = machine_value(&m, cases[i].set, cases[i].name);

		if (!v.metric || isnan(v.metric->ok))
			fail_msg("%s: no %s with a threshold", m.core.name, cases[i].name);
		if (v.value || v.verdict != METRIC_NONE)
			fail_msg("%s: %s: %g, %s", m.core.name, cases[i].name, v.value,
				 metric_verdict_key(v.verdict));
		assert_string_equal(
			v.why,
			"counted 0 in 1.00 s: the PMU probably does not implement this event");
		assert_false(v.warns);
	}
}

/* Who counts accesses is believed that there was no miss. */
static void no_misses_are_good_news_where_accesses_count(void **state)
{
	static const struct stuck cases[] = {
		{ NEOVERSE(N1, 0),
		  "branch",
		  "branch_mpki",
		  { G("inst_retired", 1e9), G("br_mis_pred_retired", 0), G("br_retired", 9) } },
		{ NEOVERSE(N1, 0),
		  "cache",
		  "l1d_miss",
		  { G("inst_retired", 1e9), G("l1d_cache_refill", 0), G("l1d_cache", 9) } },
		{ X86(SAPPHIRE_RAPIDS, INTEL, 6),
		  "cache",
		  "l2_mpki",
		  { G("instructions", 1e9), G("mem_load_retired.l2_miss", 0),
		    G("mem_inst_retired.all_loads", 9) } },
		{ NEOVERSE(N1, 0),
		  "tlb",
		  "itlb_walk",
		  { G("inst_retired", 1e9), G("itlb_walk", 0), G("l1i_cache", 9) } },
		/* Nothing ran that is known of. */
		{ NEOVERSE(N1, 0), "tlb", "dtlb_walk", { G("dtlb_walk", 0), G("mem_access", 9) } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct machine m = { .core = cases[i].core, .given = cases[i].counts };
		struct metric_value v = machine_value(&m, cases[i].set, cases[i].name);

		if (!v.metric || v.value || v.verdict != METRIC_OK || *v.why)
			fail_msg("%s: %s: %g, %s (%s)", m.core.name, cases[i].name, v.value,
				 metric_verdict_key(v.verdict), v.why);
	}
}

static struct metric_value with_duties(double over_pct, double under_pct, uint64_t running_ns)
{
	const struct given counts[] = {
		{ .name = "inst_retired",
		  .value = 3e6,
		  .duty_pct = over_pct,
		  .running_ns = running_ns },
		{ .name = "cpu_cycles",
		  .value = 1e6,
		  .duty_pct = under_pct,
		  .running_ns = running_ns },
		{ NULL },
	};

	return on_n1("ipc", "ipc", counts);
}

static void little_time_on_a_counter_is_a_warning(void **state)
{
	struct metric_value v = with_duties(100, 100, 0);

	assert_false(v.warns);
	assert_string_equal(v.why, "");

	v = with_duties(19, 25, 0);
	assert_true(v.warns);
	assert_string_equal(v.why, "inst_retired counted only 19.00% of the time");
	/* The value holds all the same. */
	assert_true(fabs(v.value - 3) < 1e-3);
	assert_int_equal(v.verdict, METRIC_OK);

	v = with_duties(90, 79.5, 0);
	assert_true(v.warns);
	assert_string_equal(v.why, "cpu_cycles counted 79.50% of the time, inst_retired 90.00%: "
				   "not the same phases");
	assert_false(with_duties(60, 50.5, 0).warns);
	assert_false(with_duties(20.5, 20.5, 0).warns);

	v = with_duties(100, 100, 99000000);
	assert_true(v.warns);
	assert_string_equal(v.why, "inst_retired counted for only 99 ms");
	assert_false(with_duties(100, 100, 100000000).warns);
}

/* 6,000,000 slots: what is above 15 % is flagged at the top, above 10 % of these below. */
static enum metric_verdict clears_of(const char *sets, double bad, double mispredicted,
				     const char *name, char *why)
{
	const struct given counts[] = {
		G("cycles", 1e6),
		G("instructions", 1e6),
		G("slots", 6e6),
		G("topdown_retiring", 6e4 * (60 - bad)),
		G("topdown_bad_spec", 6e4 * bad),
		G("topdown_fe_bound", 6e4 * 10),
		G("topdown_be_bound", 6e4 * 30),
		G("topdown_br_mispredict", 6e4 * mispredicted),
		G("int_misc.uop_dropping", 0),
		G("int_misc.clear_resteer_cycles", 1e5),
		{ NULL },
	};
	struct machine m = { .core = X86(SAPPHIRE_RAPIDS, INTEL, 6),
			     .events = "*",
			     .given = counts };
	struct metric_value v = machine_value(&m, sets, name);

	strcpy(why, v.why);
	return v.verdict;
}

static void a_part_is_flagged_only_below_one_that_is(void **state)
{
	const char *name = "branch_mispredicts";
	char why[160];

	assert_int_equal(clears_of("topdown", 16, 11, name, why), METRIC_INVESTIGATE);
	assert_int_equal(clears_of("topdown", 14, 11, name, why), METRIC_OK);
	assert_string_equal(why, "");
	assert_int_equal(clears_of("topdown", 16, 9, name, why), METRIC_OK);
	/* What is above has no value, or is not in the plan. */
	assert_int_equal(clears_of("topdown,branch", 16, 9, "branch_resteers", why), METRIC_NONE);
	assert_string_equal(why,
			    "means something only if fetch_latency is high, which is not known");
	assert_int_equal(clears_of("branch", 16, 9, "branch_resteers", why), METRIC_NONE);
	assert_string_equal(why, "means something only if fetch_latency is high: add -M topdown");
}

static void levels_of_memory_ask_the_tree_or_the_stalls(void **state)
{
	const struct given counts[] = {
		G("cycles", 1e6),
		G("exe_activity.bound_on_loads", 240000),
		G("exe_activity.bound_on_stores", 0),
		G("memory_activity.stalls_l1d_miss", 200000),
		G("memory_activity.stalls_l2_miss", 190000),
		G("memory_activity.stalls_l3_miss", 170000),
		{ NULL },
	};
	struct given less[7];
	struct machine m = { .core = X86(SAPPHIRE_RAPIDS, INTEL, 6),
			     .events = "*",
			     .given = counts };

	assert_int_equal(machine_value(&m, "backend-memory", "backend_memory").verdict,
			 METRIC_WATCH);
	assert_int_equal(machine_value(&m, "backend-memory", "dram_bound").verdict,
			 METRIC_INVESTIGATE);
	memcpy(less, counts, sizeof(counts));
	less[1].value = 140000;
	m.given = less;
	assert_int_equal(machine_value(&m, "backend-memory", "dram_bound").verdict, METRIC_OK);
}

static void text_of(const char *set, const char *name, const struct given *counts, char *to,
		    size_t sz)
{
	struct machine m = {
		.core = NEOVERSE(V1, 8), .events = "*", .given = counts, .seconds = 2.5
	};
	struct metric_inputs in = machine_inputs(&m);
	struct metric_value v = machine_value(&m, set, name);

	metric_formula_text(v.metric, &in, to, sz);
}

static void formulas_are_shown_with_their_counts(void **state)
{
	static const struct given counts[] = {
		G("stall_frontend", 1234567),
		{ .name = "cpu_cycles", .value = 5678900, .duty_pct = 80 },
		G("inst_retired", 1e6),
		MISSING("l1d_cache", NOT_SUPPORTED),
		G("ll_cache_miss_rd", 20),
		G("fp_scale_ops_spec", 100),
		G("fp_fixed_ops_spec", 50),
		{ NULL },
	};
	char text[200];

	text_of("ipc", "frontend_stalls", counts, text, sizeof(text));
	assert_string_equal(text, "stall_frontend 1,234,567 / cpu_cycles 5,678,900 (80.00%)");
	text_of("cache", "l1d_miss", counts, text, sizeof(text));
	assert_string_equal(text, "l1d_cache_refill <not asked for> / l1d_cache <not supported>");
	text_of("roofline", "core_bandwidth", counts, text, sizeof(text));
	assert_string_equal(text, "64 * ll_cache_miss_rd 20 / seconds 2.5");
	text_of("roofline", "core_intensity", counts, text, sizeof(text));
	assert_string_equal(text, "flops 100.00 / core_bandwidth 512.00");
	/* Named again, it is only a name. */
	text_of("roofline", "sve_share", counts, text, sizeof(text));
	assert_string_equal(text, "2 * fp_scale_ops_spec 100 / (2 * fp_scale_ops_spec + "
				  "fp_fixed_ops_spec 50)");
	text_of("ipc", "frontend_stalls", counts, text, 20);
	assert_string_equal(text, "stall_frontend 1...");
}

static void the_scale_of_ipc_has_words(void **state)
{
	assert_string_equal(metric_grade("ipc", 3, METRIC_OK), "excellent");
	assert_string_equal(metric_grade("ipc", 2.99, METRIC_OK), "good");
	assert_string_equal(metric_grade("ipc", 1, METRIC_NONE), "moderate");
	assert_string_equal(metric_grade("ipc", 0.3, METRIC_INVESTIGATE), "poor");
	assert_string_equal(metric_grade("ipc", 0.29, METRIC_INVESTIGATE), "very low");
	assert_string_equal(metric_grade("ipc", NAN, METRIC_NONE), "");
	assert_string_equal(metric_grade("cpi", 1, METRIC_OK), "");
	/* No "good" beside a verdict that says otherwise, as of 1.6 on Arm. */
	assert_string_equal(metric_grade("ipc", 1.6, METRIC_WATCH), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_count_that_is_missing_makes_no_number),
		cmocka_unit_test(an_event_that_nobody_asked_for_makes_no_number),
		cmocka_unit_test(division_by_0_makes_no_number),
		cmocka_unit_test(what_a_row_refers_to_may_be_missing),
		cmocka_unit_test(verdicts_change_beyond_a_threshold),
		cmocka_unit_test(thresholds_are_those_of_their_source),
		cmocka_unit_test(fills_have_no_thresholds),
		cmocka_unit_test(keys_of_verdicts),
		cmocka_unit_test(keys_of_verdicts_are_read),
		cmocka_unit_test(stalls_that_are_all_0_are_no_good_news),
		cmocka_unit_test(slots_that_are_all_0_are_no_good_news_either),
		cmocka_unit_test(stalls_for_memory_alone_may_be_0),
		cmocka_unit_test(families_that_are_all_0_have_no_verdict),
		cmocka_unit_test(no_misses_are_good_news_where_accesses_count),
		cmocka_unit_test(little_time_on_a_counter_is_a_warning),
		cmocka_unit_test(a_part_is_flagged_only_below_one_that_is),
		cmocka_unit_test(levels_of_memory_ask_the_tree_or_the_stalls),
		cmocka_unit_test(formulas_are_shown_with_their_counts),
		cmocka_unit_test(the_scale_of_ipc_has_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
