/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* event/catalog on machines that we do not have: what names become. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "event/known.h"
#include "event/pmus.h"
#include "tests/unit/catalogs.h"

#define ENCODINGS "tests/data/encodings"

/* Encodings ---------------------------------------------------------------------------------- */

static void check_row(const char *name, const char *config, const char *config1, uint32_t type)
{
	const struct event *e;

	if (!strcmp(config, "-")) {
		refused(name, -ENOENT, "is an event of");
		return;
	}
	e = one(name);
	if (e->type != type || e->config != strtoull(config, NULL, 0) ||
	    e->config1 != strtoull(config1, NULL, 0) || e->config2)
		fail_msg("%s: 0x%llx 0x%llx", name, (unsigned long long)e->config,
			 (unsigned long long)e->config1);
	assert_string_equal(e->base, name);
	assert_true(e->per_task);
	assert_ptr_equal(e->pmu, catalog_core_pmu(catalog));
	assert_true(*e->meaning);
}

static void test_encodings_are_those_published(void **state)
{
	char line[256], core[16], name[128], config[32], config1[32], last[16] = "";
	FILE *f = fopen(ENCODINGS, "re");
	size_t nr = 0;
	int n;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (*line == '#')
			continue;
		n = sscanf(line, "%15s %127s %31s %31s", core, name, config, config1);
		assert_true(n == 4 || (n == 3 && !strcmp(config, "-")));
		if (strcmp(core, last) != 0)
			enter(core);
		strcpy(last, core);
		check_row(name, config, config1,
			  catalog_core(catalog)->vendor == CORE_ARM ? 10 : 4);
		nr++;
	}
	fclose(f);
	assert_int_equal(nr, 828);
}

/* Every row of ours is in the published list, or is one of those that the list spells otherwise. */
static const char *const elsewhere[] = {
	"de_no_dispatch_per_slot.no_ops_from_frontend_all_slots",
	"ic_tag_hit_miss.all_instruction_cache_accesses",
	"op_cache_hit_miss.all_op_cache_accesses",
	"fp_ret_sse_avx_ops.add_sub_flops",
	"fp_ret_sse_avx_ops.mult_flops",
	"fp_ret_sse_avx_ops.mac_flops",
	"cpu_clk_unhalted.thread_any",
	"topdown.slots_p",
	"topdown.backend_bound_slots",
	"topdown.bad_spec_slots",
	"topdown.br_mispredict_slots",
	"topdown.memory_bound_slots",
	"uops_retired.heavy",
	"idq_bubbles.core",
};

static bool is_published(const char *text, const char *name)
{
	char *word = NULL;
	bool is;

	assert_true(asprintf(&word, " %s ", name) > 0);
	is = strstr(text, word);
	free(word);
	for (size_t i = 0; i < ARRAY_SIZE(elsewhere); i++)
		is |= !strcmp(name, elsewhere[i]);
	return is;
}

static void test_tables_have_nothing_else(void **state)
{
	char text[65536];
	FILE *f = fopen(ENCODINGS, "re");
	size_t sz;

	assert_non_null(f);
	sz = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[sz] = '\0';
	for (enum core_vendor v = CORE_ARM; v <= CORE_AMD; v++)
		for (const struct known *k = known_table(v); k->name; k++)
			if (!k->pmu && !k->sysfs_only && !is_published(text, k->name))
				fail_msg("%s is in no published list", k->name);
}

