/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is left out for a budget, against recordings whose cost is a formula: a floor that nothing
 * changes, and a part that halves with each level. Then which stacks that leaves out, and how they
 * are spread.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bpf/skips.bpf.h"
#include "collect/overhead.h"
#include "collect/spread.h"
#include "profile/bpf_cost.h"

#define MS   1000000ull
#define CPUS 4

struct plant {
	struct overhead o;
	uint64_t now, kernel_ns, own_ns;
	double floor, part, own; /* shares of the CPUs' time */
	double late;		 /* the same, that is there up to the last of the ends */
	int level;
};

static void plant_init(struct plant *p, unsigned int most)
{
	*p = (struct plant){ .now = 77 * MS };
	overhead_init(&p->o, 0.01, most, p->now);
}

static double cost(const struct plant *p)
{
	unsigned int end = p->o.ends[1] ? p->o.ends[1] : p->o.ends[0];

	return p->floor + p->part / (1u << p->level) + (p->level <= (int)end ? p->late : 0);
}

static void run(struct plant *p, unsigned int ms)
{
	for (unsigned int i = 0; i < ms && p->level >= 0; i += 5) {
		p->now += 5 * MS;
		p->kernel_ns += cost(p) * 5 * MS * CPUS;
		p->own_ns += p->own * 5 * MS * CPUS;
		p->level = overhead_turn(&p->o, p->now, p->kernel_ns, p->own_ns, CPUS);
	}
}

static void little_is_left_as_it_is(void **state)
{
	struct plant p;

	plant_init(&p, 6);
	p.part = 0.009;
	run(&p, 20000);
	assert_int_equal(p.level, 0);
	assert_int_equal(p.o.thinned_ns, 0);
}

static void the_first_tenth_of_a_second_decides(void **state)
{
	struct plant p;

	plant_init(&p, 10);
	p.part = 0.4;
	run(&p, 100);
	assert_int_equal(p.level, 6); /* 0.4 / 64 is below 0.01, 0.4 / 32 is not */
	run(&p, 1000);
	assert_true(cost(&p) < 0.01);
	assert_int_equal(p.o.over_ns, 0);
}

static void a_step_is_met_within_two_seconds_and_taken_back(void **state)
{
	struct plant p;

	plant_init(&p, 10);
	p.part = 0.002;
	run(&p, 3000);
	assert_int_equal(p.level, 0);
	p.part = 0.16;
	run(&p, 500);
	assert_int_equal(p.level, 4);
	p.part = 0.002;
	run(&p, 10000);
	assert_int_equal(p.level, 0);
	assert_in_range(p.o.thinned_ns, 400 * MS, 6000 * MS);
}

static void it_does_not_swing(void **state)
{
	struct plant p;
	unsigned int changes = 0;
	int before;

	plant_init(&p, 10);
	p.part = 0.017; /* at level 1 8.5, at level 0 17 thousandths */
	run(&p, 500);
	for (int i = 0; i < 300; i++) {
		before = p.level;
		run(&p, 100);
		changes += p.level != before;
	}
	assert_int_equal(p.level, 1);
	assert_int_equal(changes, 0);
}

static void what_leaving_out_does_not_change_is_told(void **state)
{
	struct plant p;

	plant_init(&p, 10);
	p.floor = 0.04;
	p.part = 0.05;
	run(&p, 5000);
	assert_in_range(p.level, 3, 9); /* not all that there is: it would bring nothing */
	assert_true(cost(&p) < 0.047);
	assert_in_range(p.o.over_ns, 4000 * MS, 5000 * MS);
	p.floor = 0.001; /* and it comes back */
	p.part = 0.002;
	run(&p, 15000);
	assert_int_equal(p.level, 0);
}

static void far_too_much_is_refused_at_the_beginning_only(void **state)
{
	struct plant p;

	plant_init(&p, 10);
	p.floor = 0.12;
	p.part = 0.1;
	run(&p, 400);
	assert_int_equal(p.level, OVERHEAD_REFUSED);
	plant_init(&p, 10);
	run(&p, 1000);
	p.floor = 0.12;
	p.part = 0.1;
	run(&p, 3000);
	assert_in_range(p.level, 3, 10);
	assert_true(p.o.over_ns > 2000 * MS);
}

