/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Recipes that are told and are wrong, by their number in that list; more are in test_plan. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "metrics.h"

/* Recipe 4: the user's ratio, for which the thresholds are, and Arm's own without any. */
static void both_ratios_of_tlbs_are_there_and_told_apart(void **state)
{
	static const struct given counts[] = { G("dtlb_walk", 3000),   G("mem_access", 200000),
					       G("l1d_tlb", 300000),   G("itlb_walk", 2000),
					       G("l1i_cache", 400000), G("l1i_tlb", 100000),
					       G("inst_retired", 1e6), { NULL } };
	struct machine m = { .core = NEOVERSE(N1, 0), .given = counts };
	struct metric_value own = machine_value(&m, "tlb", "dtlb_walk");
	struct metric_value arm = machine_value(&m, "tlb", "dtlb_walk_ratio");

	assert_float_equal(own.value, 1.5, 1e-9);
	assert_int_equal(own.verdict, METRIC_WATCH);
	assert_string_equal(own.metric->source, "bpfprof-stat(8)");
	assert_float_equal(arm.value, 1, 1e-9);
	assert_int_equal(arm.verdict, METRIC_NONE);
	assert_non_null(strstr(arm.metric->label, "Arm"));
	assert_float_equal(machine_value(&m, "tlb", "itlb_walk").value, 0.5, 1e-9);
	assert_float_equal(machine_value(&m, "tlb", "itlb_walk_ratio").value, 2, 1e-9);
	assert_float_equal(machine_value(&m, "tlb", "dtlb_mpki").value, 3, 1e-9);
}

/* Recipes 7 and 8: names that newer cores do not have. */
static void rows_follow_the_names_of_the_model(void **state)
{
	struct machine skx = { .core = X86(SKYLAKE_X, INTEL, 4), .events = "*" };
	struct machine spr = { .core = X86(SAPPHIRE_RAPIDS, INTEL, 6),
			       .events = " cycles instructions mem_inst_retired.all_loads "
					 "dtlb_load_misses.walk_completed "
					 "exe_activity.bound_on_loads "
					 "exe_activity.bound_on_stores icache_data.stalls "
					 "icache_tag.stalls frontend_retired.l1i_miss " };
	struct metric_plan plan = plan_of(&skx, "tlb,backend-memory");

	assert_true(has_event(&plan, "dtlb_load_misses.miss_causes_a_walk"));
	assert_true(has_event(&plan, "cycle_activity.stalls_mem_any"));
	metric_plan_release(&plan);

	plan = plan_of(&spr, "tlb,backend-memory,cache");
	assert_non_null(row_of(&plan, "dtlb_walk"));
	assert_non_null(row_of(&plan, "backend_memory"));
	assert_non_null(row_of(&plan, "icache_stalls"));
	assert_non_null(row_of(&plan, "icache_miss"));
	metric_plan_release(&plan);

	/* Even if somebody has the name: it means something else there. */
	spr.events = "*";
	plan = plan_of(&spr, "backend-memory");
	assert_false(has_event(&plan, "cycle_activity.stalls_mem_any"));
	metric_plan_release(&plan);
}

/* Recipe 9: double precision, an honest label, and the controllers where there are any. */
static void bytes_from_the_core_are_called_an_estimate(void **state)
{
	struct machine m = { .core = X86(ICELAKE_X, INTEL, 5), .events = "*" };
	struct metric_plan plan = plan_of(&m, "roofline");

	assert_true(has_event(&plan, "fp_arith_inst_retired.512b_packed_double"));
	assert_non_null(strstr(row_of(&plan, "core_bandwidth")->label, "core-side estimate"));
	assert_non_null(strstr(row_of(&plan, "core_intensity")->label, "core-side estimate"));
	assert_true(has_event(&plan, "unc_m_cas_count.rd"));
	metric_plan_release(&plan);
}

/* Nobody measured the roof, so there is none to be judged by. */
static void a_roofline_without_a_roof_says_so(void **state)
{
	struct machine all[] = {
		{ .core = NEOVERSE(V1, 8), .events = "*" },
		{ .core = X86(ICELAKE_X, INTEL, 5), .events = "*" },
		{ .core = X86(ZEN4, AMD, 6), .events = "*" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct metric_plan plan = plan_of(&all[i], "roofline");

		assert_true(has_note(&plan, "peak and bandwidth of this machine are not known: "
					    "no ridge point and no verdict"));
		for (size_t j = 0; j < plan.nr_metrics; j++)
			assert_true(isnan(plan.metrics[j]->ok));
		metric_plan_release(&plan);
	}
}

static const struct metric_value *value_of(const struct metric_plan *plan,
					   const struct metric_value *v, const char *name)
{
	for (size_t i = 0; i < plan->nr_metrics; i++)
		if (!strcmp(plan->metrics[i]->name, name))
			return &v[i];
	fail_msg("no %s", name);
	return NULL;
}

/*
 * A roof of 1,000 GFLOP/s and 100 GB/s: its ridge is at 10 FLOP/byte. 64 GB/s with 160 GFLOP/s are
 * 2.5: memory lets it do 250, of which it does 64 %. With 1,280 GFLOP/s they are 20: the peak is
 * the roof.
 */
static void a_roof_tells_what_limits(void **state)
{
	static const struct metric_peaks peaks = { 1000e9, 100e9 };
	static const struct {
		double flops, ridge_pct, ceiling, of_ceiling;
		enum metric_verdict verdict;
	} cases[] = {
		{ 160e9, 25, 250e9, 64, METRIC_INVESTIGATE },
		{ 480e9, 75, 750e9, 64, METRIC_WATCH },
		{ 1280e9, 200, 1000e9, 128, METRIC_OK },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct given given[] = { G("fp_ret_sse_avx_ops.all", cases[i].flops),
					       G("cycles", 1e9),
					       G("ls_any_fills_from_sys.dram_io_all", 1e9),
					       { NULL } };
		struct machine m = { .core = X86(ZEN4, AMD, 6), .given = given, .peaks = &peaks };
		struct metric_plan plan = plan_of(&m, "roofline");
		struct metric_inputs in = machine_inputs(&m);
		struct metric_value *v = calloc(plan.nr_metrics, sizeof(*v));

		assert_false(has_note(&plan, "no ridge point"));
		metric_plan_eval(&plan, &in, v);
		assert_true(fabs(value_of(&plan, v, "ridge")->value - 10) < 1e-9);
		assert_true(fabs(value_of(&plan, v, "of_ridge")->value - cases[i].ridge_pct) <
			    1e-6);
		assert_int_equal(value_of(&plan, v, "of_ridge")->verdict, cases[i].verdict);
		assert_true(fabs(value_of(&plan, v, "ceiling")->value / cases[i].ceiling - 1) <
			    1e-9);
		assert_true(fabs(value_of(&plan, v, "of_ceiling")->value - cases[i].of_ceiling) <
			    1e-6);
		free(v);
		metric_plan_release(&plan);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_ratios_of_tlbs_are_there_and_told_apart),
		cmocka_unit_test(rows_follow_the_names_of_the_model),
		cmocka_unit_test(bytes_from_the_core_are_called_an_estimate),
		cmocka_unit_test(a_roofline_without_a_roof_says_so),
		cmocka_unit_test(a_roof_tells_what_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
