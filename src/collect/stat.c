/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The counting: open, start, wait, read, and again for each repeat. */
#include "collect/stat.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "bpf/prof.h"
#include "collect/breakdown.h"
#include "collect/hotspots.h"
#include "collect/stat_plan.h"
#include "collect/target.h"
#include "event/cgroup.h"
#include "event/cpus.h"
#include "event/host.h"
#include "event/trial.h"
#include "metric/counters.h"
#include "proc/running.h"

#define DEFAULT_SETS	"ipc,topdown,branch"
#define DEFAULT_SETS_BY "topdown,branch"
#define DEFAULT_EVENTS	"task-clock,context-switches,cpu-migrations,page-faults"
#define LEFT_NS		1000000ull    /* of an interval at the end that are worth a line */
#define MAX_WATCHED	64	      /* processes of -p whose end is heard of at once */
#define REFRESH_NS	1000000000ull /* CPUs and progress are looked at so often */

struct counting {
	const struct stat_opts *opts;
	struct catalog *catalog;
	struct stat_plan stat_plan;
	const char *sets; /* of opts, or those by default */
	struct counters_target where;
	struct counters *counters;
	struct breakdown *breakdown; /* NULL unless by something */
	struct target target;
	struct hotspots hotspots;
	int signals, timer;
	int watched[MAX_WATCHED]; /* pidfds of the first processes of -p */
	size_t nr_watched;
	sigset_t old_mask;
	uint32_t budget, interval;
	uint64_t begin_ns, begin_real_ns, tick_ns; /* of this run; of the interval that runs */
	struct counter_value *now, *before;	   /* by event */
	struct count *counts;			   /* by run and event */
	double *seconds;			   /* by run */
	size_t nr_runs;				   /* that are over */
	uint32_t nr_bad;			   /* runs of the program that failed */
	int bad_status;				   /* of the last of them */
	bool cut;				   /* a run was ended early, and left out */
	bool stopped;				   /* by a signal, or by who takes the reports */
	bool ended;				   /* this run */
	int err;
	bool user_only;
	uint32_t missed_threads;
	struct opt_ids pids; /* of the options, and what these have started already */
};

static char *describe_target(const struct stat_opts *o)
{
	char *text = NULL, *cpus;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	for (char **a = o->program; a && *a; a++)
		fprintf(f, "%s%s", a == o->program ? "" : " ", *a);
	for (size_t i = 0; i < o->pids.nr; i++)
		fprintf(f, "%s%u", i ? ", " : "process ", o->pids.v[i]);
	for (size_t i = 0; i < o->tids.nr; i++)
		fprintf(f, "%s%u", i ? ", " : o->pids.nr ? ", thread " : "thread ", o->tids.v[i]);
	if (o->cgroup)
		fprintf(f, "cgroup %s", o->cgroup);
	if (o->cpus.nr) {
		cpus = cpus_text(&(struct cpus){ .v = o->cpus.v, .nr = o->cpus.nr });
		fprintf(f, "%sCPU%s %s", ftell(f) ? " on " : "", o->cpus.nr == 1 ? "" : "s", cpus);
		free(cpus);
	}
	if (!ftell(f))
		fputs("system-wide", f);
	fclose(f);
	return text;
}

/* One reason for all metrics, so it is told once, with the names of their sets. */
static void note_no_hardware(const struct counting *c, struct stat_report *r)
{
	const char *sets = c->sets;
	char *note = xasprintf("this machine shows no hardware counters (a virtual machine without "
			       "a PMU?)%s%s: software events only",
			       sets ? ", so there are no metrics of " : "", sets ? sets : "");

	stat_plan_note(r, note);
	free(note);
}

static void note_how(const struct counting *c, struct stat_report *r)
{
	char note[160];

	if (!catalog_core_pmu(c->catalog))
		note_no_hardware(c, r);
	if (c->user_only)
		stat_plan_note(r, "counted in user mode only: kernel.perf_event_paranoid does not "
				  "let us count the kernel (needs CAP_PERFMON)");
	if (c->nr_bad) {
		snprintf(note, sizeof(note),
			 "%u of %zu runs of the program failed, the last one by %s %d", c->nr_bad,
			 c->nr_runs, WIFSIGNALED(c->bad_status) ? "signal" : "exit status",
			 WIFSIGNALED(c->bad_status) ? WTERMSIG(c->bad_status)
						    : WEXITSTATUS(c->bad_status));
		stat_plan_note(r, note);
	}
	if (c->cut) {
		snprintf(note, sizeof(note), "ended early: %zu of %u runs", c->nr_runs,
			 c->opts->repeats);
		stat_plan_note(r, note);
	}
	if (c->missed_threads) {
		snprintf(note, sizeof(note),
			 "%u threads began while counters were being opened: some may be missing",
			 c->missed_threads);
		stat_plan_note(r, note);
	}
}

