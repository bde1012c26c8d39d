/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tables of metrics as a whole, and what is chosen on which machine. "Recipe N" is a line of
 * the list of recipes that are told and are wrong.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "metric/formula.h"
#include "metric/rows.h"
#include "metrics.h"
#if __has_include("event/known.h")
#include "event/known.h"
#endif

#define NR_CORES 13

/* Every core that there is, and those that nobody knows. */
static const struct core cores[NR_CORES] = {
	NEOVERSE(N1, 0),
	NEOVERSE(V1, 8),
	NEOVERSE(N2, 5),
	NEOVERSE(V2, 8),
	NEOVERSE(V3, 10),
	X86(SKYLAKE_X, INTEL, 4),
	X86(ICELAKE_X, INTEL, 5),
	X86(SAPPHIRE_RAPIDS, INTEL, 6),
	X86(GRANITE_RAPIDS, INTEL, 6),
	X86(ZEN4, AMD, 6),
	X86(ZEN5, AMD, 8),
	X86(UNKNOWN, INTEL, 0),
	X86(UNKNOWN, ARM, 5),
};

static void each_row(void (*f)(const struct metric *m))
{
	for (const struct metric *const *table = metric_tables; *table; table++)
		for (const struct metric *m = *table; m->set; m++)
			f(m);
}

