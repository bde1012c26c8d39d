/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Opening, reading and following counters. */
#include "metric/counters.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "event/cpus.h"
#include "event/perf.h"

#define MAX_GROUP 16 /* events of the slots group */

/* Where an event is opened: one thread on any CPU, or one CPU for all threads (or a cgroup's). */
struct place {
	int pid; /* -1 = all */
	int cpu; /* -1 = any */
};

struct counter_fd {
	struct place place;
	int fd;
	int leader;	     /* descriptor that its group is read by, -1 = no group */
	uint32_t member;     /* its place in what that reads */
	uint64_t enabled_ns; /* when it was last looked at */
	bool gone;	     /* its CPU left: what it counted stays */
};

struct counter {
	const struct event *event;
	int err; /* of the last place where it could not be opened */
	enum { COUNTER_ALONE, COUNTER_LEADS, COUNTER_FOLLOWS } role;
	struct counter_fd *fds;
	size_t nr, cap;
};

struct counters {
	struct counter *v;
	size_t nr;
	const struct counters_target *target;
	bool started, user_only;
	uint32_t missed_threads;
};

struct places {
	struct place *v;
	size_t nr, cap;
};

static bool has_tasks(const struct counters_target *t)
{
	return t->held || (t->pids && t->pids->nr) || (t->tids && t->tids->nr);
}

/* -p and -t may name the same thread. */
static void add_place(struct places *p, int pid, int cpu)
{
	for (size_t i = 0; cpu < 0 && i < p->nr; i++)
		if (p->v[i].pid == pid)
			return;
	p->v = xgrow(p->v, p->nr, &p->cap, sizeof(*p->v));
	p->v[p->nr++] = (struct place){ pid, cpu };
}

/* Threads of a process as they are now; one that is gone has none. */
static void add_threads(struct places *p, uint32_t pid)
{
	char path[64];
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	dir = opendir(path);
	if (!dir)
		return;
	while ((d = readdir(dir)))
		if (d->d_name[0] != '.')
			add_place(p, atoi(d->d_name), -1);
	closedir(dir);
}

static void find_tasks(struct places *p, const struct counters_target *t)
{
	if (t->held)
		add_place(p, t->held, -1);
	for (size_t i = 0; t->pids && i < t->pids->nr; i++)
		add_threads(p, t->pids->v[i]);
	for (size_t i = 0; t->tids && i < t->tids->nr; i++)
		add_place(p, t->tids->v[i], -1);
}

static bool wanted_cpu(const struct counters_target *t, uint32_t cpu)
{
	return !t->cpus || !t->cpus->nr || opt_ids_has(t->cpus, cpu);
}

static void find_cpus(struct places *p, const struct counters_target *t)
{
	struct cpus online = {};

	if (!cpus_online(&online))
		for (size_t i = 0; i < online.nr; i++)
			if (wanted_cpu(t, online.v[i]))
				add_place(p, t->cgroup_fd >= 0 ? t->cgroup_fd : -1, online.v[i]);
	cpus_release(&online);
}

static bool counts_at(const struct event *e, const struct place *place)
{
	if (place->cpu < 0)
		return e->per_task;
	return !e->cpus || cpus_has(e->cpus, place->cpu);
}

static void prepare(const struct counters *c, const struct counter *counter,
		    struct perf_event_attr *attr)
{
	const struct counters_target *t = c->target;

	memset(attr, 0, sizeof(*attr));
	event_attr(counter->event, attr);
	attr->precise_ip = 0; /* it is for samples */
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	if (counter->role == COUNTER_LEADS)
		attr->read_format |= PERF_FORMAT_GROUP;
	attr->disabled = counter->role != COUNTER_FOLLOWS;
	attr->inherit = has_tasks(t) && !t->no_children;
	attr->enable_on_exec = t->held && attr->disabled;
	if (c->user_only)
		attr->exclude_kernel = attr->exclude_hv = 1;
}

