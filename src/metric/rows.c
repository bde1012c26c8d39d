/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sets, and the ways to answer each, best first. Never by the name of a core alone: the same core
 * shows other events in a guest than on metal.
 */
#include "metric/rows.h"

#include <assert.h>
#include <string.h>

#include "metric/formula.h"

const struct metric_set metric_sets[] = {
	{ "topdown", "where the cycles go: front end, back end, bad speculation, useful work" },
	{ "ipc", "instructions per cycle, and cycles stalled at both ends" },
	{ "cache", "misses of L1D, L1I, L2 and the last level" },
	{ "tlb", "walks of page tables, for data and for instructions" },
	{ "branch", "mispredictions, and how many branches there are" },
	{ "mix", "what kinds of instructions" },
	{ "backend-memory", "what the back end waits for in memory, by level" },
	{ "roofline", "floating-point operations against bytes of memory" },
	{ NULL, NULL },
};

const struct metric *const metric_tables[] = { rows_arm, rows_intel, rows_amd, rows_generic, NULL };

#define SKX CORE_BIT(CORE_SKYLAKE_X)
#define SLOTTED                                                                                    \
	(CORE_BIT(CORE_ICELAKE_X) | CORE_BIT(CORE_SAPPHIRE_RAPIDS) | CORE_BIT(CORE_GRANITE_RAPIDS))
#define SLOTS_4	 "stall_slot stall_slot_frontend stall_slot_backend op_retired op_spec"
#define TOPDOWNS "topdown_retiring topdown_bad_spec topdown_fe_bound topdown_be_bound"
#define CLOCKS	 "idq_uops_not_delivered.core uops_issued.any"
#define GENERIC	 "by the kernel's generic events, whose meaning differs between CPUs"

/* clang-format off */
/* One that asks nothing of the run. */
#define WAY(...) { __VA_ARGS__, METRIC_RUN_ANY }

const struct metric_method metric_methods[] = {
	WAY("topdown", "slots", CORE_ARM, 0, SLOTS_4 " cpu_cycles slots_per_cycle",
	  "slot-based, by stall_slot*"),
	WAY("topdown", "cycles", CORE_ARM, 0, "cpu_cycles stall_frontend stall_backend",
	  "cycle-based, by stall_frontend and stall_backend"),
	{ "topdown", "tma-clocks", CORE_INTEL, SKX, CLOCKS, "Intel TMA by ordinary counters",
	  METRIC_RUN_SMT_OFF },
	{ "topdown", "tma-core-clocks", CORE_INTEL, SKX,
	  CLOCKS " cpu_clk_unhalted.thread_any int_misc.recovery_cycles_any",
	  "Intel TMA by ordinary counters, of both threads of a core", METRIC_RUN_SMT_WHOLE },
	WAY("topdown", "tma", CORE_INTEL, 0, TOPDOWNS,
	  "Intel TMA by the PMU's own topdown-* metrics"),
	WAY("topdown", "tma-counters", CORE_INTEL, SLOTTED,
	  "topdown.slots_p topdown.backend_bound_slots",
	  "Intel TMA by ordinary counters"),
	WAY("topdown", "pipeline", CORE_AMD, 0, "de_no_dispatch_per_slot.no_ops_from_frontend "
	  "slots_per_cycle", "AMD pipeline slots, five categories"),
	WAY("topdown", "generic", CORE_OTHER, 0, NULL, GENERIC),

	WAY("ipc", "arm", CORE_ARM, 0, "cpu_cycles", NULL),
	WAY("ipc", "generic", CORE_OTHER, 0, NULL, NULL),

	/* No set to be asked for: its rows follow from task-clock, which is counted by default. */
	WAY("cpu", "generic", CORE_OTHER, 0, NULL, NULL),

	WAY("cache", "arm", CORE_ARM, 0, NULL, NULL),
	WAY("cache", "intel", CORE_INTEL, 0, NULL, NULL),
	WAY("cache", "amd", CORE_AMD, 0, NULL, NULL),
	WAY("cache", "generic", CORE_OTHER, 0, NULL, GENERIC),

	WAY("tlb", "arm", CORE_ARM, 0, NULL, NULL),
	WAY("tlb", "intel", CORE_INTEL, 0, NULL, NULL),
	WAY("tlb", "amd", CORE_AMD, 0, NULL, NULL),
	WAY("tlb", "generic", CORE_OTHER, 0, NULL, GENERIC),

	WAY("branch", "arm", CORE_ARM, 0, NULL, NULL),
	WAY("branch", "intel", CORE_INTEL, 0, NULL, NULL),
	WAY("branch", "generic", CORE_OTHER, 0, NULL, NULL),

	WAY("mix", "arm", CORE_ARM, 0, "inst_spec", NULL),
	WAY("mix", "intel", CORE_INTEL, 0, "mem_inst_retired.all_loads", NULL),
	WAY("mix", "amd", CORE_AMD, 0, "ex_ret_ops", NULL),
	WAY("mix", "generic", CORE_OTHER, 0, NULL, GENERIC),

	WAY("backend-memory", "arm", CORE_ARM, 0, NULL, NULL),
	WAY("backend-memory", "intel", CORE_INTEL, 0, NULL, NULL),
	WAY("backend-memory", "amd", CORE_AMD, 0, NULL, NULL),
	WAY("backend-memory", "generic", CORE_OTHER, 0, NULL, GENERIC),

	WAY("roofline", "arm", CORE_ARM, 0, NULL,
	  "bytes are a core-side estimate, of reads only"),
	WAY("roofline", "intel", CORE_INTEL, 0, NULL, NULL),
	WAY("roofline", "amd", CORE_AMD, 0, NULL, NULL),
	{ NULL },
};
/* clang-format on */

