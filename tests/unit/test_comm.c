/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of threads: what lies behind their end is not part of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bpf/comm.bpf.h"

#define NR_TRIALS 100000

static void test_copy(void **state)
{
	_Alignas(8) char from[PROF_COMM_LEN], to[PROF_COMM_LEN];
	char expected[PROF_COMM_LEN];

	(void)state;
	srandom(1);
	for (int trial = 0; trial < NR_TRIALS; trial++) {
		size_t len =
			random() % (PROF_COMM_LEN + 1); /* 16: no end, which the kernel never has */

		for (size_t i = 0; i < PROF_COMM_LEN; i++) {
			int byte =
				random() % 4 ? (int)(random() % 256) : (int)(random() % 3) * 0x7f;

			from[i] = (char)(i < len && !byte ? 1 : byte);
			to[i] = (char)random();
		}
		if (len < PROF_COMM_LEN)
			from[len] = 0;
		memset(expected, 0, sizeof(expected));
		memcpy(expected, from, len);
		comm_copy(to, from);
		assert_memory_equal(to, expected, sizeof(to));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
