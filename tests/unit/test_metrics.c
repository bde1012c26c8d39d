/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Histograms of waits by owner and class: places of buckets, sums, and who shares with others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "serve/metrics.h"

#define BLOCKED PROF_WAIT(PROF_BLOCKED, 1, 35) /* nanosleep, where that is its number */
#define WOKEN	PROF_WAIT(PROF_WOKEN, 0, 35)

static struct labels labels[200];

static const struct labels *who(void *arg, uint32_t pid)
{
	return &labels[pid];
}

static int begin(void **state)
{
	char name[16];

	for (size_t i = 0; i < sizeof(labels) / sizeof(*labels); i++) {
		snprintf(name, sizeof(name), "s%zu", i);
		labels_set(&labels[i], "service_name", name);
	}
	return 0;
}

static int end(void **state)
{
	for (size_t i = 0; i < sizeof(labels) / sizeof(*labels); i++)
		labels_release(&labels[i]);
	return 0;
}

static struct profile *window(uint32_t nr_pids, uint32_t wait)
{
	struct profile *p = profile_new();

	p->meta.command = profile_string(p, "agent");
	p->meta.is_time = 1;
	p->meta.duration_ns = 1000000000;
	for (uint32_t i = 1; i <= nr_pids; i++)
		profile_add_sample(p, &(struct sample){ .count = 1,
							.weight = 1000,
							.pid = i,
							.tid = i,
							.process = profile_string(p, "x"),
							.thread = profile_string(p, "x"),
							.wait = wait });
	return p;
}

/* To be freed. */
static char *text_of(const struct metrics *m)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	metrics_write(m, f);
	fclose(f);
	return text;
}

static void assert_has(const char *text, const char *line)
{
	if (!strstr(text, line))
		fail_msg("there is no '%s' in\n%s", line, text);
}

static size_t nr_of(const char *text, const char *part)
{
	size_t nr = 0;

	for (; (text = strstr(text, part)); text++)
		nr++;
	return nr;
}

/* The kernel's first bucket ends at 2^10 ns, the third of ours at 2^17; the last one has no end. */
static void buckets_are_the_kernels(void **state)
{
	struct metrics *m = metrics_new(0);
	struct profile *p = window(1, BLOCKED);
	struct ended e = { .sample = 0, .ns = 5000000000, .count = { [0] = 1, [7] = 2, [8] = 4 } };
	const struct metrics_window w = { p, &e, 1 };
	char *text;

	e.count[PROF_WAIT_BUCKETS - 1] = 8;
	metrics_add(m, &w, who, NULL);
	metrics_add(m, &w, who, NULL);
	text = text_of(m);
#define OWNER "service_name=\"s1\",namespace=\"\",pod=\"\",container=\"\""
#define ROW   "bpfprof_offcpu_wait_seconds"
	assert_int_equal(nr_of(text, ROW "_bucket"), 12);
	assert_has(text, OWNER ",le=\"0.000008192\"} 2\n");
	assert_has(text, OWNER ",le=\"0.000032768\"} 2\n");
	assert_has(text, OWNER ",le=\"0.000131072\"} 6\n");
	assert_has(text, OWNER ",le=\"0.000524288\"} 14\n");
	assert_has(text, OWNER ",le=\"8.589934592\"} 14\n");
	assert_has(text, OWNER ",le=\"+Inf\"} 30\n");
	assert_has(text, OWNER "} 10.000000000\n");
	assert_has(text, OWNER "} 30\n");
	assert_int_equal(nr_of(text, "bpfprof_runqueue_delay_seconds"), 0);
	free(text);
	profile_free(p);
	metrics_free(m);
}

static void waits_for_a_cpu_are_apart(void **state)
{
	struct metrics *m = metrics_new(0);
	struct profile *p = window(1, WOKEN);
	const struct ended e = { .ns = 3000, .count = { [2] = 1 } };
	const struct metrics_window w = { p, &e, 1 };
	char *text;

	metrics_add(m, &w, who, NULL);
	text = text_of(m);
	assert_has(text, "bpfprof_runqueue_delay_seconds_bucket{" OWNER ",le=\"0.000008192\"} 1\n");
	assert_has(text, "bpfprof_runqueue_delay_seconds_sum{" OWNER "} 0.000003000\n");
	assert_int_equal(nr_of(text, ROW), 0);
	free(text);
	profile_free(p);
	metrics_free(m);
}

/* A wait that goes on has time, and no length so far. */
static void without_ends_there_are_sums_only(void **state)
{
	struct metrics *m = metrics_new(0);
	struct profile *p = window(1, BLOCKED);
	const struct metrics_window w = { .p = p };
	char *text;

	metrics_add(m, &w, who, NULL);
	text = text_of(m);
	assert_int_equal(nr_of(text, "histogram"), 0);
	assert_int_equal(nr_of(text, "bpfprof_offcpu_seconds_total{"), 1);
	free(text);
	profile_free(p);
	metrics_free(m);
}

/* Of 150 owners 100 have times of their own and 40 lengths; of all waits none is missing. */
static void many_owners_share(void **state)
{
	struct metrics *m = metrics_new(0);
	struct profile *p = window(150, BLOCKED);
	struct ended e[150] = {};
	const struct metrics_window w = { p, e, 150 };
	char *text;

	for (uint32_t i = 0; i < 150; i++)
		e[i] = (struct ended){ .sample = i, .ns = 100, .count = { [0] = 1 } };
	metrics_add(m, &w, who, NULL);
	text = text_of(m);
	assert_int_equal(nr_of(text, "\nbpfprof_offcpu_seconds_total{"), 101);
	assert_int_equal(nr_of(text, ROW "_count"), 41);
	assert_has(text, "service_name=\"other\",namespace=\"\",pod=\"\",container=\"\"} 110\n");
	free(text);
	/* Who was not seen for an hour makes room, in both. */
	p->meta.start_ns += 2 * 3600 * 1000000000ull;
	for (uint32_t i = 0; i < 150; i++)
		p->samples[i].pid = 150 - i;
	metrics_add(m, &w, who, NULL);
	text = text_of(m);
	assert_has(text, "service_name=\"s150\"");
	assert_int_equal(nr_of(text, ROW "_count"), 41);
	free(text);
	profile_free(p);
	metrics_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets_are_the_kernels),
		cmocka_unit_test(waits_for_a_cpu_are_apart),
		cmocka_unit_test(without_ends_there_are_sums_only),
		cmocka_unit_test(many_owners_share),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
