/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Means and errors of known numbers; results from files, as written and as nobody wrote them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>

#include <cmocka.h>

#include "output/stat.h"
#include "tests/unit/made_stat.h"

#define PATH "/tmp/bpfprof-test-stat-XXXXXX"

static struct stat_number finished(double *runs, size_t nr)
{
	struct stat_number n = { .runs = runs, .nr_runs = nr };

	stat_number_finish(&n);
	return n;
}

static void mean_and_error_are_those_of_the_runs(void **state)
{
	double runs[] = { 1, 2, 3, 4 };
	struct stat_number n = finished(runs, 4);

	/* Standard deviation sqrt(5/3), by sqrt(4). */
	assert_true(fabs(n.mean - 2.5) < 1e-15);
	assert_true(fabs(n.error - 0.6454972243679028) < 1e-15);
	assert_true(fabs(stat_number_error_pct(&n) - 25.819888974716112) < 1e-12);
	n = finished(runs, 1);
	assert_true(n.mean == 1 && n.error == 0);
	n = finished(runs, 0);
	assert_true(isnan(n.mean) && n.error == 0);
}

static void runs_without_a_number_are_left_out(void **state)
{
	double some[] = { NAN, 1, NAN, 3, NAN }, none[] = { NAN, NAN };
	struct stat_number n = finished(some, 5);

	assert_true(n.mean == 2 && fabs(n.error - 1) < 1e-15);
	assert_int_equal(stat_number_nr(&n), 2);
	n = finished(none, 2);
	assert_true(isnan(n.mean) && n.error == 0);
	assert_int_equal(stat_number_nr(&n), 0);
}

/* 0.1 + 0.1 + 0.1 is not 0.3: neither the mean nor the error may know. */
static void equal_runs_have_no_error(void **state)
{
	double runs[7];

	for (size_t nr = 1; nr <= 7; nr++) {
		for (size_t i = 0; i < nr; i++)
			runs[i] = 0.1;
		assert_true(finished(runs, nr).mean == 0.1);
		assert_true(finished(runs, nr).error == 0);
	}
}

/* A difference of 1 in 10^15 is seen. */
static void small_differences_of_large_counts_stay(void **state)
{
	double runs[] = { 1e15, 1e15 + 1, 1e15 + 2 };
	struct stat_number n = finished(runs, 3);

	assert_true(n.mean == 1e15 + 1);
	assert_true(fabs(n.error - 1 / sqrt(3)) < 1e-12);
}

static void names_are_equal_whatever_their_spelling(void **state)
{
	assert_true(stat_name_equal("L1-dcache-load-misses", "l1_dcache_load_misses"));
	assert_true(stat_name_equal("", ""));
	assert_false(stat_name_equal("cycles", "cycle"));
	assert_false(stat_name_equal("cycle", "cycles"));
}

static char *json_of(const struct stat_report *r)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	assert_int_equal(stat_write_json(r, f), 0);
	assert_int_equal(fclose(f), 0);
	return text;
}

/* Reads text as a file; what was said goes to said, which may be NULL. */
static int read_text(struct stat_report *r, const char *text, size_t len, char *said, size_t sz)
{
	char path[] = PATH;
	int fd = mkstemp(path), log[2], was = dup(2), err;
	ssize_t got;

	assert_true(fd >= 0 && was >= 0 && !pipe(log));
	assert_int_equal(write(fd, text, len), len);
	close(fd);
	fflush(stderr);
	dup2(log[1], 2);
	err = stat_read_json(r, path);
	fflush(stderr);
	dup2(was, 2);
	close(was);
	close(log[1]);
	got = said ? read(log[0], said, sz - 1) : 0;
	if (said)
		said[got < 0 ? 0 : got] = '\0';
	close(log[0]);
	unlink(path);
	return err;
}

static void assert_number_equal(const struct stat_number *a, const struct stat_number *b)
{
	assert_int_equal(a->nr_runs, b->nr_runs);
	for (size_t i = 0; i < a->nr_runs; i++)
		assert_true(a->runs[i] == b->runs[i] || (isnan(a->runs[i]) && isnan(b->runs[i])));
	assert_true(a->mean == b->mean || (isnan(a->mean) && isnan(b->mean)));
	assert_true(a->error == b->error);
}

static void assert_double_same(double a, double b)
{
	assert_true(a == b || (isnan(a) && isnan(b)));
}

