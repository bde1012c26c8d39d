/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rings of times, filled as the kernel does it: what comes in which slice, and for how long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "collect/moments.h"

#define MS    1000000ull
#define BEGIN (5000 * MS)
#define CPUS  2
#define SLOTS 8 /* of a ring */
#define NR    4 /* counts */

static struct prof_moment ring[CPUS * SLOTS];
static struct prof_word heads[CPUS];
static struct prof_count counts[NR];

static void begin(struct moments *m)
{
	memset(ring, 0, sizeof(ring));
	memset(heads, 0, sizeof(heads));
	memset(counts, 0, sizeof(counts));
	*m = (struct moments){ .ring = ring,
			       .heads = heads,
			       .counts = counts,
			       .nr_cpus = CPUS,
			       .nr_slots = SLOTS,
			       .nr_counts = NR };
	moments_begin(m, BEGIN);
}

static void put(size_t cpu, uint32_t slot, uint64_t at_ns, uint64_t weight)
{
	uint64_t nr = heads[cpu].value++;

	ring[cpu * SLOTS + nr % SLOTS] = (struct prof_moment){
		.nr = nr + 1, .end_ns = BEGIN + at_ns, .weight = weight, .count = slot + 1
	};
}

/* What a slice has of a count. */
static uint64_t of(const struct moments *m, uint32_t id, uint32_t slice)
{
	uint64_t weight = 0;

	for (size_t i = 0; i < m->nr_parts; i++)
		if (m->parts[i].owner == (MOMENTS_TAKEN | id) && m->parts[i].first <= slice &&
		    slice < m->parts[i].first + m->parts[i].nr)
			weight += m->parts[i].weight;
	return weight;
}

static uint64_t number(const struct moments *m, uint32_t id)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < m->nr_parts; i++)
		if (m->parts[i].owner == (MOMENTS_TAKEN | id))
			nr += m->parts[i].count;
	return nr;
}

static void take_all(struct moments *m)
{
	for (uint32_t i = 0; i < NR; i++)
		moments_take(m, i, 10 + i);
	moments_empty(m, 0, NR);
	moments_end(m);
}

static void samples_are_in_their_slice(void **state)
{
	struct moments m;

	begin(&m);
	put(0, 1, 0, 7);
	put(0, 1, 19 * MS, 7);
	put(1, 1, 20 * MS, 7);
	put(1, 2, 1019 * MS, 9);
	moments_drain(&m);
	take_all(&m);
	assert_int_equal(m.slice_ns, 20 * MS);
	assert_int_equal(m.nr_parts, 3);
	assert_true(of(&m, 11, 0) == 14 && of(&m, 11, 1) == 7 && of(&m, 12, 50) == 9);
	assert_true(number(&m, 11) == 3 && number(&m, 12) == 1);
	assert_int_equal(m.lost, 0);
	moments_release(&m);
}

static void a_wait_is_in_all_slices_that_it_lasted(void **state)
{
	struct moments m;

	begin(&m);
	counts[0].wait = PROF_WAIT(PROF_BLOCKED, 1, -1);
	put(0, 0, 107 * MS, 92 * MS); /* from 15 to 107 ms */
	put(0, 0, 10 * MS, 30 * MS);  /* had begun before the recording */
	put(0, 0, 160 * MS, 20 * MS); /* exactly one slice */
	moments_drain(&m);
	take_all(&m);
	assert_int_equal(of(&m, 10, 0), 15 * MS);
	for (uint32_t i = 1; i < 5; i++)
		assert_int_equal(of(&m, 10, i), 20 * MS);
	assert_true(of(&m, 10, 5) == 7 * MS && !of(&m, 10, 6));
	assert_true(of(&m, 10, 7) == 20 * MS && !of(&m, 10, 8));
	assert_int_equal(number(&m, 10), 3);
	for (size_t i = 1; i < m.nr_parts; i++)
		assert_true(m.parts[i - 1].first <= m.parts[i].first);
	moments_release(&m);
}

static void what_was_written_over_is_counted(void **state)
{
	struct moments m;

	begin(&m);
	for (uint64_t i = 0; i < 3 * SLOTS; i++)
		put(0, 0, i * MS, 1);
	put(1, 1, 5 * MS, 1);
	moments_drain(&m);
	take_all(&m);
	assert_int_equal(number(&m, 10) + m.lost, 3 * SLOTS);
	assert_true(m.lost >= 2 * SLOTS && number(&m, 10) >= SLOTS / 2);
	assert_int_equal(number(&m, 11), 1);
	moments_release(&m);
}

