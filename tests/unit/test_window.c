/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The last seconds of counts that grow, with waits that have not ended. */
#include "collect/window.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define S	1000000000ull
#define BEGIN	(10 * S)
#define SLOTS	8
#define BLOCKED PROF_WAIT(PROF_BLOCKED, 1, 7)
#define WOKEN	PROF_WAIT(PROF_WOKEN, 0, 7)
#define RUNNING PROF_WAIT(PROF_RUNNING, 0, -1)
#define ON_CPU	PROF_WAIT(PROF_ON_CPU, 0, -1)

static struct prof_count counts[SLOTS];
static struct window w;

static int begin(void **state)
{
	memset(counts, 0, sizeof(counts));
	window_init(&w, counts, SLOTS, 3 * S, BEGIN);
	return 0;
}

static int end(void **state)
{
	window_release(&w);
	return 0;
}

static void grow(size_t slot, uint32_t tid, uint32_t wait, uint64_t samples, uint64_t ns)
{
	counts[slot].hash = slot + 1;
	counts[slot].pid = 100;
	counts[slot].tid = tid;
	counts[slot].wait = wait;
	counts[slot].samples += samples;
	counts[slot].weight += ns;
}

/* What the window has of a thread and a wait. */
static const struct prof_count *sum(uint32_t tid, uint32_t wait)
{
	static const struct prof_count none;

	for (size_t i = 0; i < w.sums.nr; i++)
		if (w.sums.counts[i].tid == tid && w.sums.counts[i].wait == wait)
			return &w.sums.counts[i];
	return &none;
}

static void look(uint64_t at, const struct prof_look *rows, size_t nr)
{
	window_begin(&w, BEGIN + at);
	for (size_t i = 0; i < nr; i++)
		window_see(&w, &rows[i]);
	window_end(&w);
}

static void looks_leave_the_window_again(void **state)
{
	for (uint64_t i = 1; i <= 20; i++) {
		grow(0, 1, ON_CPU, i, i * 1000);
		look(i * S, NULL, 0);
	}
	assert_int_equal(sum(1, ON_CPU)->samples, 18 + 19 + 20);
	assert_int_equal(sum(1, ON_CPU)->weight, 57000);
	assert_int_equal(window_end_ns(&w) - window_begin_ns(&w), 3 * S);
	assert_int_equal(window_first(&w), 17);
	for (uint64_t i = 21; i <= 23; i++)
		look(i * S, NULL, 0);
	assert_int_equal(sum(1, ON_CPU)->samples, 0);
	assert_int_equal(sum(1, ON_CPU)->weight, 0);
}

static void one_look_is_enough_where_they_are_rare(void **state)
{
	grow(0, 1, ON_CPU, 1, 1);
	look(9 * S, NULL, 0);
	grow(0, 1, ON_CPU, 5, 5);
	look(18 * S, NULL, 0);
	assert_int_equal(sum(1, ON_CPU)->samples, 5);
	assert_int_equal(window_end_ns(&w) - window_begin_ns(&w), 9 * S);
}

/* Whatever happens, a thread that waits all the time has waited for the whole window. */
static void a_wait_counts_while_it_lasts_and_not_again(void **state)
{
	struct prof_look row = {
		.since = BEGIN - 5 * S, .pid = 100, .tid = 1, .wait = BLOCKED, .count = 1
	};

	grow(0, 1, BLOCKED, 0, 0);
	for (uint64_t i = 1; i <= 4; i++) {
		look(i * S, &row, 1);
		assert_int_equal(sum(1, BLOCKED)->weight, (i < 3 ? i : 3) * S);
	}
	/* It ends half a second later, all of it is counted, and the next one begins. */
	grow(0, 1, BLOCKED, 1, 4 * S + S / 2);
	row.since = BEGIN + 4 * S + S / 2;
	look(5 * S, &row, 1);
	assert_int_equal(sum(1, BLOCKED)->weight, 3 * S);
	assert_int_equal(sum(1, BLOCKED)->samples, 1);
	look(6 * S, &row, 1);
	assert_int_equal(sum(1, BLOCKED)->weight, 3 * S);
}

