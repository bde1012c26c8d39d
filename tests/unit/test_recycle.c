/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts of threads that are gone find new owners, and what was added to them is lost nowhere. */
#include "collect/recycle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define S      1000000000ull
#define BEGIN  (10 * S)
#define SLOTS  16
#define LONG   (3 * S) /* until a count is freed */
#define ON_CPU PROF_WAIT(PROF_ON_CPU, 0, -1)

static struct prof_count counts[SLOTS];
static __u64 used;
static bool alive[100];
static struct window w;
static struct recycle r;

static bool is_gone(uint32_t tid)
{
	return !alive[tid];
}

static int begin(void **state)
{
	memset(counts, 0, sizeof(counts));
	memset(alive, 0, sizeof(alive));
	used = 0;
	window_init(&w, counts, SLOTS, 1, BEGIN);
	recycle_init(&r, counts, &used, is_gone);
	return 0;
}

static int end(void **state)
{
	recycle_release(&r);
	window_release(&w);
	return 0;
}

/* As the kernel's programs do it. */
static void claim(size_t slot, uint32_t tid)
{
	assert_int_equal(counts[slot].hash, 0);
	counts[slot].hash = 1000 + tid;
	counts[slot].pid = counts[slot].tid = tid;
	counts[slot].wait = ON_CPU;
	used++;
}

static void grow(size_t slot, uint64_t samples)
{
	counts[slot].samples += samples;
	counts[slot].weight += samples * 10;
}

static void look(uint64_t at)
{
	window_begin(&w, BEGIN + at);
	window_end(&w);
	w.many = 0;
	window_shrink(&w);
	recycle_look(&r, &w, BEGIN + at);
}

static uint64_t samples_of(uint32_t tid)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < w.sums.nr; i++)
		sum += w.sums.counts[i].tid == tid ? w.sums.counts[i].samples : 0;
	return sum;
}

static void who_is_gone_makes_room_after_some_seconds(void **state)
{
	claim(3, 7);
	claim(4, 8);
	alive[8] = true;
	grow(3, 5);
	grow(4, 6);
	look(S);
	assert_int_equal(samples_of(7), 5);
	assert_int_equal(used, 2);
	recycle_turn(&r, &w, BEGIN + S + LONG - 1);
	assert_int_not_equal(counts[3].hash, 0);
	recycle_turn(&r, &w, BEGIN + S + LONG);
	assert_int_equal(counts[3].hash, 0);
	assert_int_equal(counts[4].hash, 1008);
	assert_int_equal(used, 1);
	assert_int_equal(r.nr_freed, 1);
}

static void the_next_owner_has_what_it_added(void **state)
{
	claim(3, 7);
	grow(3, 5);
	look(S);
	recycle_turn(&r, &w, BEGIN + S + LONG);
	alive[9] = true;
	claim(3, 9);
	grow(3, 2);
	look(S + LONG + S);
	assert_int_equal(samples_of(7), 0);
	assert_int_equal(samples_of(9), 2);
}

/* What comes late is seen by the next look, and until then the count stays. */
static void what_grows_meanwhile_is_not_freed(void **state)
{
	claim(3, 7);
	grow(3, 5);
	look(S);
	grow(3, 1);
	recycle_turn(&r, &w, BEGIN + S + LONG);
	assert_int_equal(counts[3].hash, 1007);
	assert_int_equal(used, 1);
	look(S + LONG + S);
	assert_int_equal(samples_of(7), 1);
	recycle_turn(&r, &w, BEGIN + S + LONG + S + LONG);
	assert_int_equal(counts[3].hash, 0);
}

/* A look in between has told of it, but who adds once may add again. */
static void what_grows_before_another_look_is_not_freed(void **state)
{
	claim(3, 7);
	grow(3, 5);
	look(S);
	grow(3, 1);
	look(2 * S);
	assert_int_equal(samples_of(7), 1);
	recycle_turn(&r, &w, BEGIN + S + LONG);
	assert_int_equal(counts[3].hash, 1007);
	look(2 * S + LONG);
	recycle_turn(&r, &w, BEGIN + 2 * S + 2 * LONG);
	assert_int_equal(used, 0);
}

static void each_look_gives_up_its_own(void **state)
{
	claim(3, 7);
	look(S);
	claim(4, 8);
	look(2 * S);
	assert_int_equal(r.nr, 2);
	recycle_turn(&r, &w, BEGIN + S + LONG);
	assert_int_equal(counts[3].hash, 0);
	assert_int_not_equal(counts[4].hash, 0);
	assert_int_equal(used, 1);
	recycle_turn(&r, &w, BEGIN + 2 * S + LONG);
	assert_int_equal(counts[4].hash, 0);
	assert_int_equal(r.nr_freed, 2);
}

