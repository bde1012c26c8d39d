/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The outputs of stat and diff, of results made by hand, with names made to hurt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <math.h>

#include <cmocka.h>

#include "base/text.h"
#include "metric/ratio.h"
#include "output/figures.h"
#include "output/stat.h"
#include "tests/unit/made_stat.h"

#define CSV_COLUMNS 28

static char *written(const struct stat_report *r,
		     int (*write)(const struct stat_report *r, FILE *out))
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(write(r, out), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static char *compared(const struct diff *c, int (*write)(const struct diff *c, FILE *out))
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(write(c, out), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void has(const char *text, const char *part)
{
	if (strstr(text, part))
		return;
	/* What cmocka prints is cut. */
	fprintf(stderr, "%s\n", text);
	fail_msg("no \"%s\" in it", part);
}

static void has_not(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("\"%s\" is in it", part);
}

/* What every text has to be: at most 80 columns, no spaces at ends of lines, nothing unsafe. */
static void is_tidy(const char *text)
{
	const char *end;
	char *line, *safe;

	for (; *text; text = end + 1) {
		end = strchr(text, '\n');
		assert_non_null(end);
		line = xstrndup(text, (size_t)(end - text));
		safe = text_cleaned(line);
		assert_string_equal(line, safe);
		if (text_width(line) > 80)
			fail_msg("%zu columns: %s", text_width(line), line);
		if (end > text && end[-1] == ' ')
			fail_msg("spaces behind: %s", line);
		free(safe);
		free(line);
	}
}

static void numbers_are_readable(void **state)
{
	const char *unit;

	assert_string_equal(figure_count(1234567), "1,234,567");
	assert_string_equal(figure_count(-1234), "-1,234");
	assert_string_equal(figure_count(17), "17");
	assert_string_equal(figure_count(3.3333), "3.33");
	assert_string_equal(figure_count(1e19), "1e+19");
	assert_string_equal(figure_count(NAN), "n/a");
	assert_string_equal(figure_number(0), "0");
	assert_string_equal(figure_number(0.00421), "0.0042");
	assert_string_equal(figure_number(12.345), "12.35");
	assert_string_equal(figure_number(123.45), "123.5");
	assert_string_equal(figure_number(12345.6), "12,346");
	assert_string_equal(figure_short(1234567), "1.235M");
	assert_string_equal(figure_short(999990), "1M");
	assert_string_equal(figure_short(99999), "99,999");
	assert_string_equal(figure_scaled(12345678901.0, "bytes/s", &unit), "12.35");
	assert_string_equal(unit, "GB/s");
	assert_string_equal(figure_value(12.5, "%"), "12.50 %");
	assert_string_equal(figure_value(2e9, "flop/s"), "2.00 Gflop/s");
	assert_string_equal(figure_value(NAN, "%"), "n/a");
	assert_string_equal(figure_four(1.25), "1.250");
	assert_string_equal(figure_four(0), "0");
	assert_string_equal(figure_four(0.0001234), "1.234e-04");
	assert_string_equal(figure_four(12345), "12,345");
	assert_string_equal(figure_exact(0.1), "0.1");
	assert_string_equal(figure_exact(1.0 / 3), "0.3333333333333333");
	assert_string_equal(figure_exact(4000000000.0), "4000000000");
}

static void text_tells_values_inputs_verdicts_and_advice(void **state)
{
	struct stat_report r = made_report(1);
	char *text = written(&r, stat_write_text);

	is_tidy(text);
	has(text, "stat: 1.25 s of ./server --once\n"
		  "Neoverse N1 (midr 0x414fd0c1), 4 CPUs; Linux 6.1.0-37-arm64");
	has(text, "- topdown: cycle-based, by stall_frontend and stall_backend: this PMU");
	has(text, "\n\ntopdown\n"
		  "  instructions per cycle            0.80  moderate       watch\n"
		  "      inst_retired 3,200,000,000 / cpu_cycles 4,000,000,000\n"
		  "      -> below 1.5 (bpfprof-stat(8)): waits for instructions (front-end stalls\n"
		  "         25.00 % of cycles); where the cycles go: -M topdown\n");
	has(text, "  front-end stalls                 25.00  % of cycles    investigate\n");
	has(text, "  back-end stalls                  10.00  % of cycles    ok\n"
		  "      stall_backend 400,000,000 (36.12%) / cpu_cycles 4,000,000,000\n"
		  "  back-end stalls on memory          n/a\n"
		  "      (stall_backend_mem is not advertised by this PMU)\n");
	has(text, "\n  L1D misses                       12.00  %              investigate (!)\n");
	has(text, "\n  L1D misses                       37.50  per 1k instr.  investigate\n");
	has(text, "  12.35  GB/s\n");
	free(text);
	stat_report_release(&r);
}

static void text_has_counts_or_their_states(void **state)
{
	struct stat_report r = made_report(1);
	char *text = written(&r, stat_write_text);

	has(text, "\nevents\n"
		  "     4,000,000,000  cpu_cycles                    3.2G/s\n"
		  "     3,200,000,000  inst_retired                 2.56G/s\n"
		  "     1,000,000,000  stall_frontend     (36.25%)   800M/s\n");
	has(text, "     1,000,000,000  l1d_cache          (15.00%)   800M/s\n");
	has(text, "  <not advertised>  stall_backend_mem\n"
		  "     <not counted>  ll_cache_rd\n");
	has(text, "\nwarnings\n"
		  "  (!) L1D misses: its terms were counted for 36.11 % and 15.00 % of the time\n"
		  "  l1d_cache: counted less than 20 % of the time, so this is rough\n"
		  "  ll_cache_rd: never counted");
	has(text, "  stall_backend_mem: read 0, and the kernel does not list it");
	has_not(text, "+-");
	free(text);
	stat_report_release(&r);
}

/* Runs of 1.23 … 1.27 s: the error of their mean is 0.71 %. */
static void repeats_have_a_standard_error(void **state)
{
	struct stat_report r = made_report(5);
	char *text = written(&r, stat_write_text);

	is_tidy(text);
	has(text, "stat: 5 runs of 1.25 s (+- 0.57%) of ./server --once\n");
	has(text, "  inst_retired                 +- 0.00%  2.56G/s\n");
	has(text, "  stall_frontend     (36.25%)  +- 0.00%   800M/s\n");
	free(text);
	stat_report_release(&r);
}

/* Times are ms for people; what is not here says why; one warning of two metrics is one line. */
static void times_and_missing_events_are_shown(void **state)
{
	struct stat_report r = {};
	struct stat_event *e;
	char *text;

	made_environment(&r, 1);
	r.all.name = xstrdup("");
	made_text(&made_event(&r.all, "task-clock", 212158366, 1, 1)->unit, "ns");
	e = made_missing(&r.all, "slots", COUNT_NOT_AVAILABLE);
	made_text(&e->why, "'slots' is an event of other cores");
	for (int i = 0; i < 2; i++)
		made_text(&made_metric(&r.all, "ipc", i ? "cpi" : "ipc", i ? "CPI" : "IPC", "",
				       "a / b", 1, 1)
				   ->why,
			  "a counted for only 1 ms");
	text = written(&r, stat_write_text);
	is_tidy(text);
	has(text, "           212.16 ms  task-clock\n");
	has(text, "not available here  slots\n");
	has(text, "\nwarnings\n  (!) IPC, CPI: a counted for only 1 ms\n"
		  "  not available here: 'slots' is an event of other cores\n");
	free(text);
	stat_report_release(&r);
}

static void nothing_to_warn_of_is_no_section(void **state)
{
	struct stat_report r = {};
	char *text;

	made_environment(&r, 1);
	r.all.name = xstrdup("");
	made_event(&r.all, "page-faults", 23, 1, 1);
	text = written(&r, stat_write_text);
	is_tidy(text);
	has(text, "\nevents\n  23  page-faults  18.40/s\n");
	has_not(text, "warnings");
	free(text);
	stat_report_release(&r);
}

static void threads_add_up_to_what_was_counted(void **state)
{
	struct stat_report r = made_report(1);
	char *text;

	made_threads(&r, 3);
	text = written(&r, stat_write_text);
	is_tidy(text);
	has(text,
	    "\n PID  TID NAME              ON CPU    cpu_cycles  ipc fronten… backend… l1d_miss\n"
	    "4000 4002 worker-2            3 ms     3,000,000 0.80        -        -        -\n"
	    "4000 4001 a?[2J\xef\xbf\xbd|`<b>?\",;=1   2 ms     2,000,000 0.80  ");
	has(text,
	    "          [idle]                       3,000,000    -        -        -        -\n"
	    "          [lost]                   3,991,000,000    -        -        -        -\n"
	    "          [total]             6 ms 4,000,000,000    -        -        -        -\n"
	    "          [counted]                4,000,000,000 0.80   25.00%   10.00%   12.00%\n"
	    "… 2 more columns (--json has all)\n");
	has(text, "\nThe rows add up to 4,000,000,000 cpu_cycles of 4,000,000,000 counted "
		  "(+0.00%).\n");
	free(text);
	/* A count that is missing in the rows shows. */
	r.lost.events[0].number.runs[0] -= 40000000;
	stat_number_finish(&r.lost.events[0].number);
	text = written(&r, stat_write_text);
	has(text, "3,960,000,000 cpu_cycles of 4,000,000,000 counted (-1.00%).\n");
	free(text);
	stat_report_release(&r);
}

static void many_threads_are_cut_and_still_add_up(void **state)
{
	struct stat_report r = made_report(1);
	char *text;

	made_threads(&r, 200);
	text = written(&r, stat_write_text);
	is_tidy(text);
	has(text, " worker-199 ");
	has(text, " worker-160 ");
	has_not(text, " worker-159 ");
	/* 1 + … + 160 million. */
	has(text, " [160 more] ");
	has(text, " 12,880,000,000 ");
	has(text, "--json and --csv have all rows.\n");
	free(text);
	stat_report_release(&r);
}

static void without_metrics_the_columns_are_events(void **state)
{
	struct stat_report r = {};
	char *text;

	made_environment(&r, 1);
	r.all.name = xstrdup("");
	made_event(&r.all, "cpu_cycles", 4e9, 1, 1);
	made_missing(&r.all, "inst_retired", COUNT_NOT_COUNTED);
	made_threads(&r, 1);
	r.by = STAT_BY_CGROUP;
	made_text(&r.rows[0].name, "/system.slice/a-service-with-a-long-name.service/and/more");
	text = written(&r, stat_write_text);
	is_tidy(text);
	has(text,
	    "\nCGROUP                                      ON CPU     cpu_cycles   inst_retired\n"
	    "/system.slice/a-service-with-a-long-name.…    1 ms      1,000,000        800,000\n");
	free(text);
	r.by = STAT_BY_PROCESS;
	made_text(&r.rows[0].name, "init");
	text = written(&r, stat_write_text);
	has(text, "\n PID  NAME       ON CPU     cpu_cycles   inst_retired\n"
		  "4000  init         1 ms      1,000,000        800,000\n");
	has(text, "  4,000,000,000  <not counted>\n");
	free(text);
	stat_report_release(&r);
}

static void intervals_are_lines_under_one_head(void **state)
{
	struct stat_report r = made_report(1);
	char *first, *second;

	r.interval = 1;
	r.elapsed_s = 1.0004;
	first = written(&r, stat_write_text);
	has(first, "stat: every 1.25 s of ./server --once\n");
	has(first,
	    "\n   seconds      ipc frontend_bound backend_bound backend_mem l1d_miss l1d_mpki"
	    " bytes_per_s\n"
	    "     1.000     0.80         25.00%        10.00%         n/a   12.00%    37.50"
	    "      12.35G\n");
	r.interval = 2;
	r.elapsed_s = 2.0014;
	second = written(&r, stat_write_text);
	assert_string_equal(second, "     2.001     0.80         25.00%        10.00%         n/a"
				    "   12.00%    37.50      12.35G\n");
	free(first);
	free(second);
	stat_report_release(&r);
}

/* Fields of the line at s, which ends behind it; quotes as RFC 4180 has them. */
static size_t csv_fields(const char **s)
{
	size_t nr = 1;
	bool quoted = false;

	for (; **s && (quoted || **s != '\n'); (*s)++) {
		if (**s == '"')
			quoted = !quoted;
		nr += **s == ',' && !quoted;
	}
	assert_false(quoted);
	assert_int_equal(**s, '\n');
	(*s)++;
	return nr;
}

static void csv_has_a_line_for_each_number(void **state)
{
	struct stat_report r = made_report(2);
	size_t nr = 0;
	const char *s;
	char *text;

	made_threads(&r, 2);
	text = written(&r, stat_write_csv);
	for (s = text; *s; nr++)
		assert_int_equal(csv_fields(&s), CSV_COLUMNS);
	/* Header, time, 7 metrics and 8 events of all, 3 of each thread, 1 of idle and of lost. */
	assert_int_equal(nr, 1 + 1 + 7 + 8 + 2 * 3 + 2);
	has(text, "start_s,interval,elapsed_s,scope,pid,tid,scope_name,kind,set,name,label,value,");
	has(text, ",all,,,,event,,\"stall_frontend\",\"cycles in which nothing came from the front "
		  "end\",1000000000,,scaled,36.25,0,2,725000000,2000000000,725000000,,,,,,,,\n");
	has(text, ",metric,\"topdown\",\"backend_mem\",\"back-end stalls on memory\",,\"%\",n/a,");
	has(text, ",event,,\"ll_cache_rd\",,,,not-counted,0,,0,0,0,0,,,,,,,,\n");
	has(text, ",thread,4000,4001,\"a?[2J\xef\xbf\xbd|`<b>?\"\",;=1\",metric,");
	has(text, "verdict,ok,high,why,formula,inputs,source,advice\n");
	has(text,
	    ",investigate,5,10,\"its terms were counted for 36.11 % and 15.00 % of the time\","
	    "\"100 * l1d_cache_refill / l1d_cache\",\"l1d_cache_refill 120,000,000 (36.11%) / "
	    "l1d_cache 1,000,000,000 (15.00%)\",\"bpfprof-stat(8)\",\"data layout, false sharing, "
	    "random access\"\n");
	has(text, ",idle,,,\"idle\",event,,\"cpu_cycles\",,3000000,,counted,100,,1,");
	free(text);
	r.interval = 2;
	r.elapsed_s = 2.5;
	text = written(&r, stat_write_csv);
	has_not(text, "scope_name");
	has(text, "1732000000.500000,2,2.500000,all,");
	free(text);
	stat_report_release(&r);
}

static void markdown_has_what_was_measured(void **state)
{
	struct stat_report r = made_report(1);
	char *text = written(&r, stat_write_markdown);

	has(text,
	    "## Environment and stability\n\n| | |\n|---|---|\n| Target | ./server --once |\n");
	has(text,
	    "| back-end stalls | 10.00 % of cycles | ok | stall\\_backend 400,000,000 (36.12%) "
	    "/ cpu\\_cycles 4,000,000,000 |\n");
	has(text, "| L1D misses | 1,000,000,000 | 120,000,000 | 12.00 % | investigate, above 10 % "
		  "(bpfprof-stat(8)); its terms");
	has(text, "| L1D misses | - | 120,000,000 | 37.50 per 1,000 instructions | investigate");
	has(text,
	    "\n## What could not be measured\n\n"
	    "- back-end stalls on memory: stall\\_backend\\_mem is not advertised by this PMU\n"
	    "- stall\\_backend\\_mem: read 0");
	has_not(text, "## Branches");
	has_not(text, "## Hot functions");
	free(text);
	stat_report_release(&r);
}

/* To investigate: 37.5 of 20, 25 % of 20, 12 % of 10; then that to watch, 1.5 / 0.8. */
static void next_steps_are_worst_first_with_commands(void **state)
{
	struct stat_report r = made_report(1);
	char *text = written(&r, stat_write_markdown);

	has(text,
	    "\n## Recommendations\n\n1. **L1D misses**: 37.50 per 1,000 instructions, investigate, "
	    "above 20 (bpfprof-stat(8)).");
	has(text,
	    "\n2. **front-end stalls**: 25.00 % of cycles, investigate, above 20 % "
	    "(bpfprof-stat(8)). Look at: instruction cache, iTLB and code size: -M cache,tlb.\n"
	    "   - Which code: `bpfprof pmu -e stall_frontend`\n3. ");
	has(text, "\n3. **L1D misses**: 12.00 %, investigate");
	has(text, "\n4. **instructions per cycle**: 0.80, watch, below 1.5");
	has_not(text, "\n5. ");
	has(text, "\n## Validation plan\n\n1. Before the change: `bpfprof stat -r 5 -M "
		  "cache,topdown -o BEFORE.json -- PROGRAM ARGS`\n2. After the change: `bpfprof "
		  "stat -r 5 -M cache,topdown -o AFTER.json -- PROGRAM ARGS`\n3. `bpfprof diff "
		  "BEFORE.json AFTER.json`");
	has(text, "| **frontend\\_bound** | 25.00 % of cycles | has to fall |\n");
	has(text, "| **ipc** | 0.80 | has to grow |\n");
	free(text);
	stat_report_release(&r);
}

/* As printed they have to run, and to count what the report is about. */
static void validating_commands_count_the_same(void **state)
{
	static const struct {
		const char *words[5];
		bool program;
		const char *end;
	} cases[] = {
		{ { NULL }, false, " 10`" },
		{ { "-p", "12,13" }, false, " -p 12,13 10`" },
		{ { "--cgroup", "/$(reboot)", "-C", "0-3" }, false, " --cgroup VALUE -C 0-3 10`" },
		{ { NULL }, true, " -- PROGRAM ARGS`" },
		{ { "-a" }, true, " -a -- PROGRAM ARGS`" },
	};
	struct stat_report r = made_report(1);
	char *text, *part;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		r.selection = (char **)cases[i].words;
		for (r.nr_selection = 0; cases[i].words[r.nr_selection];)
			r.nr_selection++;
		r.program = cases[i].program;
		text = written(&r, stat_write_markdown);
		part = xasprintf(
			"Before the change: `bpfprof stat -r 5 -M cache,topdown -o BEFORE.json%s",
			cases[i].end);
		has(text, part);
		free(part);
		free(text);
	}
	r.selection = NULL;
	r.nr_selection = 0;
	stat_report_release(&r);
}

static void more_retiring_is_not_to_be_mended(void **state)
{
	struct stat_report r = {};
	char *text;

	made_environment(&r, 1);
	r.all.name = xstrdup("");
	made_judge(
		made_metric(&r.all, "topdown", "retiring", "retiring", "%", "100 * a / b", 80, 1),
		70, NAN, "vectors");
	text = written(&r, stat_write_markdown);
	has(text,
	    "| **retiring** | 80.00 % | is best kept high; reduce the number of instructions |\n");
	free(text);
	stat_report_release(&r);
}

/* Metric events cannot be sampled; what counts the same slots can, where there is such a thing. */
static void what_can_be_sampled_is_advised(void **state)
{
	static const struct {
		const char *formula, *sample;
	} known[] = {
		{ "100 * topdown_be_bound / (topdown_retiring + topdown_be_bound)",
		  "topdown.backend_bound_slots" },
		{ "100 * topdown_retiring / (topdown_retiring + topdown_be_bound)",
		  "uops_retired.slots" },
		{ "100 * topdown_fe_bound / topdown_retiring", NULL },
		{ "100 * topdown.bad_spec_slots / slots", "topdown.bad_spec_slots" },
		{ "100 * branch_misses / slots", "branch_misses" },
	};
	/* As the kernel spells them. */
	static const char *const events[] = { "topdown-be-bound",     "topdown-retiring",
					      "topdown-fe-bound",     "topdown.bad_spec_slots",
					      "branch_misses",	      "slots",
					      "int_misc.uop_dropping" };
	struct stat_row row = {}, less;
	struct stat_metric *m;

	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
		made_event(&row, events[i], 1e6, 1, 1);
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		m = made_metric(&row, "topdown", "x", "x", "%", known[i].formula, 1, 1);
		assert_non_null(ratio_of(&row, m).event);
		if (known[i].sample)
			assert_string_equal(ratio_of(&row, m).sample, known[i].sample);
		else
			assert_null(ratio_of(&row, m).sample);
	}
	/* A core of which we know no other events; and one without slots. */
	less = row;
	less.nr_events = 6;
	assert_null(ratio_of(&less, &row.metrics[0]).sample);
	less.nr_events = 5;
	assert_string_equal(ratio_of(&less, &row.metrics[0]).sample, "topdown-be-bound");
	stat_row_release(&row);
}