static void an_entry_in_the_making_is_waited_for(void **state)
{
	struct moments m;

	begin(&m);
	put(0, 0, 1 * MS, 1);
	put(0, 0, 2 * MS, 1);
	ring[0].nr = 0;
	moments_drain(&m);
	assert_int_equal(m.nr_parts, 0);
	ring[0].nr = 1;
	moments_drain(&m);
	take_all(&m);
	assert_int_equal(number(&m, 10), 2);
	moments_release(&m);
}

/* Slot 0 is of one count, then of another; what was not taken over is dropped. */
static void slots_are_used_again(void **state)
{
	struct moments m;

	begin(&m);
	put(0, 0, 1 * MS, 1);
	put(0, 1, 1 * MS, 1);
	moments_drain(&m);
	moments_take(&m, 0, 20);
	moments_empty(&m, 0, NR);
	put(0, 0, 2 * MS, 1);
	moments_drain(&m);
	moments_take(&m, 0, 21);
	moments_empty(&m, 0, NR);
	moments_end(&m);
	assert_int_equal(m.nr_parts, 2);
	assert_true(number(&m, 20) == 1 && number(&m, 21) == 1);
	moments_release(&m);
}

static void slices_become_longer(void **state)
{
	uint64_t sum = 0;
	struct moments m;

	begin(&m);
	m.max_parts = 16;
	counts[1].wait = PROF_WAIT(PROF_BLOCKED, 1, -1);
	put(1, 1, 4000 * MS, 3990 * MS);
	for (uint64_t i = 0; i < 500; i++) {
		put(0, 0, i * 20 * MS, 3);
		moments_drain(&m);
	}
	take_all(&m);
	assert_int_equal(m.slice_ns, 2000 * MS);
	assert_true(m.nr_parts <= 16);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(of(&m, 10, i), 300);
	for (uint32_t i = 0; i < 2; i++)
		sum += of(&m, 11, i);
	assert_true(sum == 3990 * MS && of(&m, 11, 0) == 1990 * MS && number(&m, 11) == 1);
	assert_int_equal(number(&m, 10), 500);
	moments_release(&m);
}

/* Seven days of one sample an hour need no room, but slices have a bound. */
static void long_recordings_have_a_bound(void **state)
{
	struct moments m;

	begin(&m);
	for (uint64_t i = 1; i <= 7 * 24; i++) {
		put(0, 0, i * 3600 * 1000 * MS, 1);
		moments_drain(&m);
	}
	take_all(&m);
	assert_int_equal(m.slice_ns, 1000 * MS);
	assert_true(of(&m, 10, 3600) == 1 && of(&m, 10, 7 * 24 * 3600) == 1);
	moments_release(&m);
}

/* The same of waits that are kept one by one, at most so many. */
static void begin_long_waits(struct moments *m, size_t max)
{
	begin(m);
	moments_release(m);
	*m = (struct moments){ .ring = ring,
			       .heads = heads,
			       .counts = counts,
			       .nr_cpus = CPUS,
			       .nr_slots = SLOTS,
			       .nr_counts = NR,
			       .no_slices = true,
			       .long_waits = { .least_ns = 5 * MS, .max = max } };
	moments_begin(m, BEGIN);
}

/* A wait and the time for a CPU behind it are one; short ones are first or last. */
static void long_waits_are_kept_one_by_one(void **state)
{
	struct moments m;

	begin_long_waits(&m, 5);
	counts[0] =
		(struct prof_count){ .pid = 1, .tid = 2, .wait = PROF_WAIT(PROF_BLOCKED, 1, 0) };
	counts[1] = (struct prof_count){ .pid = 1, .tid = 2, .wait = PROF_WAIT(PROF_WOKEN, 0, -1) };
	put(0, 0, 10 * MS, 10 * MS);
	put(0, 1, 14 * MS, 4 * MS); /* of the one before */
	put(0, 0, 20 * MS, 1 * MS); /* too short */
	put(1, 0, 40 * MS, 10 * MS);
	put(1, 0, 60 * MS, 2 * MS); /* the last */
	moments_drain(&m);
	take_all(&m);
	assert_int_equal(m.nr_parts, 0);
	assert_int_equal(m.long_waits.nr, 4);
	assert_int_equal(m.long_waits.v[0].begin_ns, 0);
	assert_int_equal(m.long_waits.v[0].end_ns, 14 * MS);
	assert_int_equal(m.long_waits.v[1].begin_ns, 30 * MS);
	assert_int_equal(m.long_waits.v[2].end_ns, 60 * MS);
	assert_int_equal(m.long_waits.v[3].slot, 1);
	assert_int_equal(m.long_waits.id1[0], 11);
	moments_release(&m);
}

