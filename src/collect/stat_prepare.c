/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is done before anything is counted, and undone at the end. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "bpf/prof.h"
#include "collect/stat_parts.h"
#include "doctor/doctor.h"
#include "event/cgroup.h"
#include "event/host.h"
#include "event/trial.h"
#include "proc/running.h"

#define DEFAULT_SETS	"ipc,topdown,branch"
#define DEFAULT_SETS_BY "topdown,branch"
#define REPORT_SETS	"ipc,topdown,branch,cache,tlb"
#define DEFAULT_EVENTS	"task-clock,context-switches,cpu-migrations,page-faults"

bool stat_counts_program(const struct stat_opts *o)
{
	return o->program && !o->all_cpus && !o->pids.nr && !o->tids.nr && !o->cgroup &&
	       !o->cpus.nr && o->by != STAT_BY_CPU;
}

/* All CPUs are counted, whoever is asked for; but only of a cgroup, if one is given. */
static int prepare_breakdown(struct counting *c)
{
	c->where.pids = c->where.tids = NULL;
	c->breakdown = breakdown_open(&c->stat_plan, c->opts);
	return c->breakdown ? 0 : -errno;
}

/* By threads there is room for few events, and metrics come first. */
static int plan(struct counting *c)
{
	const struct stat_opts *o = c->opts;
	bool by = stat_is_by_tasks(o->by), given = o->sets || o->events;
	bool per_task = by || stat_counts_program(o) || o->pids.nr || o->tids.nr || o->cgroup;
	const char *events = o->events;

	c->sets = given ? o->sets : by ? DEFAULT_SETS_BY : o->hotspots ? REPORT_SETS : DEFAULT_SETS;
	if (!given && !(by && catalog_core_pmu(c->catalog)))
		events = DEFAULT_EVENTS;
	return stat_plan_make(&c->stat_plan, c->catalog, c->sets, events, per_task,
			      by ? PMU_MAX_EVENTS : 0, o->peaks.flops > 0 ? &o->peaks : NULL);
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

int stat_prepare(struct counting *c)
{
	const struct stat_opts *o = c->opts;
	sigset_t set;
	int err = 0;

	c->catalog = catalog_open("/");
	if (!c->catalog)
		return -errno;
	err = plan(c);
	if (err == -EACCES || err == -EPERM)
		return err;
	if (err)
		return err == -ENODEV ? -EOPNOTSUPP : -EINVAL; /* hardware that is not here */
	for (size_t i = 0; i < o->pids.nr && !err; i++)
		err = host_check_pid(o->pids.v[i], false);
	for (size_t i = 0; i < o->tids.nr && !err; i++)
		err = host_check_pid(o->tids.v[i], true);
	if (!err)
		err = host_check_cpus(&o->cpus);
	if (!err && o->cgroup) {
		c->where.cgroup_fd = cgroup_open(o->cgroup);
		err = c->where.cgroup_fd < 0 ? c->where.cgroup_fd : 0;
	}
	if (!err && o->by == STAT_BY_CGROUP && !cgroup_is_mounted()) {
		log_err(0, "--per-cgroup is of cgroups of version 2, and none is mounted (mount "
			   "-t cgroup2 none /sys/fs/cgroup/unified)");
		err = -ENOENT;
	}
	if (err)
		return err;
	select_processes(c);
	watch(c);
	err = doctor_check(stat_is_by_tasks(o->by) ? USE_PERF | USE_BPF : USE_PERF, false);
	if (err)
		return err;
	c->budget = trial_counters(c->catalog);
	if (o->by == STAT_BY_CPU)
		stat_cpus_open(c);
	if (stat_is_by_tasks(o->by))
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

void stat_release(struct counting *c)
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
	stat_cpus_release(&c->cpus);
	stat_plan_release(&c->stat_plan);
	catalog_close(c->catalog);
	opt_ids_release(&c->pids);
	free(c->counts);
	free(c->seconds);
	free(c->cpu_times);
	free(c->now);
	free(c->before);
}
