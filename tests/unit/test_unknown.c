/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * event/catalog on machines that we do not have: what is said of names that are none, what is
 * listed, broken files, mutated names, and the time it takes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <time.h>

#include "event/known.h"
#include "event/pmus.h"
#include "tests/unit/catalogs.h"

/* Sentences ---------------------------------------------------------------------------------- */

static void test_what_is_not_here_is_told(void **state)
{
	enter("n1");
	refused("mem_load_retired.l3_miss", -ENOENT,
		"is an event of Intel cores; this is a Neoverse N1; 'll_cache_miss_rd' is near it");
	refused("ex_ret_brn_misp", -ENOENT,
		"an event of AMD cores; this is a Neoverse N1; 'br_mis_pred_retired' is near");
	refused("stall_backend_mem", -ENOENT,
		"an event of Neoverse V1, Neoverse N2, Neoverse V2, Neoverse V3; this is a "
		"Neoverse N1; 'stall_backend' is near it");
	refused("stall_fronted", -ENOENT, "did you mean 'stall_frontend'?");
	refused("br-mis-pred-retird", -ENOENT, "did you mean 'br_mis_pred_retired'?");
	refused("cycels", -ENOENT, "did you mean 'cycles'?");
	refused("contextswitches", -ENOENT, "did you mean 'context-switches'?");
	refused("unaligned", -ENOENT, "unaligned_ldst_spec");
	refused("zzzzzzzzz", -ENOENT, "unknown event 'zzzzzzzzz' (bpfprof list");
	refused("cpu/event=0x3c/", -ENODEV, "no PMU 'cpu'; it shows arm_dsu, arm_spe_0, armv8");
	refused("armv8_pmuv3_0/stall_slot_x/", -ENOENT, "no event and no field 'stall_slot_x'");
	refused("armv8_pmuv3_0/evnt=3/", -ENOENT, "did you mean 'event'?");
	enter("arm");
	refused("l2d_cache", -ENOENT, "armv8_pmuv3_0/event=0x16/ counts it if it is there");
	enter("icx");
	refused("exe_activity.bound_on_loads", -ENOENT,
		"of Sapphire Rapids, Granite Rapids; this is an Ice Lake");
	refused("l3_miss", -ENOENT, "names with it: ");
	refused("cas_count_read", -ENODEV, "counted by uncore_imc, and this machine");
	refused("unc_m_cas_count.rd", -ENODEV, "counted by uncore_imc, and this machine");
	refused("dtlb_walk", -ENOENT, "'dtlb_load_misses.walk_completed' is near it");
}

static void test_malformed(void **state)
{
	enter("spr");
	refused("", -EINVAL, "a name is empty");
	refused("   ", -EINVAL, "a name is empty");
	refused(":u", -EINVAL, "names no event");
	refused("cpu/event=/", -EINVAL, "a value is missing");
	refused("cpu/=3/", -EINVAL, "a field is missing");
	refused("cpu/event=3,/", -EINVAL, "a field is missing");
	refused("cpu/,/", -EINVAL, "a field is missing");
	refused("cpu//", -EINVAL, "names no event");
	refused("/cycles/", -EINVAL, "names no PMU");
	refused("cpu/event=3", -EINVAL, "lacks a '/'");
	refused("cpu/a/b/", -EINVAL, "a '/' too many");
	refused("cpu/event=-1/", -EINVAL, "'-1' of 'cpu/event=-1/' is no number");
	refused("cpu/event=0x/", -EINVAL, "is no number");
	refused("cpu/event=1e3/", -EINVAL, "is no number");
	refused("cpu/event=99999999999999999999/", -EINVAL, "is no number");
	refused("cpu/event=0x100/", -EINVAL, "of cpu it takes 0xff at most");
	refused("cpu/event=3,edge=2/", -EINVAL, "'edge=0x2' is too large");
	refused("cpu/event=3,umsk=2/", -ENOENT, "did you mean 'umask'?");
	refused("cpu/event=3,period=1000/", -ENOENT, "no field 'period'");
	refused("{cycles", -EINVAL, "leave the braces away");
	refused("r12345678901234567", -ENOENT, "unknown event");
	refused("a\033[2Jb", -ENOENT, "a?[2Jb");
	enter("zen4");
	refused("cpu/event=0x1000/", -EINVAL, "it takes 0xfff at most");
}

struct missing {
	size_t nr;
	char text[512];
};

static void note_missing(void *arg, const char *name, const char *why)
{
	struct missing *m = arg;
	size_t len = strlen(m->text);

	m->nr++;
	snprintf(m->text + len, sizeof(m->text) - len, "%s: %s\n", name, why);
}