bool metric_is_number(const char *name)
{
	return !strcmp(name, "slots_per_cycle") || !strcmp(name, "seconds") || metric_is_peak(name);
}

bool metric_is_peak(const char *name)
{
	return !strcmp(name, "peak_flops") || !strcmp(name, "peak_bandwidth");
}

bool metric_row_fits(const struct metric *m, const struct core *core)
{
	return (!m->cores || m->cores & CORE_BIT(core->id)) && (!m->fits || m->fits(core));
}

bool metric_row_is_of(const struct metric *m, const char *set, const char *method)
{
	return !strcmp(m->set, set) && (!m->method || !method || !strcmp(m->method, method));
}

const struct metric *metric_row_find(const struct metric *from, const char *name,
				     const struct core *core)
{
	const struct metric *const *table, *m;

	for (table = metric_tables; *table; table++)
		for (m = *table; m->set; m++)
			if (metric_row_is_of(m, from->set, from->method) &&
			    !strcmp(m->name, name) && metric_row_fits(m, core))
				return m;
	return NULL;
}

static void row_names(const struct metric *m, const struct core *core,
		      void (*f)(void *arg, const char *name), void *arg, unsigned int depth)
{
	const struct metric *other;
	struct formula formula;
	bool ok = formula_parse(&formula, m->formula, NULL);

	/* Formulas are ours; a test reads every row on every core. */
	assert(ok && depth < METRIC_REFER_MAX);
	for (size_t i = 0; ok && i < formula.nr; i++) {
		const char *name = formula.steps[i].name;

		if (formula.steps[i].kind != FORMULA_NAME)
			continue;
		if (*name != '@') {
			f(arg, name);
			continue;
		}
		other = metric_row_find(m, name + 1, core);
		assert(other);
		row_names(other, core, f, arg, depth + 1);
	}
}

void metric_row_names(const struct metric *m, const struct core *core,
		      void (*f)(void *arg, const char *name), void *arg)
{
	row_names(m, core, f, arg, 0);
}
