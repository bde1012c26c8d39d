/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * event/perf while CPUs leave. The kernel is made up: the calls that perf.c and cpus.c make end in
 * this file, so no CPU is taken away and no privilege is needed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "event/perf.h"

#define NEVER 1000u

/* CPUs 0 to 2 are online; 2 leaves, and all that is said of it changes after so many questions. */
static struct {
	bool pmu;
	unsigned int opens_of_2;   /* succeed, before the first that fails */
	unsigned int fails_of_2;   /* follow, before others succeed */
	unsigned int looks_at_2;   /* say that it is online */
	unsigned int opens, looks; /* so far */
} host;

long syscall(long nr, ...)
{
	struct perf_event_attr *attr;
	va_list ap;
	int cpu;

	va_start(ap, nr);
	attr = va_arg(ap, struct perf_event_attr *);
	va_arg(ap, int);
	cpu = va_arg(ap, int);
	va_end(ap);
	errno = ENOSYS;
	if (nr != SYS_perf_event_open)
		return -1;
	errno = ENOENT;
	if (attr->type == PERF_TYPE_HARDWARE && !host.pmu)
		return -1;
	errno = ENODEV;
	if (cpu == 2 && host.opens++ >= host.opens_of_2 &&
	    host.opens <= host.opens_of_2 + host.fails_of_2)
		return -1;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int ioctl(int fd, unsigned long request, ...)
{
	return 0;
}

FILE *fopen(const char *path, const char *mode)
{
	static char before[] = "0-2\n", after[] = "0-1\n";
	FILE *(*real)(const char *, const char *) = dlsym(RTLD_NEXT, "fopen");

	if (strcmp(path, "/sys/devices/system/cpu/online"))
		return real(path, mode);
	return fmemopen(host.looks++ < host.looks_at_2 ? before : after, 4, "r");
}

/* Opens the events; what was said is in *message. */
static int open_events(struct perf_events *e, const char *force, char **message)
{
	FILE *saved = stderr;
	size_t sz;
	int err;

	*e = (struct perf_events){ .prog_fd = -1 };
	stderr = open_memstream(message, &sz);
	err = perf_events_open(e, force, 99);
	fclose(stderr);
	stderr = saved;
	return err;
}

static void check_opened(const char *force, const char *name, size_t nr)
{
	struct perf_events e;
	char *message;

	assert_int_equal(open_events(&e, force, &message), 0);
	assert_string_equal(message, "");
	assert_string_equal(e.name, name);
	assert_int_equal(e.nr, nr);
	perf_events_close(&e);
	free(message);
}

static void a_cpu_that_left_is_no_missing_counter(void **state)
{
	memset(&host, 0, sizeof(host));
	host.pmu = true;
	host.fails_of_2 = NEVER;
	host.looks_at_2 = 1;
	check_opened(NULL, "cycles", 2);
	host.opens = host.looks = 0;
	check_opened("cycles", "cycles", 2);
	host.opens = host.looks = 0;
	check_opened("cpu-clock", "cpu-clock", 2);
}

static void one_on_its_way_out_is_waited_for(void **state)
{
	memset(&host, 0, sizeof(host));
	host.pmu = true;
	host.fails_of_2 = NEVER;
	host.looks_at_2 = 4;
	check_opened(NULL, "cycles", 2);
	host.looks_at_2 = NEVER; /* back after all */
	host.fails_of_2 = 3;
	host.opens = host.looks = 0;
	check_opened(NULL, "cycles", 3);
}

static void one_that_stays_has_no_counter(void **state)
{
	struct perf_events e;
	char *message;

	memset(&host, 0, sizeof(host));
	host.pmu = true;
	host.fails_of_2 = NEVER;
	host.looks_at_2 = NEVER;
	assert_int_equal(open_events(&e, "cycles", &message), -EOPNOTSUPP);
	assert_non_null(strstr(message, "shows no hardware cycle counter"));
	perf_events_close(&e);
	free(message);
	assert_int_equal(open_events(&e, "cpu-clock", &message), -ENODEV);
	assert_non_null(strstr(message, "cannot open the cpu-clock event on CPU 2"));
	perf_events_close(&e);
	free(message);
}

static void a_machine_without_counters_takes_the_clock(void **state)
{
	struct perf_events e;
	char *message;

	memset(&host, 0, sizeof(host));
	host.opens_of_2 = NEVER;
	host.looks_at_2 = NEVER;
	assert_int_equal(open_events(&e, NULL, &message), 0);
	assert_string_equal(e.name, "cpu-clock");
	assert_non_null(strstr(e.why, "no hardware cycle counter"));
	assert_int_equal(e.nr, 3);
	perf_events_close(&e);
	free(message);
}

static void sets_are_written_as_they_are_read(void **state)
{
	static const char *const texts[] = { "", "0", "0-1", "0,2", "0-3,8", "1-2,4-5,7,9-65535" };
	struct cpus c = {};
	char *text;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_int_equal(cpus_parse(&c, texts[i]), 0);
		text = cpus_text(&c);
		assert_string_equal(text, texts[i]);
		free(text);
		cpus_release(&c);
	}
}

static void sets_of_cpus_are_added(void **state)
{
	static const char *const texts[][3] = {
		{ "", "", "" },		 { "", "0-3", "0-3" },
		{ "0-3", "", "0-3" },	 { "2,5", "0,2,7", "0,2,5,7" },
		{ "4-7", "0-3", "0-7" }, { "0,9", "1-8", "0-9" },
	};
	struct cpus c = {}, more = {};
	char *text;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_int_equal(cpus_parse(&c, texts[i][0]), 0);
		assert_int_equal(cpus_parse(&more, texts[i][1]), 0);
		cpus_add(&c, &more);
		text = cpus_text(&c);
		assert_string_equal(text, texts[i][2]);
		free(text);
		cpus_release(&c);
		cpus_release(&more);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_of_cpus_are_added),
		cmocka_unit_test(a_cpu_that_left_is_no_missing_counter),
		cmocka_unit_test(one_on_its_way_out_is_waited_for),
		cmocka_unit_test(one_that_stays_has_no_counter),
		cmocka_unit_test(a_machine_without_counters_takes_the_clock),
		cmocka_unit_test(sets_are_written_as_they_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