/* Those for events are one where they follow each other, in whatever order the rings have them. */
static void waits_for_events_are_kept_together(void **state)
{
	struct moments m;

	begin_long_waits(&m, 0);
	counts[0].wait = PROF_WAIT(PROF_BLOCKED, 1, SYS_epoll_pwait);
	counts[1].wait = PROF_WAIT(PROF_ON_CPU, 0, -1);
	put(0, 0, 10 * MS, 1 * MS);
	put(0, 0, 14 * MS, 1 * MS);
	put(0, 0, 21 * MS, 1 * MS);
	put(1, 0, 17 * MS, 1 * MS); /* between them */
	put(1, 0, 40 * MS, 1 * MS);
	put(1, 1, 50 * MS, 1 * MS); /* a sample, however short its period */
	moments_drain(&m);
	take_all(&m);
	assert_int_equal(m.long_waits.nr, 4);
	assert_int_equal(m.long_waits.v[0].begin_ns, 9 * MS);
	assert_int_equal(m.long_waits.v[0].end_ns, 14 * MS);
	assert_int_equal(m.long_waits.v[1].begin_ns, 16 * MS);
	assert_int_equal(m.long_waits.v[1].end_ns, 21 * MS);
	assert_int_equal(m.long_waits.v[2].end_ns, 40 * MS);
	assert_int_equal(m.long_waits.v[3].slot, 1);
	moments_release(&m);
}

/* While entries of a CPU were written over, whoever waits for events may have done so. */
static void who_waited_for_events_meanwhile_is_not_known(void **state)
{
	struct moments m;

	begin_long_waits(&m, 0);
	counts[0].wait = PROF_WAIT(PROF_BLOCKED, 1, SYS_epoll_pwait);
	counts[1].wait = PROF_WAIT(PROF_BLOCKED, 1, SYS_read);
	counts[2].wait = PROF_WAIT(PROF_PREEMPTED, 0, SYS_epoll_pwait);
	put(0, 0, 10 * MS, 1 * MS);
	put(0, 1, 11 * MS, 1 * MS);
	put(0, 2, 12 * MS, 1 * MS);
	moments_drain(&m);
	for (size_t i = 1; i <= SLOTS + 1; i++)
		put(0, 1, (100 + i) * MS, 1 * MS);
	moments_drain(&m);
	take_all(&m);
	assert_int_equal(m.lost, SLOTS / 2 + 1);
	assert_int_equal(m.long_waits.nr_missed, 1);
	assert_int_equal(m.long_waits.v[m.long_waits.nr - 1].slot, 0);
	assert_int_equal(m.long_waits.v[m.long_waits.nr - 1].begin_ns, 12 * MS);
	assert_int_equal(m.long_waits.v[m.long_waits.nr - 1].end_ns, (102 + SLOTS / 2) * MS);
	assert_int_not_equal(m.long_waits.v[m.long_waits.nr - 2].slot, 0);
	moments_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_are_in_their_slice),
		cmocka_unit_test(a_wait_is_in_all_slices_that_it_lasted),
		cmocka_unit_test(what_was_written_over_is_counted),
		cmocka_unit_test(an_entry_in_the_making_is_waited_for),
		cmocka_unit_test(slots_are_used_again),
		cmocka_unit_test(slices_become_longer),
		cmocka_unit_test(long_recordings_have_a_bound),
		cmocka_unit_test(long_waits_are_kept_one_by_one),
		cmocka_unit_test(waits_for_events_are_kept_together),
		cmocka_unit_test(who_waited_for_events_meanwhile_is_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
