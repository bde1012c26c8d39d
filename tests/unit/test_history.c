/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Histories of results: what is read, where a number changed for good, and what is unusual. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/csv.h"
#include "metric/history.h"

static const struct history_opts usual = { .window = 20, .sigma = 3 };
static char path[] = "/tmp/test_history.XXXXXX";

static void write_file(const char *text)
{
	FILE *f = fopen(path, "w");

	fputs(text, f);
	fclose(f);
}

/* A history of one number, a day after the other. */
static void make(struct history *h, const double *v, size_t nr)
{
	FILE *f = fopen(path, "w");

	fputs("start_s,name,value\n", f);
	for (size_t i = 0; i < nr; i++)
		fprintf(f, "%zu,time,%.10g\n", 86400 * (i + 1), v[i]);
	fclose(f);
	assert_int_equal(history_read(h, path), 0);
	assert_int_equal(h->nr_runs, nr);
}

static double uniform(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (*state >> 11) * 0x1p-53;
}

/* Nearly normal, of mean 0 and deviation 1. */
static double noise(uint64_t *state)
{
	double sum = 0;

	for (int i = 0; i < 12; i++)
		sum += uniform(state);
	return sum - 6;
}

static void fields_are_taken_apart(void **state)
{
	static const struct {
		const char *line;
		size_t nr;
		const char *second;
	} cases[] = {
		{ "a,b,c", 3, "b" },	       { "a,,c", 3, "" },
		{ "a,\"b,c\"", 2, "b,c" },     { "a,\"b\"\"c\"", 2, "b\"c" },
		{ "a,\"\",c", 3, "" },	       { "a,", 2, "" },
		{ "a,\"b", 0, NULL },	       { "a,\"b\"c", 0, NULL },
		{ "\"a\",\"\"\"\"", 2, "\"" },
	};
	struct csv_row row;
	char line[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		strcpy(line, cases[i].line);
		assert_int_equal(csv_split(line, &row), cases[i].nr != 0);
		if (!cases[i].nr)
			continue;
		assert_int_equal(row.nr, cases[i].nr);
		assert_string_equal(row.v[1], cases[i].second);
	}
	memset(line, ',', sizeof(line) - 1);
	line[sizeof(line) - 1] = 0;
	assert_true(csv_split(line, &row) && row.nr == CSV_MAX_FIELDS);
}

/* mean 101, deviation sqrt(2.5): 110 is 9 off, by sqrt(2.5 * 6 / 5). */
static void z_is_of_the_runs_before(void **state)
{
	static const double v[] = { 99, 100, 101, 102, 103, 110 };
	struct history h;

	make(&h, v, 6);
	assert_int_equal(history_judge(&h, &usual, &(struct diff_rules){}), 0);
	assert_int_equal(h.v[0].nr, 5);
	assert_true(fabs(h.v[0].mean - 101) < 1e-9);
	assert_true(fabs(h.v[0].deviation - sqrt(2.5)) < 1e-9);
	assert_true(fabs(h.v[0].z - 9 / sqrt(3)) < 1e-9);
	assert_true(fabs(h.v[0].change_pct - 900 / 101.0) < 1e-9);
	/* 5.2 deviations of five runs are as likely as 2.6 of many. */
	assert_false(h.v[0].unusual[5]);
	history_release(&h);
}

static void few_runs_say_nothing(void **state)
{
	static const double v[] = { 1, 1, 1, 1, 100 };
	struct history h;

	make(&h, v, 5);
	assert_int_equal(history_judge(&h, &usual, &(struct diff_rules){}), 0);
	assert_true(isnan(h.v[0].z) && !h.v[0].unusual[4]);
	history_release(&h);
}

/* Twenty runs of each level: steps are found where they are; noise makes one of 1,000 look so. */
static void steps_are_where_they_are(void **state)
{
	uint64_t random = 1;
	struct history h;
	size_t nr_more = 0;
	double v[60];

	for (int repeat = 0; repeat < 50; repeat++) {
		for (int i = 0; i < 60; i++)
			v[i] = (i < 20 ? 100 : i < 40 ? 105 : 95) + noise(&random);
		make(&h, v, 60);
		assert_int_equal(history_judge(&h, &usual, &(struct diff_rules){}), 0);
		nr_more += h.v[0].nr_steps - 2;
		if (h.v[0].nr_steps != 2) {
			history_release(&h);
			continue;
		}
		assert_in_range(h.v[0].steps[0].run, 19, 21);
		assert_in_range(h.v[0].steps[1].run, 40, 40);
		assert_true(fabs(h.v[0].steps[0].before - 100) < 1 &&
			    fabs(h.v[0].steps[0].after - 105) < 1 &&
			    fabs(h.v[0].steps[1].after - 95) < 1);
		history_release(&h);
	}
	assert_in_range(nr_more, 0, 1);
}