/* The count may be looked at just before the wait ends, and the thread just after. */
static void a_wait_that_ends_during_a_look_is_not_counted_twice(void **state)
{
	struct prof_look row = {
		.since = BEGIN, .pid = 100, .tid = 1, .wait = BLOCKED, .count = 1
	};

	grow(0, 1, BLOCKED, 0, 0);
	look(S, &row, 1);
	look(2 * S, NULL, 0);
	grow(0, 1, BLOCKED, 1, 2 * S);
	look(3 * S, NULL, 0);
	assert_int_equal(sum(1, BLOCKED)->weight, 2 * S);
}

static void a_thread_that_was_woken_is_runnable(void **state)
{
	struct prof_look row = { .since = BEGIN,
				 .woken_ns = BEGIN + 3 * S / 2,
				 .pid = 100,
				 .tid = 1,
				 .wait = BLOCKED,
				 .count = 1,
				 .count_woken = 2 };

	grow(0, 1, BLOCKED, 0, 0);
	grow(1, 1, WOKEN, 0, 0);
	look(2 * S, &row, 1);
	assert_int_equal(sum(1, BLOCKED)->weight, 3 * S / 2);
	assert_int_equal(sum(1, WOKEN)->weight, S / 2);
	grow(0, 1, BLOCKED, 1, 3 * S / 2);
	grow(1, 1, WOKEN, 1, S);
	look(3 * S, NULL, 0);
	assert_int_equal(sum(1, BLOCKED)->weight, 3 * S / 2);
	assert_int_equal(sum(1, WOKEN)->weight, S);
}

/* Counts were read, then the wait ended, then the thread was seen: the wait is of this look. */
static void a_wait_that_ends_between_counts_and_thread_is_counted_at_once(void **state)
{
	struct prof_look row = {
		.since = BEGIN + S + 7, .pid = 100, .tid = 1, .wait = RUNNING, .count = 2
	};

	grow(0, 1, BLOCKED, 0, 0);
	grow(1, 1, RUNNING, 0, 0);
	grow(2, 2, BLOCKED, 0, 0);
	window_begin(&w, BEGIN + S);
	grow(0, 1, BLOCKED, 1, S + 7);
	grow(2, 2, BLOCKED, 1, S); /* of another thread, that has not moved: at the next look */
	window_see(&w, &row);
	window_see(&w, &(struct prof_look){
			       .since = BEGIN, .pid = 100, .tid = 2, .wait = BLOCKED, .count = 3 });
	window_end(&w);
	assert_int_equal(sum(1, BLOCKED)->weight, S + 7);
	assert_int_equal(sum(2, BLOCKED)->weight, S);
	row.since = BEGIN + 2 * S;
	grow(1, 1, RUNNING, 1, S - 7);
	look(2 * S, &row, 1);
	assert_int_equal(sum(1, BLOCKED)->weight, S + 7);
	assert_int_equal(sum(1, RUNNING)->weight, S - 7);
	assert_int_equal(sum(2, BLOCKED)->weight, S);
	assert_int_equal(sum(2, BLOCKED)->samples, 1);
}

/* One that was found waiting: it is known by who it is until it gets a count of its own. */
static void a_wait_without_a_count_is_the_same_as_its_count_later(void **state)
{
	struct prof_look rows[] = {
		{ .since = BEGIN, .pid = 100, .tid = 1, .wait = BLOCKED, .ustack = 3, .kstack = 4 },
		{ .since = BEGIN, .pid = 100, .tid = 2, .wait = RUNNING },
	};

	look(S, rows, 2);
	grow(5, 1, BLOCKED, 1, 3 * S / 2);
	counts[5].ustack = 3;
	counts[5].kstack = 4;
	grow(6, 2, RUNNING, 1, 2 * S);
	look(2 * S, NULL, 0);
	assert_int_equal(w.sums.nr, 2);
	assert_int_equal(sum(1, BLOCKED)->weight, 3 * S / 2);
	assert_int_equal(sum(2, RUNNING)->weight, 2 * S);
}

