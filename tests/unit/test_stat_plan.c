/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What follows from events by name, on machines made up in a folder: metrics, of which counts. */
#include "collect/stat_plan.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/catalogs.h"

#define SECOND 1000000000ull

static struct stat_plan plan;
static struct stat_row row;

static int release(void **state)
{
	stat_row_release(&row);
	stat_plan_release(&plan);
	return teardown(state);
}

static void plan_make(const char *machine, const char *sets, const char *events, bool per_task)
{
	stat_row_release(&row);
	stat_plan_release(&plan);
	enter(machine);
	assert_int_equal(stat_plan_make(&plan, catalog, sets, events, per_task, 0, NULL), 0);
}

/* Event i counts 1000 * (i + 1) in two seconds. */
static void fill(void)
{
	struct count *counts = calloc(plan.nr_events + 1, sizeof(*counts));
	double seconds = 2;
	struct stat_plan_runs runs = { counts, &seconds, 1 };

	for (size_t i = 0; i < plan.nr_events; i++)
		counts[i] = count_make(1000 * (i + 1), 2 * SECOND, 2 * SECOND, true);
	stat_plan_fill(&plan, &runs, &row);
	free(counts);
}

static double value_of(const char *metric)
{
	const struct stat_metric *m = stat_row_metric(&row, metric);

	return m ? m->number.mean : NAN;
}

/* The names of the kernel are other names of Arm's events: thresholds are those of the core. */
static void events_of_the_core_make_its_metrics(void **state)
{
	plan_make("n1", NULL, "cycles,instructions", false);
	assert_int_equal(plan.nr_events, 2);
	fill();
	assert_true(value_of("ipc") == 2);
	assert_true(value_of("cpi") == 0.5);
	assert_true(stat_row_metric(&row, "ipc")->ok == 2);
	assert_int_equal(row.nr_metrics, 2);

	plan_make("spr", NULL, "instructions,cycles,branches,branch-misses", true);
	assert_int_equal(plan.nr_events, 4);
	fill();
	assert_true(value_of("ipc") == 0.5);
	assert_true(stat_row_metric(&row, "ipc")->ok == 1.5);
	assert_true(fabs(value_of("branch_mispredict") - 400.0 / 3) < 1e-9);
}

static void modes_are_not_mixed(void **state)
{
	plan_make("n1", NULL, "cycles:u,instructions", false);
	assert_int_equal(plan.plan.nr_metrics, 0);
	plan_make("n1", NULL, "task-clock,cycles:u,instructions:u", false);
	assert_int_equal(plan.nr_events, 3);
	fill();
	assert_true(value_of("ipc") == 1.5);
	/* Those of sets are of all modes, and are counted on their own. */
	plan_make("n1", "ipc", "cycles:u,instructions:u", false);
	assert_true(plan.nr_events > 2);
	assert_int_equal(plan.nr_named, 2);
	fill();
	assert_true(value_of("ipc") != 2);
}

/* The task clock of a CPU is the time that went by. */
static void cpus_used_are_of_tasks(void **state)
{
	plan_make("n1", NULL, "task-clock", true);
	fill();
	assert_true(fabs(value_of("cpus_used") - 1000 / 2e9) < 1e-15);
	plan_make("n1", NULL, "task-clock", false);
	assert_int_equal(plan.plan.nr_metrics, 0);
}

static void missing_events_are_rows_at_the_end(void **state)
{
	plan_make("n1", NULL, "stall_backend_mem,cycles,page-fault", false);
	fill();
	assert_int_equal(row.nr_events, 3);
	assert_string_equal(row.events[0].name, "cycles");
	assert_string_equal(row.events[1].name, "stall_backend_mem");
	assert_int_equal(row.events[1].count.state, COUNT_NOT_AVAILABLE);
	assert_true(isnan(row.events[1].number.mean));
	assert_non_null(strstr(row.events[1].why, "is an event of"));
	assert_non_null(strstr(row.events[2].why, "did you mean 'page-faults'"));
	assert_string_equal(row.events[0].why, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(events_of_the_core_make_its_metrics, release),
		cmocka_unit_test_teardown(modes_are_not_mixed, release),
		cmocka_unit_test_teardown(cpus_used_are_of_tasks, release),
		cmocka_unit_test_teardown(missing_events_are_rows_at_the_end, release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