/* Of a number that only varies; 3 sigma are one of 370. */
static void noise_is_not_unusual(void **state)
{
	size_t nr_unusual = 0, nr_steps = 0, nr = 0;
	uint64_t random = 7;
	struct history h;
	double v[100];

	for (int repeat = 0; repeat < 100; repeat++) {
		for (int i = 0; i < 100; i++)
			v[i] = 50 + noise(&random);
		make(&h, v, 100);
		assert_int_equal(history_judge(&h, &usual, &(struct diff_rules){}), 0);
		for (int i = 0; i < 100; i++)
			nr_unusual += h.v[0].unusual[i];
		nr_steps += h.v[0].nr_steps;
		nr += 100;
		history_release(&h);
	}
	print_message("%zu of %zu runs unusual, %zu steps\n", nr_unusual, nr, nr_steps);
	assert_in_range(nr_unusual, 5, nr / 150);
	assert_in_range(nr_steps, 0, 2);
}

/* One that stands out does not hide the next, nor become the usual. */
static void outliers_do_not_count(void **state)
{
	struct diff_rule rule = { "time", true, 5 }, faster = { "time", false, -5 };
	double v[24];
	struct history h;

	for (int i = 0; i < 24; i++)
		v[i] = 100 + i % 3;
	v[15] = 200;
	v[22] = v[23] = 120;
	make(&h, v, 24);
	assert_int_equal(history_judge(&h, &usual, &(struct diff_rules){ &rule, 1 }), 0);
	assert_true(h.v[0].unusual[15] && h.v[0].unusual[22] && h.v[0].failed);
	assert_true(!h.v[0].unusual[16] && h.nr_failed == 1 && !h.v[0].nr_steps);
	assert_true(fabs(h.v[0].mean - 101) < 0.5);
	history_release(&h);
	make(&h, v, 24);
	assert_int_equal(history_judge(&h, &usual, &(struct diff_rules){ &faster, 1 }), 0);
	assert_true(h.v[0].unusual[23] && !h.v[0].failed && !h.nr_failed);
	history_release(&h);
}

/* A step of a half: there are too few runs behind it to call the latest unusual, or usual. */
static void a_new_step_fails(void **state)
{
	static const double v[] = { 100, 101, 99, 100, 101, 148, 149, 147, 148 };
	struct diff_rule rule = { "time", true, 5 }, faster = { "time", false, -5 };
	struct history h;

	make(&h, v, 9);
	assert_int_equal(history_judge(&h, &usual, &(struct diff_rules){ &rule, 1 }), 0);
	assert_int_equal(h.v[0].nr_steps, 1);
	assert_true(h.v[0].failed && h.nr_failed == 1 && !h.nr_unjudged);
	history_release(&h);
	make(&h, v, 9);
	assert_int_equal(history_judge(&h, &usual, &(struct diff_rules){ &faster, 1 }), 0);
	assert_true(!h.v[0].failed && !h.nr_failed && !h.nr_unjudged);
	history_release(&h);
	make(&h, v, 4);
	assert_int_equal(history_judge(&h, &usual, &(struct diff_rules){ &rule, 1 }), 0);
	assert_true(!h.nr_failed && h.nr_unjudged == 1);
	history_release(&h);
}

/* Of what never varied any change is unusual, also from 0. */
static void constants_change(void **state)
{
	static const double cases[][7] = { { 0, 0, 0, 0, 0, 0, 5 }, { 8, 8, 8, 8, 8, 8, 9 } };
	struct diff_rule rule = { "time", true, 5 };
	struct history h;

	for (size_t i = 0; i < 2; i++) {
		make(&h, cases[i], 7);
		assert_int_equal(history_judge(&h, &usual, &(struct diff_rules){ &rule, 1 }), 0);
		assert_true(h.v[0].unusual[6] && h.v[0].failed);
		assert_true(i ? h.v[0].change_pct == 12.5
			      : isinf(h.v[0].change_pct) && isinf(h.v[0].z));
		history_release(&h);
	}
	make(&h, cases[0], 6);
	assert_int_equal(history_judge(&h, &usual, &(struct diff_rules){ &rule, 1 }), 0);
	assert_true(h.v[0].z == 0 && h.v[0].change_pct == 0 && !h.v[0].unusual[5]);
	history_release(&h);
}

/* The window goes on: the nearest runs count, without unusual ones. */
static void the_window_slides(void **state)
{
	const struct history_opts five = { .window = 5, .sigma = 3 };
	double v[40], sum = 0;
	struct history h;

	for (int i = 0; i < 40; i++)
		v[i] = 100 + i % 2;
	v[36] = 300;
	make(&h, v, 40);
	assert_int_equal(history_judge(&h, &five, &(struct diff_rules){}), 0);
	for (int i = 33; i < 39; i++)
		sum += i == 36 ? 0 : v[i];
	assert_true(h.v[0].unusual[36] && h.v[0].nr == 5 && fabs(h.v[0].mean - sum / 5) < 1e-9);
	history_release(&h);
}

static void a_window_of_days(void **state)
{
	static const double v[] = { 1000, 1001, 1000, 1001, 10, 11, 10, 11, 10, 11, 10 };
	const struct history_opts week = { .window_s = 6 * 86400, .sigma = 3 };
	struct history h;

	make(&h, v, 11);
	assert_int_equal(history_judge(&h, &week, &(struct diff_rules){}), 0);
	assert_int_equal(h.v[0].nr, 6);
	assert_true(fabs(h.v[0].mean - 10.5) < 1e-9);
	history_release(&h);
}

