/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Looking things up in the tables of names: linear, some 300 rows, a few microseconds. */
#include "event/known.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

#define ANY_CORE UINT32_MAX
#define NR_NAMES 3

static const struct known nothing[] = { {} };

/* What each vendor calls the answer to one question; the first name is the one to propose. */
static const char *const same_question[][CORE_AMD + 1][NR_NAMES] = {
#define ARM   [CORE_ARM]
#define INTEL [CORE_INTEL]
#define AMD   [CORE_AMD]
	{ ARM = { "cpu_cycles" }, INTEL = { "cpu_clk_unhalted.thread" },
	  AMD = { "ls_not_halted_cyc" } },
	{ ARM = { "inst_retired" }, INTEL = { "inst_retired.any" }, AMD = { "ex_ret_instr" } },
	{ ARM = { "br_retired" }, INTEL = { "br_inst_retired.all_branches" },
	  AMD = { "ex_ret_brn" } },
	{ ARM = { "br_mis_pred_retired", "br_mis_pred" },
	  INTEL = { "br_misp_retired.all_branches" }, AMD = { "ex_ret_brn_misp" } },
	{ ARM = { "l1d_cache" }, INTEL = { "mem_inst_retired.all_loads" },
	  AMD = { "ls_dispatch.all", "all_data_cache_accesses" } },
	{ ARM = { "l1d_cache_refill", "l1d_cache_lmiss_rd" },
	  INTEL = { "mem_load_retired.l1_miss" },
	  AMD = { "ls_any_fills_from_sys.all", "ls_dmnd_fills_from_sys.all" } },
	{ ARM = { "l2d_cache_refill", "l2d_cache_lmiss_rd" },
	  INTEL = { "mem_load_retired.l2_miss" }, AMD = { "l2_cache_req_stat.ic_dc_miss_in_l2" } },
	{ ARM = { "ll_cache_miss_rd", "l3d_cache_refill", "l3d_cache_lmiss_rd" },
	  INTEL = { "mem_load_retired.l3_miss", "longest_lat_cache.miss" },
	  AMD = { "ls_any_fills_from_sys.dram_io_all" } },
	{ ARM = { "ll_cache_rd", "l3d_cache" },
	  INTEL = { "longest_lat_cache.reference", "mem_load_retired.l3_hit" } },
	{ ARM = { "l1i_cache_refill", "l1i_cache_lmiss" },
	  INTEL = { "frontend_retired.l1i_miss", "icache_64b.iftag_miss" },
	  AMD = { "ic_tag_hit_miss.instruction_cache_miss" } },
	{ ARM = { "dtlb_walk" },
	  INTEL = { "dtlb_load_misses.walk_completed", "dtlb_load_misses.miss_causes_a_walk" },
	  AMD = { "ls_l1_d_tlb_miss.all_l2_miss" } },
	{ ARM = { "itlb_walk" }, INTEL = { "itlb_misses.walk_completed" },
	  AMD = { "bp_l1_tlb_miss_l2_tlb_miss.all" } },
	{ ARM = { "stall_slot_frontend" },
	  INTEL = { "idq_uops_not_delivered.core", "topdown-fe-bound", "idq_bubbles.core" },
	  AMD = { "de_no_dispatch_per_slot.no_ops_from_frontend" } },
	{ ARM = { "stall_frontend" }, INTEL = { "idq_uops_not_delivered.cycles_0_uops_deliv.core" },
	  AMD = { "de_no_dispatch_per_slot.no_ops_from_frontend_all_slots" } },
	{ ARM = { "stall_slot_backend", "stall_backend" },
	  INTEL = { "topdown.backend_bound_slots", "topdown-be-bound",
		    "cycle_activity.stalls_total" },
	  AMD = { "de_no_dispatch_per_slot.backend_stalls" } },
	{ ARM = { "stall_backend_mem", "stall_backend" },
	  INTEL = { "cycle_activity.stalls_l2_miss", "cycle_activity.stalls_l3_miss",
		    "cycle_activity.stalls_mem_any" },
	  AMD = { "ex_no_retire.load_not_complete" } },
	{ ARM = { "op_retired" },
	  INTEL = { "uops_retired.slots", "uops_retired.retire_slots", "topdown-retiring" },
	  AMD = { "ex_ret_ops" } },
	{ ARM = { "op_spec" }, INTEL = { "uops_issued.any" }, AMD = { "de_src_op_disp.all" } },
#undef ARM
#undef INTEL
#undef AMD
};
#define NR_QUESTIONS (sizeof(same_question) / sizeof(same_question[0]))

