/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The outputs of runqlat, of reports made by hand: text, JSON and CSV, with names made to hurt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <json.h>

#include "base/mem.h"
#include "base/text.h"
#include "output/runqlat.h"
#include "tests/unit/made_runqlat.h"

static char *seen(const struct runqlat_report *r, const struct view *v,
		  int (*write)(const struct runqlat_report *r, const struct view *v, FILE *out))
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(write(r, v, out), 0);
	fclose(out);
	assert_int_equal(strlen(text), len);
	return text;
}

static char *written(const struct runqlat_report *r,
		     int (*write)(const struct runqlat_report *r, const struct view *v, FILE *out))
{
	return seen(r, &(struct view){}, write);
}

static void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no \"%s\" in:\n%s", part, text);
}

static void has_not(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("\"%s\" in:\n%s", part, text);
}

static void the_text_is_as_expected(void **state)
{
	static const char want[] =
		"runqlat: 2 s of all?processes; 5 waits for a CPU\n"
		"\n"
		"WAITS      COUNT      P50      P90      P99    P99.9      MAX    TOTAL\n"
		"woken          4  6.14 us  6.14 us  6.14 us  6.14 us  6.14 us  24.6 us\n"
		"preempted      1     3 ms     3 ms     3 ms     3 ms     3 ms     3 ms\n"
		"both           5  6.78 us     3 ms     3 ms     3 ms     3 ms  3.02 ms\n"
		"\n"
		"woken -> running\n"
		"     usecs               : count     distribution\n"
		"         0 -> 1          : 0        |                                        |\n"
		"         2 -> 3          : 0        |                                        |\n"
		"         4 -> 7          : 4        |****************************************|\n";
	struct runqlat_row *rows = known_rows();
	struct runqlat_report r = known_report(rows);
	char *text = written(&r, runqlat_write_text);

	text[sizeof(want) - 1] = '\0';
	assert_string_equal(text, want);
	free(text);
	text = written(&r, runqlat_write_text);
	has(text, "\npreempted -> running\n");
	has(text, "\nboth\n");
	has(text,
	    "      2048 -> 4095       : 1        |****************************************|\n");
	has(text, "\n1 wait longer than 1 ms:\n");
	has(text, "\n1.250    3 ms  " SAFE "  4567/4568  preempted    1  "
		  "rsync 2.5 ms, " SAFE " 400 us\n");
	free(text);
	free(rows);
}

static void rows_are_a_table_and_histograms(void **state)
{
	struct runqlat_row *rows = known_rows();
	struct runqlat_report r = known_report(rows);
	char *text;

	r.split = true;
	text = seen(&r, &(struct view){ .milliseconds = true }, runqlat_write_text);
	has(text, "\n PID  NAME          COUNT ");
	has(text, "\n4567  " SAFE "      2 ");
	has(text, "\n  12  rsync             3 ");
	has(text, "\npid = 12 rsync: 3 woken, 0 preempted\n     msecs  ");
	assert_true(strstr(text, "\n4567  a") < strstr(text, "\n  12  rsync"));
	has_not(text, "never waited");
	free(text);
	r.by = PROF_HIST_BY_THREAD;
	text = written(&r, runqlat_write_text);
	has(text, "\npid = 4567 tid = 4568 " SAFE ": 1 woken, 1 preempted\n");
	free(text);
	r.by = PROF_HIST_BY_CPU;
	text = written(&r, runqlat_write_text);
	has(text, "\ncpu = 1: 1 woken, 1 preempted\n");
	has_not(text, "pid = ");
	free(text);
	free(rows);
}

/* Numbers of seven digits and long names: still 80 columns. */
static void tables_fit_the_screen(void **state)
{
	struct runqlat_row rows[2] = {
		{ .pid = 4194303, .tid = 4194304, .name = "fifteen letters" }
	};
	struct runqlat_report r = { .rows = rows, .nr_rows = 1, .split = true };
	char *text;

	hist_count(&rows[0].hist[PROF_HIST_WOKEN], 123456789, 99999999);
	for (r.by = PROF_HIST_BY_CPU; r.by <= PROF_HIST_BY_THREAD; r.by++) {
		text = written(&r, runqlat_write_text);
		for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
			assert_in_range(text_width(line), 1, 80);
		free(text);
	}
}

