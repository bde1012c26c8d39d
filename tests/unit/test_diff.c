/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rules as they are written, intervals against values worked by hand, and which changes count. */
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
#include <math.h>

#include <cmocka.h>

#include "base/student.h"
#include "metric/diff.h"
#include "tests/unit/made_stat.h"

#define near(a, b, by) assert_true(fabs((a) - (b)) <= (by))

/* Runs f with what goes to stderr in said. */
static int listening(int (*f)(void *arg), void *arg, char *said, size_t sz)
{
	int log[2], was = dup(2), err;
	ssize_t got;

	assert_true(was >= 0 && !pipe(log));
	fflush(stderr);
	dup2(log[1], 2);
	err = f(arg);
	fflush(stderr);
	dup2(was, 2);
	close(was);
	close(log[1]);
	got = read(log[0], said, sz - 1);
	said[got < 0 ? 0 : got] = '\0';
	close(log[0]);
	return err;
}

/* Of tables; those that are not whole were integrated with 200,000 steps in another language. */
static void t_is_that_of_tables(void **state)
{
	static const double known[][2] = {
		{ 1, 12.706205 },  { 1.5, 6.016663 }, { 2, 4.302653 },	 { 2.5, 3.574655 },
		{ 3, 3.182446 },   { 4, 2.776445 },   { 5, 2.570582 },	 { 7.3, 2.345067 },
		{ 10, 2.228139 },  { 30, 2.042272 },  { 100, 1.983972 }, { 1000, 1.962339 },
		{ 1e9, 1.959966 },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		near(student_t95(known[i][0]), known[i][1], 2e-6 * known[i][1]);
}

static void rules_are_parsed(void **state)
{
	struct diff_rules rules;
	char text[64];

	assert_int_equal(diff_rules_parse(&rules, "ipc<-5%, l2_mpki > 15% ,"
						  "cpu/event=0x3c,umask=1/>0.5%,time>+5%,x<0%"),
			 0);
	assert_int_equal(rules.nr, 5);
	assert_string_equal(rules.v[0].name, "ipc");
	assert_false(rules.v[0].greater);
	assert_true(rules.v[0].pct == -5);
	assert_string_equal(rules.v[1].name, "l2_mpki");
	assert_true(rules.v[1].greater && rules.v[1].pct == 15);
	assert_string_equal(rules.v[2].name, "cpu/event=0x3c,umask=1/");
	assert_true(rules.v[2].greater && rules.v[2].pct == 0.5);
	assert_true(rules.v[3].pct == 5);
	diff_rule_text(&rules.v[0], text, sizeof(text));
	assert_string_equal(text, "ipc<-5%");
	diff_rule_text(&rules.v[2], text, sizeof(text));
	assert_string_equal(text, "cpu/event=0x3c,umask=1/>0.5%");
	diff_rules_release(&rules);
}

static int parse(void *text)
{
	struct diff_rules rules;

	return diff_rules_parse(&rules, text);
}

static void malformed_rules_get_one_sentence(void **state)
{
	static const char *const texts[] = {
		"",	    "ipc",	"ipc<",	    "ipc<5",	"ipc<-5",	    "<-5%",
		" <-5%",    "ipc=-5%",	"ipc<-%",   "ipc<--5%", "ipc<-5%%",	    "ipc<-5% x",
		"ipc<nan%", "ipc<inf%", "ipc<0x5%", "ipc<1e2%", "ipc<-1.2.3%",	    "ipc<.%",
		"ipc>-5%",  "ipc<5%",	"ipc<-5%,", ",ipc<-5%", "ipc<-5%,,time>5%", "ipc<<-5%",
	};
	char said[512];

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		assert_int_equal(listening(parse, (void *)texts[i], said, sizeof(said)), -EINVAL);
		assert_non_null(strstr(said, "ipc<-5%,time>5%"));
		assert_non_null(strstr(said, "--fail-on '"));
		assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
	}
	listening(parse, "time>5%,ipc<\x1b[2J", said, sizeof(said));
	assert_non_null(strstr(said, "--fail-on 'ipc<?[2J'"));
}

/* Two reports with time and one metric, and what became of them under a rule. */
struct pair {
	struct stat_report a, b;
	struct diff_rules rules;
	struct diff c;
	bool force;
};

static void pair_init(struct pair *p, const char *rules)
{
	*p = (struct pair){ .a = made_report(3), .b = made_report(3) };
	if (rules)
		assert_int_equal(diff_rules_parse(&p->rules, rules), 0);
}