/* At one place; leader and member tell its group there. A descriptor or negative errno. */
static int open_at(struct counters *c, struct counter *counter, struct place place, int leader,
		   uint32_t member)
{
	bool cgroup = place.cpu >= 0 && place.pid >= 0;
	struct perf_event_attr attr;
	int fd;

	prepare(c, counter, &attr);
	fd = syscall(SYS_perf_event_open, &attr, place.pid, place.cpu, leader,
		     PERF_FLAG_FD_CLOEXEC | (cgroup ? PERF_FLAG_PID_CGROUP : 0));
	if (fd < 0 && errno == EACCES && has_tasks(c->target) && !attr.exclude_kernel &&
	    !attr.exclude_user) {
		c->user_only = true;
		return open_at(c, counter, place, leader, member);
	}
	if (fd < 0)
		return -errno;
	counter->fds = xgrow(counter->fds, counter->nr, &counter->cap, sizeof(*counter->fds));
	counter->fds[counter->nr++] =
		(struct counter_fd){ place,  fd, counter->role == COUNTER_LEADS ? fd : leader,
				     member, 0,	 false };
	return fd;
}

/* Threads and CPUs may be gone by now, which is no error of the event. */
static bool is_gone(int err, const struct place *place)
{
	return err == -ESRCH || (err == -ENODEV && place->cpu >= 0);
}

/* All events of a role at one place. Only what makes all the rest pointless is an error. */
static int open_role(struct counters *c, struct place place, int role, int *leader)
{
	uint32_t member = 1;

	for (size_t i = 0; i < c->nr; i++) {
		struct counter *counter = &c->v[i];
		int fd;

		if ((int)counter->role != role || !counts_at(counter->event, &place))
			continue;
		if (role == COUNTER_FOLLOWS && *leader < 0)
			fd = -EINVAL; /* the kernel takes no member without a leader */
		else
			fd = open_at(c, counter, place, role == COUNTER_FOLLOWS ? *leader : -1,
				     role == COUNTER_FOLLOWS ? member : 0);
		if (fd == -EMFILE || fd == -ENFILE)
			return fd;
		if (fd < 0 && !is_gone(fd, &place))
			counter->err = fd;
		if (fd >= 0 && role == COUNTER_LEADS)
			*leader = fd;
		member += fd >= 0;
	}
	return 0;
}

static int open_place(struct counters *c, struct place place)
{
	int leader = -1, err = open_role(c, place, COUNTER_LEADS, &leader);

	if (!err)
		err = open_role(c, place, COUNTER_FOLLOWS, &leader);
	return err ? err : open_role(c, place, COUNTER_ALONE, &leader);
}

/* topdown-retiring …, however it is spelled; "topdown.slots_p" is an event like any other. */
static bool is_topdown(const char *name)
{
	return !strncasecmp(name, "topdown", 7) && (name[7] == '-' || name[7] == '_');
}

/* Intel's topdown-* want to be members of a group that slots leads. */
static void make_group(struct counters *c)
{
	bool leads = false;
	size_t nr = 1;

	for (size_t i = 0; i < c->nr && !leads; i++)
		if (!strcasecmp(c->v[i].event->base, "slots")) {
			c->v[i].role = COUNTER_LEADS;
			leads = true;
		}
	for (size_t i = 0; leads && i < c->nr && nr < MAX_GROUP; i++)
		if (is_topdown(c->v[i].event->base)) {
			c->v[i].role = COUNTER_FOLLOWS;
			nr++;
		}
}

static int open_places(struct counters *c, const struct places *places)
{
	int err = 0;

	for (size_t i = 0; i < places->nr && !err; i++)
		err = open_place(c, places->v[i]);
	return err;
}

/* While counters are opened: what is open stays, and what is started has its own limit. */
static struct rlimit raise_limit(void)
{
	struct rlimit limit = {}, highest;

	getrlimit(RLIMIT_NOFILE, &limit);
	highest = (struct rlimit){ limit.rlim_max, limit.rlim_max };
	setrlimit(RLIMIT_NOFILE, &highest);
	return limit;
}

