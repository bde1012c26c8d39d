/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Columns of pmu -M, on machines made up in a folder: by the rows of metrics of stat. */
#include "collect/group_columns.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "tests/unit/catalogs.h"

/* "IPC=inst_retired*1/cpu_cycles branch_mpki=…" */
static char *columns(const char *list, int expected)
{
	struct group_column *v = NULL;
	size_t nr = 0;
	char *text = xstrdup(""), *more;
	int err = group_columns_find(catalog, list, &v, &nr);

	assert_int_equal(err, expected);
	for (size_t i = 0; i < nr && !err; i++) {
		assert_int_equal(v[i].nr_terms, 2);
		more = xasprintf("%s%s%s=%lu*%s/%s", text, i ? " " : "", v[i].name,
				 (unsigned long)v[i].per, v[i].terms[0].name, v[i].terms[1].name);
		free(text);
		text = more;
	}
	group_columns_free(v, nr);
	return text;
}

static void are(const char *list, const char *expected)
{
	char *got = columns(list, 0);

	assert_string_equal(got, expected);
	free(got);
}

#define IPC "IPC=1*instructions/cycles"

/* The core's own events, where it has them: what stat calls branch_mpki. */
static void sets_are_the_rows_of_metrics(void **state)
{
	enter("v1");
	are("ipc", IPC);
	are("branch", IPC " branch_mpki=1000*br_mis_pred_retired/inst_retired");
	are("ipc,branch,branch", IPC " branch_mpki=1000*br_mis_pred_retired/inst_retired");
	are("cache", IPC " llc_mpki=1000*ll_cache_miss_rd/inst_retired");
	are("branch,cache,l1d_cache", IPC
	    " branch_mpki=1000*br_mis_pred_retired/inst_retired "
	    "llc_mpki=1000*ll_cache_miss_rd/inst_retired l1d_cache/1k=1000*l1d_cache/instructions");
	free(columns("topdown", -EOPNOTSUPP)); /* by slots: sums of several */
	enter("v1-vm");
	are("topdown", IPC " frontend_bound=100*stall_frontend/cpu_cycles "
			   "backend_bound=100*stall_backend/cpu_cycles");
}

static void events_are_by_instructions(void **state)
{
	enter("v1");
	are("l2d_cache_refill", IPC " l2d_cache_refill/1k=1000*l2d_cache_refill/instructions");
}

static void mistakes_are_refused(void **state)
{
	enter("v1");
	free(columns("brunch", -ENOENT));
	free(columns("l1d_cache,l2d_cache,l1d_cache_refill,l2d_cache_refill", -EINVAL));
	enter("none");
	free(columns("cache", -EOPNOTSUPP));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(sets_are_the_rows_of_metrics, teardown),
		cmocka_unit_test_teardown(events_are_by_instructions, teardown),
		cmocka_unit_test_teardown(mistakes_are_refused, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