/* Of several events one may be unknown, or of another core; not all, and none malformed. */
static void test_some_of_a_list(void **state)
{
	struct missing m = {};

	enter("n1");
	assert_int_equal(catalog_find_some(catalog, "cycles,page-fault,stall_backend_mem,faults",
					   &found, &nr_found, note_missing, &m),
			 0);
	assert_int_equal(nr_found, 2);
	assert_string_equal(found[0].name, "cycles");
	assert_string_equal(found[1].name, "faults");
	assert_int_equal(m.nr, 2);
	assert_non_null(strstr(m.text, "page-fault: unknown event 'page-fault'; did you mean"));
	assert_non_null(strstr(m.text, "stall_backend_mem: 'stall_backend_mem' is an event of"));
	assert_int_equal(catalog_find_some(catalog, "nosuchthing,page-fault", &found, &nr_found,
					   note_missing, &m),
			 -ENOENT);
	assert_int_equal(
		catalog_find_some(catalog, "cycles:x,faults", &found, &nr_found, note_missing, &m),
		-EINVAL);
	assert_int_equal(nr_found, 2);
	assert_int_equal(m.nr, 2);
}

static void test_lists(void **state)
{
	static const char text[] = "cycles, instructions:u,cpu/event=0x3c,umask=1/:k,faults";

	enter("spr");
	assert_int_equal(catalog_find_list(catalog, text, &found, &nr_found), 0);
	assert_int_equal(nr_found, 4);
	assert_string_equal(found[1].name, "instructions:u");
	assert_string_equal(found[2].name, "cpu/event=0x3c,umask=1/:k");
	assert_int_equal(found[2].config, 0x13c);
	/* Appended to what is there. */
	assert_int_equal(catalog_find_list(catalog, "cs", &found, &nr_found), 0);
	assert_int_equal(nr_found, 5);
	assert_string_equal(found[0].name, "cycles");
	list_refused("", -EINVAL, "the list is empty");
	list_refused(" ", -EINVAL, "an event is missing");
	list_refused("cycles,", -EINVAL, "an event is missing beside a ','");
	list_refused(",cycles", -EINVAL, "an event is missing beside a ','");
	list_refused("cycles,,faults", -EINVAL, "an event is missing beside a ','");
	list_refused("cycles,nonsense1,faults", -ENOENT, "unknown event 'nonsense1'");
	list_refused("{cycles,instructions}", -EINVAL, "leave the braces away");
	list_refused("cpu/event=3,umask=1", -EINVAL, "lacks a '/'");
}

/* Listing ------------------------------------------------------------------------------------ */

struct seen {
	size_t nr, slots, imc, page_faults, table;
	char last[300];
};

static void see(void *arg, const struct event *e)
{
	struct seen *s = arg;
	struct event *v = NULL;
	size_t nr = 0;
	char key[300];

	snprintf(key, sizeof(key), "%s %s", e->pmu ? e->pmu->name : "", e->name);
	assert_true(known_compare(s->last, key) < 0);
	strcpy(s->last, key);
	s->nr++;
	s->slots += !strcmp(e->name, "slots");
	s->imc += !strncmp(e->name, "uncore_imc/cas_count_read/", 26);
	s->page_faults += !strcmp(e->name, "page-faults");
	s->table += e->source == EVENT_TABLE;
	/* A name that is shown can be asked for, and is the same. */
	assert_int_equal(catalog_find(catalog, e->name, &v, &nr), 0);
	assert_int_equal(v[0].type, e->type);
	assert_int_equal(v[0].config, e->config);
	events_free(v, nr);
}

static struct seen list(const char *key)
{
	struct seen s = {};

	enter(key);
	catalog_for_each(catalog, see, &s);
	assert_int_equal(s.page_faults, 1);
	return s;
}

static void test_lists_all_once_in_order(void **state)
{
	struct seen s;

	for (size_t i = 0; i < NR_MACHINES; i++)
		list(machines[i].key);
	s = list("icx");
	assert_int_equal(s.slots, 1);
	assert_true(s.table > 40);
	s = list("skx");
	assert_int_equal(s.slots, 0);
	assert_int_equal(s.imc, 1);
	s = list("none");
	assert_int_equal(s.table, 0);
	assert_int_equal(s.nr, 12);
}

/* Files that the kernel would not write are as if they were not there. */
static void test_broken_sysfs(void **state)
{
	enter_files("@cpu/type 4\n@cpu/format/event config:0-7\n@cpu/format/big config:0-99\n"
		    "@cpu/format/none config:\n@cpu/format/many config:1,2,3,4,5,6,7,8,9\n"
		    "@cpu/format/back config:7-0\n@cpu/format/wide config:0-63,0-63\n"
		    "@cpu/format/c3 config3:0-7\n@cpu/format/junk config:0-7x\n"
		    "@cpu/events/ok event=0x7\n@cpu/events/param event=?\n"
		    "@cpu/events/large event=0x100\n@cpu/events/strange foo=1\n@cpu/events/none \n"
		    "@uncore_x/type many\n@uncore_y/type 9\n@uncore_y/cpumask 3-1\n"
		    "@uncore_z/type 99999999999\n@uncore_w/type 7\n@uncore_w/cpumask \n"
		    "@uncore_w/format/event config:0-7\n");
	is("ok", 4, 7);
	refused("param", -ENOENT, "unknown event");
	refused("large", -ENOENT, "unknown event");
	refused("strange", -ENOENT, "unknown event");
	for (const char *const *field = (const char *const[]){ "big", "none", "many", "back",
							       "wide", "c3", "junk", NULL };
	     *field; field++) {
		char text[64];

		snprintf(text, sizeof(text), "cpu/%s=1/", *field);
		refused(text, -ENOENT, "no event and no field");
	}
	refused("uncore_x/event=1/", -ENODEV, "cannot be used");
	refused("uncore_y/event=1/", -ENODEV, "cannot be used");
	refused("uncore_z/event=1/", -ENODEV, "cannot be used");
	refused("uncore_w/event=1/", -ENODEV, "cannot be used");
	catalog_for_each(catalog, see, &(struct seen){});
}