static void own_bursts_are_no_reason(void **state)
{
	struct plant p;

	plant_init(&p, 10);
	p.own = 0.2; /* tables at the start */
	run(&p, 2500);
	assert_int_equal(p.level, 0);
	p.own = 0.001;
	run(&p, 2000);
	assert_int_equal(p.level, 0);
	p.own = 0.05; /* for good */
	run(&p, 6000);
	assert_true(p.level > 0);
}

/* Tables and names: nothing that is left out of the recording makes them cheaper. */
static void own_time_that_is_apart_thins_little(void **state)
{
	struct plant p;

	plant_init(&p, 12);
	p.o.apart = true;
	p.part = 0.007;
	p.own = 0.08; /* for twenty seconds: eight times the budget */
	run(&p, 20000);
	assert_int_equal(p.level, 1); /* 0.0035 is below half of the budget */
	assert_in_range(p.o.over_ns, 15000 * MS, 17500 * MS);
	p.own = 0.001;
	run(&p, 30000);
	assert_int_equal(p.level, 0);
	p.part = 0.02; /* what the kernel takes has what is left */
	run(&p, 2000);
	assert_int_equal(p.level, 2);
	assert_true(cost(&p) + p.own < 0.01);
}

/*
 * A few runs in a window, of which one in 64 is timed, and the first ones are dear: what they cost
 * never falls, and one that is timed stands for itself and not for 64. Then many runs.
 */
static void few_runs_are_no_burst(void **state)
{
	struct overhead_runs r = {};
	uint64_t nr = 0, timed = 0, timed_ns = 0, before = 0, ns = 0;

	for (int window = 0; window < 600; window++) {
		for (int i = 0; i < 20; i++)
			if (nr++ % 64 == 0)
				timed_ns += timed++ < 2 ? 200000 : nr % 5 ? 10000 : 1000;
		ns = overhead_charge(&r, nr, timed, timed_ns);
		assert_true(ns >= before && ns - before <= 20 * 35000 + 200000);
		before = ns;
	}
	assert_true(ns > 40 * 1000 * 1000 && ns < 300 * 1000 * 1000);
	ns = overhead_charge(&r, nr + 64000, timed + 1000, timed_ns + 1000 * 500);
	assert_true(ns - before > 64000ull * 499 && ns - before < 64000ull * 800);

	r = (struct overhead_runs){}; /* and many in the first tenth of a second */
	assert_int_equal(overhead_charge(&r, 4096, 64, 64 * 30000), 4096 * 30000);
}

/* Less and less of one thing brings nothing; what is left out next does. */
static void what_is_left_out_next_is_tried(void **state)
{
	struct plant p;

	plant_init(&p, 9);
	p.o.ends[0] = 6;
	p.late = 0.05;
	run(&p, 1000);
	assert_in_range(p.level, 7, 9);
	assert_false(p.o.spent);
	assert_true(p.o.last < 0.01);

	for (unsigned int late = 1; late <= 40; late *= 2) { /* nor does that, but a third thing */
		plant_init(&p, 15);
		p.o.ends[0] = 6;
		p.o.ends[1] = 9;
		p.late = late * 0.02;
		run(&p, 1000);
		assert_in_range(p.level, 10, 15);
		assert_true(p.o.last < 0.01);
	}
	plant_init(&p, 15); /* nor any: it is refused all the same */
	p.o.ends[0] = 6;
	p.o.ends[1] = 9;
	p.floor = 0.11;
	run(&p, 500);
	assert_int_equal(p.level, OVERHEAD_REFUSED);

	plant_init(&p, 9);
	p.o.ends[0] = 6;
	p.floor = 0.05;
	run(&p, 2000);
	assert_in_range(p.level, 7, 9);
	assert_true(p.o.spent);
}

static void where_nothing_can_be_left_out_it_is_told(void **state)
{
	struct plant p;

	plant_init(&p, 0);
	p.floor = 0.3;
	run(&p, 3000);
	assert_int_equal(p.level, 0);
	assert_true(p.o.spent);
	assert_in_range(p.o.over_ns, 2800 * MS, 3000 * MS);
	assert_in_range(p.o.over_run_ns, 2800 * MS, 3000 * MS);
	assert_int_equal(p.o.thinned_ns, 0);
	p.floor = 0.001; /* for a tenth of a second */
	run(&p, 100);
	assert_int_equal(p.o.over_run_ns, 0);
	p.floor = 0.3;
	run(&p, 500);
	assert_in_range(p.o.over_run_ns, 400 * MS, 500 * MS);
}