/* Threads at random: what is told never differs from what was, and memory is bounded. */
static void sums_are_exact_over_a_thousand_looks(void **state)
{
	uint64_t since[4] = { BEGIN, BEGIN, BEGIN, BEGIN }, now = BEGIN, told = 0;

	srand(7);
	for (int i = 0; i < 1000; i++) {
		struct prof_look rows[4] = {};

		now += S / 10 + rand() % S;
		for (size_t t = 0; t < 4; t++) {
			if (rand() % 3 == 0) {
				uint64_t at = now - rand() % (S / 10);

				grow(t, t + 1, BLOCKED, 1, at - since[t]);
				since[t] = at;
			}
			rows[t] = (struct prof_look){
				.since = since[t], .pid = 100, .tid = t + 1, .wait = BLOCKED
			};
		}
		window_begin(&w, now);
		for (size_t t = 0; t < 4; t++)
			window_see(&w, &rows[t]);
		window_end(&w);
		told = window_end_ns(&w) - window_begin_ns(&w);
		for (size_t t = 0; t < 4; t++)
			assert_int_equal(sum(t + 1, BLOCKED)->weight, told);
	}
	assert_int_equal(w.sums.nr, 4);
}

/* What the lengths grew by belongs to the sum of their slot, and is told once. */
static void lengths_are_of_waits_that_ended(void **state)
{
	union prof_wait_hist hists[SLOTS] = {};
	const struct ended *e;

	window_take_lengths(&w, hists);
	grow(3, 1, BLOCKED, 2, 5 * S);
	hists[3].count[20] = 2;
	look(S, NULL, 0);
	assert_int_equal(w.endings.nr, 1);
	e = w.endings.rows;
	assert_int_equal(w.sums.counts[e->sample].tid, 1);
	assert_int_equal(e->ns, 5 * S); /* all of it, though the window has less */
	assert_int_equal(e->count[20], 2);
	look(2 * S, NULL, 0);
	assert_int_equal(w.endings.nr, 0);
	grow(3, 1, BLOCKED, 1, S);
	hists[3].count[21] = 1;
	look(3 * S, NULL, 0);
	e = w.endings.rows;
	assert_int_equal(w.endings.nr, 1);
	assert_int_equal(e->count[20], 0);
	assert_int_equal(e->count[21], 1);
	window_forget(&w);
	assert_int_equal(w.endings.nr, 0);
}

/* However many looks there were; a wait that is seen twice and ends is there once. */
static void until_forgotten_all_is_in_the_window(void **state)
{
	union prof_wait_hist hists[SLOTS] = {};
	struct prof_look row = {
		.since = BEGIN, .pid = 100, .tid = 1, .wait = BLOCKED, .count = 4
	};

	window_release(&w);
	window_init(&w, counts, SLOTS, WINDOW_UNTIL_FORGOTTEN, BEGIN);
	window_take_lengths(&w, hists);
	grow(3, 1, BLOCKED, 0, 0);
	for (uint64_t i = 1; i <= 5; i++)
		look(i * S, &row, 1);
	assert_int_equal(sum(1, BLOCKED)->weight, 5 * S);
	grow(3, 1, BLOCKED, 1, 6 * S);
	hists[3].count[20] = 1;
	look(7 * S, NULL, 0);
	look(8 * S, NULL, 0);
	assert_int_equal(sum(1, BLOCKED)->weight, 6 * S);
	assert_int_equal(window_end_ns(&w) - window_begin_ns(&w), 8 * S);
	assert_int_equal(w.endings.nr, 1);
	assert_int_equal(w.endings.rows[0].count[20], 1);
	window_forget(&w);
	grow(3, 1, BLOCKED, 1, S);
	look(9 * S, NULL, 0);
	assert_int_equal(sum(1, BLOCKED)->weight, S);
	assert_int_equal(window_end_ns(&w) - window_begin_ns(&w), S);
	assert_int_equal(w.endings.nr, 1);
	assert_int_equal(w.endings.rows[0].count[20], 0);
}

/* Its count was claimed after those in use had been looked for. It follows its sum all the same. */
static void a_count_claimed_during_a_look_follows_its_sum(void **state)
{
	struct prof_look row = {
		.since = BEGIN + S / 2, .pid = 100, .tid = 2, .wait = BLOCKED, .count = 6
	};

	for (size_t i = 0; i < 4; i++)
		grow(i, 1, ON_CPU + i, 1, 1);
	look(S / 4, NULL, 0);
	look(S / 3 + 3 * S, NULL, 0);
	row.since = BEGIN + 4 * S - S / 4;
	window_begin(&w, BEGIN + 4 * S);
	grow(5, 2, BLOCKED, 0, 0);
	window_see(&w, &row);
	window_end(&w);
	assert_int_equal(w.sums.nr, 5);
	w.many = 0;
	window_shrink(&w);
	assert_int_equal(w.sums.nr, 1);
	assert_int_equal(w.slots[5].id1, 1);
	grow(5, 2, BLOCKED, 1, S);
	look(5 * S, NULL, 0);
	assert_int_equal(sum(2, BLOCKED)->weight, S);
	assert_int_equal(sum(2, BLOCKED)->samples, 1);
}