static void no_command_samples_what_cannot_be(void **state)
{
	struct stat_report r = {};
	char *text;

	made_environment(&r, 1);
	r.all.name = xstrdup("");
	made_event(&r.all, "topdown-be-bound", 1e6, 1, 1);
	made_event(&r.all, "topdown-retiring", 1e6, 1, 1);
	made_event(&r.all, "slots", 2e6, 1, 1);
	made_judge(made_metric(&r.all, "topdown", "backend_bound", "back-end bound", "%",
			       "100 * topdown_be_bound / slots", 50, 1),
		   20, NAN, "caches");
	text = written(&r, stat_write_markdown);
	has_not(text, "Which code");
	free(text);
	made_event(&r.all, "int_misc.uop_dropping", 1e3, 1, 1);
	text = written(&r, stat_write_markdown);
	has(text, "- Which code: `bpfprof pmu -e topdown.backend_bound_slots`\n");
	has_not(text, "-e topdown-");
	free(text);
	stat_report_release(&r);
}

/* Each formula with what counts as misses and accesses, of events that count 1, 2, 4 … million. */
static void rates_are_told_from_their_formulas(void **state)
{
	static const struct {
		const char *formula;
		double misses, accesses;
		const char *event;
	} known[] = {
		{ "100 * l1d_cache_refill / l1d_cache", 1e6, 2e6, "l1d_cache_refill" },
		{ "1000 * l1d_cache_refill / inst_retired", 1e6, NAN, "l1d_cache_refill" },
		{ "100 * load.l2_miss / (load.l2_hit + load.l2_miss)", 4e6, 12e6, "load.l2_miss" },
		{ "100 * walk_active / cpu_cycles", NAN, NAN, "walk_active" },
		{ "100 * load.l2_hit / l1d_cache", NAN, NAN, "load.l2_hit" },
		{ "100 * l1d_cache_refill / mem_inst_retired.all_loads", 1e6, 128e6,
		  "l1d_cache_refill" },
		{ "100 * l1d_cache_refill / none", 1e6, NAN, "l1d_cache_refill" },
		{ "100 * none_miss / l1d_cache", NAN, 2e6, NULL },
		{ "100 * l1d_cache_refill / l1d_cache / 2", NAN, NAN, NULL },
		{ "100 * (l1d_cache_refill - load.l2_miss) / l1d_cache", NAN, NAN, NULL },
		{ "100 * max(l1d_cache_refill, l1d_cache) / l1d_cache", NAN, NAN, NULL },
		{ "100 * (l1d_cache_refill + ", NAN, NAN, NULL },
		{ "100 * ", NAN, NAN, NULL },
		{ "l1d_cache_refill / l1d_cache", NAN, NAN, NULL },
	};
	static const char *const events[] = {
		"l1d_cache_refill", "l1d_cache",   "load.l2_miss", "load.l2_hit",
		"inst_retired",	    "walk_active", "cpu_cycles",   "mem_inst_retired.all_loads",
	};
	struct stat_row row = {};
	struct stat_metric *m;
	struct ratio got;

	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
		made_event(&row, events[i], 1e6 * (1 << i), 1, 1);
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		m = made_metric(&row, "cache", "x", "x", "%", known[i].formula, 1, 1);
		got = ratio_of(&row, m);
		assert_true(got.misses == known[i].misses ||
			    (isnan(got.misses) && isnan(known[i].misses)));
		assert_true(got.accesses == known[i].accesses ||
			    (isnan(got.accesses) && isnan(known[i].accesses)));
		assert_true(!got.event == !known[i].event);
		if (got.event)
			assert_string_equal(got.event->name, known[i].event);
	}
	stat_row_release(&row);
}