static void no_limit_is_none(void **state)
{
	struct plant p = { .now = 1 };

	overhead_init(&p.o, 0, 10, 1);
	p.floor = 0.9;
	run(&p, 3000);
	assert_int_equal(p.level, 0);
}

/* Waits of a thread per second, and which share of their stacks is taken at a level. */
static double taken(double per_s, unsigned int level)
{
	uint64_t now = 12345678901ull, step = 1e9 / per_s, nr = 0, all = 0;
	uint32_t pace = 0;

	srand48(7);
	for (double s = 0; s < 20; s += step / 1e9, all++) {
		now += step * (0.5 + drand48());
		pace = pace_next(pace, now);
		nr += !pace_leaves_out(now, pace_halvings(pace, level));
	}
	return (double)nr / all;
}

static void quiet_threads_keep_their_stacks(void **state)
{
	assert_true(taken(2, PROF_THINNEST) == 1);
	assert_true(taken(50, 6) == 1);
	assert_true(taken(100, PROF_MOST_THINNED) == 1);
	assert_true(taken(1000, 1) == 1);
	assert_true(taken(100000, 0) == 1);
	/* Of 13,400 in a window, at most 2^(11 - level). */
	assert_in_range((int)(taken(100000, 1) * 13422), 512, 1536);
	assert_in_range((int)(taken(100000, 6) * 13422), 16, 48);
	assert_in_range((int)(taken(100000, PROF_THINNEST) * 13422 * 10), 10, 32);
}

static void powers_of_two(void **state)
{
	for (uint32_t n = 1; n < 65536; n++)
		assert_int_equal(pace_log2(n), 31 - __builtin_clz(n));
	assert_int_equal(pace_log2(0), 0);
}

#define BARE(w) ((w) | PROF_WAIT_NOT_SAMPLED)

/* stack: its lowest digit is how many times two the count stands for. */
static void add(struct tally *t, uint32_t tid, uint32_t wait, uint32_t stack, uint64_t samples,
		uint64_t weight)
{
	struct prof_count c = { .pid = 1,
				.tid = tid,
				.wait = wait,
				.ustack = stack / 10,
				.chain = stack % 10,
				.samples = samples,
				.weight = weight };
	union prof_wait_hist h = { .cells = { samples } };

	h.max_ns = weight;
	tally_add_lengths(t, tally_add(t, &c, NULL, 0), &h);
}

static void stacks_that_were_left_out_are_those_of_the_thread(void **state)
{
	uint32_t sleep = PROF_WAIT(PROF_BLOCKED, 1, 35), read = PROF_WAIT(PROF_BLOCKED, 1, 0);
	struct tally t = {};
	double factors[7];

	add(&t, 5, sleep, 10, 10, 1000);
	add(&t, 5, sleep, 20, 5, 2001);
	add(&t, 5, BARE(sleep), 0, 100, 30000);
	add(&t, 5, BARE(read), 0, 7, 700);  /* no stack of that kind, */
	add(&t, 6, BARE(sleep), 0, 9, 900); /* nor of that thread */
	add(&t, 7, read, 30, 4, 0);
	add(&t, 7, BARE(read), 0, 4, 400);
	assert_int_equal(spread_waits(&t, factors), 30400);
	assert_int_equal(t.counts[0].weight + t.counts[1].weight, 33001);
	assert_in_range(t.counts[0].weight, 10990, 11010);
	assert_int_equal(t.counts[0].samples + t.counts[1].samples, 115);
	assert_int_equal(t.counts[2].weight, 0);
	assert_int_equal(t.counts[2].samples, 0);
	for (size_t i = 0; i < 2; i++) /* what is told of lengths is told of as many waits */
		assert_int_equal(t.lengths[i].count[0], t.counts[i].samples);
	assert_int_equal(t.lengths[2].count[0] + t.lengths[2].max_ns, 0);
	assert_int_equal(t.lengths[0].max_ns, 30000); /* of the one with most of the longest */
	assert_int_equal(t.counts[3].weight, 700);
	assert_int_equal(t.counts[4].weight, 900);
	assert_int_equal(t.counts[5].weight, 400);
	assert_int_equal(t.counts[5].samples, 8);
	assert_true(fabs(factors[0] - 11) < 0.1 && fabs(factors[1] - 11) < 0.1);
	assert_true(factors[2] == 0 && factors[3] == 1 && factors[4] == 1);
	tally_release(&t);
}