static void what_is_too_much_for_text_is_said(void **state)
{
	struct prof_outlier *outliers = xcalloc(30, sizeof(*outliers));
	struct runqlat_row *rows = xcalloc(30, sizeof(*rows));
	struct runqlat_report r = known_report(rows);
	char *text;

	for (unsigned int i = 0; i < 30; i++) {
		rows[i].pid = 100 + i;
		hist_count(&rows[i].hist[PROF_HIST_WOKEN], 5000 * (i + 1), 1);
		outliers[i] = known_outlier;
		outliers[i].time_ns += i * 1000000000ull;
		outliers[i].wait_ns += (i + 15) % 30 * 1000000;
	}
	r.split = true;
	r.nr_rows = r.nr_outliers = 30;
	r.outliers = outliers;
	r.outliers_lost = 1234;
	text = written(&r, runqlat_write_text);
	has(text, "\n… 10 more processes: --json and --csv have them all\n");
	has(text, "\npid = 110 ");
	has_not(text, "\npid = 109 ");
	has(text, "\n1,264 waits longer than 1 ms; the 20 longest, in order of time:\n");
	has(text, "\n… 10 more outliers: --json and --csv have them all\n");
	has(text, "\n1,234 outliers LOST: they came faster than they were read\n");
	has(text, "\n15.250   32 ms"); /* the longest, behind shorter ones */
	has_not(text, "\n16.250    3 ms");
	assert_true(strstr(text, "\n 1.250   18 ms") < strstr(text, "\n15.250   32 ms"));
	free(text);
	free(outliers);
	free(rows);
}

static void intervals_have_a_clock(void **state)
{
	struct runqlat_row *rows = known_rows();
	struct runqlat_report r = known_report(rows);
	char *text;

	setenv("TZ", "UTC", 1);
	tzset();
	r.interval = 1;
	text = written(&r, runqlat_write_text);
	assert_true(strstr(text, "07:06:42: 2 s of all?processes; 5 waits") == text);
	free(text);
	r.interval = 2;
	text = written(&r, runqlat_write_text);
	assert_true(strstr(text, "\n07:06:42: 2 s of ") == text);
	free(text);
	text = written(&r, runqlat_write_csv);
	assert_true(strstr(text, "total,1732000000.500000,2.000000,") == text);
	free(text);
	text = written(&r, runqlat_write_json);
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	free(text);
	free(rows);
}

static struct json_object *member(struct json_object *o, const char *key)
{
	struct json_object *value;

	assert_true(json_object_object_get_ex(o, key, &value));
	return value;
}

static struct json_object *parsed(const struct runqlat_report *r)
{
	char *text = written(r, runqlat_write_json);
	struct json_object *o = json_tokener_parse(text);

	assert_non_null(o);
	free(text);
	return o;
}

static int is(struct json_object *o, const char *key, double want)
{
	return json_object_get_double(member(o, key)) == want;
}

static void json_has_all(void **state)
{
	uint64_t counters[PROF_NR_COUNTERS] = { [PROF_SEEN] = 7, [PROF_RECORDED] = 5 };
	struct runqlat_row *rows = known_rows();
	struct runqlat_report r = known_report(rows);
	struct json_object *o, *list, *row, *waits;

	counters[PROF_FILTER_PID] = 2;
	r.counters = counters;
	r.split = true;
	o = parsed(&r);
	assert_string_equal(json_object_get_string(member(member(o, "runqlat"), "by")), "process");
	assert_true(is(member(member(o, "waits"), "both"), "total_us", 3024.576));
	assert_true(is(member(member(o, "ledger"), "filtered_by"), "other-process", 2));
	list = member(o, "rows");
	assert_int_equal(json_object_array_length(list), 2);
	row = json_object_array_get_idx(list, 0);
	assert_string_equal(json_object_get_string(member(row, "name")), SAFE);
	waits = member(row, "preempted");
	assert_true(is(waits, "count", 1) && is(waits, "p99_9_us", 3000) &&
		    is(waits, "max_us", 3000));
	waits = member(json_object_array_get_idx(list, 1), "woken");
	assert_true(is(json_object_array_get_idx(member(waits, "log2_us"), 0), "from", 4));
	assert_true(is(json_object_array_get_idx(member(waits, "buckets"), 0), "from_ns", 6144));
	assert_true(is(json_object_array_get_idx(member(waits, "buckets"), 0), "count", 3));
	waits = member(json_object_array_get_idx(list, 1), "preempted");
	assert_null(member(waits, "p50_us"));
	row = json_object_array_get_idx(member(o, "outliers"), 0);
	assert_true(is(row, "at_s", 1.25) && is(row, "waited_us", 3000) && is(row, "cpu", 1));
	row = json_object_array_get_idx(member(row, "ran"), 1);
	assert_string_equal(json_object_get_string(member(row, "name")), SAFE);
	assert_true(is(row, "ran_us", 400));
	json_object_put(o);
	free(rows);
}