/* A thread that was renamed while it ran: what looks had of it under its old name never comes. */
static void what_counts_never_had_is_forgotten(void **state)
{
	struct prof_look row = { .since = BEGIN, .pid = 100, .tid = 1, .wait = BLOCKED };

	look(S, &row, 1);
	for (uint64_t i = 2; i < 9; i++) {
		look(i * S, NULL, 0);
		w.many = 0;
		window_shrink(&w);
	}
	assert_int_equal(w.sums.nr, 0);
}

/* All that it ran is counted under the name, or the number, that it had when it left its CPU. */
static void what_runs_through_a_rename_or_an_exec_is_counted_once(void **state)
{
	struct prof_look rows[] = {
		{ .since = BEGIN, .pid = 100, .tid = 1, .wait = RUNNING, .count = 1 },
		{ .since = BEGIN, .pid = 200, .tid = 201, .wait = RUNNING, .count = 2 },
		{ .since = BEGIN, .pid = 100, .tid = 2, .wait = RUNNING, .count = 5 },
	};
	uint64_t ran[300] = {};

	grow(0, 1, RUNNING, 0, 0);
	strcpy(counts[0].comm, "old");
	grow(1, 201, RUNNING, 0, 0);
	counts[1].pid = 200;
	grow(4, 2, RUNNING, 0, 0);
	look(S, rows, 3);
	assert_int_equal(sum(1, RUNNING)->weight, S);
	/* Of another thread nothing is taken off: it ran all the time, as that one did. */
	grow(2, 1, RUNNING, 1, 2 * S);
	grow(3, 200, RUNNING, 1, 3 * S / 2);
	counts[3].pid = 200;
	grow(4, 2, RUNNING, 1, 2 * S);
	look(2 * S, NULL, 0);
	assert_int_equal(w.sums.nr, 5);
	for (size_t i = 0; i < w.sums.nr; i++)
		ran[w.sums.counts[i].tid] += w.sums.counts[i].weight;
	assert_int_equal(ran[1], 2 * S);
	assert_int_equal(ran[201], S);
	assert_int_equal(ran[200], S / 2);
	assert_int_equal(ran[2], 2 * S);
}

/* But a wait that ends late is taken off, whenever sums are looked through. */
static void what_comes_with_the_next_look_is_taken_off(void **state)
{
	struct prof_look row = {
		.since = BEGIN, .pid = 100, .tid = 1, .wait = BLOCKED, .count = 1
	};

	grow(0, 1, BLOCKED, 0, 0);
	look(4 * S, &row, 1);
	look(8 * S, NULL, 0);
	w.many = 0;
	window_shrink(&w);
	grow(0, 1, BLOCKED, 1, 5 * S);
	look(12 * S, NULL, 0);
	assert_int_equal(sum(1, BLOCKED)->weight, S);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(looks_leave_the_window_again),
		TEST(one_look_is_enough_where_they_are_rare),
		TEST(a_wait_counts_while_it_lasts_and_not_again),
		TEST(a_wait_that_ends_during_a_look_is_not_counted_twice),
		TEST(a_wait_that_ends_between_counts_and_thread_is_counted_at_once),
		TEST(a_thread_that_was_woken_is_runnable),
		TEST(a_wait_without_a_count_is_the_same_as_its_count_later),
		TEST(sums_are_exact_over_a_thousand_looks),
		TEST(lengths_are_of_waits_that_ended),
		TEST(until_forgotten_all_is_in_the_window),
		TEST(a_count_claimed_during_a_look_follows_its_sum),
		TEST(what_counts_never_had_is_forgotten),
		TEST(what_runs_through_a_rename_or_an_exec_is_counted_once),
		TEST(what_comes_with_the_next_look_is_taken_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
