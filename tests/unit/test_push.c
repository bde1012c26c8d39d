/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "profile/waits.h"
#include "push/address.h"
#include "push/backoff.h"
#include "push/base64.h"
#include "push/curl.h"
#include "push/ledger.h"
#include "push/queue.h"

#include "made.h"

#if __has_include(<curl/curl.h>)
#include <curl/curl.h>
#endif

static void numbers_of_libcurl_are_its_own(void **state)
{
	(void)state;
#ifdef CURLOPT_URL
	assert_int_equal(CURL_URL, CURLOPT_URL);
	assert_int_equal(CURL_POSTFIELDSIZE_LARGE, CURLOPT_POSTFIELDSIZE_LARGE);
	assert_int_equal(CURL_PROTOCOLS, CURLOPT_PROTOCOLS);
	assert_int_equal(CURL_SSLKEY, CURLOPT_SSLKEY);
	assert_int_equal(CURL_RETRY_AFTER, CURLINFO_RETRY_AFTER);
	assert_int_equal(CURL_PRIVATE_INFO, CURLINFO_PRIVATE);
	assert_int_equal(CURL_RESPONSE_CODE, CURLINFO_RESPONSE_CODE);
#endif
}

static void rests_grow_to_a_limit(void **state)
{
	(void)state;
	assert_int_equal(backoff_ns(1, BACKOFF_FIRST_NS, 0), BACKOFF_FIRST_NS / 2);
	assert_int_equal(backoff_ns(1, BACKOFF_FIRST_NS, UINT32_MAX), BACKOFF_FIRST_NS * 3 / 2);
	assert_true(backoff_ns(2, BACKOFF_FIRST_NS, 0) == 3750000000);
	assert_true(backoff_ns(1000000, BACKOFF_FIRST_NS, UINT32_MAX) <= BACKOFF_MOST_NS * 3 / 2);
	assert_true(backoff_may_retry(429) && backoff_may_retry(504));
	assert_false(backoff_may_retry(500) || backoff_may_retry(400) || backoff_may_retry(301));
}

