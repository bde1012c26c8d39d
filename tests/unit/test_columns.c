/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What counters and branch records say of functions, and that it comes back from a file. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <json-c/json.h>

#include "bpf/branches.bpf.h"
#include "made.h"
#include "output/output.h"
#include "profile/branches.h"
#include "profile/columns.h"
#include "profile/save.h"
#include "profile/tree.h"

static char path[] = "/tmp/test_columns.XXXXXX";

static void put_column(struct profile *p, const char *name, uint64_t per, const char *note)
{
	struct value_column c = { .name = profile_string(p, name), .per = per };

	c.note = note ? profile_string(p, note) : 0;
	profile_add_column(p, &c);
}

/* Values of two columns: four counters, of which the last two ran for so much of 1,000 ns. */
static void put(struct profile *p, const char *user, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
		uint64_t running)
{
	struct prof_event_count v[] = {
		{ a, 1000, 1000 }, { b, 1000, 1000 }, { c, 1000, running }, { d, 1000, running }
	};
	struct sample *s = made_wait(p, 101, "app", 0, 10, user, "");

	s->count = 1;
	profile_add_counted(p, v);
	p->counters[PROF_SEEN]++;
	p->counters[PROF_RECORDED]++;
}

/* hot twice, by different callers; cold, in which the second column never ran. */
static struct profile *counted(void)
{
	struct profile *p = made_profile("pmu");
	struct sampled_event e = { .name = profile_string(p, "cycles"), .rate_hz = 99 };

	p->meta.is_time = 0;
	p->meta.by_weight = 1;
	p->meta.event = e.name;
	profile_add_event(p, &e);
	put_column(p, "IPC", 1, NULL);
	put_column(p, "branch-misses/1k", 1000, "its two counters ran at different times");
	put(p, "hot;main", 300, 100, 2, 200, 500);
	put(p, "hot;other;main", 100, 100, 4, 100, 250);
	put(p, "cold;main", 50, 100, 0, 0, 0);
	return p;
}

static void check_value(struct columns_value v, double value, double coverage)
{
	assert_true(fabs(v.value - value) < 1e-9);
	assert_true(fabs(v.coverage - coverage) < 1e-9);
}

static void functions_have_ratios_of_sums(void **state)
{
	struct profile *p = counted();
	struct columns c;

	columns_init(&c, p, &(struct view){});
	check_value(columns_get(&c, "hot", 0), 2, 1);
	/* 6 of 300 instructions, in 750 of 2,000 ns: both scaled alike. */
	check_value(columns_get(&c, "hot", 1), 20, 0.375);
	check_value(columns_get(&c, "cold", 0), 0.5, 1);
	check_value(columns_get(&c, NULL, 0), 1.5, 1);
	check_value(columns_get(&c, NULL, 1), 20, 0.25);
	columns_release(&c);
	profile_free(p);
}

/* Never counted is not 0. */
static void what_never_ran_is_not_available(void **state)
{
	struct profile *p = counted();
	struct columns c;

	columns_init(&c, p, &(struct view){});
	assert_true(isnan(columns_get(&c, "cold", 1).value));
	assert_true(columns_get(&c, "cold", 1).coverage == 0);
	assert_true(isnan(columns_get(&c, "main", 0).value));
	assert_true(isnan(columns_get(&c, "nobody", 0).value));
	columns_release(&c);
	profile_free(p);
}

static char *written(const char *output, const struct profile *p)
{
	const struct result result = { RESULT_STACKS, .profile = p };
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_int_equal(
		output_write(output_get(RESULT_STACKS, output), &result, &(struct view){}, f), 0);
	fclose(f);
	return text;
}