static void test_no_root(void **state)
{
	assert_null(catalog_open("/nonexistent-root"));
	assert_int_equal(errno, ENOENT);
}

/* Nothing that is typed crashes it, or reads what it should not. */
static void test_mutated_names(void **state)
{
	static const char *const seeds[] = {
		"cycles:ukp",
		"cpu/event=0x3c,umask=0x1,name=x/u",
		"mem_load_retired.l3_miss",
		"L1-dcache-load-misses",
		"r003c",
		"uncore_imc_*/cas_count_read/",
		"cpu/edge,inv=1/",
		"cycles,instructions,cpu/event=1,umask=2/:k",
		"{a,b}:S",
		"slots",
		"cpu/config1=1/",
	};
	static const char bytes[] = "/:,=*?[]-_rukhp0x9f. \xff\033%sn{}";
	int null = open("/dev/null", O_WRONLY), old = dup(2);
	size_t nr_good = 0, nr;
	struct event *v;
	char text[128];

	srand(7);
	enter("skx");
	dup2(null, 2);
	for (int i = 0; i < 10000; i++) {
		const char *seed = seeds[(unsigned int)rand() % ARRAY_SIZE(seeds)];

		snprintf(text, sizeof(text), "%s", seed);
		for (int edits = rand() % 4; edits >= 0 && *text; edits--) {
			size_t at = (unsigned int)rand() % strlen(text);

			switch (rand() % 3) {
			case 0:
				text[at] = bytes[(unsigned int)rand() % (sizeof(bytes) - 1)];
				break;
			case 1:
				memmove(text + at, text + at + 1, strlen(text + at));
				break;
			default:
				text[at] = seed[(unsigned int)rand() % strlen(seed)];
			}
		}
		v = NULL;
		nr = 0;
		nr_good += !catalog_find(catalog, text, &v, &nr);
		nr_good += !catalog_find_list(catalog, text, &v, &nr);
		catalog_has(catalog, text);
		events_free(v, nr);
	}
	dup2(old, 2);
	close(old);
	close(null);
	assert_true(nr_good > 500 && nr_good < 15000);
}

/* Cost --------------------------------------------------------------------------------------- */

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* With as many PMUs as a server of two sockets has; 50 ms are for this and for opening them. */
static void test_names_are_found_quickly(void **state)
{
	static const char *const names[] = {
		"cycles",
		"instructions",
		"slots",
		"topdown-retiring",
		"cache-misses",
		"mem_load_retired.l3_miss",
		"mem_load_retired.l2_miss",
		"branch-misses",
		"faults",
		"cpu/event=0x3c,umask=1/",
		"r003c",
		"L1-dcache-load-misses",
		"dTLB-load-misses",
		"cs",
		"cpu-clock",
	};
	double start, ms, fastest = 1e9;
	char path[64];

	enter("spr");
	for (int i = 0; i < 300; i++) {
		snprintf(path, sizeof(path), "@uncore_cha_%d/type", i);
		machine_put(root, path, "33");
		snprintf(path, sizeof(path), "@uncore_cha_%d/cpumask", i);
		machine_put(root, path, "0");
		snprintf(path, sizeof(path), "@uncore_cha_%d/events/clockticks", i);
		machine_put(root, path, "event=0");
	}
	/* The fastest of five: others use the machine, and sanitizers take their part, too. */
	for (int round = 0; round < 5; round++) {
		catalog_close(catalog);
		start = cpu_ms();
		catalog = catalog_open(root);
		for (size_t i = 0; i < 30; i++)
			assert_int_equal(catalog_find(catalog, names[i % ARRAY_SIZE(names)], &found,
						      &nr_found),
					 0);
		ms = cpu_ms() - start;
		fastest = ms < fastest ? ms : fastest;
	}
	print_message("catalog_open and 30 names, 304 PMUs: %.2f ms\n", fastest);
	assert_true(fastest < 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_what_is_not_here_is_told, teardown),
		cmocka_unit_test_teardown(test_malformed, teardown),
		cmocka_unit_test_teardown(test_some_of_a_list, teardown),
		cmocka_unit_test_teardown(test_lists, teardown),
		cmocka_unit_test_teardown(test_lists_all_once_in_order, teardown),
		cmocka_unit_test_teardown(test_broken_sysfs, teardown),
		cmocka_unit_test_teardown(test_no_root, teardown),
		cmocka_unit_test_teardown(test_mutated_names, teardown),
		cmocka_unit_test_teardown(test_names_are_found_quickly, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
