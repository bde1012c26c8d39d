/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * accounts [OPTIONS] EVENT,EVENT... PROGRAM [ARGS...]: counts per thread (collect/accounts.h) while
 * a program runs, and prints what was counted, once by who and once by the counters themselves:
 *
 *	row PID TID PARENT CGROUP SWITCHES RUNNING_NS VALUE... NAME
 *	idle|lost SWITCHES RUNNING_NS VALUE...
 *	event NAME SUM READ ...		of accounts, of counters: values, enabled, running
 *	unread|unseen|missed N
 *	cost RUNS NS-PER-RUN
 *
 * -b thread|process|cgroup; -r ROWS; -o: counters stay on all the time; -s: also the cost of the
 * program at a switch; -m MS: how often rows are collected, 0 = never; -a: all counters are
 * replaced by new ones half a second later; -c CPU: counters on one CPU only.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/log.h"
#include "collect/accounts.h"
#include "event/cpus.h"
#include "event/perf.h"

#define FORMAT	   (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)
#define REPLACE_US 500000

static const struct event_name {
	const char *name;
	uint32_t type;
	uint64_t config;
} names[] = {
	{ "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "stall-frontend", PERF_TYPE_RAW, 0x23 },
	{ "stall-backend", PERF_TYPE_RAW, 0x24 },
};
#define NR_NAMES (sizeof(names) / sizeof(names[0]))

static const struct event_name *events[PMU_MAX_EVENTS];
static size_t nr_events;
static struct cpus online;
static int *fds;				     /* of CPU c, event e: c * PMU_MAX_EVENTS + e */
static struct prof_event_count ends[PMU_MAX_EVENTS]; /* of counters that were replaced */
static bool always_on;

static int parse_events(char *text)
{
	for (char *word = strtok(text, ","); word; word = strtok(NULL, ",")) {
		size_t i = 0;

		while (i < NR_NAMES && strcmp(names[i].name, word))
			i++;
		if (i == NR_NAMES || nr_events == PMU_MAX_EVENTS)
			return log_err(-EINVAL, "event %s", word);
		events[nr_events++] = &names[i];
	}
	return 0;
}

static int open_counters(void)
{
	for (size_t i = 0; i < online.nr * PMU_MAX_EVENTS; i++) {
		const struct event_name *e = events[i % PMU_MAX_EVENTS];
		struct perf_event_attr attr = { .size = sizeof(attr), .disabled = !always_on };

		fds[i] = -1;
		if (!e)
			continue;
		attr.type = e->type;
		attr.config = e->config;
		attr.read_format = FORMAT;
		fds[i] = perf_open(&attr, -1, online.v[i / PMU_MAX_EVENTS], -1);
		if (fds[i] < 0)
			return log_err(fds[i], "cannot open %s", e->name);
	}
	return 0;
}

static int add_counters(struct accounts *a)
{
	int err = 0;

	for (size_t i = 0; i < online.nr * PMU_MAX_EVENTS && !err; i++)
		if (fds[i] >= 0)
			err = accounts_add(a, online.v[i / PMU_MAX_EVENTS], i % PMU_MAX_EVENTS,
					   fds[i]);
	return err;
}

static void switch_counters(unsigned long how)
{
	for (size_t i = 0; i < online.nr * PMU_MAX_EVENTS && !always_on; i++)
		if (fds[i] >= 0)
			ioctl(fds[i], how, 0);
}

/* Adds what the counters say. */
static void read_counters(struct prof_event_count *sum)
{
	struct prof_event_count now;

	for (size_t i = 0; i < online.nr * PMU_MAX_EVENTS; i++) {
		if (fds[i] < 0 || read(fds[i], &now, sizeof(now)) != sizeof(now))
			continue;
		sum[i % PMU_MAX_EVENTS].value += now.value;
		sum[i % PMU_MAX_EVENTS].enabled_ns += now.enabled_ns;
		sum[i % PMU_MAX_EVENTS].running_ns += now.running_ns;
	}
}

static int replace_counters(struct accounts *a)
{
	int err;

	switch_counters(PERF_EVENT_IOC_DISABLE);
	err = accounts_flush(a);
	read_counters(ends);
	for (size_t i = 0; i < online.nr * PMU_MAX_EVENTS; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	if (!err)
		err = open_counters();
	if (!err)
		err = add_counters(a);
	switch_counters(PERF_EVENT_IOC_ENABLE);
	return err;
}

static struct bpf_prog_info find_switch(void)
{
	struct bpf_prog_info info = {}, found = {};
	__u32 id = 0;

	while (!bpf_prog_get_next_id(id, &id)) {
		__u32 len = sizeof(info);
		int fd = bpf_prog_get_fd_by_id(id);

		memset(&info, 0, sizeof(info));
		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &len) &&
		    !strcmp(info.name, "accounts_switch"))
			found = info;
		close(fd);
	}
	return found;
}

static void print_counts(const struct account *c)
{
	printf(" %llu %llu", (unsigned long long)c->switches, (unsigned long long)c->running_ns);
	for (size_t i = 0; i < nr_events; i++)
		printf(" %llu", (unsigned long long)c->event[i].value);
}

