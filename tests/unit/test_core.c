/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* event/core: which core a machine has, from files as servers have them, and from broken ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "event/core.h"
#include "tests/unit/machines.h"

static struct core core_of(const char *key)
{
	char *root = machine_make(key);
	struct core core;

	core_read(&core, root);
	machine_remove(root);
	return core;
}

static struct core core_with(const char *files)
{
	char *root = machine_new();
	struct core core;

	machine_put_all(root, files);
	core_read(&core, root);
	machine_remove(root);
	return core;
}

/* By the book: MIDR parts and models of servers that can be rented. */
static const struct {
	const char *key;
	enum core_id id;
	enum core_vendor vendor;
	const char *name;
	uint32_t slots;
	const char *ident, *cpu;
} expected[] = {
	{ "n1", CORE_NEOVERSE_N1, CORE_ARM, "Neoverse N1", 0, "midr 0x413fd0c1", "Neoverse N1" },
	{ "v1", CORE_NEOVERSE_V1, CORE_ARM, "Neoverse V1", 8, "midr 0x411fd401", "Neoverse V1" },
	{ "v1-vm", CORE_NEOVERSE_V1, CORE_ARM, "Neoverse V1", 8, "midr 0x411fd401", "Neoverse V1" },
	{ "n2", CORE_NEOVERSE_N2, CORE_ARM, "Neoverse N2", 5, "midr 0x410fd490", "Neoverse N2" },
	{ "n2-r0p3", CORE_NEOVERSE_N2, CORE_ARM, "Neoverse N2", 5, "midr 0x410fd493",
	  "Neoverse N2" },
	{ "cobalt", CORE_NEOVERSE_N2, CORE_ARM, "Neoverse N2", 5, "midr 0x6d0fd490",
	  "Neoverse N2" },
	{ "v2", CORE_NEOVERSE_V2, CORE_ARM, "Neoverse V2", 8, "midr 0x410fd4f1", "Neoverse V2" },
	{ "v3", CORE_NEOVERSE_V3, CORE_ARM, "Neoverse V3", 10, "midr 0x411fd840", "Neoverse V3" },
	{ "v3ae", CORE_NEOVERSE_V3, CORE_ARM, "Neoverse V3", 10, "midr 0x411fd830", "Neoverse V3" },
	{ "arm", CORE_UNKNOWN, CORE_ARM, "unknown Arm core", 0, "midr 0x000f0510",
	  "unknown Arm core" },
	{ "n1-cpuinfo", CORE_NEOVERSE_N1, CORE_ARM, "Neoverse N1", 0, "midr 0x413fd0c1",
	  "Neoverse N1" },
	{ "skx", CORE_SKYLAKE_X, CORE_INTEL, "Skylake-X", 4, "GenuineIntel 6-85-8",
	  "Intel(R) Xeon(R) Platinum 8175M" },
	{ "icx", CORE_ICELAKE_X, CORE_INTEL, "Ice Lake", 5, "GenuineIntel 6-106-8",
	  "Intel(R) Xeon(R) Platinum 8375C" },
	{ "spr", CORE_SAPPHIRE_RAPIDS, CORE_INTEL, "Sapphire Rapids", 6, "GenuineIntel 6-143-8",
	  "Intel(R) Xeon(R) Platinum 8488C" },
	{ "emr", CORE_SAPPHIRE_RAPIDS, CORE_INTEL, "Sapphire Rapids", 6, "GenuineIntel 6-207-8",
	  "Intel(R) Xeon(R) Platinum 8592+" },
	{ "gnr", CORE_GRANITE_RAPIDS, CORE_INTEL, "Granite Rapids", 6, "GenuineIntel 6-173-8",
	  "Intel(R) Xeon(R) 6972P" },
	{ "zen4", CORE_ZEN4, CORE_AMD, "Zen 4", 6, "AuthenticAMD 25-17-8", "AMD EPYC 9R14" },
	{ "zen5", CORE_ZEN5, CORE_AMD, "Zen 5", 8, "AuthenticAMD 26-2-8", "AMD EPYC 9R45" },
	{ "zen3", CORE_UNKNOWN, CORE_AMD, "unknown AMD core", 0, "AuthenticAMD 25-1-8",
	  "AMD EPYC 7R13" },
	{ "hybrid", CORE_UNKNOWN, CORE_INTEL, "unknown Intel core", 0, "GenuineIntel 6-151-8",
	  "12th Gen Intel(R) Core(TM) i9-12900K" },
};