static struct stat_report *new_report(const struct counting *c)
{
	struct stat_report *r = xcalloc(1, sizeof(*r));

	stat_plan_describe(&c->stat_plan, r);
	r->command = xstrdup(c->opts->command_line);
	r->target = describe_target(c->opts);
	r->counters = c->budget;
	r->failed_runs = c->nr_bad;
	r->by = c->opts->by;
	r->start_real_ns = c->begin_real_ns;
	note_how(c, r);
	return r;
}

static bool hand_out(struct counting *c, struct stat_report *r)
{
	bool more = c->opts->on_report(c->opts->arg, r);

	stat_report_release(r);
	free(r);
	return more;
}

static void set_seconds(struct stat_report *r, const double *seconds, size_t nr)
{
	r->seconds.runs = xcalloc(nr, sizeof(double));
	r->seconds.nr_runs = nr;
	memcpy(r->seconds.runs, seconds, nr * sizeof(double));
	stat_number_finish(&r->seconds);
}

static void report_runs(struct counting *c)
{
	struct stat_plan_runs runs = { c->counts, c->seconds, c->nr_runs };
	struct stat_report *r = new_report(c);

	set_seconds(r, c->seconds, c->nr_runs);
	stat_plan_fill(&c->stat_plan, &runs, &r->all);
	if (c->breakdown)
		c->err = breakdown_fill(c->breakdown, r, c->seconds[0], true);
	if (c->opts->hotspots)
		hotspots_finish(&c->hotspots, r);
	hand_out(c, r);
}

/* What was counted since the last tick. */
static void report_interval(struct counting *c)
{
	size_t nr = c->stat_plan.nr_events;
	struct count *counts = xcalloc(nr ? nr : 1, sizeof(*counts));
	uint64_t now = now_ns();
	double seconds = (now - c->tick_ns) / 1e9;
	struct stat_plan_runs runs = { counts, &seconds, 1 };
	struct stat_report *r = new_report(c);
	struct counter_value *swap = c->before;

	counters_read(c->counters, c->now);
	for (size_t i = 0; i < nr; i++)
		counts[i] = counters_count(c->counters, i, c->now, c->before);
	c->before = c->now;
	c->now = swap;
	c->tick_ns = now;
	r->interval = ++c->interval;
	r->elapsed_s = (now - c->begin_ns) / 1e9;
	set_seconds(r, &seconds, 1);
	stat_plan_fill(&c->stat_plan, &runs, &r->all);
	if (c->breakdown)
		c->err = breakdown_fill(c->breakdown, r, seconds, c->ended);
	free(counts);
	if (!hand_out(c, r))
		c->stopped = true;
}

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
			report_interval(c);
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
	int err = o->program ? target_start(&c->target, o->program) : 0;

	if (err)
		return err;
	if (!c->breakdown)
		c->where.held = c->target.pid;
	c->counters = counters_open(c->stat_plan.events, c->stat_plan.nr_events,
				    c->stat_plan.plan.slots_group, &c->where);
	if (!c->counters)
		return -errno;
	c->user_only |= counters_user_only(c->counters);
	c->missed_threads += counters_missed_threads(c->counters);
	if (c->breakdown)
		err = breakdown_start(c->breakdown, c->counters, c->target.pid);
	if (err)
		return err;
	if (o->hotspots && c->nr_runs + 1 == o->repeats)
		hotspots_start(&c->hotspots, o, c->target.pid);
	c->begin_real_ns = clock_ns(CLOCK_REALTIME);
	counters_start(c->counters);
	c->begin_ns = c->tick_ns = now_ns();
	log_info("%zu events found and opened %.1f ms after the start", c->stat_plan.nr_events,
		 (c->begin_ns - o->start_ns) / 1e6);
	return o->program ? target_release(&c->target, o->program[0]) : 0;
}

/* Of repeats one that a signal has cut short would spoil the mean; alone it is what there is. */
static void keep_run(struct counting *c, double seconds)
{
	size_t nr = c->stat_plan.nr_events;

	c->cut = c->stopped && c->opts->repeats > 1;
	if (c->cut && c->nr_runs)
		return;
	counters_read(c->counters, c->now);
	for (size_t i = 0; i < nr; i++)
		c->counts[c->nr_runs * nr + i] = counters_count(c->counters, i, c->now, NULL);
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
			report_interval(c);
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
	c->now = xcalloc(nr ? nr : 1, sizeof(*c->now));
	c->before = xcalloc(nr ? nr : 1, sizeof(*c->before));
	for (uint32_t i = 0; i < repeats && !err && !c->stopped; i++)
		err = run_once(c);
	if (!err && !c->opts->interval_ns)
		report_runs(c);
	return err ? err : c->err;
}