static int pair_make(void *arg)
{
	struct pair *p = arg;

	diff_release(&p->c);
	return diff_make(&p->c, &p->a, &p->b, &p->rules, p->force);
}

static void pair_release(struct pair *p)
{
	diff_release(&p->c);
	diff_rules_release(&p->rules);
	stat_report_release(&p->a);
	stat_report_release(&p->b);
}

static void set_runs(struct stat_number *n, const double *runs, size_t nr)
{
	free(n->runs);
	n->runs = xcalloc(nr + 1, sizeof(*runs));
	memcpy(n->runs, runs, nr * sizeof(*runs));
	n->nr_runs = nr;
	stat_number_finish(n);
}

static const struct diff_row *row_of(const struct diff *c, const char *name)
{
	for (size_t i = 0; i < c->nr; i++)
		if (stat_name_equal(c->v[i].name, name))
			return &c->v[i];
	fail_msg("no row %s", name);
	return NULL;
}

/*
 * a: mean 11.1667, variance of it 0.52778; b: 13.875, 0.68229. Welch: df 4.97291, t 2.57480; half
 * of the interval 2.83236, of 11.1667.
 */
static void the_interval_is_welchs(void **state)
{
	static const double a[] = { 10, 11, 12.5 }, b[] = { 12, 13, 15, 15.5 };
	const struct diff_row *row;
	struct pair p;

	pair_init(&p, NULL);
	set_runs(&p.a.seconds, a, 3);
	set_runs(&p.b.seconds, b, 4);
	assert_int_equal(pair_make(&p), 0);
	row = row_of(&p.c, "time");
	near(row->change_pct, 24.253731, 1e-5);
	near(row->low_pct, -1.110685, 1e-4);
	near(row->high_pct, 49.618148, 1e-4);
	assert_true(row->known && row->noise_known && !row->real);
	pair_release(&p);
}

/* 20 % more, but the runs differ by as much. */
static void noise_is_no_regression(void **state)
{
	static const double a[] = { 10, 12, 14 }, b[] = { 12, 14.4, 16.8 };
	struct pair p;

	pair_init(&p, "time>5%");
	set_runs(&p.a.seconds, a, 3);
	set_runs(&p.b.seconds, b, 3);
	assert_int_equal(pair_make(&p), 0);
	near(row_of(&p.c, "time")->change_pct, 20, 1e-9);
	assert_false(row_of(&p.c, "time")->real);
	assert_int_equal(p.c.nr_failed, 0);
	pair_release(&p);
}

static void real_changes_below_the_threshold_pass(void **state)
{
	static const double a[] = { 10, 10.01, 10.02 }, b[] = { 10.3, 10.31, 10.32 };
	struct pair p;

	pair_init(&p, "time>5%,TIME>2%");
	set_runs(&p.a.seconds, a, 3);
	set_runs(&p.b.seconds, b, 3);
	assert_int_equal(pair_make(&p), 0);
	/* A row for each of its rules. */
	assert_string_equal(p.c.v[0].name, "time");
	assert_string_equal(p.c.v[1].name, "time");
	assert_true(p.c.v[0].real && !p.c.v[0].failed);
	assert_true(p.c.v[1].real && p.c.v[1].failed);
	assert_int_equal(p.c.nr_failed, 1);
	pair_release(&p);
}

static void better_is_no_regression(void **state)
{
	static const double a[] = { 2, 2.01, 2.02 }, b[] = { 3, 3.01, 3.02 };
	struct pair p;

	pair_init(&p, "ipc<-5%,time>5%");
	set_runs(&p.a.all.metrics[0].number, a, 3);
	set_runs(&p.b.all.metrics[0].number, b, 3);
	assert_int_equal(pair_make(&p), 0);
	assert_true(row_of(&p.c, "ipc")->real);
	assert_int_equal(p.c.nr_failed, 0);
	pair_release(&p);
	pair_init(&p, "ipc<-5%,time>5%");
	set_runs(&p.a.all.metrics[0].number, b, 3);
	set_runs(&p.b.all.metrics[0].number, a, 3);
	assert_int_equal(pair_make(&p), 0);
	assert_true(row_of(&p.c, "ipc")->failed);
	assert_int_equal(p.c.nr_failed, 1);
	pair_release(&p);
}