/* It has no like of its kind, and its thread mostly waits in one place in that system call. */
static void what_has_not_ended_is_where_its_thread_waits(void **state)
{
	uint32_t park = PROF_WAIT(PROF_BLOCKED, 1, 202), lock = PROF_WAIT(PROF_BLOCKED, 2, 202);
	uint32_t read = PROF_WAIT(PROF_BLOCKED, 1, 0), open = BARE(park | PROF_WAIT_OPEN);
	struct tally t = {};
	double factors[5];

	add(&t, 5, park, 10, 10, 9000);
	add(&t, 5, lock, 20, 10, 8000);
	add(&t, 5, read, 30, 10, 90000);
	add(&t, 5, open, 0, 1, 5000);
	add(&t, 6, open, 0, 1, 5000); /* no stack of that thread */
	assert_int_equal(spread_waits(&t, factors), 5000);
	assert_int_equal(t.counts[3].wait, park | PROF_WAIT_OPEN);
	assert_int_equal(t.counts[3].ustack, t.counts[0].ustack);
	assert_int_equal(t.counts[3].weight, 5000);
	assert_int_equal(t.counts[4].wait, open);
	assert_true(factors[3] == 1 && factors[4] == 1);
	tally_release(&t);
}

/* Before much was left out, another stack was usual, and all of its waits were counted. */
static void what_was_thinned_stands_for_more(void **state)
{
	uint32_t read = PROF_WAIT(PROF_BLOCKED, 1, 0);
	struct tally t = {};
	double factors[4];

	add(&t, 5, read, 10, 1000, 100000);
	add(&t, 5, read, 26, 8, 1000); /* of 64,000 */
	add(&t, 5, read, 36, 2, 250);  /* of 16,000 */
	add(&t, 5, BARE(read), 0, 630, 78750);
	assert_int_equal(spread_waits(&t, factors), 78750);
	assert_in_range(t.counts[0].weight, 99900, 100100);
	assert_in_range(t.counts[1].weight, 63900, 64100);
	assert_in_range(t.counts[2].weight, 15900, 16100);
	assert_int_equal(t.counts[0].weight + t.counts[1].weight + t.counts[2].weight, 180000);
	tally_release(&t);
}

/* One in 256 taken, of two stacks: as many waits, a thousand times as long in one of them. */
static void waits_are_counted_by_stack_and_not_by_time(void **state)
{
	uint32_t read = PROF_WAIT(PROF_BLOCKED, 1, 0);
	struct tally t = {};
	double factors[4];

	add(&t, 5, read, 18, 40, 40000000);
	add(&t, 5, read, 28, 40, 40000);
	add(&t, 5, read, 30, 1, 1000000000); /* before, and surely taken: it stands for itself */
	add(&t, 5, BARE(read), 0, 20400, 255ull * 40040000);
	assert_int_equal(spread_waits(&t, factors), 255ull * 40040000);
	assert_int_equal(t.counts[0].samples, 10240);
	assert_int_equal(t.counts[1].samples, 10240);
	assert_int_equal(t.counts[2].samples, 1);
	assert_int_equal(t.counts[2].weight, 1000000000);
	assert_in_range(t.counts[0].weight, 256 * 39999000ull, 256 * 40001000ull);
	assert_in_range(t.counts[1].weight, 256 * 39900ull, 256 * 40100ull);
	tally_release(&t);
}

static void add_lengths(struct tally *t, uint32_t wait, uint32_t stack, uint32_t nr_short,
			uint32_t nr_long)
{
	struct prof_count c = { .pid = 1,
				.tid = 5,
				.wait = wait,
				.ustack = stack / 10,
				.chain = stack % 10,
				.samples = nr_short + nr_long,
				.weight = 2000ull * nr_short + 9000000ull * nr_long };
	union prof_wait_hist h = {};

	h.cells[2] = nr_short;
	h.cells[13] = nr_long;
	h.max_ns = nr_long ? 9000000 : 2000;
	tally_add_lengths(t, tally_add(t, &c, NULL, 0), &h);
}