static void the_summary_says_what_they_are_worth(void **state)
{
	struct profile *p = counted();
	char *text = written("summary", p);

	assert_non_null(strstr(text, "\ncycles   IPC  branch-misses/1k  FUNCTION\n"));
	assert_non_null(strstr(text, "\n 66.7%  2.00             20.00  hot\n"));
	assert_non_null(strstr(text, "\n 33.3%  0.50               n/a  cold\n"));
	assert_non_null(strstr(text, "columns   IPC 1.50 in all, counted 100.00% of the time\n"));
	assert_non_null(strstr(text, "          branch-misses/1k 20.00 in all, counted 25.00% of "
				     "the time; its two counters ran at different times\n"));
	free(text);
	profile_free(p);
}

static struct json_object *at(struct json_object *o, const char *key)
{
	struct json_object *value = NULL;

	assert_true(json_object_object_get_ex(o, key, &value));
	return value;
}

static void json_has_null_for_it(void **state)
{
	struct profile *p = counted();
	char *text = written("json", p);
	struct json_object *o = json_tokener_parse(text), *f, *c;

	assert_non_null(o);
	f = json_object_array_get_idx(at(o, "functions"), 1);
	assert_string_equal(json_object_get_string(at(f, "name")), "cold");
	c = at(f, "columns");
	assert_true(json_object_get_double(at(at(c, "IPC"), "value")) == 0.5);
	assert_null(at(at(c, "branch-misses/1k"), "value"));
	assert_true(json_object_get_double(at(at(at(o, "columns"), "IPC"), "value")) == 1.5);
	json_object_put(o);
	free(text);
	profile_free(p);
}

static void events_keep_their_counters(void **state)
{
	struct profile *p = counted(), one;
	struct sampled_event e = { .name = profile_string(p, "page-faults"), .period = 1 };
	struct columns c;

	profile_add_event(p, &e);
	p->samples[1].wait = PROF_WAIT_OF_EVENT(1);
	one = profile_of_event(p, 1);
	assert_int_equal(one.nr_counted, 4);
	columns_init(&c, &one, &(struct view){});
	check_value(columns_get(&c, "hot", 0), 1, 1);
	columns_release(&c);
	profile_of_event_release(&one);
	profile_free(p);
}

/* --- branches --- */

static uint64_t word(bool mispredicted, bool predicted, uint64_t cycles)
{
	return mispredicted | (uint64_t)predicted << 1 | cycles << 4 | 7ull << 20;
}

static void records_say_what_they_know(void **state)
{
	struct prof_branch row = {};

	branch_add(&row, word(true, false, 100));
	branch_add(&row, word(false, true, 50));
	branch_add(&row, word(false, true, 0)); /* does not tell its cycles */
	branch_add(&row, word(false, false, 0xffff));
	assert_int_equal(row.count, 4);
	assert_int_equal(row.mispredicted, 1);
	assert_int_equal(row.untold, 1); /* which is not predicted */
	assert_int_equal(row.cycles, 150 + 0xffff);
	assert_int_equal(row.timed, 3);
}

static uint32_t frame(struct profile *p, uint64_t offset, const char *name)
{
	uint32_t id = profile_frame(p, FRAME_USER, 0, offset);

	profile_name_frame(p, id, profile_string(p, name), 0);
	return id;
}

/* From two places in loop to leaf; one branch back that tells nothing. */
static struct profile *branched(void)
{
	struct profile *p = counted();
	uint32_t loop = frame(p, 1, "loop"), loop2 = frame(p, 2, "loop"),
		 leaf = frame(p, 3, "leaf");

	profile_add_branch(p, &(struct branch){ loop, leaf, 10, 4, 2, 500, 10 });
	profile_add_branch(p, &(struct branch){ leaf, loop, 30, 0, 30, 0, 0 });
	profile_add_branch(p, &(struct branch){ loop2, leaf, 6, 3, 0, 300, 6 });
	return p;
}

static void places_of_a_function_are_one_row(void **state)
{
	struct profile *p = branched();
	struct branches b;

	branches_init(&b, p, &(struct view){});
	assert_int_equal(b.nr, 2);
	assert_string_equal(b.rows[0].from, "loop");
	assert_string_equal(b.rows[0].to, "leaf");
	assert_int_equal(b.rows[0].count, 16);
	assert_true(branches_mispredicted_pct(&b.rows[0]) == 50); /* 7 of the 14 that tell */
	assert_true(branches_cycles(&b.rows[0]) == 50);
	assert_true(isnan(branches_mispredicted_pct(&b.rows[1])));
	assert_true(isnan(branches_cycles(&b.rows[1])));
	assert_int_equal(b.all.count, 46);
	branches_release(&b);
	profile_free(p);
}