static void assert_row_equal(const struct stat_row *a, const struct stat_row *b)
{
	assert_int_equal(a->pid, b->pid);
	assert_int_equal(a->tid, b->tid);
	assert_int_equal(a->switches, b->switches);
	assert_int_equal(a->running_ns, b->running_ns);
	assert_int_equal(a->nr_events, b->nr_events);
	assert_int_equal(a->nr_metrics, b->nr_metrics);
	for (size_t i = 0; i < a->nr_events; i++) {
		const struct stat_event *ea = &a->events[i], *eb = &b->events[i];

		assert_string_equal(ea->name, eb->name);
		assert_string_equal(ea->unit, eb->unit);
		assert_string_equal(ea->meaning, eb->meaning);
		assert_string_equal(ea->why, eb->why);
		assert_int_equal(ea->count.state, eb->count.state);
		assert_double_same(ea->count.value, eb->count.value);
		assert_int_equal(ea->count.raw, eb->count.raw);
		assert_int_equal(ea->count.enabled_ns, eb->count.enabled_ns);
		assert_int_equal(ea->count.running_ns, eb->count.running_ns);
		assert_number_equal(&ea->number, &eb->number);
	}
	for (size_t i = 0; i < a->nr_metrics; i++) {
		const struct stat_metric *ma = &a->metrics[i], *mb = &b->metrics[i];

		assert_string_equal(ma->set, mb->set);
		assert_string_equal(ma->name, mb->name);
		assert_string_equal(ma->label, mb->label);
		assert_string_equal(ma->unit, mb->unit);
		assert_string_equal(ma->formula, mb->formula);
		assert_string_equal(ma->advice, mb->advice);
		assert_string_equal(ma->source, mb->source);
		assert_string_equal(ma->why, mb->why);
		assert_string_equal(ma->inputs, mb->inputs);
		assert_double_same(ma->ok, mb->ok);
		assert_double_same(ma->high, mb->high);
		assert_double_same(ma->raw, mb->raw);
		assert_int_equal(ma->verdict, mb->verdict);
		assert_number_equal(&ma->number, &mb->number);
	}
}

static void assert_report_equal(const struct stat_report *a, const struct stat_report *b)
{
	assert_string_equal(a->host, b->host);
	assert_string_equal(a->kernel, b->kernel);
	assert_string_equal(a->arch, b->arch);
	assert_string_equal(a->cpu, b->cpu);
	assert_string_equal(a->core_ident, b->core_ident);
	assert_string_equal(a->version, b->version);
	assert_string_equal(a->command, b->command);
	assert_string_equal(a->target, b->target);
	assert_int_equal(a->program, b->program);
	assert_int_equal(a->nr_selection, b->nr_selection);
	for (size_t i = 0; i < a->nr_selection; i++)
		assert_string_equal(a->selection[i], b->selection[i]);
	assert_int_equal(a->nr_named, b->nr_named);
	assert_int_equal(a->nr_cpus, b->nr_cpus);
	assert_int_equal(a->counters, b->counters);
	assert_int_equal(a->nr_notes, b->nr_notes);
	for (size_t i = 0; i < a->nr_notes; i++)
		assert_string_equal(a->notes[i], b->notes[i]);
	assert_int_equal(a->start_real_ns, b->start_real_ns);
	assert_number_equal(&a->seconds, &b->seconds);
	assert_int_equal(a->interval, b->interval);
	assert_double_same(a->elapsed_s, b->elapsed_s);
	assert_int_equal(a->by, b->by);
	assert_int_equal(a->nr_rows, b->nr_rows);
	assert_row_equal(&a->all, &b->all);
	for (size_t i = 0; i < a->nr_rows; i++)
		assert_row_equal(&a->rows[i], &b->rows[i]);
	assert_true(!a->idle.name == !b->idle.name && !a->filtered.name == !b->filtered.name &&
		    !a->lost.name == !b->lost.name);
	assert_row_equal(&a->idle, &b->idle);
	assert_row_equal(&a->lost, &b->lost);
	assert_int_equal(a->nr_hotspots, b->nr_hotspots);
	assert_true(!a->hotspots_event == !b->hotspots_event);
}

static void add_hotspot(struct stat_report *r)
{
	r->hotspots = xcalloc(1, sizeof(*r->hotspots));
	r->hotspots[r->nr_hotspots++].symbol = xstrdup("spin");
	r->hotspots[0].module = xstrdup("app");
	r->hotspots[0].self_pct = 100.0 / 3;
	r->hotspots[0].samples = 40;
	r->nr_samples = 120;
	r->facts = xcalloc(1, sizeof(*r->facts));
	r->facts[r->nr_facts++] =
		(struct stat_fact){ xstrdup("SMT"), xstrdup("on"), xstrdup("off") };
	r->hotspots_event = xstrdup("cycles");
}

