/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Results of runqlat in profiles: what was saved comes back, what was forged does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "output/output.h"
#include "profile/save.h"
#include "tests/unit/made_runqlat.h"

static char path[] = "/tmp/test_runqlat_saved.XXXXXX";

static char *written(const struct runqlat_report *r, const char *output)
{
	const struct result result = { RESULT_RUNQLAT, .runqlat = r };
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_int_equal(
		output_write(output_get(RESULT_RUNQLAT, output), &result, &(struct view){}, out),
		0);
	fclose(out);
	return text;
}

/* The known report, kept in a profile. */
static struct profile *kept(enum prof_hist_by by, bool split)
{
	struct runqlat_row *rows = known_rows();
	struct runqlat_report r = known_report(rows);
	struct profile *p = profile_new();

	r.by = by;
	r.split = split;
	r.outliers_lost = 7;
	p->meta.command = profile_string(p, "runqlat");
	p->meta.target = profile_string(p, r.target);
	p->meta.start_ns = r.start_real_ns;
	p->meta.duration_ns = r.duration_ns;
	p->counters[PROF_SEEN] = p->counters[PROF_RECORDED] = 5;
	runqlat_report_keep(&r, p);
	free(rows);
	return p;
}

static void save(const struct profile *p)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	profile_save(p, f);
	assert_int_equal(fclose(f), 0);
}

/* What is loaded of it prints as what was measured, in every form. */
static void check_same(enum prof_hist_by by, bool split)
{
	static const char *const outputs[] = { "json", "csv", "summary" };
	struct runqlat_row *rows = known_rows();
	struct runqlat_report r = known_report(rows), again;
	struct profile *p = kept(by, split), *q;
	char *before, *after;

	r.by = by;
	r.split = split;
	r.outliers_lost = 7;
	r.counters = p->counters;
	r.profile = p;
	save(p);
	q = profile_load(path);
	assert_non_null(q);
	runqlat_report_make(&again, q);
	for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++) {
		before = written(&r, outputs[i]);
		after = written(&again, outputs[i]);
		assert_string_equal(before, after);
		free(before);
		free(after);
	}
	runqlat_report_release(&again);
	profile_free(p);
	profile_free(q);
	free(rows);
}

static void what_was_saved_comes_back(void **state)
{
	check_same(PROF_HIST_BY_CPU, false);
	check_same(PROF_HIST_BY_CPU, true);
	check_same(PROF_HIST_BY_PROCESS, true);
	check_same(PROF_HIST_BY_THREAD, true);
}

static void rows_without_waits_are_not_saved(void **state)
{
	struct profile *p = kept(PROF_HIST_BY_PROCESS, true);

	assert_int_equal(p->nr_hist_rows, 2);
	assert_int_equal(p->nr_hist_buckets, 3);
	assert_int_equal(p->nr_outliers, 1);
	profile_free(p);
}

typedef void (*forgery)(struct profile *p);

static void no_row(struct profile *p)
{
	p->hist_buckets[1].row = 2;
}

static void no_kind(struct profile *p)
{
	p->hist_buckets[0].kind = PROF_NR_HISTS;
}

static void no_bucket(struct profile *p)
{
	p->hist_buckets[2].index = PROF_HIST_BUCKETS;
}

static void many_waits(struct profile *p)
{
	p->hist_buckets[0].count = 1ull << 53;
}

static void overflow(struct profile *p)
{
	p->hist_buckets[0].count = p->hist_buckets[1].count = UINT64_MAX;
}

static void long_wait(struct profile *p)
{
	p->hist_rows[1].max_ns[PROF_HIST_WOKEN] = UINT64_MAX;
}

static void long_sum(struct profile *p)
{
	p->hist_rows[0].sum_ns[PROF_HIST_WOKEN] = p->hist_rows[1].sum_ns[PROF_HIST_WOKEN] = 1ull
											    << 61;
}

static void by_nothing(struct profile *p)
{
	p->meta.hist_by = PROF_HIST_BY_THREAD + 1;
}

static void outlier_of_no_kind(struct profile *p)
{
	p->outliers[0].kind = PROF_NR_HISTS;
}

static void what_is_out_of_range_is_refused(void **state)
{
	static const forgery forgeries[] = { no_row,	 no_kind,    no_bucket,
					     many_waits, overflow,   long_wait,
					     long_sum,	 by_nothing, outlier_of_no_kind };

	for (size_t i = 0; i < sizeof(forgeries) / sizeof(forgeries[0]); i++) {
		struct profile *p = kept(PROF_HIST_BY_PROCESS, true);

		assert_true(runqlat_report_can(p));
		forgeries[i](p);
		assert_false(runqlat_report_can(p));
		save(p);
		assert_null(profile_load(path));
		profile_free(p);
	}
}

/* The name of a row need not end, and a bucket may be there twice. */
static void what_is_odd_is_shown(void **state)
{
	struct profile *p = kept(PROF_HIST_BY_PROCESS, true), *q;
	struct runqlat_report r;
	char *text;

	memset(p->hist_rows[0].name, 'x', sizeof(p->hist_rows[0].name));
	p->hist_buckets[1] = p->hist_buckets[0];
	p->hist_rows[0].max_ns[PROF_HIST_PREEMPTED] = 1ull << 62;
	save(p);
	q = profile_load(path);
	assert_non_null(q);
	runqlat_report_make(&r, q);
	text = written(&r, "summary");
	assert_non_null(strstr(text, " xxxxxxxxxxxxxxx "));
	free(text);
	runqlat_report_release(&r);
	profile_free(p);
	profile_free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_saved_comes_back),
		cmocka_unit_test(rows_without_waits_are_not_saved),
		cmocka_unit_test(what_is_out_of_range_is_refused),
		cmocka_unit_test(what_is_odd_is_shown),
	};
	int failed, fd = mkstemp(path);

	if (fd < 0)
		return 1;
	close(fd);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}