static void markdown_says_so_when_nothing_is_wrong(void **state)
{
	struct stat_report r = {};
	char *text;

	made_environment(&r, 1);
	r.all.name = xstrdup("");
	text = written(&r, stat_write_markdown);
	has(text, "Nothing could be judged: no metric with a threshold has a value.\n");
	has(text, "\nNothing was counted.\n\n"
		  "How it was measured, and what limits it:\n\n- topdown: cycle-based");
	has_not(text, "All that is listed");
	free(text);
	made_judge(made_metric(&r.all, "ipc", "ipc", "IPC", "", "a / b", 2, 1), 1.5, 0.5, "x");
	text = written(&r, stat_write_markdown);
	has(text, "The only metric with a threshold is within its limits.\n");
	has(text, "All that is listed above has a value.\n");
	has_not(text, "## Topdown");
	free(text);
	r.notes = realloc(r.notes, (r.nr_notes + 1) * sizeof(*r.notes));
	r.notes[r.nr_notes++] = strdup("this machine shows no counters, so there are no metrics of "
				       "topdown,cache: software events only");
	text = written(&r, stat_write_markdown);
	has(text, "\n## Topdown\n\nNot measured: this machine shows no counters");
	has(text, "\n## Cache hierarchy\n\nNot measured: this machine shows no counters");
	has(text, "## What could not be measured\n\n- this machine shows no counters");
	has_not(text, "All that is listed");
	has_not(text, "## TLBs");
	free(text);
	stat_report_release(&r);
}