/* Why none of the events has a counter; 0: some have, or this machine does not know one. */
static int refused(const struct counters *c)
{
	int err = 0;

	for (size_t i = 0; i < c->nr; i++) {
		err = c->v[i].err == -EPERM ? -EACCES : c->v[i].err;
		if (c->v[i].nr || perf_has_no_such(err))
			return 0;
	}
	return err;
}

static int explain(const struct counters *c, const struct places *places, int err)
{
	if (err == -ENFILE)
		return perf_refused(err, "count these events");
	if (err == -EMFILE)
		return log_err(err,
			       "%zu events for %zu threads or CPUs need %zu open files (raise the "
			       "limit: ulimit -n, or use --per-process, which opens one per CPU)",
			       c->nr, places->nr, c->nr * places->nr);
	if (!places->nr)
		return cpus_tell_none();
	err = err ? err : refused(c);
	return err ? perf_refused(err, "count any of these events") : 0;
}

/* Threads that were not there when the list was made. */
static uint32_t count_missed(const struct counters_target *t, const struct places *before)
{
	struct places now = {};
	uint32_t nr = 0;

	find_tasks(&now, t);
	for (size_t i = 0, j; i < now.nr; i++) {
		for (j = 0; j < before->nr && before->v[j].pid != now.v[i].pid; j++)
			;
		nr += j == before->nr;
	}
	free(now.v);
	return nr;
}

struct counters *counters_open(const struct event *events, size_t nr, bool slots_group,
			       const struct counters_target *target)
{
	struct counters *c = xcalloc(1, sizeof(*c));
	struct places places = {};
	struct rlimit limit;
	int err;

	c->v = xcalloc(nr ? nr : 1, sizeof(*c->v));
	c->nr = nr;
	c->target = target;
	for (size_t i = 0; i < nr; i++)
		c->v[i] = (struct counter){ .event = &events[i], .err = -ENOENT };
	if (slots_group)
		make_group(c);
	limit = raise_limit();
	if (has_tasks(target))
		find_tasks(&places, target);
	else
		find_cpus(&places, target);
	err = explain(c, &places, open_places(c, &places));
	if (!err && target->pids && target->pids->nr)
		c->missed_threads = count_missed(target, &places);
	free(places.v);
	setrlimit(RLIMIT_NOFILE, &limit);
	if (!err)
		return c;
	counters_close(c);
	errno = -err;
	return NULL;
}

static void control(const struct counters *c, unsigned long request)
{
	for (size_t i = 0; i < c->nr; i++) {
		if (c->v[i].role == COUNTER_FOLLOWS)
			continue; /* goes with its leader */
		for (size_t j = 0; j < c->v[i].nr; j++)
			ioctl(c->v[i].fds[j].fd, request, 0);
	}
}

void counters_start(struct counters *c)
{
	c->started = true;
	if (!c->target->held)
		control(c, PERF_EVENT_IOC_ENABLE);
}

void counters_stop(struct counters *c)
{
	control(c, PERF_EVENT_IOC_DISABLE);
}

/* A group's leader reads: how many, times, then every member in the order it joined. */
static bool read_group(const struct counter_fd *f, struct counter_value *v)
{
	uint64_t got[3 + MAX_GROUP];
	ssize_t len = read(f->leader, got, sizeof(got));

	if (len < (ssize_t)sizeof(uint64_t) * (4 + f->member))
		return false;
	v->raw += got[3 + f->member];
	v->enabled_ns += got[1];
	v->running_ns += got[2];
	return true;
}

static bool read_alone(const struct counter_fd *f, struct counter_value *v)
{
	uint64_t got[3];

	if (read(f->fd, got, sizeof(got)) != sizeof(got))
		return false;
	v->raw += got[0];
	v->enabled_ns += got[1];
	v->running_ns += got[2];
	return true;
}

static void read_counter(const struct counter *counter, int cpu, struct counter_value *v)
{
	for (size_t i = 0; i < counter->nr; i++) {
		const struct counter_fd *f = &counter->fds[i];

		if (cpu >= 0 && f->place.cpu != cpu)
			continue;
		if (!(f->leader < 0 ? read_alone(f, v) : read_group(f, v)))
			v->lost = true;
	}
}