/* Thirds, the largest integers, and numbers that are not there. */
static void what_was_written_is_read(void **state)
{
	struct stat_report r = made_report(3), again;
	char *text, *second;

	r.all.events[0].count.raw = UINT64_MAX;
	r.all.events[1].number.runs[1] = NAN;
	stat_number_finish(&r.all.events[1].number);
	r.all.metrics[0].number.runs[2] = 1.0 / 3;
	stat_number_finish(&r.all.metrics[0].number);
	r.start_real_ns = UINT64_MAX - 1;
	r.elapsed_s = 2.0 / 3;
	add_hotspot(&r);
	made_threads(&r, 5);
	r.nr_named = 2;
	r.selection = xcalloc(2, sizeof(*r.selection));
	r.selection[r.nr_selection++] = xstrdup("-p");
	r.selection[r.nr_selection++] = xstrdup("12,13");
	made_text(&made_missing(&r.all, "slots", COUNT_NOT_AVAILABLE)->why, "of other cores");
	/* Text in files is valid; a name that was not reads as what was shown. */
	made_text(&r.rows[1].name, HOSTILE_SAFE);
	text = json_of(&r);
	assert_int_equal(read_text(&again, text, strlen(text), NULL, 0), 0);
	assert_report_equal(&r, &again);
	assert_string_equal(again.rows[1].name, HOSTILE_SAFE);
	assert_string_equal(again.hotspots[0].symbol, "spin");
	assert_int_equal(again.hotspots[0].samples, 40);
	assert_int_equal(again.nr_samples, 120);
	assert_int_equal(again.nr_facts, 1);
	assert_string_equal(again.facts[0].name, "SMT");
	assert_string_equal(again.facts[0].value, "on");
	assert_string_equal(again.facts[0].advice, "off");
	assert_double_same(again.hotspots[0].self_pct, 100.0 / 3);
	second = json_of(&again);
	assert_string_equal(text, second);
	free(text);
	free(second);
	stat_report_release(&r);
	stat_report_release(&again);
}

/* text with the first "from" replaced. */
static char *replaced(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);

	assert_non_null(at);
	return xasprintf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

/* Files of earlier releases lack keys, and have other words for verdicts. */
static void older_results_are_read(void **state)
{
	static const char *const changes[][2] = {
		{ "\"selection\":", "\"x\":" },
		{ "\"named\":", "\"x\":" },
		{ "\"why\": \"\",\n        \"state\"", "\"state\"" },
		/* Instructions per cycle of 0.8, between 1.5 and 0.5. */
		{ "\"verdict\": \"watch\"", "\"verdict\": \"investigate\"" },
		/* Front-end stalls of 25 %, above 20. */
		{ "\"verdict\": \"investigate\",\n        \"why\": \"\",\n        \"ok\": 10,",
		  "\"verdict\": \"high\", \"why\": \"\", \"ok\": 10," },
	};
	struct stat_report r = made_report(1), again;
	char *text = json_of(&r), *next;

	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		next = replaced(text, changes[i][0], changes[i][1]);
		free(text);
		text = next;
	}
	assert_int_equal(read_text(&again, text, strlen(text), NULL, 0), 0);
	assert_int_equal(again.nr_selection, 0);
	assert_int_equal(again.all.metrics[0].verdict, METRIC_WATCH);
	assert_int_equal(again.all.metrics[1].verdict, METRIC_INVESTIGATE);
	assert_string_equal(again.all.events[0].why, "");
	free(text);
	stat_report_release(&r);
	stat_report_release(&again);
}

static void hostile_bytes_are_written_safe(void **state)
{
	struct stat_report r = made_report(1), again;
	char *text;

	made_text(&r.target, HOSTILE);
	text = json_of(&r);
	assert_int_equal(read_text(&again, text, strlen(text), NULL, 0), 0);
	assert_string_equal(again.target, HOSTILE_SAFE);
	free(text);
	stat_report_release(&r);
	stat_report_release(&again);
}

static void an_interval_is_one_line(void **state)
{
	struct stat_report r = made_report(1), again;
	char *text;

	r.interval = 7;
	text = json_of(&r);
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	assert_int_equal(read_text(&again, text, strlen(text), NULL, 0), 0);
	assert_int_equal(again.interval, 7);
	free(text);
	stat_report_release(&r);
	stat_report_release(&again);
}