static void add(struct prof_event_count *sum, const struct account *c)
{
	for (size_t i = 0; i < nr_events; i++) {
		sum[i].value += c->event[i].value;
		sum[i].enabled_ns += c->event[i].enabled_ns;
		sum[i].running_ns += c->event[i].running_ns;
	}
}

static void print_report(const struct accounts_report *r)
{
	struct prof_event_count sum[PMU_MAX_EVENTS] = {};

	for (size_t i = 0; i < r->nr; i++) {
		const struct account *c = &r->v[i];

		printf("row %u %u %u %llu", c->pid, c->tid, c->parent,
		       (unsigned long long)c->cgroup);
		print_counts(c);
		printf(" %s\n", c->comm);
		add(sum, c);
	}
	printf("idle");
	print_counts(&r->idle);
	printf("\nlost");
	print_counts(&r->lost);
	printf("\nunread %llu\nunseen %llu\nmissed %llu\n", (unsigned long long)r->unread,
	       (unsigned long long)r->unseen, (unsigned long long)r->missed);
	add(sum, &r->idle);
	add(sum, &r->lost);
	read_counters(ends);
	for (size_t i = 0; i < nr_events; i++)
		printf("event %s %llu %llu %llu %llu %llu %llu\n", events[i]->name,
		       (unsigned long long)sum[i].value, (unsigned long long)ends[i].value,
		       (unsigned long long)sum[i].enabled_ns,
		       (unsigned long long)ends[i].enabled_ns,
		       (unsigned long long)sum[i].running_ns,
		       (unsigned long long)ends[i].running_ns);
}

/* Until the program has ended. */
static int watch(struct accounts *a, pid_t child, unsigned int every_ms, bool replace)
{
	unsigned int us = 0;
	int status, err = 0;

	while (!waitpid(child, &status, WNOHANG)) {
		usleep((every_ms ? every_ms : 50) * 1000);
		us += (every_ms ? every_ms : 50) * 1000;
		if (every_ms)
			accounts_collect(a);
		if (replace && us >= REPLACE_US) {
			err = replace_counters(a);
			replace = false;
		}
	}
	return err ? err : status ? log_err(-EINVAL, "the program failed") : 0;
}

static int count(struct accounts *a, char **argv, unsigned int every_ms, bool replace)
{
	int err = open_counters(), go[2];
	char byte = 0;
	pid_t child;

	if (!err)
		err = add_counters(a);
	if (err || pipe(go))
		return err ? err : -errno;
	child = fork();
	if (!child) {
		close(go[1]);
		if (read(go[0], &byte, 1) == 1)
			execvp(argv[0], argv);
		_exit(127);
	}
	err = accounts_start(a);
	switch_counters(PERF_EVENT_IOC_ENABLE);
	printf("child %d\n", child);
	fflush(stdout);
	if (write(go[1], &byte, 1) != 1)
		return -errno;
	if (!err)
		err = watch(a, child, every_ms, replace);
	switch_counters(PERF_EVENT_IOC_DISABLE);
	return err;
}

static enum account_by parse_by(const char *text)
{
	return !strcmp(text, "process")	 ? ACCOUNT_BY_PROCESS
	       : !strcmp(text, "cgroup") ? ACCOUNT_BY_CGROUP
					 : ACCOUNT_BY_THREAD;
}

int main(int argc, char **argv)
{
	struct accounts_opts o = { .by = ACCOUNT_BY_THREAD };
	unsigned int every_ms = 50;
	bool replace = false, cost = false;
	struct accounts_report r;
	struct bpf_prog_info info;
	struct accounts *a;
	int opt, err;

	if (cpus_online(&online))
		return 2;
	while ((opt = getopt(argc, argv, "+b:r:m:c:osa")) > 0) {
		if (opt == 'b')
			o.by = parse_by(optarg);
		else if (opt == 'r')
			o.max_rows = atoi(optarg);
		else if (opt == 'm')
			every_ms = atoi(optarg);
		else if (opt == 'c')
			online.v[0] = atoi(optarg), online.nr = 1;
		always_on |= opt == 'o';
		cost |= opt == 's';
		replace |= opt == 'a';
	}
	if (argc < optind + 2 || parse_events(argv[optind]))
		return 2;
	fds = calloc(online.nr * PMU_MAX_EVENTS, sizeof(*fds));
	o.nr_events = nr_events;
	a = accounts_open(&o);
	if (!a)
		return 1;
	if (cost)
		bpf_enable_stats(BPF_STATS_RUN_TIME);
	err = count(a, argv + optind + 1, every_ms, replace);
	info = find_switch();
	if (accounts_stop(a) || err)
		return 1;
	accounts_read(a, &r);
	print_report(&r);
	if (cost)
		printf("cost %llu %.1f\n", (unsigned long long)info.run_cnt,
		       (double)info.run_time_ns / (double)info.run_cnt);
	accounts_report_release(&r);
	accounts_close(a);
	free(fds);
	return 0;
}
