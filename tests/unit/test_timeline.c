/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Timelines: events joined to spans, what was not seen, and files that were forged. */
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

#include "collect/maps.h"
#include "collect/timeline.h"
#include "output/output.h"
#include "proc/proc.h"
#include "profile/save.h"
#include "tests/unit/made_timeline.h"

static void assert_span(const struct timeline *t, uint32_t tid, size_t nr, int state, uint64_t from,
			uint64_t to, const char *word)
{
	for (size_t i = 0; i < t->nr_spans; i++) {
		const struct timeline_span *s = &t->spans[i];

		if (t->threads[s->thread].tid != tid || nr--)
			continue;
		assert_int_equal(s->state, state);
		assert_int_equal(s->start_ns, from * 1000);
		assert_int_equal(s->end_ns, to * 1000);
		if (word)
			assert_string_equal(timeline_word(t, s->thread, s->wait), word);
		return;
	}
	fail_msg("thread %u has no such span", tid);
}

static void test_spans(void **state)
{
	struct profile *p = made_timeline();
	struct timeline t;

	timeline_init(&t, p);
	assert_int_equal(t.nr_threads, 3);
	assert_int_equal(t.nr_spans, 9);
	assert_span(&t, 10, 0, TIMELINE_RUNS, 0, 100, "sleep");
	assert_span(&t, 10, 1, TIMELINE_WAITS, 100, 300, "sleep");
	assert_span(&t, 10, 2, TIMELINE_RUNNABLE, 300, 350, "woken");
	assert_span(&t, 10, 3, TIMELINE_RUNS, 350, 500, "preempted");
	assert_span(&t, 10, 4, TIMELINE_RUNNABLE, 500, 700, "preempted");
	assert_span(&t, 10, 5, TIMELINE_RUNS, 700, 1000, NULL);
	assert_span(&t, 11, 0, TIMELINE_RUNS, 0, 850, "exit");
	assert_span(&t, 12, 0, TIMELINE_RUNNABLE, 800, 850, "woken");
	assert_span(&t, 12, 1, TIMELINE_RUNS, 850, 1000, NULL);
	timeline_release(&t);
	profile_free(p);
}

static void test_rows(void **state)
{
	struct profile *p = made_timeline();
	struct timeline_row *rows;
	struct timeline t;
	size_t nr;

	timeline_init(&t, p);
	rows = timeline_rows(&t, TIMELINE_BY_MAX, false, &nr);
	assert_int_equal(nr, 3);
	assert_int_equal(rows[0].tid, 10);
	assert_int_equal(rows[0].ns[TIMELINE_RUNS], 550000);
	assert_int_equal(rows[0].ns[TIMELINE_RUNNABLE], 250000);
	assert_int_equal(rows[0].ns[TIMELINE_WAITS], 200000);
	assert_int_equal(rows[0].switches, 2);
	assert_int_equal(rows[0].preempted, 1);
	assert_int_equal(rows[0].delays, 2);
	assert_int_equal(timeline_avg_ns(&rows[0]), 125000);
	assert_int_equal(timeline_max_ns(&rows[0]), 200000);
	assert_int_equal(rows[0].longest->start_ns, 500000);
	free(rows);
	rows = timeline_rows(&t, TIMELINE_BY_RUNTIME, false, &nr);
	assert_int_equal(rows[0].tid, 11);
	free(rows);
	rows = timeline_rows(&t, TIMELINE_BY_SWITCHES, true, &nr);
	assert_int_equal(nr, 1);
	assert_int_equal(rows[0].switches, 3);
	assert_int_equal(rows[0].nr_threads, 3);
	assert_string_equal(rows[0].name, "main");
	free(rows);
	timeline_release(&t);
	profile_free(p);
}

/* A process has the name of its first thread, also where that did nothing. */
static void test_process_name(void **state)
{
	struct profile *p = made_empty();
	uint32_t name = profile_string(p, "java");
	struct timeline_row *rows;
	struct timeline t;
	size_t nr;

	made_event(p, 100, TIMELINE_SWITCH, 0, MADE_IDLE, 0, MADE_BORN);
	made_event(p, 400, TIMELINE_SWITCH, 0, MADE_BORN, MADE_SLEEPS, MADE_IDLE);
	timeline_init(&t, p);
	rows = timeline_rows(&t, TIMELINE_BY_MAX, true, &nr);
	assert_int_equal(nr, 1);
	assert_string_equal(rows[0].name, "born"); /* nothing better is known */
	assert_false(rows[0].has_first);
	free(rows);
	profile_add_thread(p, &(struct thread_time){ 10, 10, name, name, 0 });
	rows = timeline_rows(&t, TIMELINE_BY_MAX, true, &nr);
	assert_int_equal(nr, 1);
	assert_string_equal(rows[0].name, "java");
	free(rows);
	rows = timeline_rows(&t, TIMELINE_BY_MAX, false, &nr);
	assert_string_equal(rows[0].name, "born");
	free(rows);
	timeline_release(&t);
	profile_free(p);
}

