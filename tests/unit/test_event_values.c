/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Profiles of several events: told apart, saved, and shown by weight. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <json-c/json.h>

#include "made.h"
#include "output/output.h"
#include "profile/event_values.h"
#include "profile/save.h"

static char path[] = "/tmp/test_event_values.XXXXXX";

static void put_event(struct profile *p, const char *name, uint64_t period, uint64_t rate_hz)
{
	struct sampled_event e = { .name = profile_string(p, name),
				   .period = period,
				   .rate_hz = rate_hz,
				   .enabled_ns = 1000,
				   .running_ns = rate_hz ? 250 : 1000 };

	profile_add_event(p, &e);
}

static void put(struct profile *p, uint32_t event, uint64_t count, uint64_t weight,
		const char *user)
{
	struct sample *s = made_wait(p, 101, "app", PROF_WAIT_OF_EVENT(event), weight, user, "");

	s->count = count;
	p->counters[PROF_SEEN] += count;
	p->counters[PROF_RECORDED] += count;
}

/* Cycles in hot and cold, faults in cold and touch. Two samples are lost. */
static struct profile *two_events(void)
{
	struct profile *p = made_profile("pmu");

	p->meta.is_time = 0;
	p->meta.by_weight = 1;
	put_event(p, "cycles", 0, 99);
	put_event(p, "page-faults", 1, 0);
	p->meta.event = p->events[0].name;
	p->meta.rate_hz = 99;
	put(p, 0, 3, 3000000, "hot;main");
	put(p, 0, 1, 1000000, "cold;main");
	put(p, 1, 7, 7, "cold;main");
	put(p, 1, 21, 21, "touch;main");
	p->counters[PROF_SEEN] += 2;
	p->counters[PROF_LOST_STACKS] = 2;
	return p;
}

static char *written(const char *output, const struct profile *p, struct view v)
{
	const struct result result = { RESULT_STACKS, .profile = p };
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_int_equal(output_write(output_get(RESULT_STACKS, output), &result, &v, f), 0);
	fclose(f);
	return text;
}

static void check_written(const char *output, const struct profile *p, struct view v,
			  const char *expected)
{
	char *text = written(output, p, v);

	assert_string_equal(text, expected);
	free(text);
}

static void stacks_are_of_one_event(void **state)
{
	static const char cycles[] = "app;main;hot 3000000\napp;main;cold 1000000\n";
	struct profile *p = two_events();

	check_written("folded", p, (struct view){}, cycles);
	check_written("folded", p, (struct view){ .value = "cycles" }, cycles);
	check_written("folded", p, (struct view){ .value = "page-faults" },
		      "app;main;touch 21\napp;main;cold 7\n");
	assert_int_equal(profile_find_event(p, "page-faults"), 1);
	assert_int_equal(profile_find_event(p, "page"), -1);
	profile_free(p);
}

static void one_event_is_a_profile_of_its_own(void **state)
{
	struct profile *p = two_events(), one = profile_of_event(p, 1);

	assert_int_equal(one.nr_samples, 2);
	assert_int_equal(one.nr_events, 1);
	assert_int_equal(one.samples[0].wait, 0);
	assert_int_equal(profile_weight(&one), 28);
	assert_string_equal(profile_unit(&one), "page-faults");
	assert_int_equal(one.meta.rate_hz, 0);
	assert_int_equal(profile_sum(&one, COUNTER_LOST), 0); /* of which event, nobody knows */
	assert_int_equal(profile_sum(p, COUNTER_LOST), 2);
	profile_of_event_release(&one);
	profile_free(p);
}

/* Of one event what was lost counts as much as what was not. */
static void lost_samples_have_a_weight(void **state)
{
	struct profile *p = two_events(), one = profile_of_event(p, 0);
	char *text;

	one.counters[PROF_LOST_STACKS] = 2;
	check_written("folded", &one, (struct view){},
		      "app;main;hot 3000000\n[lost];[stack-table-full] 2000000\n"
		      "app;main;cold 1000000\n");
	text = written("svg", &one, (struct view){});
	assert_non_null(strstr(text, "4,000,000 cycles, 2 samples lost"));
	assert_non_null(strstr(text, "\"unit\":\"cycles\""));
	assert_non_null(strstr(text, "hot: 3,000,000 cycles, 50%"));
	free(text);
	profile_of_event_release(&one);
	profile_free(p);
}

static void clocks_are_time(void **state)
{
	struct profile *p = made_profile("pmu");

	p->meta.is_time = 0;
	p->meta.event = profile_string(p, "cpu-clock");
	assert_string_equal(profile_unit(p), "samples");
	p->meta.by_weight = 1;
	assert_string_equal(profile_unit(p), "ns");
	p->meta.event = profile_string(p, "task-clock:u");
	assert_string_equal(profile_unit(p), "ns");
	p->meta.event = profile_string(p, "cpu-clocks");
	assert_string_equal(profile_unit(p), "cpu-clocks");
	profile_free(p);
}

static void check_row(const struct event_values_row *row, const char *name, uint64_t self0,
		      uint64_t self1, uint64_t total0, uint64_t total1)
{
	assert_string_equal(row->name, name);
	assert_int_equal(row->self[0], self0);
	assert_int_equal(row->self[1], self1);
	assert_int_equal(row->total[0], total0);
	assert_int_equal(row->total[1], total1);
}