static void bytes_become_text(void **state)
{
	static const char *const pairs[][2] = {
		{ "", "" },	   { "x", "eA==" },	   { "xy", "eHk=" },
		{ "xyz", "eHl6" }, { "xyzw", "eHl6dw==" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		char *copy = xcopy(pairs[i][0], strlen(pairs[i][0]), 1), *text;
		size_t len;
		FILE *out = open_memstream(&text, &len);

		base64_put(out, copy, strlen(pairs[i][0]));
		fclose(out);
		assert_string_equal(text, pairs[i][1]);
		free(text);
		free(copy);
	}
}

static int address_of(const char *word, struct address *a)
{
	struct push_opts o = {};
	int err = address_init(a, word, &o);

	if (err)
		address_release(a);
	return err;
}

static void addresses_are_checked(void **state)
{
	static const char *const bad[] = { "parca",
					   "parca=",
					   "parca=http://127.0.0.1:",
					   "parca=http://127.0.0.1:/x",
					   "parca=http://127.0.0.1:0",
					   "parca=http://127.0.0.1:65536",
					   "parca=http://127.0.0.1:70 70",
					   "parca=http://127.0.0.1:7o7o",
					   "parca=http://127.0.0.1:99999999999999999999",
					   "parca=http://[::1]7070",
					   "parca=localhost:7070",
					   "parca=http://192.0.2.1",
					   "parca=http://localhost.example",
					   "parca=http://127.0.0.1.example",
					   "parca=http://u:p@localhost",
					   "parca=ftp://localhost",
					   "parca=http://local host",
					   "none=http://localhost" };
	struct address a;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_not_equal(address_of(bad[i], &a), 0);
	assert_int_equal(address_of("parca=http://[::1]:7070/", &a), 0);
	assert_string_equal(a.url, "http://[::1]:7070/api/profiles/writeraw");
	address_release(&a);
	setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9/x", 1);
	setenv("OTEL_EXPORTER_OTLP_HEADERS", "a=b%20c, d=e,bad,x=%0d%0ay: z", 1);
	assert_int_equal(address_of("otlp", &a), 0);
	assert_string_equal(a.url, "http://127.0.0.1:9/x/v1development/profiles");
	assert_int_equal(a.nr_headers, 2);
	assert_string_equal(a.headers[0], "a: b c");
	assert_string_equal(a.headers[1], "d: e");
	address_release(&a);
	unsetenv("OTEL_EXPORTER_OTLP_ENDPOINT");
	unsetenv("OTEL_EXPORTER_OTLP_HEADERS");
}

/* Of two parts. */
static struct requests request_of(const char *text)
{
	struct requests r = {};

	requests_add(&r, &engines[0], text, 1, 1);
	requests_add(&r, &engines[0], text + 1, strlen(text) - 1, 1);
	assert_int_equal(r.nr, 1);
	return r;
}

static void cut_short(int folder, const char *name, off_t len)
{
	int fd = openat(folder, name, O_WRONLY);

	assert_int_equal(ftruncate(fd, len), 0);
	close(fd);
}

static void what_waits_survives_in_its_order(void **state)
{
	char dir[] = "/tmp/bpfprof-unit.XXXXXX", *path;
	struct queue q = { .key = xstrdup("parca-1") }, again = { .key = xstrdup("parca-1") };
	struct spool s, other;
	static const uint64_t times[] = { 30, 10, 20 };

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(spool_open(&s, dir, 1000), 0);
	assert_int_not_equal(spool_open(&other, dir, 1000), 0);
	spool_close(&other);
	for (size_t i = 0; i < 3; i++) {
		char text[] = "0 bytes";
		struct requests r;

		text[0] += times[i] / 10;
		r = request_of(text);
		assert_true(queue_spool(&s, &q, queue_add(&s, &q, &r.v[0], times[i])));
		requests_release(&r);
	}
	assert_int_equal(s.bytes, 21);
	queue_release(&q);
	spool_close(&s);

	assert_int_equal(spool_open(&s, dir, 1000), 0);
	assert_int_equal(spool_resume(&s, &again), 3);
	for (size_t i = 0; i < 3; i++) {
		struct item *item = again.v[0];

		assert_int_equal(item->window_ns, 10 * (i + 1));
		if (i == 2)
			cut_short(s.dir, item->name, 20);
		assert_int_equal(item_load(&s, item), i < 2);
		if (i < 2) {
			assert_int_equal(item->nr, 2);
			assert_int_equal(item->bytes[0], '1' + i);
		}
		queue_remove(&s, &again, item);
	}
	assert_int_equal(s.bytes, 0);
	queue_release(&again);
	spool_close(&s);
	path = xasprintf("%s/.lock", dir);
	unlink(path);
	free(path);
	assert_int_equal(rmdir(dir), 0);
}

static uint64_t sum_of(const struct series *s)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s->nr; i++)
		sum += s->from->values[s->samples[i] * s->from->types.nr + s->columns[0]];
	return sum;
}

static void small_branches_go_into_callers(void **state)
{
	struct profile *p = made_profile("offcpu");
	struct labels none = {};
	struct series_opts o = { .labels = &none, .max_series = 10, .min_weight = 0.1 };
	struct series_set set;

	(void)state;
	for (size_t i = 0; i < 100; i++) {
		char user[64];

		snprintf(user, sizeof(user), "leaf%zu;big;main", i);
		made_wait(p, 1, "t", PROF_WAIT(PROF_BLOCKED, TASK_S, 0), 1000 + i, user, "");
	}
	series_set_init(&set, p, &o);
	assert_true(set.nr >= 1);
	assert_int_equal(set.v[0].nr, 1);
	assert_int_equal(sum_of(&set.v[0]), 100 * 1000 + 99 * 100 / 2);
	assert_null(series_unfit(&set.v[0]));
	assert_int_equal(set.window_samples.samples[set.v[0].samples[0]].nr, 2);
	series_set_release(&set);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_libcurl_are_its_own),
		cmocka_unit_test(rests_grow_to_a_limit),
		cmocka_unit_test(bytes_become_text),
		cmocka_unit_test(addresses_are_checked),
		cmocka_unit_test(what_waits_survives_in_its_order),
		cmocka_unit_test(small_branches_go_into_callers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