/* Deterministic counts, as of an emulated machine. */
static void without_any_noise_a_difference_is_real(void **state)
{
	static const double a[] = { 1000000, 1000000 }, b[] = { 1100000, 1100000 };
	const struct diff_row *row;
	struct pair p;

	pair_init(&p, "inst-retired>5%,cpu_cycles>0%");
	set_runs(&p.a.all.events[1].number, a, 2);
	set_runs(&p.b.all.events[1].number, b, 2);
	assert_int_equal(pair_make(&p), 0);
	row = row_of(&p.c, "inst_retired");
	assert_true(row->real && row->failed);
	near(row->low_pct, 10, 1e-9);
	near(row->high_pct, 10, 1e-9);
	row = row_of(&p.c, "cpu_cycles");
	assert_true(row->noise_known && !row->real && !row->failed && row->change_pct == 0);
	assert_int_equal(p.c.nr_failed, 1);
	pair_release(&p);
}

static void with_a_single_run_the_threshold_decides(void **state)
{
	static const double one[] = { 11 }, three[] = { 10, 10.01, 9.99 };
	const struct diff_row *row;
	struct pair p;

	pair_init(&p, "time>5%,ipc<-5%");
	set_runs(&p.a.seconds, three, 3);
	set_runs(&p.b.seconds, one, 1);
	assert_int_equal(pair_make(&p), 0);
	row = row_of(&p.c, "time");
	assert_true(row->known && !row->noise_known && !row->real && row->failed);
	assert_true(isnan(row->low_pct) && isnan(row->high_pct));
	near(row->change_pct, 10, 1e-9);
	assert_int_equal(p.c.nr_failed, 1);
	pair_release(&p);
}

static void from_nothing_to_something_is_beyond_any_percentage(void **state)
{
	static const double none[] = { 0, 0, 0 }, some[] = { 5, 6, 7 }, wide[] = { 0, 0, 5 };
	struct pair p;

	pair_init(&p, "inst_retired>1000%");
	set_runs(&p.a.all.events[1].number, none, 3);
	set_runs(&p.b.all.events[1].number, some, 3);
	assert_int_equal(pair_make(&p), 0);
	assert_true(isnan(row_of(&p.c, "inst_retired")->change_pct));
	assert_true(row_of(&p.c, "inst_retired")->failed);
	set_runs(&p.b.all.events[1].number, wide, 3);
	assert_int_equal(pair_make(&p), 0);
	assert_false(row_of(&p.c, "inst_retired")->failed);
	set_runs(&p.b.all.events[1].number, none, 3);
	assert_int_equal(pair_make(&p), 0);
	assert_true(row_of(&p.c, "inst_retired")->change_pct == 0);
	assert_false(row_of(&p.c, "inst_retired")->failed);
	pair_release(&p);
}

/* What only one has is shown, and its rule is counted as not judged. */
static void what_one_lacks_is_unknown(void **state)
{
	struct pair p;

	pair_init(&p, "page-faults>5%,stall_backend_mem>5%,time>5%");
	made_event(&p.b.all, "page-faults", 10, 3, 1);
	made_metric(&p.a.all, "tlb", "dtlb_walk", "dTLB walks", "%", "a / b", 1, 3);
	assert_int_equal(pair_make(&p), 0);
	assert_int_equal(p.c.nr_failed, 0);
	assert_int_equal(p.c.nr_unknown, 2);
	assert_false(row_of(&p.c, "page-faults")->known);
	assert_true(isnan(row_of(&p.c, "page-faults")->a));
	assert_true(row_of(&p.c, "page-faults")->b == 10);
	assert_false(row_of(&p.c, "dtlb_walk")->known);
	pair_release(&p);
}

/* From "0, but the PMU may not implement it" to a number there is no change. */
static void a_zero_that_is_none_is_unknown(void **state)
{
	static const double none[] = { 0, 0, 0 };
	struct stat_metric *m;
	struct pair p;

	pair_init(&p, "l1d_mpki>15%,ipc<-5%");
	m = &p.a.all.metrics[5];
	assert_string_equal(m->name, "l1d_mpki");
	set_runs(&m->number, none, 3);
	m->verdict = METRIC_NONE;
	made_text(&m->why, "counted 0 in 1.00 s: the PMU probably does not implement this event");
	assert_int_equal(pair_make(&p), 0);
	assert_int_equal(p.c.nr_failed, 0);
	assert_int_equal(p.c.nr_unknown, 1);
	assert_false(row_of(&p.c, "l1d_mpki")->known);
	assert_true(isnan(row_of(&p.c, "l1d_mpki")->a));
	/* A 0 with a verdict is one, whatever there is to be careful with. */
	m->verdict = METRIC_OK;
	assert_int_equal(pair_make(&p), 0);
	assert_int_equal(p.c.nr_unknown, 0);
	assert_int_equal(p.c.nr_failed, 1);
	/* And so is one that nothing is said of. */
	m->verdict = METRIC_NONE;
	made_text(&m->why, "");
	assert_int_equal(pair_make(&p), 0);
	assert_int_equal(p.c.nr_failed, 1);
	pair_release(&p);
}