/* Worked out by hand, and by libpfm4. */
static void test_checked_examples(void **state)
{
	enter("icx");
	is("mem_load_retired.l3_miss", 4, 0x20d1);
	is("cycle_activity.stalls_l3_miss", 4, 0x060006a3);
	is("cycle_activity.stalls_mem_any", 4, 0x140014a3);
	is("dtlb_load_misses.walk_completed", 4, 0x0e08);
	is("int_misc.clears_count", 4, 0x0104010d);
	enter("skx");
	is("dtlb_load_misses.miss_causes_a_walk", 4, 0x0108);
	is("int_misc.recovery_cycles_any", 4, 0x0020010d);
	is("cpu_clk_unhalted.thread_any", 4, 0x0020003c);
	is("inst_retired.any", 4, 0xc0);
	is("cpu_clk_unhalted.thread", 4, 0x3c);
	is("cpu_clk_unhalted.ref_tsc", 4, 0x300);
	is("frontend_retired.l1i_miss", 4, 0x01c6);
	assert_int_equal(found[0].config1, 0x12);
	enter("spr");
	is("dtlb_load_misses.walk_completed", 4, 0x0e12);
	is("exe_activity.bound_on_loads", 4, 0x050021a6);
	is("memory_activity.stalls_l3_miss", 4, 0x09000947);
	is("topdown.slots_p", 4, 0x01a4);
	enter("emr");
	is("memory_activity.stalls_l3_miss", 4, 0x09000947);
	enter("zen4");
	is("de_no_dispatch_per_slot.no_ops_from_frontend", 4, 0x1000001a0);
	is("de_no_dispatch_per_slot.no_ops_from_frontend_all_slots", 4, 0x1060001a0);
	is("cpu/event=0x1a0,umask=0x1,cmask=6/", 4, 0x1060001a0);
	enter("zen5");
	is("de_no_dispatch_per_slot.no_ops_from_frontend_all_slots", 4, 0x1080001a0);
	enter("cobalt");
	is("stall_slot", 10, 0x3f);
	enter("v3ae");
	is("stall_frontend_flush", 10, 0x8162);
}

/* Spellings ---------------------------------------------------------------------------------- */

static void test_generic_names(void **state)
{
	static const struct {
		const char *name;
		uint32_t type;
		uint64_t config;
	} names[] = {
		{ "cycles", 0, 0 },
		{ "instructions", 0, 1 },
		{ "cache-references", 0, 2 },
		{ "cache-misses", 0, 3 },
		{ "branches", 0, 4 },
		{ "branch-instructions", 0, 4 },
		{ "branch_misses", 0, 5 },
		{ "stalled-cycles-frontend", 0, 7 },
		{ "idle-cycles-backend", 0, 8 },
		{ "ref-cycles", 0, 9 },
		{ "cpu-clock", 1, 0 },
		{ "task-clock", 1, 1 },
		{ "page-faults", 1, 2 },
		{ "faults", 1, 2 },
		{ "context-switches", 1, 3 },
		{ "cs", 1, 3 },
		{ "cpu-migrations", 1, 4 },
		{ "migrations", 1, 4 },
		{ "minor-faults", 1, 5 },
		{ "major-faults", 1, 6 },
		{ "alignment-faults", 1, 7 },
		{ "emulation-faults", 1, 8 },
		{ "dummy", 1, 9 },
		{ "cgroup-switches", 1, 11 },
		{ "L1-dcache-loads", 3, 0x00000 },
		{ "L1-dcache-load-misses", 3, 0x10000 },
		{ "l1_dcache_load_misses", 3, 0x10000 },
		{ "l1d-load-miss", 3, 0x10000 },
		{ "L1-dcache-stores", 3, 0x00100 },
		{ "L1-dcache-prefetches", 3, 0x00200 },
		{ "L1-icache-load-misses", 3, 0x10001 },
		{ "LLC-loads", 3, 0x00002 },
		{ "LLC-load-misses", 3, 0x10002 },
		{ "LLC-misses", 3, 0x10002 },
		{ "LLC-store-misses", 3, 0x10102 },
		{ "dTLB-loads", 3, 0x00003 },
		{ "DTLB-LOAD-MISSES", 3, 0x10003 },
		{ "dTLB-store-misses", 3, 0x10103 },
		{ "iTLB-load-misses", 3, 0x10004 },
		{ "branch-loads", 3, 0x00005 },
		{ "branch-load-misses", 3, 0x10005 },
		{ "node-loads", 3, 0x00006 },
		{ "node-prefetch-misses", 3, 0x10206 },
	};

	enter("n1");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		is(names[i].name, names[i].type, names[i].config);
		assert_true(found[0].advertised && found[0].per_task);
		assert_int_equal(found[0].source,
				 names[i].type == 1 ? EVENT_SOFTWARE : EVENT_GENERIC);
		assert_null(found[0].pmu);
		assert_null(found[0].cpus);
		assert_true(*found[0].meaning);
	}
	/* What the kernel would not take either. */
	refused("iTLB-stores", -ENOENT, "unknown event");
	refused("LLC", -ENOENT, "unknown event");
	refused("L1-dcache-load-misses-x", -ENOENT, "unknown event");
	refused("bpf-output", -EINVAL, "cannot be counted");
}