/* A thread with that number was born before the count was given up, and has it by now. */
static void a_number_that_lives_again_keeps_its_count(void **state)
{
	claim(3, 7);
	grow(3, 5);
	look(S);
	assert_int_not_equal(counts[3].hash, 1007);
	alive[7] = true;
	recycle_turn(&r, &w, BEGIN + S + LONG);
	assert_int_equal(counts[3].hash, 1007);
	grow(3, 4);
	look(S + LONG + S);
	assert_int_equal(samples_of(7), 4);
}

/* Born while its number's count was given up, it has claimed another one of the same key. */
static void two_counts_of_one_key_are_one_sum(void **state)
{
	claim(3, 7);
	grow(3, 5);
	look(S);
	alive[7] = true;
	claim(4, 7);
	grow(4, 2);
	recycle_turn(&r, &w, BEGIN + S + LONG);
	assert_int_equal(counts[3].hash, counts[4].hash);
	grow(3, 1);
	look(S + LONG + S);
	assert_int_equal(samples_of(7), 3);
	alive[7] = false;
	look(S + LONG + 2 * S);
	recycle_turn(&r, &w, BEGIN + S + LONG + 2 * S + LONG);
	assert_int_equal(used, 0);
	assert_int_equal(r.nr_freed, 2);
}

/* It calls exec without being the first thread: the kernel has its number no more, programs do. */
static void who_was_seen_under_its_number_keeps_its_counts(void **state)
{
	struct prof_look row = { .since = BEGIN,
				 .pid = 7,
				 .tid = 7,
				 .wait = PROF_WAIT(PROF_BLOCKED, 1, -1),
				 .count = 4 };

	claim(3, 7);
	claim(4, 7);
	grow(3, 5);
	window_begin(&w, BEGIN + S);
	window_see(&w, &row);
	window_end(&w);
	recycle_look(&r, &w, BEGIN + S);
	assert_int_equal(r.nr, 0);
	recycle_turn(&r, &w, BEGIN + S + LONG);
	assert_int_equal(counts[3].hash, 1007);
	assert_int_equal(counts[4].hash, 1007);
	look(S + LONG + S);
	assert_int_equal(r.nr, 2);
}

/* Whoever comes and goes, with numbers and counts of others: what was added is seen once. */
static void nothing_is_lost_or_seen_twice_over_a_thousand_looks(void **state)
{
	uint64_t now = 0, added = 0, seen = 0;

	srand(7);
	for (int i = 0; i < 1000; i++) {
		for (size_t k = 0; k < SLOTS; k++) {
			uint32_t tid = 1 + rand() % 5;

			alive[tid] ^= rand() % 3 == 0;
			if (!counts[k].hash && alive[tid])
				claim(k, tid);
			if (counts[k].hash && alive[counts[k].tid] && rand() % 2) {
				grow(k, tid);
				added += tid;
			}
		}
		now += S + rand() % LONG;
		if (rand() % 2) {
			recycle_turn(&r, &w, BEGIN + now);
			continue;
		}
		look(now);
		for (uint32_t tid = 1; tid < 6; tid++)
			seen += samples_of(tid);
		assert_int_equal(seen, added);
	}
	assert_true(r.nr_freed > 100);
	assert_true(used <= SLOTS);
}

static void counts_of_no_thread_stay(void **state)
{
	claim(3, 7);
	counts[3].tid = 0;
	grow(3, 5);
	look(S);
	recycle_turn(&r, &w, BEGIN + S + LONG);
	assert_int_equal(counts[3].hash, 1007);
}

static void a_look_before_the_turn_gives_nothing_up_twice(void **state)
{
	claim(3, 7);
	look(S);
	look(S + S / 2);
	assert_int_equal(r.nr, 1);
	recycle_turn(&r, &w, BEGIN + S + LONG);
	assert_int_equal(used, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
		TEST(who_is_gone_makes_room_after_some_seconds),
		TEST(the_next_owner_has_what_it_added),
		TEST(what_grows_meanwhile_is_not_freed),
		TEST(what_grows_before_another_look_is_not_freed),
		TEST(each_look_gives_up_its_own),
		TEST(a_number_that_lives_again_keeps_its_count),
		TEST(two_counts_of_one_key_are_one_sum),
		TEST(who_was_seen_under_its_number_keeps_its_counts),
		TEST(nothing_is_lost_or_seen_twice_over_a_thousand_looks),
		TEST(counts_of_no_thread_stay),
		TEST(a_look_before_the_turn_gives_nothing_up_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