/* Processes of a live system: this one, whose only thread here is not its first. */
static void test_process_is_asked(void **state)
{
	struct profile *p = made_empty();
	struct proc_table procs = {};
	struct timeline_event e = { .time_ns = MADE_BEGIN_NS + 1000,
				    .kind = TIMELINE_SWITCH,
				    .pid2 = getpid(),
				    .tid2 = getpid() + 1,
				    .comm2 = "worker",
				    .flags = TIMELINE_SECOND };

	profile_add_timeline(p, &e);
	timeline_name_processes(p, &procs);
	assert_int_equal(p->nr_threads, 1);
	assert_int_equal(p->threads[0].tid, getpid());
	assert_string_equal(profile_str(p, p->threads[0].process), "test_timeline");
	profile_free(p);
}

/* It is woken when it has said that it sleeps, and before it has left its CPU. */
static void test_early_wake(void **state)
{
	struct profile *p = made_empty();
	struct timeline t;

	made_event(p, 100, TIMELINE_SWITCH, 0, MADE_IDLE, 0, MADE_MAIN);
	made_event(p, 190, TIMELINE_WAKING, 1, MADE_MAIN, MADE_SLEEPS, MADE_HOG);
	made_event(p, 200, TIMELINE_SWITCH, 0, MADE_MAIN, MADE_SLEEPS, MADE_IDLE);
	made_event(p, 260, TIMELINE_SWITCH, 0, MADE_IDLE, 0, MADE_MAIN);
	timeline_init(&t, p);
	assert_span(&t, 10, 1, TIMELINE_RUNS, 100, 200, "sleep");
	assert_span(&t, 10, 2, TIMELINE_RUNNABLE, 200, 260, "woken");
	timeline_release(&t);
	profile_free(p);
}

/* The one that worker left the CPU to is hidden, and so are its own switches. */
static void test_hidden(void **state)
{
	struct profile *p = made_empty();
	struct timeline t;

	made_event(p, 100, TIMELINE_SWITCH, 0, MADE_IDLE, 0, MADE_WORKER);
	made_event(p, 400, TIMELINE_SWITCH, 0, MADE_MAIN, MADE_SLEEPS, MADE_IDLE);
	made_event(p, 600, TIMELINE_SWITCH, 0, MADE_IDLE, 0, MADE_MAIN);
	made_event(p, 700, TIMELINE_SWITCH, 0, MADE_MAIN, MADE_MAKES, MADE_IDLE);
	timeline_init(&t, p);
	assert_span(&t, 11, 0, TIMELINE_RUNNABLE, 0, 100, "preempted");
	assert_span(&t, 11, 1, TIMELINE_UNKNOWN, 100, 400, NULL);
	assert_span(&t, 11, 2, TIMELINE_UNKNOWN, 400, 1000, NULL);
	assert_span(&t, 10, 0, TIMELINE_UNKNOWN, 0, 400, "sleep");
	assert_span(&t, 10, 1, TIMELINE_WAITS, 400, 600, "sleep");
	timeline_release(&t);
	profile_free(p);
}

static char *written(const struct profile *p, const char *output)
{
	const struct result result = { RESULT_TIMELINE, .profile = p };
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_int_equal(
		output_write(output_get(RESULT_TIMELINE, output), &result, &(struct view){}, out),
		0);
	fclose(out);
	return text;
}

static struct profile *loaded(const struct profile *p)
{
	char path[] = "/tmp/test_timeline.XXXXXX";
	struct profile *again;
	FILE *f = fdopen(mkstemp(path), "w");

	profile_save(p, f);
	fclose(f);
	again = profile_load(path);
	unlink(path);
	return again;
}

static void test_saved(void **state)
{
	static const char *const outputs[] = { "trace", "json", "csv", "summary", "table" };
	struct profile *p = made_timeline(), *again = loaded(p);

	assert_non_null(again);
	for (size_t i = 0; i < 5; i++) {
		char *a = written(p, outputs[i]), *b = written(again, outputs[i]);

		assert_string_equal(a, b);
		assert_null(strchr(a, '\xff'));
		free(a);
		free(b);
	}
	profile_free(again);
	profile_free(p);
}