static void branches_are_written(void **state)
{
	struct profile *p = branched();
	char *text = written("branches-folded", p);

	assert_string_equal(text, "leaf;loop 30\nloop;leaf 16\n");
	free(text);
	p->counters[PROF_BRANCHES_LOST] = 5;
	text = written("branches", p);
	assert_non_null(strstr(text, "46 branch records; 50.0% mispredicted\n"));
	assert_non_null(strstr(text, "32 of them do not say whether they were predicted"));
	assert_non_null(strstr(text, "LOST 5 more"));
	assert_non_null(strstr(text, "\n     7  50.0%     16    50.0  loop  "));
	assert_non_null(strstr(text, "\n     0    n/a     30     n/a  leaf  "));
	free(text);
	profile_free(p);
}

static void save(const struct profile *p)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	profile_save(p, f);
	fclose(f);
}

static void all_of_it_comes_back(void **state)
{
	struct profile *p = branched(), *q;

	save(p);
	q = profile_load(path);
	assert_non_null(q);
	assert_int_equal(q->nr_columns, 2);
	assert_memory_equal(q->columns, p->columns, 2 * sizeof(*p->columns));
	assert_int_equal(q->nr_counted, 12);
	assert_memory_equal(q->counted, p->counted, 12 * sizeof(*p->counted));
	assert_int_equal(q->nr_branches, 3);
	assert_memory_equal(q->branches, p->branches, 3 * sizeof(*p->branches));
	profile_free(q);
	profile_free(p);
}

static int load(void *arg)
{
	struct profile **p = arg;

	*p = profile_load(path);
	return *p ? 0 : -1;
}

static void check_refused(const struct profile *p)
{
	struct profile *q;
	char *message;
	int err;

	save(p);
	message = made_errors(load, &q, &err);
	assert_int_equal(err, -1);
	assert_non_null(strstr(message, "a reference is out of range"));
	free(message);
}

static void forged_tables_are_refused(void **state)
{
	struct profile *p = branched();

	p->branches[1].to = 1u << 30;
	check_refused(p);
	p->branches[1].to = 0;
	p->nr_counted--;
	check_refused(p);
	p->nr_counted++;
	p->columns[1].name = 1u << 30;
	check_refused(p);
	p->columns[1].name = 0;
	p->nr_columns = 0; /* and yet there are counts */
	check_refused(p);
	p->nr_columns = 2;
	save(p);
	profile_free(p);
	p = profile_load(path);
	assert_non_null(p);
	profile_free(p);
}

/* A saved file may claim losses whose weight fits no integer. */
static void losses_without_end(void **state)
{
	struct profile *p = counted();
	struct view v = {};
	struct tree *t;

	p->counters[PROF_LOST_FRAMES] = UINT64_MAX;
	t = tree_new(p, &v);
	assert_true(t->nodes[0].total >= (uint64_t)INT64_MAX);
	tree_free(t);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(losses_without_end),
		cmocka_unit_test(functions_have_ratios_of_sums),
		cmocka_unit_test(what_never_ran_is_not_available),
		cmocka_unit_test(the_summary_says_what_they_are_worth),
		cmocka_unit_test(json_has_null_for_it),
		cmocka_unit_test(events_keep_their_counters),
		cmocka_unit_test(records_say_what_they_know),
		cmocka_unit_test(places_of_a_function_are_one_row),
		cmocka_unit_test(branches_are_written),
		cmocka_unit_test(all_of_it_comes_back),
		cmocka_unit_test(forged_tables_are_refused),
	};
	int failed, fd = mkstemp(path);

	if (fd < 0)
		return 1;
	close(fd);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}
