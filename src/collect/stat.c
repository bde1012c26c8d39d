/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The counting: open, start, wait, read, and again for each repeat. */
#include "collect/stat.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "collect/stat_parts.h"

#define LEFT_NS	   1000000ull	 /* of an interval at the end that are worth a line */
#define REFRESH_NS 1000000000ull /* CPUs and progress are looked at so often */

static void show_progress(const struct counting *c)
{
	uint64_t ran = now_ns() - c->begin_ns;

	if (c->opts->repeats > 1)
		log_progress("counting: run %zu of %u, %s", c->nr_runs + 1, c->opts->repeats,
			     text_ns(ran));
	else if (c->opts->duration_ns)
		log_progress("counting: %s of %s", text_ns(ran), text_ns(c->opts->duration_ns));
	else
		log_progress("counting: %s (Ctrl-C ends it)", text_ns(ran));
}

/* All that -p and -t named are gone. */
static bool nobody_left(const struct counting *c)
{
	const struct stat_opts *o = c->opts;

	if (!o->pids.nr && !o->tids.nr)
		return false;
	for (size_t i = 0; i < c->nr_watched; i++)
		if (!poll(&(struct pollfd){ c->watched[i], POLLIN, 0 }, 1, 0))
			return false;
	for (size_t i = c->nr_watched; i < c->pids.nr; i++)
		if (!kill(c->pids.v[i], 0) || errno == EPERM)
			return false;
	for (size_t i = 0; i < o->tids.nr; i++)
		if (!kill(o->tids.v[i], 0) || errno == EPERM)
			return false;
	return true;
}

static bool is_over(struct counting *c)
{
	const struct stat_opts *o = c->opts;
	struct signalfd_siginfo info;

	if (read(c->signals, &info, sizeof(info)) == sizeof(info))
		c->stopped = true;
	return c->stopped || c->err || nobody_left(c) ||
	       target_ended(&c->target, o->program ? o->program[0] : NULL) ||
	       (o->duration_ns && now_ns() - c->begin_ns >= o->duration_ns);
}

/* To the next thing that has to be done: the end, a tick, a look at CPUs. */
static void wait_next(struct counting *c, uint64_t refresh_ns)
{
	const struct stat_opts *o = c->opts;
	/* Of several processes that one has ended changes nothing: the refresh finds the last. */
	struct pollfd fds[] = { { c->signals, POLLIN, 0 },
				{ c->timer, POLLIN, 0 },
				{ c->target.pid ? c->target.pidfd : -1, POLLIN, 0 },
				{ c->nr_watched == 1 ? c->watched[0] : -1, POLLIN, 0 } };
	uint64_t at = refresh_ns, ticks;
	struct itimerspec when = {};

	if (o->duration_ns && c->begin_ns + o->duration_ns < at)
		at = c->begin_ns + o->duration_ns;
	if (o->interval_ns && c->tick_ns + o->interval_ns < at)
		at = c->tick_ns + o->interval_ns;
	when.it_value.tv_sec = at / 1000000000;
	when.it_value.tv_nsec = at % 1000000000;
	timerfd_settime(c->timer, TFD_TIMER_ABSTIME, &when, NULL);
	poll(fds, 4, -1);
	if (fds[1].revents && read(c->timer, &ticks, sizeof(ticks)) < 0)
		return;
}

static void loop(struct counting *c)
{
	uint64_t refresh_ns = c->begin_ns + REFRESH_NS, now;

	while (!is_over(c)) {
		wait_next(c, refresh_ns);
		now = now_ns();
		if (c->opts->interval_ns && now >= c->tick_ns + c->opts->interval_ns)
			stat_report_interval(c);
		if (now < refresh_ns)
			continue;
		counters_refresh(c->counters);
		if (c->breakdown)
			breakdown_refresh(c->breakdown, c->counters);
		show_progress(c);
		refresh_ns = now + REFRESH_NS;
	}
	log_progress(NULL);
}