/* The kernel's list comes first: on x86 these are encodings of the core's PMU. */
static void test_sysfs_goes_first(void **state)
{
	enter("spr");
	is("instructions", 4, 0xc0);
	assert_int_equal(found[0].source, EVENT_SYSFS);
	assert_non_null(strstr(found[0].meaning, "INST_RETIRED"));
	is("cpu-cycles", 4, 0x3c);
	is("CPU_Cycles", 4, 0x3c);
	is("cycles", 0, 0);
	enter("n1");
	is("l1d_cache", 10, 0x04);
	is("L1D-CACHE", 10, 0x04);
	assert_int_equal(found[0].source, EVENT_SYSFS);
	assert_true(found[0].advertised);
	assert_true(cpus_has(found[0].cpus, 63));
	is("armv8_pmuv3_0/l1d_cache/", 10, 0x04);
	assert_string_equal(found[0].base, "l1d_cache");
	/* The DSU lists a "cycles" too: not meant. */
	is("cycles", 0, 0);
	is("l3d_cache_wb", 12, 0x2c);
	assert_false(found[0].per_task);
}

static void test_fields(void **state)
{
	enter("spr");
	is("cpu/event=0x3c/", 4, 0x3c);
	assert_string_equal(found[0].base, "cpu/event=0x3c/");
	assert_int_equal(found[0].source, EVENT_FIELDS);
	is("cpu/event=0xc6,umask=1,frontend=0x12/", 4, 0x01c6);
	assert_int_equal(found[0].config1, 0x12);
	assert_true(found[0].advertised);
	is("cpu/EVENT=0xd,Umask=1,edge,cmask=1/", 4, 0x0104010d);
	is("cpu/event=13,umask=01,edge=1,inv=0,any/", 4, 0x0024010d);
	is("cpu/config=0x1c2,config1=7,config2=9/", 4, 0x1c2);
	assert_int_equal(found[0].config1, 7);
	assert_int_equal(found[0].config2, 9);
	assert_false(found[0].advertised);
	is("cpu/cache-misses,cmask=2/", 4, 0x0200412e);
	is("cpu/mem_load_retired.l3_miss/", 4, 0x20d1);
	is("cpu/cycles/", 0, 0);
	is("r003c", 4, 0x3c);
	is("R1C9", 4, 0x1c9);
	assert_int_equal(found[0].source, EVENT_RAW);
	assert_false(found[0].advertised);
	is("r20d1", 4, 0x20d1);
	assert_true(found[0].advertised);
	assert_non_null(strstr(found[0].meaning, "missed the L3"));
	one("cpu/event=0x3c,umask=0x1,name=bus/k");
	assert_string_equal(found[0].name, "bus:k");
	assert_string_equal(found[0].base, "bus");
	assert_int_equal(found[0].config, 0x13c);
	enter("n1");
	is("r0011", 10, 0x11);
	assert_true(found[0].advertised);
	is("r0040", 10, 0x40);
	assert_false(found[0].advertised);
	is("armv8_pmuv3_0/event=0x08,long/", 10, 0x08);
	assert_int_equal(found[0].config1, 1);
}

