/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How long waits were: what comes of the kernel's buckets, against the sorted list of the waits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bpf/hist.h"
#include "output/output.h"
#include "profile/append.h"
#include "profile/lengths.h"
#include "profile/save.h"
#include "tests/unit/made.h"

#define NR	20000
#define BLOCKED PROF_WAIT(PROF_BLOCKED, TASK_S, 202)
#define RAN	PROF_WAIT(PROF_RUNNING, 0, -1)

static uint64_t random_state = 88172645463325252ull;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static unsigned int log2_of(uint64_t ns)
{
	return ns ? 63 - __builtin_clzll(ns) : 0;
}

/* A sample of these waits, as the kernel and the collector make it. */
static void add(struct profile *p, uint32_t tid, const char *thread, const char *kernel,
		const uint64_t *ns, size_t nr)
{
	struct sample *s = made_wait(p, tid, thread, BLOCKED, 0, "wait;main", kernel);
	struct wait_bucket b = { .sample = p->nr_samples - 1 };
	union prof_wait_hist h = {};

	s->count = nr;
	for (size_t i = 0; i < nr; i++) {
		s->weight += ns[i];
		h.count[prof_wait_bucket(ns[i])]++;
		h.max_ns = ns[i] > h.max_ns ? ns[i] : h.max_ns;
	}
	profile_add_longest(p, h.max_ns);
	for (; b.index < PROF_WAIT_BUCKETS; b.index++) {
		b.count = h.count[b.index];
		if (b.count)
			profile_add_wait_bucket(p, &b);
	}
}

static struct prof_hist sum_of(const struct profile *p)
{
	struct prof_hist h = {};
	struct lengths l;

	lengths_init(&l, p);
	for (size_t i = 0; i < p->nr_samples; i++)
		lengths_add(&l, i, &h);
	lengths_release(&l);
	return h;
}

static int by_value(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

	return a < b ? -1 : a > b;
}

static void every_wait_has_its_bucket(void **state)
{
	assert_int_equal(prof_wait_bucket(0), 0);
	assert_int_equal(prof_wait_bucket(1023), 0);
	for (unsigned int log = 10; log < 64; log++) {
		size_t i = log < 38 ? log - 9 : PROF_WAIT_BUCKETS - 1;

		assert_int_equal(prof_wait_bucket(1ull << log), i);
		assert_int_equal(prof_wait_bucket((2ull << log) - 1), i);
	}
	for (size_t i = 0; i < NR; i++) {
		uint64_t ns = random_next() >> (random_next() % 64);
		unsigned int log = log2_of(ns);

		assert_int_equal(prof_wait_bucket(ns), log < 10 ? 0 : log < 38 ? log - 9 : 29);
	}
}

/* The sum of buckets that begin in that power of two. */
static uint64_t count_log2(const struct prof_hist *h, unsigned int log)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < PROF_HIST_BUCKETS; i++)
		if (log2_of(runqlat_bucket_ns(i)) == log)
			nr += h->count[i];
	return nr;
}

/* ns is sorted. A percentile lies in the power of two in which that of the list does. */
static void check(const struct prof_hist *h, const uint64_t *ns, size_t nr)
{
	uint64_t expected[64] = {};
	double sum = 0;

	for (size_t i = 0; i < nr; i++) {
		expected[log2_of(ns[i])]++;
		sum += ns[i];
	}
	assert_int_equal(runqlat_count(h), nr);
	assert_int_equal(runqlat_max_ns(h), ns[nr - 1]);
	assert_true(h->sum_ns == (uint64_t)sum);
	for (unsigned int log = 10; log < 38; log++)
		assert_int_equal(count_log2(h, log), expected[log]);
	for (double pct = 1; pct <= 100; pct++) {
		size_t rank = (size_t)((pct * nr + 99) / 100);
		uint64_t exact = ns[rank ? rank - 1 : 0];
		double ours = runqlat_percentile_ns(h, pct);

		assert_true(ours <= 2.0 * (1ull << log2_of(exact)) || exact < 1024);
		assert_true(ours >= 1.0 * (1ull << log2_of(exact)) || exact < 1024);
	}
}

/* All orders of magnitude, in samples of any size. */
static void as_many_as_there_were(void **state)
{
	static uint64_t ns[NR];

	for (int round = 0; round < 30; round++) {
		struct profile *p = made_profile("offcpu");
		struct prof_hist h;

		for (size_t i = 0, nr; i < NR; i += nr) {
			nr = 1 + random_next() % (1 + NR / (1 + random_next() % 2000));
			nr = nr < NR - i ? nr : NR - i;
			for (size_t k = i; k < i + nr; k++)
				ns[k] = random_next() >> (64 - 10 - random_next() % 27);
			add(p, 101, "app", "futex_wait", ns + i, nr);
		}
		h = sum_of(p);
		qsort(ns, NR, sizeof(*ns), by_value);
		check(&h, ns, NR);
		profile_free(p);
	}
}

