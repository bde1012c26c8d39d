/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How events are opened for sampling: period or rate, precision, cookies, and what the profile says
 * of it. The kernel is made up: perf_event_open() and read() end in this file.
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

#include "collect/sampling.h"

/* One CPU. What was asked for last, and what the PMU takes. */
static struct {
	struct perf_event_attr attr;
	unsigned int max_precise, opens;
	int error; /* of every open */
	uint64_t enabled_ns, running_ns;
} host;

long syscall(long nr, ...)
{
	va_list ap;

	va_start(ap, nr);
	if (nr == SYS_perf_event_open) {
		host.attr = *va_arg(ap, struct perf_event_attr *);
		host.opens++;
	}
	va_end(ap);
	if (nr == SYS_bpf) /* a link */
		return open("/dev/zero", O_RDONLY | O_CLOEXEC);
	errno = host.error;
	if (nr != SYS_perf_event_open || host.error)
		return -1;
	errno = EOPNOTSUPP;
	if (host.attr.precise_ip > host.max_precise)
		return -1;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int ioctl(int fd, unsigned long request, ...)
{
	return 0;
}

ssize_t read(int fd, void *to, size_t sz)
{
	ssize_t (*real)(int, void *, size_t) = dlsym(RTLD_NEXT, "read");
	uint64_t value[3] = { 1, host.enabled_ns, host.running_ns };

	if (sz != sizeof(value))
		return real(fd, to, sz);
	memcpy(to, value, sizeof(value));
	return sizeof(value);
}

FILE *fopen(const char *path, const char *mode)
{
	static char online[] = "0\n";
	FILE *(*real)(const char *, const char *) = dlsym(RTLD_NEXT, "fopen");

	if (strcmp(path, "/sys/devices/system/cpu/online"))
		return real(path, mode);
	return fmemopen(online, 2, "r");
}

static const struct opt_ids all_cpus;
static struct event cycles = { .name = "cycles",
			       .type = PERF_TYPE_HARDWARE,
			       .config = PERF_COUNT_HW_CPU_CYCLES };
static struct event faults = { .name = "page-faults",
			       .type = PERF_TYPE_SOFTWARE,
			       .config = PERF_COUNT_SW_PAGE_FAULTS };
static struct event task_clock = { .name = "task-clock",
				   .type = PERF_TYPE_SOFTWARE,
				   .config = PERF_COUNT_SW_TASK_CLOCK };

static int setup(void **state)
{
	memset(&host, 0, sizeof(host));
	host.enabled_ns = host.running_ns = 1000;
	return 0;
}

/* Opens, closes, and gives what the profile says. */
static struct profile *sampled(struct sampling_opts o)
{
	struct profile *p = profile_new();
	struct sampling s;

	o.rate_hz = 99;
	o.cpus = &all_cpus;
	p->meta.by_weight = 1;
	assert_int_equal(sampling_open(&s, &o), 0);
	sampling_stop(&s);
	sampling_describe(&s, p);
	sampling_release(&s);
	return p;
}

static void check_sampled(struct event *e, uint64_t period, bool by_rate, uint64_t expected)
{
	struct profile *p = sampled((struct sampling_opts){
		.events = e, .nr = 1, .period = period, .by_rate = by_rate });

	assert_int_equal(p->nr_events, 1);
	assert_string_equal(profile_str(p, p->events[0].name), e->name);
	assert_int_equal(p->events[0].period, expected);
	assert_int_equal(p->events[0].rate_hz, expected ? 0 : 99);
	assert_int_equal(host.attr.freq, !expected);
	assert_int_equal(host.attr.sample_period, expected ? expected : 99);
	assert_int_equal(host.attr.disabled, 1);
	profile_free(p);
}

static void seldom_events_are_all_taken(void **state)
{
	check_sampled(&faults, 0, false, 1);
	check_sampled(&faults, 0, true, 0);
	check_sampled(&faults, 100, false, 100);
	check_sampled(&task_clock, 0, false, 0);
	check_sampled(&task_clock, 50000, false, 50000);
	check_sampled(&cycles, 0, false, 0);
	check_sampled(&cycles, 1000000, false, 1000000);
}

static void precision_is_what_the_pmu_takes(void **state)
{
	struct sampling_opts o = { .events = &cycles, .nr = 1, .precise = true };
	struct profile *p;

	host.max_precise = 2;
	p = sampled(o);
	assert_int_equal(host.attr.precise_ip, 2);
	assert_int_equal(p->events[0].note, 0);
	profile_free(p);
	host.max_precise = 0;
	p = sampled(o);
	assert_int_equal(host.attr.precise_ip, 0);
	assert_non_null(strstr(profile_str(p, p->events[0].note), "skid possible"));
	profile_free(p);
	/* Nobody asked: it is not tried, and said all the same. */
	host.max_precise = 3;
	o.precise = false;
	p = sampled(o);
	assert_int_equal(host.attr.precise_ip, 0);
	assert_non_null(strstr(profile_str(p, p->events[0].note), "skid possible"));
	profile_free(p);
	/* Events of the kernel happen where they happen. */
	p = sampled((struct sampling_opts){ .events = &faults, .nr = 1, .precise = true });
	assert_int_equal(host.attr.precise_ip, 0);
	assert_int_equal(p->events[0].note, 0);
	profile_free(p);
}

/* cycles:pp is not less precise than that. */
static void what_a_name_says_is_the_least(void **state)
{
	struct event pp = cycles;
	struct sampling_opts o = {
		.events = &pp, .nr = 1, .rate_hz = 99, .precise = true, .cpus = &all_cpus
	};
	struct sampling s;
	FILE *saved = stderr;

	pp.precise = 2;
	host.max_precise = 1;
	stderr = fopen("/dev/null", "w");
	assert_int_equal(sampling_open(&s, &o), -EOPNOTSUPP);
	fclose(stderr);
	stderr = saved;
	assert_int_equal(host.opens, 2); /* 3, then 2 */
	sampling_release(&s);
}

static void a_shared_counter_says_its_share(void **state)
{
	struct event both[] = { cycles, faults };
	struct profile *p;

	host.running_ns = 250;
	p = sampled((struct sampling_opts){ .events = both, .nr = 2, .note = "since so it is" });
	assert_int_equal(p->nr_events, 2);
	assert_true(sampled_event_duty(&p->events[0]) == 0.25);
	assert_string_equal(profile_str(p, p->meta.event), "cycles");
	assert_int_equal(p->meta.rate_hz, 99);
	assert_int_equal(strncmp(profile_str(p, p->events[0].note), "since so it is; skid", 20), 0);
	assert_string_equal(profile_str(p, p->events[1].note), "since so it is");
	profile_free(p);
}

/* They have no event on each CPU: a program counts their hits. */
static void tracepoints_are_taken_at_each_hit(void **state)
{
	struct event two[] = {
		cycles,
		{ .name = "sched:sched_switch", .type = PERF_TYPE_TRACEPOINT, .config = 372 }
	};
	struct profile *p;

	p = sampled((struct sampling_opts){ .events = two, .nr = 2 });
	assert_int_equal(host.attr.type, PERF_TYPE_TRACEPOINT);
	assert_int_equal(host.attr.config, 372);
	assert_true(host.attr.disabled);
	assert_int_equal(p->nr_events, 2);
	assert_int_equal(p->events[0].rate_hz, 99);
	assert_int_equal(p->events[1].period, 1);
	assert_int_equal(p->events[1].note, 0);
	profile_free(p);
	p = sampled((struct sampling_opts){ .events = &two[1], .nr = 1, .period = 1000 });
	assert_int_equal(p->events[0].period, 1000);
	profile_free(p);
}

/* Programs at tracepoints run on any CPU, also on one that joins. */
static void tracepoints_do_not_follow_cpus(void **state)
{
	struct event hit = { .name = "sched:sched_switch", .type = PERF_TYPE_TRACEPOINT };
	struct sampling_opts o = { .events = &hit, .nr = 1, .cpus = &all_cpus };
	struct sampling s;

	assert_int_equal(sampling_open(&s, &o), 0);
	assert_int_equal(host.opens, 1);
	sampling_refresh(&s);
	assert_int_equal(host.opens, 1);
	assert_int_equal(sampling_cpus(&s), 0);
	sampling_release(&s);
}

static void missing_events_are_named(void **state)
{
	struct event misses = { .name = "branch-misses", .type = PERF_TYPE_HARDWARE, .config = 5 };
	struct sampling_opts o = { .events = &misses, .nr = 1, .rate_hz = 99, .cpus = &all_cpus };
	struct sampling s;
	FILE *saved = stderr;
	char *message;
	size_t sz;

	host.error = ENOENT;
	stderr = open_memstream(&message, &sz);
	assert_int_equal(sampling_open(&s, &o), -EOPNOTSUPP);
	fclose(stderr);
	stderr = saved;
	assert_non_null(strstr(message, "this machine cannot sample branch-misses"));
	free(message);
	sampling_release(&s);
	assert_int_equal(sampling_try_branches(&misses), -ENOENT);
	assert_true(host.attr.sample_type & PERF_SAMPLE_BRANCH_STACK);
	host.error = 0;
	assert_int_equal(sampling_try_branches(&misses), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(seldom_events_are_all_taken, setup),
		cmocka_unit_test_setup(precision_is_what_the_pmu_takes, setup),
		cmocka_unit_test_setup(what_a_name_says_is_the_least, setup),
		cmocka_unit_test_setup(a_shared_counter_says_its_share, setup),
		cmocka_unit_test_setup(tracepoints_are_taken_at_each_hit, setup),
		cmocka_unit_test_setup(tracepoints_do_not_follow_cpus, setup),
		cmocka_unit_test_setup(missing_events_are_named, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