/* Mean and noise are those of the runs that have a number; one alone has no noise. */
static void runs_without_a_number_are_left_out(void **state)
{
	static const double a[] = { NAN, 10, 11, 12.5 }, b[] = { 12, 13, NAN, 15, 15.5, NAN };
	static const double one[] = { NAN, NAN, 13 }, no[] = { NAN, NAN };
	const struct diff_row *row;
	struct stat_number *na, *nb;
	struct pair p;

	pair_init(&p, "ipc>10%");
	na = &p.a.all.metrics[0].number;
	nb = &p.b.all.metrics[0].number;
	set_runs(na, a, 4);
	set_runs(nb, b, 6);
	assert_int_equal(pair_make(&p), 0);
	row = row_of(&p.c, "ipc");
	/* As in the_interval_is_welchs(). */
	near(row->change_pct, 24.253731, 1e-5);
	near(row->low_pct, -1.110685, 1e-4);
	assert_true(row->noise_known && !row->real && !row->failed);

	set_runs(nb, one, 3);
	assert_int_equal(pair_make(&p), 0);
	row = row_of(&p.c, "ipc");
	near(row->change_pct, 16.417910, 1e-5);
	assert_true(row->known && !row->noise_known && row->failed);
	assert_true(isnan(row->low_pct));

	set_runs(nb, no, 2);
	assert_int_equal(pair_make(&p), 0);
	assert_false(row_of(&p.c, "ipc")->known);
	assert_int_equal(p.c.nr_unknown, 1);
	assert_int_equal(p.c.nr_failed, 0);
	pair_release(&p);
}

/* A metric in two sets is one row; where an event has its name too, a rule is the metric's. */
static void each_name_is_one_row(void **state)
{
	size_t nr = 0;
	struct pair p;

	pair_init(&p, "branches>5%");
	for (int i = 0; i < 2; i++) {
		struct stat_row *row = i ? &p.b.all : &p.a.all;

		made_metric(row, "ipc", "ipc", "instructions per cycle", "",
			    "inst_retired / cpu_cycles", 0.8, 3);
		made_metric(row, "mix", "branches", "branches", "%", "x", 10 + i, 3);
		made_event(row, "branches", 1e6, 3, 1);
	}
	assert_int_equal(pair_make(&p), 0);
	for (size_t i = 0; i < p.c.nr; i++) {
		nr += stat_name_equal(p.c.v[i].name, "ipc");
		if (p.c.v[i].rule)
			assert_true(p.c.v[i].a == 10 && p.c.v[i].b == 11);
	}
	assert_int_equal(nr, 1);
	assert_int_equal(p.c.nr_failed, 1);
	assert_string_equal(p.c.v[0].name, "time");
	pair_release(&p);
}

/* A baseline by -e, with the kernel's names, and a result of the core's metrics, with Arm's. */
static void names_of_the_same_event_are_compared(void **state)
{
	struct pair p;
	size_t nr_rules = 0;

	pair_init(&p, "ipc<-5%,cycles>5%");
	made_text(&p.a.all.events[0].name, "cycles");
	made_text(&p.a.all.events[1].name, "instructions");
	made_text(&p.a.all.metrics[0].formula, "instructions / cycles");
	free(p.b.all.events[0].number.runs);
	p.b.all.events[0].number = made_number(5000000000, 0, 3);
	free(p.b.all.metrics[0].number.runs);
	p.b.all.metrics[0].number = made_number(0.7, 0, 3);
	assert_int_equal(pair_make(&p), 0);
	for (size_t i = 0; i < p.c.nr; i++)
		nr_rules += p.c.v[i].rule != NULL;
	assert_int_equal(nr_rules, 2);
	assert_int_equal(p.c.nr_failed, 2);
	assert_int_equal(p.c.nr_unknown, 0);
	pair_release(&p);
}