static void test_modifiers(void **state)
{
	static const struct {
		const char *text;
		bool user, kernel, hv; /* excluded */
		uint8_t precise;
	} rows[] = {
		{ "cycles", 0, 0, 0, 0 },
		{ "cycles:u", 0, 1, 1, 0 },
		{ "cycles:k", 1, 0, 1, 0 },
		{ "cycles:h", 1, 1, 0, 0 },
		{ "cycles:uk", 0, 0, 1, 0 },
		{ "cycles:ukh", 0, 0, 0, 0 },
		{ "cycles:p", 0, 0, 0, 1 },
		{ "cycles:pp", 0, 0, 0, 2 },
		{ "cycles:ukp", 0, 0, 1, 1 },
		{ "cycles:pppu", 0, 1, 1, 3 },
		{ "cpu/event=0x3c/u", 0, 1, 1, 0 },
		{ "cpu/event=0x3c/:kpp", 1, 0, 1, 2 },
		{ "r3c:u", 0, 1, 1, 0 },
		{ "instructions:k", 1, 0, 1, 0 },
		{ "mem_load_retired.l3_miss:up", 0, 1, 1, 1 },
		{ "  faults:u\n", 0, 1, 1, 0 },
	};
	struct perf_event_attr attr;

	enter("spr");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct event *e = one(rows[i].text);

		attr = (struct perf_event_attr){ .sample_period = 5, .disabled = 1 };
		event_attr(e, &attr);
		assert_int_equal(attr.exclude_user, rows[i].user);
		assert_int_equal(attr.exclude_kernel, rows[i].kernel);
		assert_int_equal(attr.exclude_hv, rows[i].hv);
		assert_int_equal(attr.precise_ip, rows[i].precise);
		assert_int_equal(attr.size, sizeof(attr));
		assert_int_equal(attr.type, e->type);
		assert_int_equal(attr.config, e->config);
		/* What else the caller wants stays. */
		assert_int_equal(attr.sample_period, 5);
		assert_true(attr.disabled);
	}
	assert_string_equal(one("mem_load_retired.l3_miss:up")->base, "mem_load_retired.l3_miss");
	assert_string_equal(one("cpu/event=0x3c/u")->base, "cpu/event=0x3c/");
	assert_string_equal(one("  faults:u\n")->name, "faults:u");
	refused("cycles:", -EINVAL, "nothing stands behind the ':'");
	refused("cycles:x", -EINVAL, "'x' of 'cycles:x' is no modifier");
	refused("cycles:pppp", -EINVAL, "most precise");
	refused("cpu/cycles/:", -EINVAL, "nothing stands behind");
}

/* Tracepoints -------------------------------------------------------------------------------- */

#define TRACING "/sys/kernel/tracing/events/"

static void enter_tracepoints(void)
{
	enter("spr");
	machine_put(root, TRACING "sched/sched_switch/id", "372\n");
	machine_put(root, TRACING "sched/sched_waking/id", "374\n");
	machine_put(root, TRACING "sched/enable", "0\n");
	machine_put(root, TRACING "syscalls/sys_enter_openat/id", "700\n");
	machine_put(root, TRACING "ftrace/function/format", "name: function\n");
}

static void test_tracepoints_have_their_numbers(void **state)
{
	const struct event *e;

	enter_tracepoints();
	e = one("sched:sched_switch");
	assert_int_equal(e->type, PERF_TYPE_TRACEPOINT);
	assert_int_equal(e->config, 372);
	assert_int_equal(e->source, EVENT_TRACEPOINT);
	assert_string_equal(e->name, "sched:sched_switch");
	assert_string_equal(e->base, "sched:sched_switch");
	assert_true(e->per_task && e->advertised);
	assert_null(e->pmu);
	assert_int_equal(one("s*s:*_openat")->config, 700);
	assert_true(catalog_has(catalog, "sched:sched_waking"));
	assert_false(catalog_has(catalog, "sched:sched_waken"));
}

static void test_patterns_mean_several_tracepoints(void **state)
{
	enter_tracepoints();
	forget();
	assert_int_equal(catalog_find_list(catalog, "cycles:u,sched:*", &found, &nr_found), 0);
	assert_int_equal(nr_found, 3);
	assert_string_equal(found[0].name, "cycles:u");
	assert_string_equal(found[1].name, "sched:sched_switch");
	assert_string_equal(found[2].name, "sched:sched_waking");
	assert_int_equal(found[2].config, 374);
}