static void assert_refused(const char *text, const char *why)
{
	struct stat_report r;
	char said[1024];

	assert_int_equal(read_text(&r, text, strlen(text), said, sizeof(said)), -EINVAL);
	if (!strstr(said, why))
		fail_msg("\"%s\" has no \"%s\"", said, why);
	assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
	assert_null(r.all.events);
}

static void what_nobody_wrote_is_refused_with_one_sentence(void **state)
{
	static const char *const changes[][3] = {
		{ "bpfprof-stat", "bpfprof-diff", "is no result of 'bpfprof stat --json'" },
		{ "\"version\": 1", "\"version\": 2", "has version 2 of the format" },
		{ "\"version\": 1", "\"version\": \"1\"", "'version' is not a number" },
		{ "\"version\": 1,", "", "'version' is not a number" },
		{ "\"nr_cpus\": 4", "\"nr_cpus\": -4", "'nr_cpus' is not a count" },
		{ "\"nr_cpus\": 4", "\"nr_cpus\": 4294967296", "'nr_cpus' is not a count" },
		{ "\"nr_cpus\": 4", "\"nr_cpus\": 4.5", "'nr_cpus' is not a count" },
		{ "\"nr_cpus\": 4,", "", "'nr_cpus' is missing" },
		{ "\"host\": \"web-1\"", "\"host\": null", "'host' is not a text" },
		{ "\"host\": \"web-1\"", "\"host\": \"a\\u0000b\"", "'host' is not a text" },
		{ "\"state\": \"counted\"", "\"state\": \"guessed\"", "'state' is not one of" },
		{ "\"state\": \"not-counted\"", "\"state\": \"counted\"",
		  "'value' is not a number" },
		{ "\"verdict\": \"watch\"", "\"verdict\": \"bad\"", "'verdict' is not one of" },
		{ "\"by\": \"all\"", "\"by\": \"core\"", "'by' is not one of" },
		{ "\"program\": true", "\"program\": 1", "'program' is not true or false" },
		{ "\"by\": \"all\"", "\"by\": null", "'by' is not a text" },
		{ "\"raw\": 4000000000", "\"raw\": \"x\"", "'raw' is not a count" },
		{ "\"runs\": [", "\"runs\": [ \"x\",", "'runs' is not a number" },
		{ "\"runs\": [", "\"runs\": [ Infinity,", "is not a number" },
		{ "\"runs\": [", "\"runs\": [ 1e308, -1e308,", "'runs' is not a list of numbers" },
		{ "\"rows\": [", "\"rows\": [ 1", "'rows' is not a list of objects" },
		{ "\"notes\": [", "\"notes\": [ 1,", "'notes' is not a list of texts" },
		{ "\"all\": {", "\"all\": [], \"none\": {", "'all' is not an object" },
		{ "\"notes\": [", "\"notes\": [[[[[[[[[[[[", "nesting too deep" },
		{ "web-1", "web-\xff", "is no result" },
	};
	struct stat_report r = made_report(1);
	char *text = json_of(&r), *bad;

	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		bad = replaced(text, changes[i][0], changes[i][1]);
		assert_refused(bad, changes[i][2]);
		free(bad);
	}
	assert_refused("", "is truncated, or empty");
	assert_refused("[]", "is no result of 'bpfprof stat --json'");
	assert_refused("BPFPROF\1", "is no result of 'bpfprof stat --json'");
	free(text);
	stat_report_release(&r);
}

/* The mean of a file is not taken from it. */
static void means_are_computed_anew(void **state)
{
	struct stat_report r = made_report(1), again;
	char *text = json_of(&r), *lie = replaced(text, "\"mean\": 0.8", "\"mean\": 8000");

	assert_int_equal(read_text(&again, lie, strlen(lie), NULL, 0), 0);
	assert_true(again.all.metrics[0].number.mean == 0.8);
	free(lie);
	free(text);
	stat_report_release(&r);
	stat_report_release(&again);
}

static void several_lines_are_refused(void **state)
{
	struct stat_report r = made_report(1);
	char *text, *twice;

	r.interval = 1;
	text = json_of(&r);
	twice = xasprintf("%s%s", text, text);
	assert_refused(twice, "has several results, of 'stat -I'");
	free(twice);
	twice = xasprintf("%sx", text);
	assert_refused(twice, "goes on behind its end");
	free(twice);
	free(text);
	stat_report_release(&r);
}