#define CSV_FIELDS 18

/* The fields of one line, unquoted, in place; returns the next line. */
static char *csv_split(char *s, char *fields[CSV_FIELDS])
{
	for (size_t nr = 0; nr < CSV_FIELDS; nr++) {
		bool quoted = *s == '"';
		char *to = s += quoted;

		fields[nr] = s;
		for (; quoted ? s[0] != '"' || s[1] == '"' : *s != ',' && *s != '\n'; s++) {
			assert_true((unsigned char)*s >= ' ');
			s += quoted && *s == '"';
			*to++ = *s;
		}
		s += quoted;
		assert_int_equal(*s++, nr == CSV_FIELDS - 1 ? '\n' : ',');
		*to = '\0';
	}
	return s;
}

static void csv_is_one_table(void **state)
{
	struct runqlat_row *rows = known_rows();
	struct runqlat_report r = known_report(rows);
	char *text, *at, *fields[CSV_FIELDS];

	r.split = true;
	r.by = PROF_HIST_BY_THREAD;
	text = written(&r, runqlat_write_csv);
	at = csv_split(text, fields);
	assert_string_equal(fields[0], "record");
	assert_string_equal(fields[17], "ran");
	for (size_t i = 0; i < 3; i++)
		at = csv_split(at, fields);
	assert_string_equal(fields[0], "total");
	assert_string_equal(fields[8], "both");
	assert_string_equal(fields[16], "3024.576");
	for (size_t i = 0; i < 2; i++)
		at = csv_split(at, fields);
	assert_string_equal(fields[0], "row");
	assert_string_equal(fields[4], "4567");
	assert_string_equal(fields[5], "4568");
	assert_string_equal(fields[7], SAFE);
	assert_string_equal(fields[8], "preempted");
	assert_string_equal(fields[11], "3000.000");
	for (size_t i = 0; i < 4; i++)
		at = csv_split(at, fields);
	assert_string_equal(fields[0], "outlier");
	assert_string_equal(fields[3], "1.250000");
	assert_string_equal(fields[7], SAFE);
	assert_string_equal(fields[17], "2500.000 us 12/12 rsync; 400.000 us 4567/4569 " SAFE);
	assert_int_equal(*at, '\0');
	free(text);
	free(rows);
}

static void nothing_is_written_as_nothing(void **state)
{
	struct runqlat_row empty[2] = { { .pid = 1 } };
	struct runqlat_report r = { .rows = NULL };
	char *text;

	for (unsigned int i = 0; i < 8; i++) {
		r.split = i & 1;
		r.rows = i & 2 ? empty : NULL;
		r.nr_rows = i & 2 ? 2 : 0;
		r.threshold_ns = i & 4 ? 5000000 : 0;
		text = written(&r, runqlat_write_text);
		has(text, "runqlat: 0 ns of ; 0 waits for a CPU\n");
		has_not(text, "distribution");
		assert_int_equal(!!strstr(text, "no wait was longer than 5 ms"), i >> 2);
		free(text);
		text = written(&r, runqlat_write_csv);
		assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
		free(text);
		json_object_put(parsed(&r));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_text_is_as_expected),
		cmocka_unit_test(rows_are_a_table_and_histograms),
		cmocka_unit_test(tables_fit_the_screen),
		cmocka_unit_test(what_is_too_much_for_text_is_said),
		cmocka_unit_test(intervals_have_a_clock),
		cmocka_unit_test(json_has_all),
		cmocka_unit_test(csv_is_one_table),
		cmocka_unit_test(nothing_is_written_as_nothing),
	};

	return cmocka_run_group_tests_name("histogram", tests, NULL, NULL);
}