/* Of another kind of event, of one that goes back in time, and of ones beyond the end. */
static void test_forged(void **state)
{
	struct profile *p = made_timeline();

	p->timeline[2].kind = TIMELINE_NR_KINDS;
	assert_null(loaded(p));
	p->timeline[2].kind = TIMELINE_SWITCH;
	p->timeline[2].time_ns = p->timeline[1].time_ns - 1;
	assert_null(loaded(p));
	p->timeline[2].time_ns = p->timeline[1].time_ns;
	p->meta.timeline_end_ns = p->timeline[6].time_ns - 1;
	assert_null(loaded(p));
	p->meta.timeline_end_ns = UINT64_MAX;
	assert_null(loaded(p));
	p->meta.timeline_end_ns = MADE_BEGIN_NS + 1000000;
	p->meta.timeline_from_ns = MADE_BEGIN_NS - 1;
	assert_null(loaded(p));
	profile_free(p);
}

/* Two CPUs of which one has lapped its ring of four events, one each 10 ms from 0 on. */
#define RING 4
#define STEP 10000000ull

static void record(struct timeline_event *ring, struct prof_counters *row, uint64_t time_ns)
{
	struct timeline_event *e = &ring[row->value[PROF_RECORDED]++ & (RING - 1)];

	row->value[PROF_LOST_RING] += e->kind != 0;
	*e = (struct timeline_event){ .time_ns = time_ns, .kind = TIMELINE_WAKING };
}

static void test_overwritten(void **state)
{
	static struct timeline_event ring[2 * RING];
	static struct prof_counters rows[2];
	struct session_maps maps = {
		.nr_cpus = 2, .counters = rows, .timeline = ring, .nr_timeline = RING
	};
	uint64_t recorded[TIMELINE_MARKS * 2] = {};
	struct timeline_marks marks = { .recorded = recorded };
	struct timeline_opts last = { .last_ns = 10 * STEP };
	struct profile *p = profile_new();

	record(ring + RING, &rows[1], 95 * STEP);
	for (uint64_t i = 0; i < 100; i++) { /* a mark each 3 steps */
		if (i % 3 == 0) {
			marks.time_ns[marks.nr % TIMELINE_MARKS] = i * STEP - 1;
			recorded[marks.nr++ % TIMELINE_MARKS * 2] = i;
		}
		record(ring, &rows[0], i * STEP);
	}
	for (int c = PROF_RECORDED; c <= PROF_LOST_RING; c += PROF_LOST_RING - PROF_RECORDED)
		p->counters[c] = rows[0].value[c] + rows[1].value[c];
	/* Of 90 to 99 it lacks six; the mark before was at 90. What all CPUs have begins at 96. */
	timeline_read(&last, &marks, &maps, p, 0, 100 * STEP - 1);
	assert_int_equal(p->nr_timeline, 4);
	assert_int_equal(p->counters[PROF_RECORDED], 4);
	assert_int_equal(p->counters[PROF_LOST_RING], 6 + 1);
	assert_int_equal(p->counters[PROF_FILTER_OUTSIDE], 90);
	profile_free(p);
}

/* Of marks that are too new, or of none, all that was overwritten may have been wanted. */
static void test_no_marks(void **state)
{
	static struct timeline_event ring[RING];
	static struct prof_counters row;
	struct session_maps maps = {
		.nr_cpus = 1, .counters = &row, .timeline = ring, .nr_timeline = RING
	};
	struct timeline_marks marks = {};
	struct timeline_opts all = {};
	struct profile *p = profile_new();

	for (uint64_t i = 0; i < 10; i++)
		record(ring, &row, i * STEP);
	p->counters[PROF_RECORDED] = 10;
	p->counters[PROF_LOST_RING] = 6;
	timeline_mark(&marks, &all, &maps);
	timeline_mark(&marks, &all, &maps); /* too soon */
	assert_int_equal(marks.nr, 1);
	assert_int_equal(marks.recorded[0], 10);
	timeline_read(&all, &marks, &maps, p, 0, 10 * STEP);
	assert_int_equal(p->counters[PROF_LOST_RING], 6);
	assert_int_equal(p->counters[PROF_RECORDED], 4);
	timeline_marks_release(&marks);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spans),	     cmocka_unit_test(test_rows),
		cmocka_unit_test(test_process_name), cmocka_unit_test(test_process_is_asked),
		cmocka_unit_test(test_early_wake),   cmocka_unit_test(test_hidden),
		cmocka_unit_test(test_saved),	     cmocka_unit_test(test_forged),
		cmocka_unit_test(test_overwritten),  cmocka_unit_test(test_no_marks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