static void add_hotspot(struct stat_report *r, const char *symbol, double pct, uint64_t samples)
{
	struct stat_hotspot *h;

	r->hotspots = xreallocarray(r->hotspots, r->nr_hotspots + 1, sizeof(*r->hotspots));
	h = &r->hotspots[r->nr_hotspots++];
	*h = (struct stat_hotspot){ xstrdup(symbol), xstrdup("app"), pct, samples };
}

/* Wilson's interval, worked out by hand: 1 of 12 is 8.3 % with 1.5 to 35.4 %. */
static void a_share_has_its_samples_and_its_doubt(void **state)
{
	struct stat_report r = made_report(1);
	char *text;

	r.hotspots_event = xstrdup("cpu-clock");
	r.nr_samples = 12;
	add_hotspot(&r, "work", 8.3333, 1);
	add_hotspot(&r, "__memmove_avx_unaligned_erms", 50, 6);
	text = written(&r, stat_write_markdown);
	has(text, "By samples of `cpu-clock`, 12 in all.\n");
	has(text, "| 1 | work | 8.3% ± 17 | 1 | app | - |\n");
	has(text, "| 2 | \\_\\_memmove\\_avx\\_unaligned\\_erms | 50.0% ± 25 | 6 | app | copies "
		  "memory (by its name) |\n");
	free(text);
	/* Surely most of the whole waits for what the whole waits for; half of 12 is not sure. */
	r.nr_samples = 1000000;
	r.hotspots[0].self_pct = 90;
	r.hotspots[0].samples = 900000;
	text = written(&r, stat_write_markdown);
	has(text, "| 1 | work | 90.0% | 900,000 | app | waits for instructions (by the whole: see "
		  "Root cause) |\n");
	free(text);
	stat_report_release(&r);
}

