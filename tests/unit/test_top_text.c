/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The heads of top. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cmd/top_parts.h"

static void assert_cost(const struct live_facts *f, const char *wanted)
{
	char *text = top_cost_text(f, 0);

	assert_string_equal(text, wanted);
	free(text);
}

static void test_budget(void **state)
{
	struct live_facts f = { .window_ns = 10000000000,
				.samples = 1230,
				.cpu_ns = 53000000,
				.bpf_ns = 12000000,
				.budget = 0.01,
				.samples_one_in = 1,
				.stacks_one_in = 1,
				.nr_cpus = 2 };

	assert_cost(&f, "123 samples/s, none lost; CPU: own 0.53%, BPF 0.12%, max 2.0%");
	f.stacks_one_in = 4;
	assert_cost(&f, "123 samples/s (1 in 4 stacks), none lost; CPU: own 0.53%, BPF 0.12%, "
			"max 2.0%");
	f.samples_one_in = 64;
	assert_cost(&f, "123 samples/s (1 in 64 taken), none lost; CPU: own 0.53%, BPF 0.12%, "
			"max 2.0%");
	f.budget = 0;
	f.samples_one_in = f.stacks_one_in = 1;
	assert_cost(&f, "123 samples/s, none lost; CPU: own 0.53%, BPF 0.12%");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