static int start(struct counting *c)
{
	const struct stat_opts *o = c->opts;
	pid_t held;
	int err = o->program ? target_start(&c->target, o->program) : 0;

	if (err)
		return err;
	held = stat_counts_program(o) ? c->target.pid : 0;
	if (!c->breakdown)
		c->where.held = held;
	c->counters = counters_open(c->stat_plan.events, c->stat_plan.nr_events,
				    c->stat_plan.plan.slots_group, &c->where);
	if (!c->counters)
		return -errno;
	c->user_only |= counters_user_only(c->counters);
	c->missed_threads += counters_missed_threads(c->counters);
	if (c->breakdown)
		err = breakdown_start(c->breakdown, c->counters, held);
	if (err)
		return err;
	if (o->hotspots && c->nr_runs + 1 == o->repeats)
		hotspots_start(&c->hotspots, o, held);
	c->begin_real_ns = clock_ns(CLOCK_REALTIME);
	counters_start(c->counters);
	c->begin_ns = c->tick_ns = now_ns();
	log_info("%zu events found and opened %.1f ms after the start", c->stat_plan.nr_events,
		 (c->begin_ns - o->start_ns) / 1e6);
	return o->program ? target_release(&c->target, o->program[0]) : 0;
}

static double ns_of(const struct timeval *t)
{
	return t->tv_sec * 1e9 + t->tv_usec * 1e3;
}

/* Of all children that have ended, as the kernel keeps it. */
static struct stat_cpu_times children_times(void)
{
	struct rusage usage = {};

	getrusage(RUSAGE_CHILDREN, &usage);
	return (struct stat_cpu_times){ ns_of(&usage.ru_utime), ns_of(&usage.ru_stime) };
}

/* Of this run's program, which has been waited for if it ended by itself. */
static struct stat_cpu_times program_times(const struct counting *c)
{
	struct stat_cpu_times now = children_times();

	if (!stat_counts_program(c->opts) || c->target.pid)
		return (struct stat_cpu_times){ NAN, NAN };
	return (struct stat_cpu_times){ now.user_ns - c->cpu_before.user_ns,
					now.system_ns - c->cpu_before.system_ns };
}

/* Of repeats one that a signal has cut short would spoil the mean; alone it is what there is. */
static void keep_run(struct counting *c, double seconds)
{
	size_t nr = c->stat_plan.nr_events;

	c->cut = c->stopped && c->opts->repeats > 1;
	if (c->cut && c->nr_runs)
		return;
	counters_read(c->counters, -1, c->now);
	for (size_t i = 0; i < nr; i++)
		c->counts[c->nr_runs * nr + i] = counters_count(c->counters, i, c->now, NULL);
	if (c->opts->by == STAT_BY_CPU)
		stat_cpus_read(c);
	c->cpu_times[c->nr_runs] = program_times(c);
	c->seconds[c->nr_runs++] = seconds;
	if (c->target.status) {
		c->nr_bad++;
		c->bad_status = c->target.status;
	}
}

/* One run from start to end. */
static int run_once(struct counting *c)
{
	uint64_t now, ran;
	int err;

	c->target.status = 0;
	c->cpu_before = children_times();
	err = start(c);
	if (!err) {
		loop(c);
		now = now_ns();
		counters_stop(c->counters);
		c->ended = true;
		ran = now - c->tick_ns;
		if (!c->opts->interval_ns)
			keep_run(c, (now - c->begin_ns) / 1e9);
		else if (ran > LEFT_NS || !c->interval)
			stat_report_interval(c);
		target_terminate(&c->target);
	}
	target_stop(&c->target);
	counters_close(c->counters);
	c->counters = NULL;
	return err;
}

static int run_all(struct counting *c)
{
	uint32_t repeats = c->opts->interval_ns ? 1 : c->opts->repeats;
	size_t nr = c->stat_plan.nr_events;
	int err = 0;

	c->counts = xcalloc(repeats, (nr ? nr : 1) * sizeof(*c->counts));
	c->seconds = xcalloc(repeats, sizeof(*c->seconds));
	c->cpu_times = xcalloc(repeats, sizeof(*c->cpu_times));
	c->now = xcalloc(nr ? nr : 1, sizeof(*c->now));
	c->before = xcalloc(nr ? nr : 1, sizeof(*c->before));
	for (uint32_t i = 0; i < repeats && !err && !c->stopped; i++)
		err = run_once(c);
	if (!err && !c->opts->interval_ns)
		stat_report_runs(c);
	return err ? err : c->err;
}

int stat_run(const struct stat_opts *o)
{
	struct counting c = {
		.opts = o,
		.where = { &c.pids, &o->tids, 0, o->no_children, &o->cpus, -1 },
		.signals = -1,
		.timer = -1,
		.target.pidfd = -1,
	};
	int err = stat_prepare(&c);

	if (!err)
		err = run_all(&c);
	stat_release(&c);
	return err;
}