static void assert_refused(struct pair *p, const char *why)
{
	char said[512];

	assert_int_equal(listening(pair_make, p, said, sizeof(said)), -EINVAL);
	if (!strstr(said, why))
		fail_msg("\"%s\" has no \"%s\"", said, why);
	assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
}

static void different_machines_are_refused(void **state)
{
	struct pair p;

	pair_init(&p, NULL);
	made_text(&p.b.core_ident, "midr 0x411fd402");
	assert_refused(&p, "different CPU models (midr 0x414fd0c1 and midr 0x411fd402): --force");
	p.force = true;
	assert_int_equal(pair_make(&p), 0);
	p.force = false;
	made_text(&p.b.core_ident, p.a.core_ident);
	p.b.nr_cpus = 8;
	assert_refused(&p, "different numbers of CPUs (4 and 8): --force");
	p.b.nr_cpus = 4;
	made_text(&p.b.all.metrics[1].formula, "100 * stall_slot_frontend / slots");
	assert_refused(&p, "'frontend_bound' was computed in different ways");
	p.force = true;
	assert_int_equal(pair_make(&p), 0);
	pair_release(&p);
}

static void unknown_names_get_the_nearest(void **state)
{
	struct pair p;

	pair_init(&p, "l1d_mis>5%");
	assert_refused(&p, "'l1d_mis'; did you mean 'l1d_miss'?");
	p.force = true;
	assert_refused(&p, "'l1d_mis'; did you mean 'l1d_miss'?");
	pair_release(&p);
	pair_init(&p, "zzzzzzzzzz>5%");
	assert_refused(&p, "'zzzzzzzzzz' (a rule names one of theirs)");
	pair_release(&p);
}

/* Normal enough: the sum of twelve uniform numbers. */
static double noise(uint64_t *random)
{
	double sum = -6;

	for (int i = 0; i < 12; i++) {
		*random ^= *random << 13;
		*random ^= *random >> 7;
		*random ^= *random << 17;
		sum += (double)(*random >> 11) / (1ull << 53);
	}
	return sum;
}

static void draw(struct stat_number *n, double mean, double sigma, uint64_t *random)
{
	double runs[8];

	for (size_t i = 0; i < 8; i++)
		runs[i] = mean + sigma * noise(random);
	set_runs(n, runs, 8);
}

/* 1 % of noise: 10 % more is found each time, none is never taken for 5 %. */
static void chance_neither_flags_nor_hides(void **state)
{
	uint64_t random = 20261121;
	size_t nr_real = 0;
	struct pair p;

	pair_init(&p, "time>5%");
	for (int i = 0; i < 400; i++) {
		draw(&p.a.seconds, 10, 0.1, &random);
		draw(&p.b.seconds, 10, 0.1, &random);
		assert_int_equal(pair_make(&p), 0);
		assert_int_equal(p.c.nr_failed, 0);
		nr_real += p.c.v[0].real;
		draw(&p.b.seconds, 11, 0.1, &random);
		assert_int_equal(pair_make(&p), 0);
		assert_int_equal(p.c.nr_failed, 1);
	}
	/* 95 % of intervals hold 0: 20 of 400 do not, give or take four deviations. */
	assert_in_range(nr_real, 3, 37);
	pair_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_the_same_event_are_compared),
		cmocka_unit_test(t_is_that_of_tables),
		cmocka_unit_test(rules_are_parsed),
		cmocka_unit_test(malformed_rules_get_one_sentence),
		cmocka_unit_test(the_interval_is_welchs),
		cmocka_unit_test(noise_is_no_regression),
		cmocka_unit_test(real_changes_below_the_threshold_pass),
		cmocka_unit_test(better_is_no_regression),
		cmocka_unit_test(without_any_noise_a_difference_is_real),
		cmocka_unit_test(with_a_single_run_the_threshold_decides),
		cmocka_unit_test(from_nothing_to_something_is_beyond_any_percentage),
		cmocka_unit_test(what_one_lacks_is_unknown),
		cmocka_unit_test(a_zero_that_is_none_is_unknown),
		cmocka_unit_test(runs_without_a_number_are_left_out),
		cmocka_unit_test(each_name_is_one_row),
		cmocka_unit_test(different_machines_are_refused),
		cmocka_unit_test(unknown_names_get_the_nearest),
		cmocka_unit_test(chance_neither_flags_nor_hides),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