static void a_cause_stands_beside_its_evidence(void **state)
{
	struct stat_report r = made_report(1);
	char *text = written(&r, stat_write_markdown);

	has(text, "\n## Root cause\n\n- **Waits for instructions**: instructions per cycle 0.80 "
		  "(watch, below 1.5 (bpfprof-stat(8))), and front-end stalls 25.00 % of cycles "
		  "(investigate, above 20 % (bpfprof-stat(8))");
	free(text);
	/* One number alone is no cause. */
	for (size_t i = 0; i < r.all.nr_metrics; i++)
		if (!strcmp(r.all.metrics[i].name, "frontend_bound"))
			r.all.metrics[i].verdict = METRIC_OK;
	text = written(&r, stat_write_markdown);
	has(text,
	    "\n## Root cause\n\nNone is told: metrics are beyond their thresholds, but no second "
	    "one agrees on why.\n");
	free(text);
	stat_report_release(&r);
}

static void what_moves_numbers_is_told_with_what_stops_it(void **state)
{
	struct stat_report r = made_report(1);
	char *text;

	r.facts = xcalloc(2, sizeof(*r.facts));
	r.facts[r.nr_facts++] =
		(struct stat_fact){ xstrdup("SMT"), xstrdup("on"), xstrdup("echo off >/x") };
	r.facts[r.nr_facts++] =
		(struct stat_fact){ xstrdup("Gov|ernor"), xstrdup("performance"), xstrdup("") };
	text = written(&r, stat_write_markdown);
	has(text, "| SMT | on |\n| Gov\\|ernor | performance |\n");
	has(text, "what stops it:\n\n- SMT on: echo off \\>/x\n\n## ");
	free(text);
	stat_report_release(&r);
}

