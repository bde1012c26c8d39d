/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What each kind of recording takes on hosts that nobody here has: sizes come from the code that
 * creates the maps, with the number of CPUs and threads as arguments. Prints the table of
 * ARCHITECTURE.md.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/opt.h"
#include "collect/accounts.h"
#include "collect/record.h"
#include "collect/session.h"
#include "event/sideband.h"

#define NR(a)		(sizeof(a) / sizeof((a)[0]))
#define MB		1e6
#define LIMIT_MB	96
#define THREADS_PER_CPU 20
#define SEGMENTS	2 /* of unwind tables: 1.8 M rows, as of 100 binaries */

/* As the commands fill them in, and what is dearest of each. */
static const struct kind {
	const char *name;
	struct record_opts o;
} kinds[] = {
	{ "oncpu", { .command = "oncpu", .max_depth = 1024 } },
	{ "oncpu -p", { .command = "oncpu", .max_depth = 1024, .pids.nr = 1 } },
	{ "offcpu", { .command = "offcpu", .max_depth = 1024 } },
	{ "wall", { .command = "wall", .max_depth = 1024 } },
	{ "top", { .command = "top", .max_depth = 1024 } },
	{ "wakeup --hops=3", { .command = "wakeup", .max_depth = 1024, .waits.hops = 3 } },
	{ "offcpu --no-stacks", { .command = "offcpu", .waits.no_stacks = true } },
	{ "runqlat -P",
	  { .command = "runqlat", .runqlat.by = PROF_HIST_BY_PROCESS, .runqlat.outlier_us = 1 } },
};

static const uint32_t cpus[] = { 2, 64, 192, 384 };

static uint64_t maps_of(const struct record_opts *o, const struct sizes_host *host)
{
	struct session_opts so = { .probe = probe_get(o->command),
				   .config = record_config(o),
				   .max_stacks = o->max_stacks,
				   .few_stacks = !strcmp(o->command, "top"),
				   .max_bytes = o->max_bytes };
	uint64_t bytes = session_plan_bytes(&so, host);

	assert_true(bytes);
	return bytes;
}

static uint64_t all_of(const struct record_opts *o, const struct sizes_host *host)
{
	bool tables = record_config(o).call_graph != CALL_GRAPH_FP;

	return maps_of(o, host) + sideband_plan_bytes(host->nr_cpus) +
	       tables * SEGMENTS * (uint64_t)TABLE_SEGMENT_BYTES;
}

static struct sizes_host host_of(uint32_t nr_cpus)
{
	return (struct sizes_host){ nr_cpus, nr_cpus * THREADS_PER_CPU };
}

static void put_head(void)
{
	printf("MB: maps, states of threads, rings, %d MB of unwind tables\n",
	       (int)(SEGMENTS * TABLE_SEGMENT_BYTES / MB));
	printf("%-18s", "CPUs");
	for (size_t i = 0; i < NR(cpus); i++)
		printf(" %6u", cpus[i]);
	putchar('\n');
}

static void no_kind_takes_more_than_allowed(void **state)
{
	(void)state;
	put_head();
	for (size_t k = 0; k < NR(kinds); k++) {
		printf("%-18s", kinds[k].name);
		for (size_t i = 0; i < NR(cpus); i++) {
			struct sizes_host host = host_of(cpus[i]);
			uint64_t bytes = all_of(&kinds[k].o, &host);

			printf(" %6.1f", bytes / MB);
			if (cpus[i] <= 192)
				assert_in_range(bytes, 1, LIMIT_MB * MB);
		}
		putchar('\n');
	}
}

static void counting_takes_little(void **state)
{
	(void)state;
	printf("%-18s", "stat --per-thread");
	for (size_t i = 0; i < NR(cpus); i++) {
		struct sizes_host host = host_of(cpus[i]);
		uint64_t bytes = accounts_plan_bytes(&host);

		printf(" %6.1f", bytes / MB);
		assert_in_range(bytes, 1, LIMIT_MB * MB);
	}
	putchar('\n');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_kind_takes_more_than_allowed),
		cmocka_unit_test(counting_takes_little),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