static void test_unknown_tracepoints(void **state)
{
	enter_tracepoints();
	refused("sched:sched_swich", -ENOENT,
		"'sched:sched_swich'; did you mean 'sched:sched_switch'");
	refused("cycles:user", -ENOENT, "only the modifiers u, k, h and p may follow");
	refused("scsi:*", -ENOENT, "no tracepoint 'scsi:*'");
	refused("ftrace:function", -ENODEV, "gives it no number");
	enter("spr");
	refused("sched:sched_switch", -ENOENT, "CONFIG_FTRACE");
}

/* PMUs --------------------------------------------------------------------------------------- */

static void test_hybrids_count_on_all_their_cores(void **state)
{
	enter("hybrid");
	assert_int_equal(catalog_find(catalog, "cycles:u", &found, &nr_found), 0);
	assert_int_equal(nr_found, 2);
	assert_string_equal(found[0].name, "cpu_atom/cycles/:u");
	assert_string_equal(found[0].base, "cycles");
	assert_int_equal(found[0].type, 0);
	assert_int_equal(found[0].config, 0xa00000000);
	assert_true(cpus_has(found[0].cpus, 16) && !cpus_has(found[0].cpus, 15));
	assert_string_equal(found[1].name, "cpu_core/cycles/:u");
	assert_int_equal(found[1].config, 0x400000000);
	forget();
	assert_int_equal(catalog_find(catalog, "LLC-load-misses", &found, &nr_found), 0);
	assert_int_equal(nr_found, 2);
	assert_int_equal(found[0].type, 3);
	assert_int_equal(found[0].config, 0xa00010002);
	forget();
	assert_int_equal(catalog_find(catalog, "r3c", &found, &nr_found), 0);
	assert_int_equal(nr_found, 2);
	assert_int_equal(found[0].type, 10);
	assert_int_equal(found[1].type, 4);
	/* Names that came out go in again, and what one kind of core lists is for that kind. */
	is("cpu_core/cycles/:u", 0, 0x400000000);
	is("cpu_atom/event=0x3c/", 10, 0x3c);
	is("slots", 4, 0x400);
	is("cs", 1, 3);
	refused("cpu/event=0x3c/", -ENODEV, "it shows cpu_atom, cpu_core");
}

static void test_uncore_is_not_for_threads(void **state)
{
	enter("skx");
	assert_int_equal(catalog_find(catalog, "uncore_imc/cas_count_read/", &found, &nr_found), 0);
	assert_int_equal(nr_found, 2);
	assert_string_equal(found[0].name, "uncore_imc_0/cas_count_read/");
	assert_string_equal(found[1].name, "uncore_imc_10/cas_count_read/");
	for (size_t i = 0; i < 2; i++) {
		assert_false(found[i].per_task);
		assert_int_equal(found[i].type, 20 + i);
		assert_int_equal(found[i].config, 0x304);
		assert_int_equal(found[i].cpus->nr, 2);
		assert_true(cpus_has(found[i].cpus, 32));
	}
	assert_string_equal(found[0].unit, "MiB");
	assert_true(found[0].scale > 6.1e-5 && found[0].scale < 6.11e-5);
	assert_true(found[1].scale == 1);
	is("uncore_imc_10/cas_count_read/", 21, 0x304);
	is("imc_0/event=4,umask=3/", 20, 0x304);
	is("uncore_imc_free_running/event=1/", 22, 1);
	forget();
	assert_int_equal(catalog_find(catalog, "cas_count_read", &found, &nr_found), 0);
	assert_int_equal(nr_found, 2);
	forget();
	assert_int_equal(catalog_find(catalog, "unc_m_cas_count.wr", &found, &nr_found), 0);
	assert_int_equal(nr_found, 2);
	assert_int_equal(found[1].config, 0xc04);
	forget();
	assert_int_equal(catalog_find(catalog, "uncore_imc_?/event=1/", &found, &nr_found), 0);
	assert_int_equal(nr_found, 1);

	enter("zen5");
	is("l3_lookup_state.l3_miss", 13, 0x0104);
	assert_false(found[0].per_task);
	assert_true(cpus_has(found[0].cpus, 8));
	forget();
	assert_int_equal(catalog_find(catalog, "umc_cas_cmd.wr", &found, &nr_found), 0);
	assert_int_equal(nr_found, 2);
	assert_int_equal(found[0].config, 0x20a);
	is("amd_umc_0/event=0xa,rdwrmask=2/", 14, 0x20a);
	enter("n1");
	refused("arm_spe_0/ts_enable=1/", -EINVAL, "arm_spe_0 cannot count");
}