static void markdown_means_nothing_that_names_say(void **state)
{
	struct stat_report r = made_report(1);
	char *text;

	made_text(&r.target, "a|b *c* _d_ [e](f) `g` <script>&\n# h $x$ ~~i~~");
	r.hotspots = xcalloc(1, sizeof(*r.hotspots));
	r.hotspots[r.nr_hotspots++].symbol = xstrdup("f<int, A|B>");
	r.hotspots[0].module = xstrdup(HOSTILE);
	r.hotspots[0].self_pct = 33.3333;
	r.hotspots_event = xstrdup("cycles");
	made_text(&r.all.events[2].name, "stall_frontend`|`rm -rf");
	text = written(&r, stat_write_markdown);
	has(text, "| Target | a\\|b \\*c\\* \\_d\\_ \\[e\\](f) \\`g\\` &lt;script\\>&amp;?\\# h "
		  "\\$x\\$ \\~\\~i\\~\\~ |\n");
	has(text, "| 1 | f&lt;int, A\\|B\\> | 33.3% | - | "
		  "a?\\[2J\xef\xbf\xbd\\|\\`&lt;b\\>?\",;=1 | - |\n");
	has_not(text, "rm -rf`");
	free(text);
	r.nr_hotspots = 0;
	made_text(&r.hotspots_event, "this machine has no cycle counter");
	text = written(&r, stat_write_markdown);
	has(text, "## Hot functions\n\nNone: this machine has no cycle counter.\n");
	free(text);
	r.nr_hotspots = 1;
	stat_report_release(&r);
}