/*
 * Waits that are alike are found where they were, not spread over their power of two: percentiles
 * are off by less than a quarter.
 */
static void alike_waits_stay_together(void **state)
{
	static const uint64_t around[] = { 1060000, 700, 2000, 1900000, 10070000, 130000000000 };
	static uint64_t ns[1000];

	for (size_t i = 0; i < ARRAY_SIZE(around); i++) {
		struct profile *p = made_profile("offcpu");
		struct prof_hist h;

		for (size_t k = 0; k < 1000; k++)
			ns[k] = around[i] + around[i] * (random_next() % 1000) / 100000;
		add(p, 101, "app", "futex_wait", ns, 1000);
		h = sum_of(p);
		qsort(ns, 1000, sizeof(*ns), by_value);
		check(&h, ns, 1000);
		for (double pct = 1; pct < 100; pct++) {
			double ours = runqlat_percentile_ns(&h, pct);

			assert_true(ours > 0.79 * around[i] && ours < 1.26 * around[i]);
		}
		profile_free(p);
	}
}

/* 100 x 1 ms, 10 x 10 ms, 1 x 100 ms. */
static void of_three_lengths(void **state)
{
	struct profile *p = made_profile("offcpu");
	uint64_t ns[111];
	struct prof_hist h;

	for (size_t i = 0; i < 111; i++)
		ns[i] = i < 100 ? 1060000 : i < 110 ? 10060000 : 100060000;
	add(p, 101, "app", "futex_wait", ns, 111);
	h = sum_of(p);
	check(&h, ns, 111);
	assert_in_range(runqlat_percentile_ns(&h, 50), 1048576, 1300000);
	assert_in_range(runqlat_percentile_ns(&h, 95), 9000000, 12000000);
	assert_int_equal(runqlat_percentile_ns(&h, 100), 100060000);
	profile_free(p);
}

/*
 * Of waits whose stacks were left out the lengths are one sample's, the time is several samples': a
 * sum that cannot be of such waits does not say that all are as short as can be.
 */
static void an_impossible_sum_says_nothing(void **state)
{
	static const uint64_t sums[] = { 9000, 90000000 };
	uint64_t ns[40];

	for (size_t i = 0; i < 40; i++)
		ns[i] = i < 30 ? 700 : 9000;
	for (size_t i = 0; i < ARRAY_SIZE(sums); i++) {
		struct profile *p = made_profile("offcpu");
		struct prof_hist h;

		add(p, 101, "app", "futex_wait", ns, 40);
		p->samples[0].weight = sums[i];
		h = sum_of(p);
		assert_int_equal(runqlat_count(&h), 40);
		assert_int_equal(h.sum_ns, sums[i]);
		assert_in_range(runqlat_percentile_ns(&h, 50), 300, 900);
		profile_free(p);
	}
}

/* Two threads: 20 x 2 ms of a lock, 5 x 300 us of a pipe; one has run. */
static struct profile *two(void)
{
	struct profile *p = made_profile("offcpu");
	uint64_t lock[20], pipe[5];

	for (size_t i = 0; i < 20; i++)
		lock[i] = 2100000;
	for (size_t i = 0; i < 5; i++)
		pipe[i] = 300000;
	add(p, 101, "locks", "futex_wait;do_futex", lock, 20);
	made_wait(p, 101, "locks", RAN, 7000000, "", "")->count = 3;
	profile_add_longest(p, 0);
	add(p, 102, "reads", "pipe_read;vfs_read", pipe, 5);
	return p;
}

static void by_class_and_by_thread(void **state)
{
	struct view v = { .by = VIEW_BY_THREAD };
	struct profile *p = two();
	struct owner_lengths *o;
	struct class_lengths c;
	struct waits w;
	size_t nr;

	waits_init(&w, p, &v);
	class_lengths_init(&c, &w, p);
	waits_release(&w);
	assert_int_equal(runqlat_count(&c.by_class[WAIT_LOCK]), 20);
	assert_int_equal(runqlat_count(&c.by_class[WAIT_PIPE]), 5);
	assert_int_equal(runqlat_count(&c.by_class[WAITS_ON_CPU]), 0);
	assert_int_equal(runqlat_max_ns(&c.by_class[WAIT_PIPE]), 300000);
	o = owner_lengths_new(p, &v, &nr);
	assert_int_equal(nr, 2);
	assert_int_equal(runqlat_count(owner_lengths_find(o, nr, "locks")), 20);
	assert_int_equal(runqlat_count(owner_lengths_find(o, nr, "reads")), 5);
	assert_null(owner_lengths_find(o, nr, "others"));
	owner_lengths_free(o, nr);
	v.classes = 1u << WAIT_PIPE;
	o = owner_lengths_new(p, &v, &nr);
	assert_int_equal(nr, 1);
	assert_string_equal(o->name, "reads");
	owner_lengths_free(o, nr);
	profile_free(p);
}