void counters_read(const struct counters *c, int cpu, struct counter_value *values)
{
	memset(values, 0, c->nr * sizeof(*values));
	for (size_t i = 0; i < c->nr; i++)
		read_counter(&c->v[i], cpu, &values[i]);
}

struct count counters_count(const struct counters *c, size_t event, const struct counter_value *now,
			    const struct counter_value *before)
{
	static const struct counter_value zero;
	const struct counter_value *from = before ? &before[event] : &zero;
	const struct counter *counter = &c->v[event];
	struct count count;

	if (!counter->nr)
		return count_missing(counter->err);
	count = count_make(now[event].raw - from->raw, now[event].enabled_ns - from->enabled_ns,
			   now[event].running_ns - from->running_ns, counter->event->advertised);
	/* Of what happens in the kernel only, user mode has none. */
	if (c->user_only && !counter->event->exclude_kernel && !now[event].raw)
		count.state = COUNT_NO_PERMISSION;
	if (now[event].lost && !count.running_ns)
		count.state = COUNT_LOST;
	return count;
}

void counters_for_each_cpu(const struct counters *c,
			   void (*f)(void *arg, uint32_t cpu, size_t event, int fd), void *arg)
{
	for (size_t i = 0; i < c->nr; i++)
		for (size_t j = 0; j < c->v[i].nr; j++)
			if (c->v[i].fds[j].place.cpu >= 0 && !c->v[i].fds[j].gone)
				f(arg, c->v[i].fds[j].place.cpu, i, c->v[i].fds[j].fd);
}

/*
 * Its time stands still: the kernel took it off a CPU that left, and never puts it back. (That of a
 * cgroup stands still whenever nothing of it runs.)
 */
static void look(struct counter_fd *f, const struct cpus *online, bool of_cgroup)
{
	uint64_t got[3 + MAX_GROUP];

	if (f->gone)
		return;
	f->gone = !cpus_has(online, f->place.cpu) || read(f->fd, got, sizeof(got)) < 24 ||
		  (!of_cgroup && got[1] == f->enabled_ns);
	f->enabled_ns = got[1];
}

static bool is_counted(const struct counter *counter, uint32_t cpu)
{
	for (size_t i = 0; i < counter->nr; i++)
		if (counter->fds[i].place.cpu == (int)cpu && !counter->fds[i].gone)
			return true;
	return false;
}

/* A CPU is opened whole or not at all, for the sake of the group. */
static void join(struct counters *c, uint32_t cpu)
{
	int pid = c->target->cgroup_fd >= 0 ? c->target->cgroup_fd : -1;

	for (size_t i = 0; i < c->nr; i++)
		if (is_counted(&c->v[i], cpu))
			return;
	if (open_place(c, (struct place){ pid, cpu }))
		return;
	for (size_t i = 0; i < c->nr; i++)
		for (size_t j = 0; j < c->v[i].nr; j++)
			if (c->v[i].fds[j].place.cpu == (int)cpu && !c->v[i].fds[j].gone)
				ioctl(c->v[i].fds[j].fd, PERF_EVENT_IOC_ENABLE, 0);
}

void counters_refresh(struct counters *c)
{
	struct cpus online = {};

	if (has_tasks(c->target) || cpus_online(&online))
		return;
	for (size_t i = 0; i < c->nr; i++)
		for (size_t j = 0; j < c->v[i].nr; j++)
			look(&c->v[i].fds[j], &online, c->target->cgroup_fd >= 0);
	for (size_t i = 0; i < online.nr; i++)
		if (wanted_cpu(c->target, online.v[i]))
			join(c, online.v[i]);
	cpus_release(&online);
}

bool counters_user_only(const struct counters *c)
{
	return c->user_only;
}

uint32_t counters_missed_threads(const struct counters *c)
{
	return c->missed_threads;
}

void counters_close(struct counters *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->nr; i++) {
		for (size_t j = 0; j < c->v[i].nr; j++)
			close(c->v[i].fds[j].fd);
		free(c->v[i].fds);
	}
	free(c->v);
	free(c);
}