struct pair {
	struct stat_report a, b;
	struct diff_rules rules;
	struct diff c;
};

static void slow_down(struct stat_number *n, double factor)
{
	for (size_t i = 0; i < n->nr_runs; i++)
		n->runs[i] *= factor;
	stat_number_finish(n);
}

/* 10 % slower, IPC the same. */
static void pair_init(struct pair *p, size_t nr, const char *rules)
{
	*p = (struct pair){ .a = made_report(nr), .b = made_report(nr) };
	slow_down(&p->b.seconds, 1.1);
	if (rules)
		assert_int_equal(diff_rules_parse(&p->rules, rules), 0);
	assert_int_equal(diff_make(&p->c, &p->a, &p->b, &p->rules, false), 0);
	p->c.name_a = "before.json";
	p->c.name_b = HOSTILE;
}

static void pair_release(struct pair *p)
{
	diff_release(&p->c);
	diff_rules_release(&p->rules);
	stat_report_release(&p->a);
	stat_report_release(&p->b);
}

static void a_comparison_reads_well(void **state)
{
	struct pair p;
	char *text;

	pair_init(&p, 5, "time>5%,ipc<-5%,ll-cache-rd>5%");
	text = compared(&p.c, diff_write_text);
	is_tidy(text);
	has(text, "A  before.json: 5 runs of ./server --once, ");
	has(text, "B  " HOSTILE_SAFE ": 5 runs of");
	has(text, "\n   Neoverse N1, 4 CPUs, Linux 6.1.0-37-arm64\n");
	has(text, "\ntime, s                      1.250   1.375  +10.0 %  ");
	has(text, "  REGRESSION\n"
		  "ipc                         0.8000  0.8000  +0.00 %   +0.00 to +0.00  ok\n");
	has(text, "\ncpu_cycles                      4G      4G  +0.00 %   +0.00 to +0.00  same\n");
	has(text, "\nREGRESSION time: 1.250 s to 1.375 s, +10.0 %, fails time>5%\n"
		  "MISSING    ll-cache-rd>5% not evaluated: 'll_cache_rd' is missing from either\n"
		  "           result\n"
		  "ok         ipc: 0.8000 to 0.8000, +0.00 %, passes ipc<-5%\n");
	has(text, "\nNo number in either: backend_mem, stall_backend_mem\n");
	has_not(text, "single run");
	free(text);
	pair_release(&p);
}

