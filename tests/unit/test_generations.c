/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Turning over and emptying an arena that is filled as the kernel does it; and sums of counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "collect/generations.h"
#include "collect/tally.h"

#define SLOTS 16u
#define WORDS 256u

struct arena_of_both {
	uint64_t stacks[2 * SLOTS], frames[2 * WORDS];
	struct prof_count counts[2 * SLOTS];
	struct prof_word cursors[2], used[2];
	uint32_t generation;
	struct session_maps maps;
	struct generations g;
	int settled;
};

static void init(struct arena_of_both *a, size_t nr)
{
	memset(a, 0, sizeof(*a));
	a->maps = (struct session_maps){ .nr_generations = nr,
					 .generation = &a->generation,
					 .frames = a->frames,
					 .nr_frame_words = WORDS,
					 .frame_cursors = a->cursors,
					 .counts = a->counts,
					 .nr_counts = SLOTS,
					 .counts_used = a->used,
					 .stacks = a->stacks,
					 .nr_stack_slots = SLOTS };
	generations_init(&a->g, &a->maps);
}

/* A stack of one frame and its count, as a sample at that time adds them. */
static void sample(struct arena_of_both *a, uint32_t i, uint64_t time_ns, uint32_t times)
{
	uint32_t slot = a->generation * SLOTS + i;
	uint64_t *record = a->frames + a->generation * WORDS + a->cursors[a->generation].value;
	struct prof_stack_head head = { .slot = slot, .nr_frames = 1, .kind = PROF_STACK_USER };

	a->stacks[slot] = 1000 + i;
	a->cursors[a->generation].value += PROF_STACK_WORDS + 1;
	record[2] = time_ns;
	record[3] = 0x4000 + i;
	memcpy(record, &head, sizeof(head));
	a->counts[slot] = (struct prof_count){
		.hash = 1000 + i, .pid = 1, .ustack = slot + 1, .samples = times, .weight = times
	};
	a->used[a->generation].value++;
}

static void settle(void *arg)
{
	struct arena_of_both *a = arg;

	/* A program that had begun before the turn still writes where it began. */
	a->settled++;
	a->generation = !a->generation;
	sample(a, 9, 300, 1);
	a->generation = !a->generation;
}

static void one_generation_never_turns(void **state)
{
	struct arena_of_both a;

	(void)state;
	init(&a, 1);
	for (uint32_t i = 0; i < SLOTS; i++)
		sample(&a, i, 100, 1);
	generations_turn(&a.g, settle, &a);
	assert_int_equal(a.settled, 0);
	assert_int_equal(a.generation, 0);
}

static void a_quiet_one_is_left_alone(void **state)
{
	struct arena_of_both a;

	(void)state;
	init(&a, 2);
	for (uint32_t i = 0; i < SLOTS / 4; i++)
		sample(&a, i, 100, 1);
	assert_true(generations_turn(&a.g, settle, &a)); /* four at once are many */
	assert_false(generations_turn(&a.g, settle, &a));
	assert_int_equal(a.settled, 0);
}

static void nothing_is_emptied_before_it_is_read(void **state)
{
	struct arena_of_both a;
	struct arena_stack s;

	(void)state;
	init(&a, 2);
	for (uint32_t i = 0; i < SLOTS / 4 + 1; i++)
		sample(&a, i, 100 + i, 1);
	assert_true(generations_next(&a.g, 102, &s));
	assert_true(generations_next(&a.g, 102, &s));
	assert_true(generations_next(&a.g, 102, &s));
	assert_false(generations_next(&a.g, 102, &s)); /* later ones */
	assert_false(generations_is_over(&a.g));
	generations_turn(&a.g, settle, &a);
	assert_int_equal(a.settled, 1);
	assert_int_equal(a.generation, 1);
	assert_false(generations_is_quiet(&a.g));
	sample(&a, 3, 400, 5); /* into the other one */
	assert_false(generations_next(&a.g, 102, &s));
	assert_false(generations_is_over(&a.g)); /* two were not read, and the late one */
	for (uint64_t time = 103; time <= 104; time++) {
		assert_true(generations_next(&a.g, 500, &s));
		assert_int_equal(s.time_ns, time);
	}
	assert_true(generations_next(&a.g, 500, &s));
	assert_int_equal(s.slot, 9);
	assert_false(generations_next(&a.g, 500, &s));
	assert_true(generations_is_over(&a.g));
	generations_turn(&a.g, settle, &a); /* not while one waits to be emptied */
	assert_int_equal(a.settled, 1);
	generations_empty(&a.g);
	for (uint32_t i = 0; i < SLOTS; i++) {
		assert_int_equal(a.stacks[i], 0);
		assert_int_equal(a.counts[i].hash, 0);
	}
	for (uint32_t i = 0; i < WORDS; i++)
		assert_int_equal(a.frames[i], 0);
	assert_int_equal(a.cursors[0].value, 0);
	assert_int_equal(a.used[0].value, 0);
	assert_true(generations_next(&a.g, 500, &s));
	assert_int_equal(s.slot, SLOTS + 3);
	assert_int_equal(a.counts[SLOTS + 3].samples, 5);
	assert_true(generations_is_quiet(&a.g));
}

/* What found no room in the log leaves words behind that stay zero. */
static void a_log_that_was_full_comes_to_its_end(void **state)
{
	struct arena_of_both a;
	struct arena_stack s;

	(void)state;
	init(&a, 2);
	sample(&a, 1, 100, 1);
	a.cursors[0].value = WORDS + 40;
	generations_turn(&a.g, settle, &a);
	assert_true(generations_next(&a.g, 500, &s));
	assert_false(generations_next(&a.g, 500, &s));
	assert_true(generations_is_over(&a.g));
}

static void the_same_key_adds_up(void **state)
{
	struct prof_count one = { .pid = 1, .tid = 2, .ustack = 3, .comm = "a" }, other = one;
	struct prof_event_count value = { 5, 6, 7 };
	struct tally t = {};

	(void)state;
	other.wait = 1;
	one.hash = 17;
	one.samples = 2;
	one.weight = 20;
	tally_add(&t, &one, &value, 1);
	other.samples = 1;
	tally_add(&t, &other, &value, 1);
	one.hash = 18; /* another seed would do that */
	tally_add(&t, &one, &value, 1);
	assert_int_equal(t.nr, 2);
	assert_int_equal(t.counts[0].samples, 4);
	assert_int_equal(t.counts[0].weight, 40);
	assert_int_equal(t.values[0].value, 10);
	assert_int_equal(t.values[0].enabled_ns, 12);
	assert_int_equal(t.values[0].running_ns, 14);
	assert_int_equal(t.counts[1].samples, 1);
	assert_int_equal(t.values[1].value, 5);
	tally_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_generation_never_turns),
		cmocka_unit_test(a_quiet_one_is_left_alone),
		cmocka_unit_test(nothing_is_emptied_before_it_is_read),
		cmocka_unit_test(a_log_that_was_full_comes_to_its_end),
		cmocka_unit_test(the_same_key_adds_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