static void test_every_core_is_told(void **state)
{
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		struct core core = core_of(expected[i].key);

		assert_int_equal(core.id, expected[i].id);
		assert_int_equal(core.vendor, expected[i].vendor);
		assert_string_equal(core.name, expected[i].name);
		assert_int_equal(core.slots, expected[i].slots);
		assert_string_equal(core.ident, expected[i].ident);
		assert_string_equal(core.cpu, expected[i].cpu);
	}
}

/* Formulas of the Neoverse N2 depend on it. */
static void test_revisions_are_told(void **state)
{
	struct core old = core_of("n2"), new = core_of("n2-r0p3"), n1 = core_of("n1");

	assert_int_equal(old.variant, 0);
	assert_int_equal(old.revision, 0);
	assert_int_equal(new.variant, 0);
	assert_int_equal(new.revision, 3);
	assert_int_equal(n1.variant, 3);
	assert_int_equal(n1.revision, 1);
	assert_int_equal(n1.part, 0xd0c);
	assert_int_equal(core_of("cobalt").implementer, 0x6d);
}

/* What the PMU says of itself goes before our table; nonsense does not. */
static void test_slots_are_the_pmus(void **state)
{
	struct core core = core_with(MIDR " 0x411fd401\n@armv8_neoverse_v1/caps/slots 0x0a\n");

	assert_int_equal(core.slots, 10);
	core = core_with(MIDR " 0x411fd401\n@armv8_pmuv3/caps/slots 0xfffffffff\n");
	assert_int_equal(core.slots, 8);
	core = core_with(MIDR " 0x411fd401\n@armv8_pmuv3/caps/slots many\n");
	assert_int_equal(core.slots, 8);
}

static void test_what_cannot_be_read_is_unknown(void **state)
{
	static const char *const files[] = {
		"/nothing x\n",
		"/proc/cpuinfo ||||\n",
		"/proc/cpuinfo vendor_id|cpu family:|model : : :|:\n",
		"/proc/cpuinfo vendor_id\t: GenuineIntelGenuineIntelGenuineIntelGenuineIntel\n",
		"/proc/cpuinfo cpu family\t: 99999999999999999999|model\t: -3|stepping\t: x\n",
		MIDR " 0x\n",
		MIDR " 0x1ffffffff\n",
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct core core = core_with(files[i]);

		assert_int_equal(core.id, CORE_UNKNOWN);
		assert_int_equal(core.vendor, CORE_OTHER);
		assert_string_equal(core.name, "unknown core");
		assert_true(*core.ident && *core.cpu);
	}
}

/* A hypervisor may write what it likes there. */
static void test_names_are_safe_to_print(void **state)
{
	struct core core = core_with("/proc/cpuinfo vendor_id\t: GenuineIntel|"
				     "model name\t: A\033[2JB\xff"
				     "C\n");

	assert_null(strchr(core.cpu, '\033'));
	assert_non_null(strstr(core.cpu, "[2JB"));
	assert_null(strchr(core.cpu, '\xff'));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_core_is_told),
		cmocka_unit_test(test_revisions_are_told),
		cmocka_unit_test(test_slots_are_the_pmus),
		cmocka_unit_test(test_what_cannot_be_read_is_unknown),
		cmocka_unit_test(test_names_are_safe_to_print),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