static void single_runs_are_told(void **state)
{
	struct pair p;
	char *text;

	pair_init(&p, 1, NULL);
	p.b.nr_cpus = 8;
	text = compared(&p.c, diff_write_text);
	is_tidy(text);
	has(text, "        one run\n");
	has(text, "it is open which\nchanges are real: 'bpfprof stat -r 5' repeats.\n");
	has(text, "; Neoverse N1, 8\n   CPUs, Linux 6.1.0-37-arm64\n");
	free(text);
	pair_release(&p);
}

static void a_comparison_as_json_has_all_rows(void **state)
{
	struct pair p;
	char *text;

	pair_init(&p, 5, "time>5%");
	text = compared(&p.c, diff_write_json);
	has(text, "\"format\": \"bpfprof-diff\",\n  \"version\": 1,");
	has(text, "\"rule\": \"time>5%\",\n      \"failed\": true\n");
	has(text, "\"name\": \"ll_cache_rd\",\n      \"label\": \"ll_cache_rd\",\n"
		  "      \"unit\": \"\",\n      \"a\": null,\n      \"b\": null,\n"
		  "      \"change_pct\": null,");
	has(text, "\"failed\": 1,\n  \"unknown\": 0\n");
	free(text);
	pair_release(&p);
}

static void junit_has_a_case_for_each_rule(void **state)
{
	struct pair p;
	char *text;

	pair_init(&p, 5, "time>5%,ipc<-5%,ll_cache_rd>5%");
	made_text(&p.b.target, HOSTILE " & more");
	text = compared(&p.c, diff_write_junit);
	has(text,
	    "<testsuites name=\"bpfprof diff\" tests=\"3\" failures=\"1\" errors=\"1\" "
	    "time=\"6.875\">\n  <testsuite name=\"a?[2J\xef\xbf\xbd|`&lt;b&gt;?&quot;,;=1 &amp; "
	    "more\" tests=\"3\"");
	has(text, "<testcase classname=\"bpfprof.diff\" name=\"time&gt;5%\" time=\"0.000\">\n"
		  "      <failure type=\"regression\" message=\"time: 1.250 s to 1.375 s, +10.0 %, "
		  "fails time&gt;5%\"/>\n");
	has(text, "<error type=\"not-measured\" message=\"ll_cache_rd&gt;5% not evaluated: ");
	has(text, "name=\"ipc&lt;-5%\" time=\"0.000\">\n      <system-out>ipc: 0.8000 to 0.8000");
	free(text);
	pair_release(&p);
}

static void junit_without_rules_has_a_case_for_each_row(void **state)
{
	struct pair p;
	char *text;

	pair_init(&p, 5, NULL);
	text = compared(&p.c, diff_write_junit);
	/* Time, 6 of 7 metrics and 6 of 8 events have a number. */
	has(text, "tests=\"13\" failures=\"0\" errors=\"0\"");
	has(text,
	    "name=\"time\" time=\"0.000\">\n      <system-out>time: 1.250 s to 1.375 s, +10.0 %<");
	has_not(text, "<failure");
	free(text);
	pair_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_readable),
		cmocka_unit_test(text_tells_values_inputs_verdicts_and_advice),
		cmocka_unit_test(text_has_counts_or_their_states),
		cmocka_unit_test(repeats_have_a_standard_error),
		cmocka_unit_test(times_and_missing_events_are_shown),
		cmocka_unit_test(nothing_to_warn_of_is_no_section),
		cmocka_unit_test(threads_add_up_to_what_was_counted),
		cmocka_unit_test(many_threads_are_cut_and_still_add_up),
		cmocka_unit_test(without_metrics_the_columns_are_events),
		cmocka_unit_test(intervals_are_lines_under_one_head),
		cmocka_unit_test(csv_has_a_line_for_each_number),
		cmocka_unit_test(markdown_has_what_was_measured),
		cmocka_unit_test(next_steps_are_worst_first_with_commands),
		cmocka_unit_test(rates_are_told_from_their_formulas),
		cmocka_unit_test(validating_commands_count_the_same),
		cmocka_unit_test(more_retiring_is_not_to_be_mended),
		cmocka_unit_test(what_can_be_sampled_is_advised),
		cmocka_unit_test(no_command_samples_what_cannot_be),
		cmocka_unit_test(markdown_says_so_when_nothing_is_wrong),
		cmocka_unit_test(a_share_has_its_samples_and_its_doubt),
		cmocka_unit_test(a_cause_stands_beside_its_evidence),
		cmocka_unit_test(what_moves_numbers_is_told_with_what_stops_it),
		cmocka_unit_test(markdown_means_nothing_that_names_say),
		cmocka_unit_test(a_comparison_reads_well),
		cmocka_unit_test(single_runs_are_told),
		cmocka_unit_test(a_comparison_as_json_has_all_rows),
		cmocka_unit_test(junit_has_a_case_for_each_rule),
		cmocka_unit_test(junit_without_rules_has_a_case_for_each_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