static void large_and_absent_files_are_refused(void **state)
{
	char path[] = PATH;
	int fd = mkstemp(path);
	struct stat_report r;

	assert_true(fd >= 0);
	/* A hole is made of zero bytes. */
	assert_int_equal(ftruncate(fd, (64 << 20) + 1), 0);
	close(fd);
	assert_int_equal(stat_read_json(&r, path), -EINVAL);
	unlink(path);
	assert_int_equal(stat_read_json(&r, path), -ENOENT);
	assert_int_equal(stat_read_json(&r, "/tmp"), -EISDIR);
}

/* Cut off anywhere it is refused; with a byte changed it is read or refused, and nothing else. */
static void damage_does_no_harm(void **state)
{
	struct stat_report r = made_report(2), again;
	uint64_t random = 88172645463325252ull;
	char *text = json_of(&r);
	size_t len = strlen(text), nr_read = 0;

	for (size_t cut = 0; cut < len - 2; cut += len / 300)
		assert_int_equal(read_text(&again, text, cut, NULL, 0), -EINVAL);
	for (size_t i = 0; i < 1500; i++) {
		char was;
		size_t at;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		at = random % len;
		was = text[at];
		text[at] = "0-9\"{}[],:e.n \xc3\n"[random / len % 17];
		if (!read_text(&again, text, len, NULL, 0)) {
			nr_read++;
			stat_report_release(&again);
		}
		text[at] = was;
	}
	assert_in_range(nr_read, 1, 1499);
	free(text);
	stat_report_release(&r);
}

static void an_event_has_several_names(void **state)
{
	assert_true(stat_event_equal("cycles", "cpu-cycles"));
	assert_true(stat_event_equal("CPU_CYCLES:u", "cycles:u"));
	assert_true(stat_event_equal("instructions", "inst_retired"));
	assert_false(stat_event_equal("cycles:u", "cpu_cycles"));
	assert_false(stat_event_equal("cycles", "instructions"));
	assert_true(stat_formula_equal("100 * inst_retired / (cpu_cycles + 1)",
				       "100 * instructions / (cycles + 1)"));
	assert_false(stat_formula_equal("100 * instructions / cycles", "instructions / cycles"));
	assert_false(stat_formula_equal("instructions / cycles", "instructions * cycles"));
	assert_false(stat_formula_equal("instructions / cycles", "instructions / cycles + 1"));
}

/* A low IPC alone has no cause. */
static void a_diagnosis_needs_two_numbers(void **state)
{
	struct stat_row row = {};
	struct stat_metric *m;
	char text[128];

	m = made_metric(&row, "ipc", "ipc", "IPC", "", "a / b", 0.1, 1);
	made_judge(m, 2, 1, "");
	stat_diagnosis(&row, m, text, sizeof(text));
	assert_string_equal(text, "");
	made_judge(made_metric(&row, "topdown", "backend_bound", "back end", "%", "c", 5, 1), 30,
		   40, "");
	stat_diagnosis(&row, &row.metrics[0], text, sizeof(text));
	assert_string_equal(text, "");
	made_judge(made_metric(&row, "topdown", "backend_memory", "memory", "%", "d", 45, 1), 15,
		   25, "");
	stat_diagnosis(&row, &row.metrics[0], text, sizeof(text));
	assert_string_equal(text, "waits for memory (memory 45.00 %)");
	stat_diagnosis(&row, &row.metrics[2], text, sizeof(text));
	assert_string_equal(text, "");
	stat_row_release(&row);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mean_and_error_are_those_of_the_runs),
		cmocka_unit_test(runs_without_a_number_are_left_out),
		cmocka_unit_test(equal_runs_have_no_error),
		cmocka_unit_test(small_differences_of_large_counts_stay),
		cmocka_unit_test(names_are_equal_whatever_their_spelling),
		cmocka_unit_test(what_was_written_is_read),
		cmocka_unit_test(an_event_has_several_names),
		cmocka_unit_test(a_diagnosis_needs_two_numbers),
		cmocka_unit_test(older_results_are_read),
		cmocka_unit_test(hostile_bytes_are_written_safe),
		cmocka_unit_test(an_interval_is_one_line),
		cmocka_unit_test(what_nobody_wrote_is_refused_with_one_sentence),
		cmocka_unit_test(means_are_computed_anew),
		cmocka_unit_test(several_lines_are_refused),
		cmocka_unit_test(large_and_absent_files_are_refused),
		cmocka_unit_test(damage_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
