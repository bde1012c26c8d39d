/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What moves numbers from run to run, of machines made up in a folder. */
#include "collect/stability.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/machines.h"

#define CPU "/sys/devices/system/cpu/"

static void is_fact(const char *files, const char *name, const char *value, const char *advice)
{
	struct stat_report r = {};
	char *root = machine_new();
	size_t i = 0;

	machine_put_all(root, files);
	stability_read(&r, root);
	while (i < r.nr_facts && strcmp(r.facts[i].name, name) != 0)
		i++;
	assert_true(i < r.nr_facts);
	assert_string_equal(r.facts[i].value, value);
	assert_string_equal(r.facts[i].advice, advice);
	stat_report_release(&r);
	machine_remove(root);
}

static void settings_are_read_from_their_files(void **state)
{
	is_fact(CPU "intel_pstate/no_turbo 0\n", "Turbo", "on",
		"echo 1 >" CPU "intel_pstate/no_turbo");
	is_fact(CPU "intel_pstate/no_turbo 1\n", "Turbo", "off", "");
	is_fact(CPU "cpufreq/boost 1\n", "Turbo", "on", "echo 0 >" CPU "cpufreq/boost");
	is_fact(CPU "cpufreq/boost 0\n", "Turbo", "off", "");
	is_fact(CPU "smt/active 1\n", "SMT", "on", "echo off >" CPU "smt/control");
	is_fact("/proc/sys/kernel/randomize_va_space 2\n", "ASLR", "on", "setarch -R PROGRAM");
	is_fact("/proc/sys/kernel/randomize_va_space 0\n", "ASLR", "off", "");
	is_fact("/proc/sys/kernel/nmi_watchdog 1\n", "NMI watchdog",
		"on (takes a counter of each CPU)", "sysctl kernel.nmi_watchdog=0");
	is_fact("/proc/sys/kernel/perf_event_paranoid 4\n", "kernel.perf_event_paranoid", "4", "");
}

/* What is not there is not told as off. */
static void what_is_not_there_is_not_known(void **state)
{
	is_fact("/proc/x 1\n", "Turbo", "not to be seen here", "");
	is_fact("/proc/x 1\n", "SMT", "not to be seen here", "");
	is_fact("/proc/x 1\n", "Governor", "none to be seen: the machine decides", "");
	is_fact(CPU "smt/active 7\n", "SMT", "not to be seen here", "");
}

static void governors_that_differ_are_counted(void **state)
{
	is_fact(CPU "cpu0/cpufreq/scaling_governor performance\n", "Governor", "performance", "");
	is_fact(CPU "cpu0/cpufreq/scaling_governor powersave\n", "Governor", "powersave",
		"cpupower frequency-set -g performance");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(settings_are_read_from_their_files),
		cmocka_unit_test(what_is_not_there_is_not_known),
		cmocka_unit_test(governors_that_differ_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