static int plain(char c)
{
	return c == '-' ? '_' : tolower((unsigned char)c);
}

int known_compare(const char *a, const char *b)
{
	while (*a && plain(*a) == plain(*b)) {
		a++;
		b++;
	}
	return plain(*a) - plain(*b);
}

bool known_same(const char *a, const char *b)
{
	return !known_compare(a, b);
}

const struct known *known_table(enum core_vendor vendor)
{
	static const struct known *const tables[] = {
		[CORE_OTHER] = nothing,
		[CORE_ARM] = known_arm,
		[CORE_INTEL] = known_intel,
		[CORE_AMD] = known_amd,
	};

	return tables[vendor];
}

static const struct known *find(const struct known *k, uint32_t cores, const char *name)
{
	for (; k->name; k++)
		if (k->cores & cores && known_same(k->name, name))
			return k;
	return NULL;
}

const struct known *known_find(const struct core *core, const char *name)
{
	const struct known *k = find(known_table(core->vendor), CORE_BIT(core->id), name);

	return k && !k->sysfs_only ? k : NULL;
}

const struct known *known_of(enum core_vendor vendor, const char *name)
{
	return find(known_table(vendor), ANY_CORE, name);
}

const struct known *known_anywhere(const char *name)
{
	const struct known *k = NULL;

	for (enum core_vendor v = CORE_ARM; !k && v <= CORE_AMD; v++)
		k = known_of(v, name);
	return k;
}

uint32_t known_cores(const struct known *k)
{
	const struct known *row = known_table(known_vendor(k));
	uint32_t cores = 0;

	for (; row->name; row++)
		if (known_same(row->name, k->name))
			cores |= row->cores;
	return cores;
}

const struct known *known_by_config(const struct core *core, uint64_t config, uint64_t config1)
{
	const struct known *k = known_table(core->vendor);

	for (; k->name; k++)
		if (k->cores & CORE_BIT(core->id) && !k->pmu && k->config == config &&
		    k->config1 == config1)
			return k;
	return NULL;
}

enum core_vendor known_vendor(const struct known *k)
{
	for (enum core_vendor v = CORE_ARM; v <= CORE_AMD; v++)
		if (find(known_table(v), k->cores, k->name))
			return v;
	return CORE_OTHER;
}

char *known_cores_text(uint32_t cores)
{
	char *text = NULL;
	size_t sz;
	FILE *f = open_memstream(&text, &sz);

	for (enum core_id id = 0; id < CORE_NR; id++)
		if (cores & CORE_BIT(id))
			fprintf(f, "%s%s", ftell(f) > 0 ? ", " : "", core_name(id));
	fclose(f);
	return text;
}

static bool asks(const char *const names[CORE_AMD + 1][NR_NAMES], const char *name)
{
	for (size_t v = 0; v <= CORE_AMD; v++)
		for (size_t i = 0; i < NR_NAMES && names[v][i]; i++)
			if (known_same(names[v][i], name))
				return true;
	return false;
}

const char *known_instead(enum core_vendor vendor, const char *name, size_t nr)
{
	for (size_t q = 0; q < NR_QUESTIONS; q++)
		for (size_t i = 0; i < NR_NAMES && asks(same_question[q], name); i++)
			if (same_question[q][vendor][i] &&
			    !known_same(same_question[q][vendor][i], name) && !nr--)
				return same_question[q][vendor][i];
	return NULL;
}