/* One stack has short waits, another one long ones, and what was left out is of both. */
static void waits_fall_to_those_as_long(void **state)
{
	uint32_t read = PROF_WAIT(PROF_BLOCKED, 1, 0);
	struct tally t = {};
	double factors[4];

	add_lengths(&t, read, 18, 40, 0);
	add_lengths(&t, read, 28, 0, 10);
	add_lengths(&t, BARE(read), 0, 7000, 5);
	assert_int_equal(spread_waits(&t, factors), 7000 * 2000ull + 5 * 9000000ull);
	assert_int_equal(t.counts[0].samples, 7040);
	assert_int_equal(t.counts[1].samples, 15);
	assert_int_equal(t.lengths[0].count[2], 7040);
	assert_int_equal(t.lengths[0].count[13], 0);
	assert_int_equal(t.lengths[0].max_ns, 2000);
	assert_int_equal(t.lengths[1].count[13], 15);
	tally_release(&t);
}

/* Of looks at a thread: how many a window, which share of all, and the level in the end. */
struct looks {
	double per_window, share;
	unsigned int level;
};

static void look_at(struct prof_skip *skip, uint32_t *pace, uint64_t now, uint32_t skips)
{
	uint32_t before = *pace, level = skip_level(skip->word);

	*pace = pace_next(before, now);
	level = skip_next(level, skips, *pace, before);
	skip->word = skip_word(level, now);
}

static struct looks looks_at(struct prof_skip *skip, uint32_t *pace, uint64_t *now, double per_s,
			     double seconds, uint32_t skips)
{
	uint64_t begin = *now, step = 1e9 / per_s, nr = 0, all = 0;

	for (; *now < begin + seconds * 1e9; all++) {
		*now += step * (0.5 + drand48());
		if (skip_level(skip->word) && skip_leaves_out(skip->word, *now))
			continue;
		look_at(skip, pace, *now, skips);
		nr++;
	}
	return (struct looks){ nr / (seconds / 0.134217728), (double)nr / all,
			       skip_level(skip->word) };
}

static void threads_that_switch_often_are_looked_at_less(void **state)
{
	struct prof_skip skip = {};
	uint64_t now = 98765432109ull;
	uint32_t pace = 0;
	struct looks l;

	srand48(3);
	for (uint32_t skips = 1; skips <= PROF_MOST_SKIPS; skips++) {
		looks_at(&skip, &pace, &now, 300000, 1, skips); /* finds its level */
		l = looks_at(&skip, &pace, &now, 300000, 5, skips);
		assert_in_range((int)l.per_window, 1 << (PROF_SKIPS_TARGET - skips - 2),
				1 << (PROF_SKIPS_TARGET - skips));
	}
	/* Then it switches seldom: each is looked at soon, and for good. */
	looks_at(&skip, &pace, &now, 50, 1, PROF_MOST_SKIPS);
	l = looks_at(&skip, &pace, &now, 50, 20, PROF_MOST_SKIPS);
	assert_true(l.share == 1 && !l.level);
	/* And no more are left out once nothing has to be. */
	looks_at(&skip, &pace, &now, 300000, 1, PROF_MOST_SKIPS);
	assert_true(skip_level(skip.word) > 5);
	looks_at(&skip, &pace, &now, 300000, 0.3, 0);
	l = looks_at(&skip, &pace, &now, 300000, 1, 0);
	assert_true(l.share == 1);
}

/* A thread of 200 switches a second is never left out, whatever others do. */
static void quiet_threads_are_always_looked_at(void **state)
{
	struct prof_skip skip = {};
	uint64_t now = 98765432109ull;
	uint32_t pace = 0;

	assert_true(looks_at(&skip, &pace, &now, 200, 20, PROF_MOST_SKIPS).share == 1);
}

#define ONE_IN(n) ((n)*PROF_CHAIN_SKIP)

static void add_seen(struct tally *t, uint32_t wait, uint32_t stack, uint32_t chain,
		     uint64_t samples, uint64_t weight)
{
	struct prof_count c = { .pid = 1,
				.tid = 5,
				.wait = wait,
				.ustack = stack,
				.chain = chain,
				.samples = samples,
				.weight = weight };
	union prof_wait_hist h = { .cells = { chain ? samples : 0 } };

	tally_add_lengths(t, tally_add(t, &c, NULL, 0), &h);
}