static void functions_have_all_values(void **state)
{
	struct profile *p = two_events();
	struct event_values v;

	event_values_init(&v, p, &(struct view){}, 0);
	assert_int_equal(v.nr, 4);
	check_row(&v.rows[0], "hot", 3000000, 0, 3000000, 0);
	check_row(&v.rows[1], "cold", 1000000, 7, 1000000, 7);
	check_row(&v.rows[2], "touch", 0, 21, 0, 21);
	check_row(&v.rows[3], "main", 0, 0, 4000000, 28);
	event_values_release(&v);
	event_values_init(&v, p, &(struct view){}, 1);
	assert_string_equal(v.rows[0].name, "touch");
	assert_string_equal(v.rows[1].name, "cold");
	event_values_release(&v);
	profile_free(p);
}

static void the_summary_has_a_column_each(void **state)
{
	struct profile *p = two_events();
	char *text = written("summary", p, (struct view){});

	assert_non_null(strstr(text, "; cycles at 99 Hz (counted 25.00% of the time), page-faults "
				     "on 2 CPUs\n"));
	assert_non_null(strstr(text, "\ncycles  page-faults  FUNCTION"));
	assert_non_null(strstr(text, "\n 75.0%            -  hot"));
	assert_non_null(strstr(text, "\n 25.0%        25.0%  cold"));
	assert_non_null(strstr(text, "34 seen = 32 recorded + 0 filtered + 2 lost"));
	assert_non_null(strstr(text, "100.0% of page-faults in complete stacks"));
	free(text);
	profile_free(p);
}

static struct json_object *at(struct json_object *o, const char *key)
{
	struct json_object *value = NULL;

	assert_true(json_object_object_get_ex(o, key, &value));
	return value;
}

static void json_has_all(void **state)
{
	struct profile *p = two_events();
	char *text = written("json", p, (struct view){});
	struct json_object *o = json_tokener_parse(text), *f, *e;

	assert_non_null(o);
	e = json_object_array_get_idx(at(o, "events"), 1);
	assert_string_equal(json_object_get_string(at(e, "name")), "page-faults");
	assert_int_equal(json_object_get_int(at(e, "samples")), 28);
	assert_int_equal(json_object_get_int(at(e, "period_sum")), 28);
	e = json_object_array_get_idx(at(o, "events"), 0);
	assert_int_equal(json_object_get_int(at(e, "duty_pct")), 25);
	f = json_object_array_get_idx(at(o, "functions"), 1);
	assert_string_equal(json_object_get_string(at(f, "name")), "cold");
	assert_int_equal(json_object_get_int(at(at(f, "self"), "cycles")), 1000000);
	assert_int_equal(json_object_get_int(at(at(f, "self"), "page-faults")), 7);
	json_object_put(o);
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

static uint32_t version(void)
{
	uint32_t words[3] = {};
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	assert_int_equal(fread(words, sizeof(words), 1, f), 1);
	fclose(f);
	return words[2];
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

static void they_come_back_whole(void **state)
{
	struct profile *p = two_events(), *q;

	save(p);
	assert_int_equal(version(), 3);
	q = profile_load(path);
	assert_non_null(q);
	assert_int_equal(q->nr_events, 2);
	assert_memory_equal(q->events, p->events, 2 * sizeof(*p->events));
	assert_int_equal(q->meta.by_weight, 1);
	check_written("folded", q, (struct view){ .value = "page-faults" },
		      "app;main;touch 21\napp;main;cold 7\n");
	profile_free(q);
	/* Of one event: older readers may have it. */
	p->nr_events = 1;
	p->nr_samples = 2;
	save(p);
	assert_int_equal(version(), 2);
	q = profile_load(path);
	assert_non_null(q);
	assert_int_equal(q->nr_events, 1);
	profile_free(q);
	profile_free(p);
}

static void forged_events_are_refused(void **state)
{
	struct profile *p = two_events();

	p->samples[3].wait = PROF_WAIT_OF_EVENT(2);
	check_refused(p);
	p->samples[3].wait = PROF_WAIT_OF_EVENT(1);
	p->nr_events = 1; /* and a sample of the second */
	check_refused(p);
	p->nr_events = 2;
	p->events[1].name = 1u << 30;
	check_refused(p);
	p->events[1].name = 0;
	p->events[0].note = 1u << 30;
	check_refused(p);
	p->events[0].note = 0;
	while (p->nr_events <= PROF_MAX_EVENTS)
		put_event(p, "more", 1, 0);
	check_refused(p);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_are_of_one_event),
		cmocka_unit_test(one_event_is_a_profile_of_its_own),
		cmocka_unit_test(lost_samples_have_a_weight),
		cmocka_unit_test(clocks_are_time),
		cmocka_unit_test(functions_have_all_values),
		cmocka_unit_test(the_summary_has_a_column_each),
		cmocka_unit_test(json_has_all),
		cmocka_unit_test(they_come_back_whole),
		cmocka_unit_test(forged_events_are_refused),
	};
	int failed, fd = mkstemp(path);

	if (fd < 0)
		return 1;
	close(fd);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}