/* A hypervisor may hide what the core has: a count of 0 is none then. */
static void test_what_the_pmu_says_counts(void **state)
{
	enter("v1");
	assert_true(one("stall_slot")->advertised);
	assert_true(catalog_has(catalog, "stall_slot"));
	assert_false(one("l1d_cache_refill")->advertised);
	assert_false(catalog_has(catalog, "l1d_cache_refill"));
	enter("v1-vm");
	assert_false(one("stall_slot")->advertised);
	assert_int_equal(found[0].source, EVENT_TABLE);
	assert_false(catalog_has(catalog, "stall_slot"));
	assert_true(catalog_has(catalog, "stall_frontend"));
	/* Beyond what it could list, the table has to do. */
	assert_false(one("ld_spec")->advertised);
	assert_true(catalog_has(catalog, "ld_spec"));
	enter("spr");
	assert_true(one("mem_load_retired.l3_miss")->advertised);
	assert_true(catalog_has(catalog, "topdown_retiring"));
	enter("emr");
	refused("topdown-retiring", -ENODEV, "a hypervisor may hide it");
	refused("slots", -ENODEV, "the PMU cpu shows no 'slots'");
}

static void test_generic_meanings_name_the_event(void **state)
{
	enter("n1");
	assert_non_null(strstr(one("cache-misses")->meaning, "L1D_CACHE_REFILL"));
	enter("spr");
	assert_non_null(strstr(one("cache-misses")->meaning, "LONGEST_LAT_CACHE.MISS"));
	enter("zen4");
	assert_non_null(strstr(one("cache-misses")->meaning, "misses of the L2"));
	assert_non_null(strstr(one("l1d-loads")->meaning, "L1D"));
}

/* Without counters there is the kernel's software, and a sentence. */
static void test_no_counters(void **state)
{
	enter("none");
	assert_null(catalog_core_pmu(catalog));
	is("page-faults", 1, 2);
	is("msr/tsc/", 9, 0);
	refused("mem_load_retired.l3_miss", -ENODEV, "this machine shows none");
	refused("stall_frontend", -ENODEV, "this machine shows none");
	refused("r3c", -ENODEV, "this machine shows none");
	refused("slots", -ENODEV, "this machine shows none");
	refused("cpu/event=0x3c/", -ENODEV, "no PMU 'cpu'; it shows msr");
	/* The kernel's own name; it is the kernel who says that it has none. */
	is("cycles", 0, 0);
	assert_false(catalog_has(catalog, "cycles"));
	assert_true(catalog_has(catalog, "cs"));
	enter_files("/proc/cpuinfo x\t: y\n");
	refused("foo/bar/", -ENODEV, "it shows none at all");
	refused("r3c", -ENODEV, "this machine shows none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_encodings_are_those_published, teardown),
		cmocka_unit_test_teardown(test_tables_have_nothing_else, teardown),
		cmocka_unit_test_teardown(test_checked_examples, teardown),
		cmocka_unit_test_teardown(test_generic_names, teardown),
		cmocka_unit_test_teardown(test_sysfs_goes_first, teardown),
		cmocka_unit_test_teardown(test_fields, teardown),
		cmocka_unit_test_teardown(test_modifiers, teardown),
		cmocka_unit_test_teardown(test_tracepoints_have_their_numbers, teardown),
		cmocka_unit_test_teardown(test_patterns_mean_several_tracepoints, teardown),
		cmocka_unit_test_teardown(test_unknown_tracepoints, teardown),
		cmocka_unit_test_teardown(test_hybrids_count_on_all_their_cores, teardown),
		cmocka_unit_test_teardown(test_uncore_is_not_for_threads, teardown),
		cmocka_unit_test_teardown(test_what_the_pmu_says_counts, teardown),
		cmocka_unit_test_teardown(test_generic_meanings_name_the_event, teardown),
		cmocka_unit_test_teardown(test_no_counters, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