/* Waits that nobody looked at: whatever they were in, they were as those that were. */
static void what_was_not_looked_at_is_as_what_was(void **state)
{
	uint32_t read = PROF_WAIT(PROF_BLOCKED, 1, 0), futex = PROF_WAIT(PROF_BLOCKED, 1, 202);
	uint32_t woken = PROF_WAIT(PROF_WOKEN, 1, 0), on = PROF_WAIT(PROF_PREEMPTED, 0, 5);
	struct tally t = {};
	double factors[8];

	add_seen(&t, read, 1, ONE_IN(8), 30, 3000);
	add_seen(&t, futex, 2, ONE_IN(8), 10, 1000);
	add_seen(&t, futex, 3, 0, 100, 1000000); /* before */
	add_seen(&t, woken, 1, ONE_IN(8), 30, 300);
	add_seen(&t, on, 4, ONE_IN(8), 10, 100);
	add_seen(&t, PROF_GAP(PROF_BLOCKED), 0, 0, 10200, 1020000);
	add_seen(&t, PROF_GAP(PROF_WOKEN), 0, 0, 10200, 102000);
	add_seen(&t, BARE(read | PROF_WAIT_OPEN), 0, 0, 1, 77);
	assert_int_equal(spread_waits(&t, factors), 1020000 + 102000 + 77);
	assert_int_equal(t.counts[0].weight, 3000 + 765000);
	assert_int_equal(t.counts[0].samples, 30 + 7650);
	assert_int_equal(t.lengths[0].count[0], t.counts[0].samples);
	assert_int_equal(t.counts[1].weight, 1000 + 255000);
	assert_int_equal(t.counts[2].weight, 1000000);
	assert_int_equal(t.counts[2].samples, 100);
	assert_int_equal(t.counts[3].weight + t.counts[4].weight, 400 + 102000);
	assert_in_range(t.counts[4].weight, 100 + 25400, 100 + 25600);
	assert_int_equal(t.counts[3].samples, 30 + 10200);
	assert_int_equal(t.counts[4].samples, 10);
	assert_true(factors[0] == 256 && factors[2] == 1 && factors[5] == 0 && factors[6] == 0);
	assert_int_equal(t.counts[7].weight, 77);
	tally_release(&t);
}

/* A thread that yields its CPU and never blocks. */
static void what_never_blocks_waits_for_a_cpu(void **state)
{
	uint32_t yield = PROF_WAIT(PROF_PREEMPTED, 0, 24), on = PROF_WAIT(PROF_PREEMPTED, 0, -1);
	struct tally t = {};
	double factors[4];

	add_seen(&t, yield, 1, ONE_IN(8), 30, 3000);
	add_seen(&t, on, 2, ONE_IN(8), 10, 1000);
	add_seen(&t, BARE(on), 0, 0, 10, 1000); /* that was looked at */
	add_seen(&t, PROF_GAP(PROF_PREEMPTED), 0, 0, 10200, 1020000);
	assert_int_equal(spread_waits(&t, factors), 1020000 + 1000);
	assert_in_range(t.counts[0].weight, 3000 + 600000, 3000 + 780000);
	assert_int_equal(t.counts[0].weight + t.counts[1].weight, 5000 + 1020000);
	assert_int_equal(t.counts[0].samples + t.counts[1].samples, 50 + 10200);
	tally_release(&t);
}

/* A long wait is told apart, so none is in a gap, however many others its stack stands for. */
static void no_long_wait_was_not_looked_at(void **state)
{
	uint32_t read = PROF_WAIT(PROF_BLOCKED, 1, 0), sleep = PROF_WAIT(PROF_BLOCKED, 1, 35);
	struct prof_count nap = { .pid = 1,
				  .tid = 5,
				  .wait = sleep,
				  .ustack = 2,
				  .chain = ONE_IN(8),
				  .samples = 3,
				  .weight = 90000600 };
	union prof_wait_hist h = { .cells = { 1 } };
	struct tally t = {};
	double factors[3];

	h.cells[15] = 2; /* and one of less than a us */
	h.max_ns = 46000000;
	add_seen(&t, read, 1, ONE_IN(8), 29, 768 * 29);
	tally_add_lengths(&t, tally_add(&t, &nap, NULL, 0), &h);
	add_seen(&t, PROF_GAP(PROF_BLOCKED), 0, 0, 30000, 30000000);
	assert_int_equal(spread_waits(&t, factors), 30000000);
	assert_int_equal(t.counts[1].weight, 90000600 + 1000000);
	assert_int_equal(t.counts[1].samples, 3 + 1000);
	assert_int_equal(t.lengths[1].count[15], 2);
	assert_int_equal(t.lengths[1].count[0], 1001);
	assert_int_equal(t.counts[0].samples, 29 + 29000);
	tally_release(&t);
}