static void what_was_appended_is_read(void **state)
{
	struct stat_report r = { .host = "h",
				 .cpu = "model \"x\", 2",
				 .target = "make all",
				 .program = true,
				 .start_real_ns = 5000000000ull,
				 .seconds = { .mean = 1.5 } };
	struct stat_metric m = { .name = "ipc", .unit = "", .number = { .mean = 2.25 } };
	struct history h;
	int fd;

	r.all = (struct stat_row){ .metrics = &m, .nr_metrics = 1 };
	write_file("");
	for (int i = 0; i < 2; i++) {
		fd = history_open(path);
		assert_true(fd >= 0);
		assert_int_equal(history_append(fd, path, &r, "v1,\"a\""), 0);
		close(fd);
		r.start_real_ns += 1000000000;
		m.number.mean = NAN;
	}
	assert_int_equal(history_read(&h, path), 0);
	assert_int_equal(h.nr_runs, 2);
	assert_int_equal(h.nr, 2);
	assert_string_equal(h.runs[1].label, "v1,\"a\"");
	assert_string_equal(h.runs[1].cpu, "model \"x\", 2");
	assert_string_equal(h.runs[0].target, "-- make all");
	assert_string_equal(h.v[1].name, "ipc");
	assert_true(h.v[1].v[0] == 2.25 && isnan(h.v[1].v[1]) && h.v[0].v[1] == 1.5);
	history_release(&h);
}

/* Only the machine and what was counted make runs alike; a running process has any number. */
static void others_are_left_out(void **state)
{
	struct history h;

	write_file("start_s,target,cpu,name,value\n"
		   "3,process 12 (redis),x,time,3\n1,process 7 (redis),x,time,1\n"
		   "2,process 7 (nginx),x,time,2\n0,process 7 (redis),y,time,0\n");
	assert_int_equal(history_read(&h, path), 0);
	assert_int_equal(h.nr_runs, 2);
	assert_int_equal(h.nr_other, 2);
	assert_true(h.v[0].v[0] == 1 && h.v[0].v[1] == 3);
	history_release(&h);
	write_file("start_s,target,name,value\n1,-- a 1,time,3\n2,-- a 2,time,1\n");
	assert_int_equal(history_read(&h, path), 0);
	assert_int_equal(h.nr_runs, 1);
	history_release(&h);
}

/* Of stat --csv, appended by hand: totals only. */
static void results_as_csv_are_read(void **state)
{
	struct history h;

	write_file("start_s,interval,elapsed_s,scope,name,label,value\n"
		   "1,,,all,time,,5\n1,,,thread,time,,6\n1,1,0.5,all,time,,7\n1,,,all,x,,\n"
		   "start_s,interval,elapsed_s,scope,name,label,value\n"
		   "2,,,all,time,,8\n");
	assert_int_equal(history_read(&h, path), 0);
	assert_int_equal(h.nr_runs, 2);
	assert_int_equal(h.nr, 1);
	assert_true(h.v[0].v[0] == 5 && h.v[0].v[1] == 8);
	history_release(&h);
}

static void what_is_none_is_refused(void **state)
{
	static const char *const texts[] = {
		"",
		"x,y\n1,2\n",
		"start_s,name,value\n",
		"start_s,name,value\n1,time,x\n",
		"start_s,name,value\nx,time,1\n",
		"start_s,name,value\n1,,1\n",
		"start_s,name,value\n1,\"time,1\n",
		"start_s,name,value\n1,time,nan\n",
	};
	struct history h;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		write_file(texts[i]);
		assert_int_not_equal(history_read(&h, path), 0);
		history_release(&h);
	}
	write_file("start_s,name,value\n1,time,1\n2,time,2");
	assert_int_equal(history_read(&h, path), 0);
	assert_int_equal(h.nr_runs, 1);
	history_release(&h);
	write_file("some text\n");
	assert_true(history_open(path) < 0);
}

static int make_path(void **state)
{
	int fd = mkstemp(path);

	close(fd);
	return fd < 0;
}

static int remove_path(void **state)
{
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_taken_apart),
		cmocka_unit_test(z_is_of_the_runs_before),
		cmocka_unit_test(few_runs_say_nothing),
		cmocka_unit_test(steps_are_where_they_are),
		cmocka_unit_test(noise_is_not_unusual),
		cmocka_unit_test(outliers_do_not_count),
		cmocka_unit_test(a_new_step_fails),
		cmocka_unit_test(constants_change),
		cmocka_unit_test(the_window_slides),
		cmocka_unit_test(a_window_of_days),
		cmocka_unit_test(what_was_appended_is_read),
		cmocka_unit_test(others_are_left_out),
		cmocka_unit_test(results_as_csv_are_read),
		cmocka_unit_test(what_is_none_is_refused),
	};

	return cmocka_run_group_tests(tests, make_path, remove_path);
}
