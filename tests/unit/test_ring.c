/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of windows sort by time; what people call times; packed bytes that are damaged. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

#include "agent/ring.h"
#include "agent/trigger.h"
#include "base/packed.h"

#define SECOND 1000000000ull

/* 2026-11-25 14:05:10 UTC */
#define NOW 1795615510ull

static void test_names(void **state)
{
	struct ring r = {};
	char *name = ring_name(NOW * SECOND + 3400000, 9996600000ull);

	assert_string_equal(name, "20261125T140510.003Z-9997ms.bpfprof");
	ring_add(&r, name, 77);
	assert_int_equal(r.nr, 1);
	assert_int_equal(r.v[0].begin_ns, NOW * SECOND + 3000000);
	assert_int_equal(r.v[0].length_ns, 9997000000ull);
	assert_int_equal(r.v[0].bytes, 77);
	ring_add(&r, "x.bpfprof", 1);
	ring_add(&r, "20261125T140510.003Z-9997ms.bpfprof.tmp", 1);
	ring_add(&r, "20261125T140510.003Z-999999999999ms.bpfprof", 1);
	assert_int_equal(r.nr, 1);
	ring_release(&r);
	free(name);
}

static void check_span(const char *text, uint64_t from, uint64_t to)
{
	struct ring_span s;

	assert_true(ring_parse(text, NOW * SECOND, &s));
	assert_int_equal(s.from_ns, from * SECOND);
	assert_int_equal(s.to_ns, to * SECOND);
}

static void test_times(void **state)
{
	static const char *const bad[] = {
		"",	      "25:00",		 "14:05:",	 "now",	       "14",	 "-",
		"-x",	      "14:05..",	 "14:10..14:05", "2026-13-01", "14:05 ", "14:05Zx",
		"2026-02-30", "2026-04-31T10:00"
	};
	struct ring_span s;

	setenv("TZ", "UTC", 1);
	tzset();
	check_span("14:05", NOW - 10, NOW + 50);
	check_span("14:05:10", NOW, NOW + 1);
	check_span("14:06", NOW + 50 - 86400, NOW + 110 - 86400); /* has not been today */
	check_span("2026-11-25T14:05", NOW - 10, NOW + 50);
	check_span("2026-11-25 14:05:09", NOW - 1, NOW);
	check_span("2026-11-25T14:05Z", NOW - 10, NOW + 50);
	check_span("14:00..14:04", NOW - 310, NOW - 10);
	/* At 14:05:10. */
	check_span("14:00..14:10", NOW - 310, NOW + 350);
	check_span("23:50..14:10", NOW - 51310, NOW + 350);
	check_span("14:06..14:08", NOW + 50 - 86400, NOW + 230 - 86400);
	assert_true(ring_parse("-10m", NOW * SECOND, &s));
	assert_int_equal(s.last_ns, 600 * SECOND);
	setenv("TZ", "UTC-2", 1); /* two hours ahead */
	tzset();
	check_span("16:05", NOW - 10, NOW + 50);
	check_span("14:05Z", NOW - 10, NOW + 50);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(ring_parse(bad[i], NOW * SECOND, &s));
}

/* Windows of before it wrote xz. */
static void test_packed_by_gzip(void **state)
{
	static const char text[] = "a window of an agent of before";
	uint8_t *all = malloc(256);
	z_stream z = { .next_in = (uint8_t *)text,
		       .avail_in = sizeof(text),
		       .next_out = all,
		       .avail_out = 256 };
	size_t len;

	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, MAX_WBITS + 16, 8, 0), Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	len = z.total_out;
	deflateEnd(&z);
	assert_true(packed_is(all, len));
	assert_null(packed_open((char **)&all, &len, 1 << 20));
	assert_int_equal(len, sizeof(text));
	assert_memory_equal(all, text, len);
	free(all);
}

static void test_packed(void **state)
{
	size_t len = 300000, packed_len;
	char *bytes = malloc(len), *all, *packed;

	for (size_t i = 0; i < len; i++)
		bytes[i] = i * i >> 7;
	packed = packed_make(bytes, len, &packed_len);
	assert_true(packed_is(packed, packed_len));
	assert_false(packed_is("bpfprof\n", 8));
	/* Cut anywhere, it is no result. */
	for (size_t cut = 1; cut < packed_len; cut += packed_len / 50) {
		size_t n = packed_len - cut;

		all = malloc(n);
		memcpy(all, packed, n);
		assert_non_null(packed_open(&all, &n, 1 << 20));
		free(all);
	}
	all = malloc(packed_len);
	memcpy(all, packed, packed_len);
	len = packed_len;
	assert_non_null(packed_open(&all, &len, 1000)); /* a bomb */
	free(all);
	all = packed;
	len = packed_len;
	assert_null(packed_open(&all, &len, 1 << 20));
	assert_int_equal(len, 300000);
	assert_memory_equal(all, bytes, len);
	free(all);
	free(bytes);
}

static void test_triggers(void **state)
{
	static const char *const bad[] = { "cpu",	   "cpu=90%",	 "cpus>90%",
					   "cpu>",	   "cpu>x",	 "cpu>-1",
					   "runq_p99>20%", "runq_p99>",	 "lost>1%",
					   ">3",	   "",		 "cpu>101%",
					   "lost>1e400",   "blocked>inf" };
	struct profile p = { .counters[PROF_LOST_COUNTS] = 3 };
	struct agent_facts f = {
		.live = { .window_ns = 10 * SECOND, .running_ns = 15 * SECOND, .nr_cpus = 2 }
	};
	struct trigger t;
	char *why = NULL;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_not_equal(trigger_parse(&t, bad[i]), 0);
	assert_int_equal(trigger_parse(&t, "cpu>74%"), 0);
	assert_true(trigger_is_met(&t, &p, &f, &why));
	assert_string_equal(why, "cpu>74%: 75%");
	free(why);
	assert_int_equal(trigger_parse(&t, "cpu>75"), 0);
	assert_false(trigger_is_met(&t, &p, &f, &why));
	assert_int_equal(trigger_parse(&t, "cpu>=75"), 0);
	assert_true(trigger_is_met(&t, &p, &f, &why));
	free(why);
	assert_int_equal(trigger_parse(&t, "cpu<80%"), 0);
	assert_true(trigger_is_met(&t, &p, &f, &why));
	free(why);
	assert_int_equal(trigger_parse(&t, "lost>2"), 0);
	assert_true(trigger_is_met(&t, &p, &f, &why));
	free(why);
	assert_int_equal(trigger_parse(&t, "runq_p99>20ms"), 0);
	assert_false(trigger_is_met(&t, &p, &f, &why));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),	 cmocka_unit_test(test_times),
		cmocka_unit_test(test_packed),	 cmocka_unit_test(test_packed_by_gzip),
		cmocka_unit_test(test_triggers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