/* Of a thread of which nothing else is known, it stays. */
static void what_was_not_looked_at_may_have_no_like(void **state)
{
	struct tally t = {};
	double factors[2];

	add_seen(&t, PROF_GAP(PROF_BLOCKED), 0, 0, 5, 500);
	add_seen(&t, PROF_WAIT(PROF_PREEMPTED, 0, 5), 4, ONE_IN(3), 10, 100);
	assert_int_equal(spread_waits(&t, factors), 0);
	assert_int_equal(t.counts[0].weight, 500);
	assert_int_equal(t.counts[0].samples, 5);
	assert_true(factors[0] == 1 && factors[1] == 1);
	tally_release(&t);
}

/* Which of those that waited for a CPU were woken is not known: their time goes where none is. */
static void what_was_not_looked_at_is_counted_without_its_time(void **state)
{
	struct tally t = {};
	double factors[2];

	add_seen(&t, PROF_GAP(PROF_PREEMPTED), 0, 0, 5, 500);
	add_seen(&t, PROF_WAIT(PROF_WOKEN, 0, 5), 4, ONE_IN(3), 10, 100);
	assert_int_equal(spread_waits(&t, factors), 500);
	assert_int_equal(t.counts[0].weight, 0);
	assert_int_equal(t.counts[0].samples, 5);
	assert_int_equal(t.counts[1].weight, 600);
	assert_int_equal(t.counts[1].samples, 10);
	tally_release(&t);
}

static void what_bpf_took_is_known_by_what_was_timed(void **state)
{
	uint64_t c[PROF_NR_COUNTERS] = { [PROF_RUNS] = 6400, [PROF_WAKES] = 300 };

	assert_int_equal(counters_bpf_ns(c), 0);
	c[PROF_TIMED_RUNS] = 100;
	c[PROF_TIMED_NS] = 20050;
	assert_int_equal(counters_bpf_ns(c), 6400 * 200 + 3200);
	c[PROF_TIMED_WAKES] = 3;
	c[PROF_WAKES_NS] = 150;
	assert_int_equal(counters_bpf_ns(c), 6400 * 200 + 3200 + 300 * 50);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(little_is_left_as_it_is),
		cmocka_unit_test(the_first_tenth_of_a_second_decides),
		cmocka_unit_test(a_step_is_met_within_two_seconds_and_taken_back),
		cmocka_unit_test(it_does_not_swing),
		cmocka_unit_test(what_leaving_out_does_not_change_is_told),
		cmocka_unit_test(far_too_much_is_refused_at_the_beginning_only),
		cmocka_unit_test(own_bursts_are_no_reason),
		cmocka_unit_test(own_time_that_is_apart_thins_little),
		cmocka_unit_test(few_runs_are_no_burst),
		cmocka_unit_test(what_is_left_out_next_is_tried),
		cmocka_unit_test(where_nothing_can_be_left_out_it_is_told),
		cmocka_unit_test(no_limit_is_none),
		cmocka_unit_test(what_bpf_took_is_known_by_what_was_timed),
		cmocka_unit_test(quiet_threads_keep_their_stacks),
		cmocka_unit_test(powers_of_two),
		cmocka_unit_test(stacks_that_were_left_out_are_those_of_the_thread),
		cmocka_unit_test(what_has_not_ended_is_where_its_thread_waits),
		cmocka_unit_test(what_was_thinned_stands_for_more),
		cmocka_unit_test(waits_are_counted_by_stack_and_not_by_time),
		cmocka_unit_test(waits_fall_to_those_as_long),
		cmocka_unit_test(threads_that_switch_often_are_looked_at_less),
		cmocka_unit_test(quiet_threads_are_always_looked_at),
		cmocka_unit_test(what_was_not_looked_at_is_as_what_was),
		cmocka_unit_test(what_never_blocks_waits_for_a_cpu),
		cmocka_unit_test(no_long_wait_was_not_looked_at),
		cmocka_unit_test(what_was_not_looked_at_may_have_no_like),
		cmocka_unit_test(what_was_not_looked_at_is_counted_without_its_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