/* All CPUs are counted, whoever is asked for; but only of a cgroup, if one is given. */
static int prepare_breakdown(struct counting *c)
{
	int err = host_check();

	if (err)
		return err;
	c->where.pids = c->where.tids = NULL;
	c->breakdown = breakdown_open(&c->stat_plan, c->opts);
	return c->breakdown ? 0 : -errno;
}

/* By threads there is room for few events, and metrics come first. */
static int plan(struct counting *c)
{
	const struct stat_opts *o = c->opts;
	bool by = o->by != STAT_BY_ALL, given = o->sets || o->events;
	bool per_task = by || o->program || o->pids.nr || o->tids.nr || o->cgroup;
	const char *events = o->events;

	c->sets = given ? o->sets : by ? DEFAULT_SETS_BY : DEFAULT_SETS;
	if (!given && !(by && catalog_core_pmu(c->catalog)))
		events = DEFAULT_EVENTS;
	return stat_plan_make(&c->stat_plan, c->catalog, c->sets, events, per_task,
			      by ? PMU_MAX_EVENTS : 0);
}

/* Hardware that a virtual machine hides is no mistake; a PMU that was named and is not here is. */
static bool is_no_hardware(const struct counting *c, int err)
{
	const char *events = c->opts->events;

	return err == -ENODEV && !catalog_core_pmu(c->catalog) && !(events && strchr(events, '/'));
}

/* Who is started while /proc is read inherits the counters of its parent only if that has some. */
static void select_processes(struct counting *c)
{
	const struct stat_opts *o = c->opts;
	struct running running;

	for (size_t i = 0; i < o->pids.nr; i++)
		opt_ids_add(&c->pids, o->pids.v[i]);
	if (o->no_children || !o->pids.nr)
		return;
	running_read(&running, "");
	running_add_descendants(&running, &c->pids);
	running_release(&running);
}

static void watch(struct counting *c)
{
	const struct opt_ids *pids = &c->pids;
	int fd;

	while (c->nr_watched < pids->nr && c->nr_watched < MAX_WATCHED) {
		fd = syscall(SYS_pidfd_open, pids->v[c->nr_watched], 0);
		if (fd < 0)
			return;
		c->watched[c->nr_watched++] = fd;
	}
}

static int prepare(struct counting *c)
{
	const struct stat_opts *o = c->opts;
	sigset_t set;
	int err = 0;

	c->catalog = catalog_open("/");
	if (!c->catalog)
		return -errno;
	err = plan(c);
	if (err)
		return is_no_hardware(c, err) ? -EOPNOTSUPP : -EINVAL;
	for (size_t i = 0; i < o->pids.nr && !err; i++)
		err = host_check_pid(o->pids.v[i], false);
	for (size_t i = 0; i < o->tids.nr && !err; i++)
		err = host_check_pid(o->tids.v[i], true);
	if (!err && o->cgroup) {
		c->where.cgroup_fd = cgroup_open(o->cgroup);
		err = c->where.cgroup_fd < 0 ? c->where.cgroup_fd : 0;
	}
	if (err)
		return err;
	select_processes(c);
	watch(c);
	c->budget = trial_counters(c->catalog);
	if (o->by != STAT_BY_ALL)
		err = prepare_breakdown(c);
	if (err)
		return err;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, &c->old_mask);
	c->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	c->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	return c->signals < 0 || c->timer < 0 ? log_err(-errno, "cannot make a timer") : 0;
}

static void release(struct counting *c)
{
	if (c->signals >= 0) {
		close(c->signals);
		sigprocmask(SIG_SETMASK, &c->old_mask, NULL);
	}
	if (c->timer >= 0)
		close(c->timer);
	while (c->nr_watched)
		close(c->watched[--c->nr_watched]);
	if (c->where.cgroup_fd >= 0)
		close(c->where.cgroup_fd);
	hotspots_abort(&c->hotspots);
	breakdown_close(c->breakdown);
	stat_plan_release(&c->stat_plan);
	catalog_close(c->catalog);
	opt_ids_release(&c->pids);
	free(c->counts);
	free(c->seconds);
	free(c->now);
	free(c->before);
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
	int err = prepare(&c);

	if (!err)
		err = run_all(&c);
	release(&c);
	return err;
}