static void row_is_whole(const struct metric *m)
{
	const struct metric_set *set = metric_sets;
	const struct metric_method *way = metric_methods;
	struct formula f;
	size_t at;

	while (set->name && strcmp(set->name, m->set))
		set++;
	while (way->set && (strcmp(way->set, m->set) || strcmp(way->name, m->method)))
		way++;
	/* That of "cpu" is only derived. */
	if ((!set->name && strcmp(m->set, "cpu") != 0) || !way->set)
		fail_msg("%s: no set %s, or no way %s to it", m->name, m->set, m->method);
	if (!formula_parse(&f, m->formula, &at))
		fail_msg("%s: at %zu: %s", m->name, at, m->formula);
	assert_true(*m->label && m->unit && m->source && m->advice);
	if (isnan(m->ok) ? !isnan(m->high) || *m->source : !*m->source || !*m->advice)
		fail_msg("%s: thresholds, their source and advice do not belong together", m->name);
	if (!isnan(m->ok) && m->ok <= 0)
		fail_msg("%s: without thresholds it has to say so", m->name);
	if (strspn(m->name, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(m->name))
		fail_msg("%s: no name for --fail-on", m->name);
	/* Recipe 5: sizes of caches differ, and none is in our advice. */
	assert_null(strstr(m->advice, "KB"));
	assert_null(strstr(m->label, "KB"));
}

static void every_row_is_whole(void **state)
{
	each_row(row_is_whole);
}

static const struct core *core_now;

/* The kernel's own, and those that are there only if it lists them. */
static bool is_of_the_kernel(const char *name)
{
	static const char *const all[] = {
		"cycles",
		"instructions",
		"branches",
		"branch_misses",
		"cache_references",
		"cache_misses",
		"stalled_cycles_frontend",
		"stalled_cycles_backend",
		"l1_dcache_loads",
		"l1_dcache_load_misses",
		"l1_dcache_stores",
		"l1_icache_load_misses",
		"dtlb_loads",
		"dtlb_load_misses",
		"itlb_load_misses",
		"slots",
		"task_clock",
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (!strcmp(all[i], name))
			return true;
	return !strncmp(name, "topdown_", 8);
}

#if __has_include("event/known.h")
static bool is_in_a_table(const char *name)
{
	const struct known *const tables[] = { known_arm, known_intel, known_amd };

	for (size_t i = 0; i < 3; i++)
		for (const struct known *k = tables[i]; k->name; k++)
			if (!strcmp(k->name, name))
				return true;
	return false;
}
#else
/* The tables of events come with the catalog. */
static bool is_in_a_table(const char *name)
{
	return strpbrk(name, "_.") != NULL;
}
#endif

static void name_is_known(void *arg, const char *name)
{
	const struct metric *m = arg;

	if (metric_is_number(name) || is_of_the_kernel(name))
		return;
	if (!is_in_a_table(name))
		fail_msg("%s on %s: nobody knows %s", m->name, core_now->name, name);
}

/* A row of a way that is open to this core. */
static bool is_for(const struct metric *m, const struct core *core)
{
	for (const struct metric_method *way = metric_methods; way->set; way++)
		if (!strcmp(way->set, m->set) && !strcmp(way->name, m->method))
			return metric_row_fits(m, core) &&
			       (!way->cores || way->cores & CORE_BIT(core->id)) &&
			       (way->vendor == CORE_OTHER || way->vendor == core->vendor);
	return false;
}

static void row_is_closed(const struct metric *m)
{
	for (size_t i = 0; i < NR_CORES; i++) {
		core_now = &cores[i];
		if (is_for(m, core_now))
			metric_row_names(m, core_now, name_is_known, (void *)m);
	}
}

/* Asserts in metric_row_names() see to rows that are referred to and circles. */
static void every_name_in_a_formula_is_known(void **state)
{
	each_row(row_is_closed);
}

static void name_is_event(void *arg, const char *name)
{
	if (!metric_is_number(name) && !has_event(arg, name))
		fail_msg("no %s among the events", name);
}

/* Recipe 3: sets lacked terms of their own formulas. */
static void every_plan_has_the_events_of_its_rows_once(void **state)
{
	for (size_t i = 0; i < NR_CORES; i++) {
		struct machine m = { .core = cores[i], .events = "*" };
		struct metric_plan plan = plan_of(&m, "all");

		assert_true(plan.nr_metrics > 20);
		for (size_t j = 0; j < plan.nr_metrics; j++)
			metric_row_names(plan.metrics[j], &m.core, name_is_event, &plan);
		for (size_t j = 0; j < plan.nr_events; j++)
			assert_int_equal(event_at(&plan, plan.events[j]), j);
		metric_plan_release(&plan);
	}
}

static void sets_that_were_told_are_closed(void **state)
{
	struct machine m = { .core = NEOVERSE(N1, 0), .events = "*" };
	struct metric_plan plan = plan_of(&m, "topdown");

	assert_true(has_event(&plan, "br_mis_pred_retired") && has_event(&plan, "br_retired"));
	metric_plan_release(&plan);
	plan = plan_of(&m, "tlb");
	assert_true(has_event(&plan, "itlb_walk") && has_event(&plan, "l1i_cache"));
	metric_plan_release(&plan);
}

/* Every core's rows are worth something when everything counts: nothing refers in circles. */
static void every_row_has_a_value_when_all_is_counted(void **state)
{
	struct given counts[200] = { 0 };

	for (size_t i = 0; i < NR_CORES; i++) {
		static const struct metric_peaks peaks = { 1e12, 1e11 };
		struct machine m = {
			.core = cores[i], .events = "*", .given = counts, .peaks = &peaks
		};
		struct metric_inputs in = machine_inputs(&m);
		struct metric_plan plan = plan_of(&m, "all");
		struct metric_value *v = calloc(plan.nr_metrics, sizeof(*v));

		assert_true(plan.nr_events < 200);
		memset(counts, 0, sizeof(counts));
		for (size_t j = 0; j < plan.nr_events; j++)
			counts[j] = (struct given)G(plan.events[j], 1000 + 7 * (double)j);
		metric_plan_eval(&plan, &in, v);
		for (size_t j = 0; j < plan.nr_metrics; j++)
			if (isnan(v[j].raw) || v[j].value < 0)
				fail_msg("%s: %s is %g: %s", m.core.name, v[j].metric->name,
					 v[j].raw, v[j].why);
		free(v);
		metric_plan_release(&plan);
	}
}

static bool is_leader(const char *name)
{
	static const char *const all[] = { "cpu_cycles", "cycles", "inst_retired", "instructions" };

	for (size_t i = 0; i < 4; i++)
		if (!strcmp(all[i], name))
			return true;
	return false;
}

/* The two events of a ratio of two that do not lead anyway; false: it is no such row. */
static bool ratio_terms(const struct metric *m, struct formula *f, const char *terms[2])
{
	size_t nr = 0;

	formula_parse(f, m->formula, NULL);
	for (size_t i = 0; i < f->nr; i++) {
		if (f->steps[i].kind != FORMULA_NAME)
			continue;
		if (nr == 2 || is_leader(f->steps[i].name) || metric_is_number(f->steps[i].name))
			return false;
		terms[nr++] = f->steps[i].name;
	}
	return nr == 2 && *terms[0] != '@' && *terms[1] != '@';
}

static bool is_new(const struct metric_plan *plan, size_t before, const char *event)
{
	struct formula f;

	for (size_t i = 0; i < before; i++) {
		formula_parse(&f, plan->metrics[i]->formula, NULL);
		for (size_t j = 0; j < f.nr; j++)
			if (!strcmp(f.steps[j].name, event))
				return false;
	}
	return true;
}

/* Multiplexed, neighbours run together. Terms that share others can only be near. */
static void terms_of_a_ratio_stand_together(void **state)
{
	size_t nr = 0, nr_near = 0;

	for (size_t i = 0; i < NR_CORES; i++) {
		struct machine m = { .core = cores[i], .events = "*" };
		struct metric_plan plan = plan_of(&m, "cache,tlb,branch");

		for (size_t j = 0; j < plan.nr_metrics; j++) {
			const char *terms[2];
			struct formula f;
			long a, b;

			if (!ratio_terms(plan.metrics[j], &f, terms))
				continue;
			a = event_at(&plan, terms[0]);
			b = event_at(&plan, terms[1]);
			if (is_new(&plan, j, terms[0]) && is_new(&plan, j, terms[1])) {
				if (b != a + 1)
					fail_msg("%s and %s stand apart", terms[0], terms[1]);
				nr++;
			} else if (labs(a - b) > 5) {
				fail_msg("%s and %s stand far apart", terms[0], terms[1]);
			} else {
				nr_near++;
			}
		}
		metric_plan_release(&plan);
	}
	assert_true(nr > 30 && nr_near > 30);
}

static void cycles_and_instructions_come_first(void **state)
{
	struct machine arm = { .core = NEOVERSE(V1, 8), .events = "*" };
	struct machine spr = { .core = X86(SAPPHIRE_RAPIDS, INTEL, 6), .events = "*" };
	struct metric_plan plan = plan_of(&arm, "branch,ipc");

	assert_string_equal(plan.events[0], "cpu_cycles");
	assert_string_equal(plan.events[1], "inst_retired");
	assert_false(plan.slots_group);
	metric_plan_release(&plan);

	plan = plan_of(&spr, "topdown");
	assert_string_equal(plan.events[0], "cycles");
	assert_string_equal(plan.events[1], "instructions");
	assert_string_equal(plan.events[2], "slots");
	assert_string_equal(plan.events[3], "topdown_retiring");
	assert_string_equal(plan.events[10], "topdown_mem_bound");
	assert_true(plan.slots_group);
	metric_plan_release(&plan);
}

static void topdown_of_an_unknown_intel_core_is_a_group_too(void **state)
{
	static const char ordinary[] = " topdown_retiring topdown_bad_spec topdown_fe_bound "
				       "topdown_be_bound cycles instructions ";
	struct machine m = { .core = X86(UNKNOWN, INTEL, 0),
			     .events = " slots topdown_retiring topdown_bad_spec topdown_fe_bound "
				       "topdown_be_bound cycles instructions " };
	struct metric_plan plan = plan_of(&m, "topdown");

	/* No formula of these rows divides by it; the kernel wants it. */
	assert_true(plan.slots_group);
	assert_string_equal(plan.events[2], "slots");
	metric_plan_release(&plan);
	m.events = ordinary;
	plan = plan_of(&m, "topdown");
	assert_false(plan.slots_group);
	assert_non_null(row_of(&plan, "bad_speculation"));
	metric_plan_release(&plan);
}

#define N1_EVENTS                                                                                  \
	" cpu_cycles inst_retired stall_frontend stall_backend br_mis_pred br_pred br_retired "    \
	"br_mis_pred_retired l1d_cache l1d_cache_refill l2d_cache l2d_cache_refill l1i_cache "     \
	"l1i_cache_refill mem_access dtlb_walk itlb_walk l1d_tlb l1i_tlb ase_spec vfp_spec "

/* Recipe 1: it is the events that decide; V1 has slots on metal and none in a guest. */
static void the_way_is_chosen_by_events_not_by_the_core(void **state)
{
	static const char slots[] = N1_EVENTS "stall_slot stall_slot_frontend stall_slot_backend "
					      "op_retired op_spec stall_backend_mem ";
	struct machine n1 = { .core = NEOVERSE(N1, 0), .events = N1_EVENTS };
	struct machine metal = { .core = NEOVERSE(V1, 8), .events = slots };
	struct machine guest = { .core = NEOVERSE(V1, 8), .events = N1_EVENTS };
	struct metric_plan plan = plan_of(&n1, "topdown");

	assert_string_equal(row_of(&plan, "frontend_bound")->method, "cycles");
	assert_true(has_note(&plan, "topdown: cycle-based, by stall_frontend and stall_backend"));
	assert_true(has_note(&plan, "shows no stall_slot, "));
	metric_plan_release(&plan);

	plan = plan_of(&metal, "topdown");
	assert_string_equal(row_of(&plan, "frontend_bound")->method, "slots");
	assert_non_null(row_of(&plan, "retiring"));
	assert_true(has_note(&plan, "topdown: slot-based"));
	metric_plan_release(&plan);

	plan = plan_of(&guest, "topdown");
	assert_string_equal(row_of(&plan, "frontend_bound")->method, "cycles");
	assert_null(row_of(&plan, "retiring"));
	metric_plan_release(&plan);

	/* Slots of which nobody knows how many there are. */
	metal.core = (struct core){ .vendor = CORE_ARM, .name = "unknown Arm core" };
	plan = plan_of(&metal, "topdown");
	assert_string_equal(row_of(&plan, "frontend_bound")->method, "cycles");
	assert_true(has_note(&plan, "slots per cycle of this core are not known"));
	metric_plan_release(&plan);
}

static void intel_has_three_ways_and_a_last_resort(void **state)
{
	static const char counters[] = " cycles instructions topdown.slots_p uops_retired.slots "
				       "topdown.backend_bound_slots topdown.bad_spec_slots ";
	static const struct {
		struct core core;
		const char *events, *method;
	} cases[] = {
		{ X86(SKYLAKE_X, INTEL, 4), "*", "tma-clocks" },
		{ X86(ICELAKE_X, INTEL, 5), "*", "tma" },
		{ X86(SAPPHIRE_RAPIDS, INTEL, 6), counters, "tma-counters" },
		{ X86(GRANITE_RAPIDS, INTEL, 6), " cycles instructions ", "generic" },
		{ X86(ZEN5, AMD, 8), "*", "pipeline" },
		{ X86(UNKNOWN, AMD, 0), "*", "generic" },
		{ X86(UNKNOWN, OTHER, 0), "*", "generic" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct machine m = { .core = cases[i].core, .events = cases[i].events };
		struct metric_plan plan = plan_of(&m, "topdown");

		assert_string_equal(plan.metrics[0]->method, cases[i].method);
		metric_plan_release(&plan);
	}
}

static bool is_none_of(const struct metric_plan *plan, const char *const *names)
{
	for (; *names; names++)
		if (has_event(plan, *names))
			return false;
	return true;
}

/* Clocks of two threads together are nobody's alone; without SMT they would only take counters. */
static void trees_before_ice_lake_go_by_smt(void **state)
{
	static const char *const both[] = { "cpu_clk_unhalted.thread_any",
					    "int_misc.recovery_cycles_any", NULL };
	static const char counters[] =
		" cycles instructions branches branch_misses idq_uops_not_delivered.core "
		"uops_issued.any uops_retired.retire_slots int_misc.recovery_cycles "
		"cpu_clk_unhalted.thread_any int_misc.recovery_cycles_any ";
	static const char one_thread[] =
		" cycles instructions branches branch_misses idq_uops_not_delivered.core "
		"uops_issued.any uops_retired.retire_slots int_misc.recovery_cycles ";
	struct machine m = { .core = X86(SKYLAKE_X, INTEL, 4), .events = one_thread };
	struct metric_plan plan = plan_of(&m, "topdown");

	assert_string_equal(row_of(&plan, "backend_bound")->method, "tma-clocks");
	metric_plan_release(&plan);
	m.per_task = true;
	m.events = counters;
	plan = plan_of(&m, "topdown");
	assert_string_equal(row_of(&plan, "backend_bound")->method, "tma-clocks");
	assert_true(is_none_of(&plan, both));
	metric_plan_release(&plan);

	m.smt = true;
	plan = plan_of(&m, "topdown");
	assert_null(row_of(&plan, "backend_bound"));
	assert_string_equal(row_of(&plan, "ipc")->method, "generic");
	assert_true(is_none_of(&plan, both));
	assert_true(has_note(&plan, "; not Intel TMA by ordinary counters, of both threads of a "
				    "core: with SMT on it holds only for the whole system"));
	metric_plan_release(&plan);

	m.per_task = false;
	plan = plan_of(&m, "topdown");
	assert_string_equal(row_of(&plan, "backend_bound")->method, "tma-core-clocks");
	assert_false(has_event(&plan, "int_misc.recovery_cycles"));
	assert_true(has_event(&plan, both[0]) && has_event(&plan, both[1]));
	metric_plan_release(&plan);

	m.events = one_thread;
	plan = plan_of(&m, "topdown");
	assert_null(row_of(&plan, "backend_bound"));
	assert_true(has_note(&plan, "this machine shows no cpu_clk_unhalted.thread_any"));
	metric_plan_release(&plan);
}

/* Recipe 2: what N1 lacks costs rows, not the run. */
static void what_is_lacking_costs_its_rows_and_a_note(void **state)
{
	struct machine n1 = { .core = NEOVERSE(N1, 0), .events = N1_EVENTS };
	struct metric_plan plan = plan_of(&n1, "topdown,cache,roofline");

	assert_null(row_of(&plan, "backend_memory"));
	assert_non_null(row_of(&plan, "backend_bound"));
	assert_true(has_note(&plan, "topdown: left out: backend_memory: this machine shows no "
				    "stall_backend_mem"));
	assert_null(row_of(&plan, "l1d_to_l2"));
	assert_non_null(row_of(&plan, "l1d_miss"));
	assert_true(has_note(&plan, "cache: left out: l1d_to_l2, l2_to_llc"));
	/* No counter of floating-point operations, only of instructions. */
	assert_null(row_of(&plan, "flops"));
	assert_non_null(row_of(&plan, "fp_instructions"));
	assert_true(has_note(&plan, "roofline: left out: flops"));
	for (size_t i = 0; i < plan.nr_events; i++)
		assert_true(machine_has(&n1, plan.events[i]));
	metric_plan_release(&plan);
}

static void a_set_of_which_nothing_is_there_is_a_note(void **state)
{
	struct machine m = { .core = X86(UNKNOWN, OTHER, 0), .events = " " };
	struct metric_plan plan = plan_of(&m, "all");

	assert_int_equal(plan.nr_metrics, 0);
	assert_int_equal(plan.nr_events, 0);
	assert_int_equal(plan.nr_notes, 8);
	assert_true(
		has_note(&plan, "roofline: nothing to show: this UNKNOWN shows no events for it"));
	metric_plan_release(&plan);
}

static void name_is_not_generic_miss(void *arg, const char *name)
{
	if (!strcmp(name, "cache_misses") || !strcmp(name, "cache_references"))
		fail_msg("%s: which cache?", ((const struct metric *)arg)->name);
}

/* Recipe 10: cache-misses are of another cache on every vendor's cores. */
static void generic_cache_misses_are_the_last_resort_without_thresholds(void **state)
{
	const struct metric *const known[] = { rows_arm, rows_intel, rows_amd };

	for (size_t i = 0; i < 3; i++)
		for (const struct metric *m = known[i]; m->set; m++)
			for (size_t j = 0; j < NR_CORES; j++)
				if (is_for(m, &cores[j]))
					metric_row_names(m, &cores[j], name_is_not_generic_miss,
							 (void *)m);
	for (const struct metric *m = rows_generic; m->set; m++)
		if (strstr(m->formula, "cache_misses")) {
			assert_true(isnan(m->ok));
			assert_non_null(strstr(m->label, "depends on the CPU"));
		}
}

static char *logged(int *err, const char *sets)
{
	struct machine m = { .core = NEOVERSE(N1, 0), .events = "*" };
	struct metric_host host = machine_host(&m);
	struct metric_plan plan;
	static char text[512];
	FILE *to = tmpfile();
	int old = dup(STDERR_FILENO);

	dup2(fileno(to), STDERR_FILENO);
	*err = metric_plan_make(&plan, sets, &host);
	dup2(old, STDERR_FILENO);
	close(old);
	rewind(to);
	text[fread(text, 1, sizeof(text) - 1, to)] = '\0';
	fclose(to);
	if (!*err)
		metric_plan_release(&plan);
	return text;
}

static void a_set_that_is_unknown_is_named_with_the_nearest(void **state)
{
	int err;

	assert_non_null(strstr(logged(&err, "ipc,topdwon"), "'topdwon'; did you mean 'topdown'?"));
	assert_int_equal(err, -EINVAL);
	assert_non_null(strstr(logged(&err, "xyzzy"), "there are topdown, ipc, cache"));
	assert_int_equal(err, -EINVAL);
	logged(&err, "");
	assert_int_equal(err, -EINVAL);
	logged(&err, "ipc,,tlb");
	assert_int_equal(err, -EINVAL);
	assert_string_equal(logged(&err, "ipc,ipc,all"), "");
	assert_int_equal(err, 0);
}

static void a_row_is_shown_once(void **state)
{
	struct machine m = { .core = NEOVERSE(N1, 0), .events = "*" };
	struct metric_plan plan = plan_of(&m, "ipc,topdown,ipc,all");

	for (size_t i = 0; i < plan.nr_metrics; i++)
		assert_ptr_equal(row_of(&plan, plan.metrics[i]->name), plan.metrics[i]);
	assert_string_equal(plan.metrics[0]->set, "ipc");
	metric_plan_release(&plan);
}

/* Front-end stalls are of "ipc" and of "topdown": shown once, by the name that topdown has. */
static void rows_of_one_formula_are_shown_once(void **state)
{
	struct machine guest = { .core = NEOVERSE(V1, 8), .events = N1_EVENTS };
	struct metric_plan plan = plan_of(&guest, "ipc,topdown,branch");

	assert_null(row_of(&plan, "frontend_stalls"));
	assert_null(row_of(&plan, "backend_stalls"));
	assert_string_equal(row_of(&plan, "frontend_bound")->set, "topdown");
	assert_string_equal(row_of(&plan, "backend_bound")->set, "topdown");
	for (size_t i = 0; i < plan.nr_metrics; i++)
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(plan.metrics[i]->formula, plan.metrics[j]->formula);
	metric_plan_release(&plan);
	plan = plan_of(&guest, "ipc");
	assert_non_null(row_of(&plan, "frontend_stalls"));
	metric_plan_release(&plan);
}

static void sets_have_the_names_of_other_tools(void **state)
{
	static const char *const names[] = { "TopdownL1", "TopdownL2", "PipelineL1", "pipelinel2" };
	struct machine guest = { .core = NEOVERSE(V1, 8), .events = N1_EVENTS };
	struct metric_plan plan;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		plan = plan_of(&guest, names[i]);
		assert_string_equal(row_of(&plan, "frontend_bound")->set, "topdown");
		metric_plan_release(&plan);
	}
}

/* The names of a plan's rows, by a space. */
static const char *rows_of(struct machine *m, const char *sets)
{
	static char names[2000];
	struct metric_plan plan = plan_of(m, sets);
	size_t len = 0;

	names[0] = '\0';
	for (size_t i = 0; i < plan.nr_metrics; i++)
		len += snprintf(names + len, sizeof(names) - len, "%s%s", i ? " " : "",
				plan.metrics[i]->name);
	metric_plan_release(&plan);
	return names;
}

static void levels_of_topdown_are_those_of_other_tools(void **state)
{
	struct machine spr = { .core = X86(SAPPHIRE_RAPIDS, INTEL, 6), .events = "*" };
	struct machine zen = { .core = X86(ZEN5, AMD, 8), .events = "*" };
	struct metric_plan plan = plan_of(&spr, "TopdownL1");

	assert_false(has_event(&plan, "topdown_mem_bound") || has_event(&plan, "branch_misses"));
	assert_true(plan.slots_group);
	metric_plan_release(&plan);
	assert_string_equal(rows_of(&spr, "TopdownL1"),
			    "ipc frontend_bound bad_speculation backend_bound retiring");
	assert_string_equal(rows_of(&spr, "TopdownL2"),
			    "ipc frontend_bound fetch_latency fetch_bandwidth bad_speculation "
			    "branch_mispredicts machine_clears backend_bound memory_bound "
			    "core_bound retiring heavy_operations light_operations "
			    "branch_mispredict");
	assert_string_equal(rows_of(&spr, "TopdownL3"),
			    "ipc frontend_bound fetch_latency fetch_bandwidth bad_speculation "
			    "branch_mispredicts machine_clears backend_bound memory_bound "
			    "core_bound divider retiring heavy_operations light_operations "
			    "branch_mispredict icache_stalls itlb_stalls branch_resteers l1_bound "
			    "l2_bound l3_bound dram_bound store_bound");
	assert_string_equal(rows_of(&zen, "PipelineL1"),
			    "ipc frontend_bound bad_speculation backend_bound smt_contention "
			    "retiring");
	/* Two levels: the deeper one. Of other sets that were asked for, all rows are there. */
	assert_non_null(strstr(rows_of(&spr, "TopdownL1,topdownl2"), "memory_bound"));
	assert_non_null(strstr(rows_of(&spr, "TopdownL1,cache"), "icache_miss"));
	assert_null(strstr(rows_of(&spr, "TopdownL1,cache"), "memory_bound"));
}

static void a_level_that_is_not_there_is_a_note(void **state)
{
	struct machine zen = { .core = X86(ZEN5, AMD, 8), .events = "*" };
	struct machine n1 = { .core = NEOVERSE(N1, 0), .events = N1_EVENTS };
	struct machine v3 = { .core = NEOVERSE(V3, 10), .events = "*" };
	struct machine spr = { .core = X86(SAPPHIRE_RAPIDS, INTEL, 6),
			       .events = " cycles instructions slots topdown_retiring "
					 "topdown_bad_spec topdown_fe_bound topdown_be_bound "
					 "topdown_mem_bound int_misc.uop_dropping " };
	struct metric_plan plan = plan_of(&zen, "TopdownL3");

	assert_true(has_note(&plan, "no part of level 3 is known of this ZEN5: the tree ends at "
				    "level 2"));
	metric_plan_release(&plan);
	plan = plan_of(&zen, "TopdownL2");
	assert_false(has_note(&plan, "level"));
	metric_plan_release(&plan);
	plan = plan_of(&v3, "TopdownL3");
	assert_false(has_note(&plan, "level"));
	assert_non_null(row_of(&plan, "backend_mem_tlb"));
	assert_null(row_of(&plan, "backend_cache_l1d"));
	metric_plan_release(&plan);
	/* Rows that are known, and events that are not there: these are named. */
	plan = plan_of(&spr, "TopdownL3");
	assert_true(has_note(&plan, "nothing of level 3 can be counted"));
	assert_true(has_note(&plan, "backend-memory: left out: l1_bound"));
	assert_true(has_note(&plan, "exe_activity.bound_on_loads"));
	assert_non_null(row_of(&plan, "memory_bound"));
	metric_plan_release(&plan);
	plan = plan_of(&n1, "TopdownL2");
	assert_true(has_note(&plan, "topdown: left out: backend_memory: this machine shows no "
				    "stall_backend_mem"));
	assert_non_null(row_of(&plan, "branch_mispredict"));
	metric_plan_release(&plan);
}

static void child_is_below_its_parent(const struct metric *m)
{
	const struct metric *const *table, *p;
	size_t len = m->parent ? strcspn(m->parent, ",") : 0;

	assert_true(m->level <= 4);
	assert_true(!!m->level == (m->parent != NULL) || !strcmp(m->set, "topdown") ||
		    m->cores == CORE_BIT(CORE_NEOVERSE_V3));
	assert_true(m->level || strcmp(m->set, "topdown") != 0);
	for (table = metric_tables; m->parent && *table; table++)
		for (p = *table; p->set; p++)
			if (!strncmp(p->name, m->parent, len) && !p->name[len] && p->level)
				assert_int_equal(m->level, p->level + 1);
}

static void levels_follow_the_tree(void **state)
{
	each_row(child_is_below_its_parent);
}

/* Metrics of events that are counted anyway, on any core. */
static void metrics_follow_from_events(void **state)
{
	struct machine m = { .core = X86(ZEN5, AMD, 8),
			     .events = " cycles instructions branches branch_misses "
				       "cache_references cache_misses l1_dcache_loads "
				       "l1_dcache_load_misses " };
	struct metric_host host = machine_host(&m);
	struct metric_plan plan = {};

	metric_plan_derive(&plan, &host);
	assert_string_equal(row_of(&plan, "ipc")->set, "ipc");
	assert_string_equal(row_of(&plan, "branch_mispredict")->set, "branch");
	assert_non_null(row_of(&plan, "cache_miss"));
	assert_non_null(row_of(&plan, "l1d_miss"));
	assert_null(row_of(&plan, "frontend_stalls"));
	assert_null(row_of(&plan, "cpus_used"));
	assert_true(has_event(&plan, "l1_dcache_loads") && has_event(&plan, "cycles"));
	/* Again there is nothing new. */
	size_t nr_metrics = plan.nr_metrics, nr_events = plan.nr_events;
	metric_plan_derive(&plan, &host);
	assert_int_equal(plan.nr_metrics, nr_metrics);
	assert_int_equal(plan.nr_events, nr_events);
	metric_plan_release(&plan);

	m.events = " cycles task_clock ";
	metric_plan_derive(&plan, &host);
	assert_non_null(row_of(&plan, "cpus_used"));
	assert_non_null(row_of(&plan, "clock_rate"));
	assert_int_equal(plan.nr_metrics, 2);
	metric_plan_release(&plan);
	m.events = " cycles ";
	metric_plan_derive(&plan, &host);
	assert_int_equal(plan.nr_metrics, 0);
	metric_plan_release(&plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_whole),
		cmocka_unit_test(every_name_in_a_formula_is_known),
		cmocka_unit_test(every_plan_has_the_events_of_its_rows_once),
		cmocka_unit_test(sets_that_were_told_are_closed),
		cmocka_unit_test(every_row_has_a_value_when_all_is_counted),
		cmocka_unit_test(terms_of_a_ratio_stand_together),
		cmocka_unit_test(cycles_and_instructions_come_first),
		cmocka_unit_test(topdown_of_an_unknown_intel_core_is_a_group_too),
		cmocka_unit_test(the_way_is_chosen_by_events_not_by_the_core),
		cmocka_unit_test(intel_has_three_ways_and_a_last_resort),
		cmocka_unit_test(what_is_lacking_costs_its_rows_and_a_note),
		cmocka_unit_test(a_set_of_which_nothing_is_there_is_a_note),
		cmocka_unit_test(generic_cache_misses_are_the_last_resort_without_thresholds),
		cmocka_unit_test(a_set_that_is_unknown_is_named_with_the_nearest),
		cmocka_unit_test(a_row_is_shown_once),
		cmocka_unit_test(rows_of_one_formula_are_shown_once),
		cmocka_unit_test(sets_have_the_names_of_other_tools),
		cmocka_unit_test(levels_of_topdown_are_those_of_other_tools),
		cmocka_unit_test(a_level_that_is_not_there_is_a_note),
		cmocka_unit_test(levels_follow_the_tree),
		cmocka_unit_test(metrics_follow_from_events),
		cmocka_unit_test(trees_before_ice_lake_go_by_smt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