/* From the wake-up on is another wait by class, and none by thread unless it is asked for. */
static void woken_is_a_second_part(void **state)
{
	struct view v = { .by = VIEW_BY_THREAD };
	struct profile *p = two();
	struct owner_lengths *o;
	size_t nr;

	p->samples[0].wait = PROF_WAIT(PROF_WOKEN, 0, 202);
	o = owner_lengths_new(p, &v, &nr);
	assert_int_equal(nr, 2);
	assert_int_equal(runqlat_count(owner_lengths_find(o, nr, "locks")), 0);
	owner_lengths_free(o, nr);
	v.classes = 1u << WAIT_WOKEN;
	o = owner_lengths_new(p, &v, &nr);
	assert_int_equal(nr, 1);
	assert_int_equal(runqlat_count(owner_lengths_find(o, nr, "locks")), 20);
	owner_lengths_free(o, nr);
	v = (struct view){ .by = VIEW_BY_CLASS };
	o = owner_lengths_new(p, &v, &nr);
	assert_int_equal(runqlat_count(owner_lengths_find(o, nr, "[woken]")), 20);
	owner_lengths_free(o, nr);
	profile_free(p);
}

static struct profile *saved_and_loaded(const struct profile *p)
{
	char path[] = "/tmp/test_lengths.XXXXXX";
	FILE *f = fdopen(mkstemp(path), "w");
	struct profile *q;

	profile_save(p, f);
	fclose(f);
	q = profile_load(path);
	unlink(path);
	return q;
}

static void saved_ones_come_back(void **state)
{
	struct profile *p = two(), *q = saved_and_loaded(p), *both = profile_new();
	struct prof_hist h = sum_of(p), again = sum_of(q), sum;

	assert_memory_equal(&h, &again, sizeof(h));
	assert_int_equal(profile_append(both, p, true), 0);
	assert_int_equal(profile_append(both, q, true), 0);
	sum = sum_of(both);
	for (size_t i = 0; i < PROF_HIST_BUCKETS; i++)
		assert_int_equal(sum.count[i], 2 * h.count[i]);
	assert_int_equal(sum.max_ns, h.max_ns);
	/* Beside one that has none, there are none. */
	p->nr_longest = p->nr_wait_buckets = 0;
	assert_int_equal(profile_append(both, p, true), 0);
	assert_false(lengths_known(both));
	profile_free(both);
	profile_free(p);
	profile_free(q);
}

static int load_forged(void *p)
{
	struct profile *q = saved_and_loaded(p);

	profile_free(q);
	return q != NULL;
}

static void forged_ones_are_refused(void **state)
{
	for (int i = 0; i < 5; i++) {
		struct profile *p = two();
		struct wait_bucket *b = p->wait_buckets;
		int result;
		char *text;

		switch (i) {
		case 0:
			b[0].index = PROF_WAIT_BUCKETS;
			break;
		case 1:
			b[1].sample = p->nr_samples;
			break;
		case 2:
			b[0].sample = p->nr_samples - 1;
			b[1].sample = 0;
			break;
		case 3:
			b[0].count = 1ull << 60;
			break;
		case 4:
			p->nr_longest--;
			break;
		}
		text = made_errors(load_forged, p, &result);
		assert_int_equal(result, 0);
		assert_non_null(strstr(text, "damaged"));
		free(text);
		profile_free(p);
	}
}

/* What does not fit together, as in a forged file: nothing is written out of bounds. */
static void nonsense_is_harmless(void **state)
{
	static const uint64_t numbers[] = { 0, 1, 1023, 1ull << 37, 1ull << 40, 1ull << 62 };

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		for (uint32_t bucket = 0; bucket < PROF_WAIT_BUCKETS; bucket++) {
			for (size_t k = 0; k < ARRAY_SIZE(numbers); k++) {
				struct profile *p = made_profile("offcpu");
				struct prof_hist h;

				made_wait(p, 1, "x", BLOCKED, numbers[k], "", "");
				profile_add_longest(p, numbers[i]);
				profile_add_wait_bucket(
					p, &(struct wait_bucket){ 0, bucket, 1ull << 50 });
				h = sum_of(p);
				assert_int_equal(runqlat_count(&h), 1ull << 50);
				profile_free(p);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_wait_has_its_bucket),
		cmocka_unit_test(as_many_as_there_were),
		cmocka_unit_test(alike_waits_stay_together),
		cmocka_unit_test(of_three_lengths),
		cmocka_unit_test(an_impossible_sum_says_nothing),
		cmocka_unit_test(by_class_and_by_thread),
		cmocka_unit_test(woken_is_a_second_part),
		cmocka_unit_test(saved_ones_come_back),
		cmocka_unit_test(forged_ones_are_refused),
		cmocka_unit_test(nonsense_is_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
