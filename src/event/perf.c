/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Opening, following and closing the sampling events. */
#include "event/perf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "event/host.h"
#include "event/refusal.h"

#define LEAVE_TRIES   20 /* a CPU leaves or comes within 200 ms */
#define LEAVE_STEP_US 10000

int perf_open(struct perf_event_attr *attr, int pid, int cpu, int group)
{
	int fd = syscall(SYS_perf_event_open, attr, pid, cpu, group, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

bool perf_is_dead(int fd, uint64_t *enabled_ns)
{
	uint64_t value[3]; /* count, time enabled, time running */
	ssize_t got = read(fd, value, sizeof(value));

	if (got < 2 * (ssize_t)sizeof(*value) || value[1] == *enabled_ns)
		return true;
	*enabled_ns = value[1];
	return false;
}

static const char *const names[] = { "cycles", "cpu-clock" }; /* by default */

static void choose(struct perf_events *e, bool hardware, uint32_t rate_hz)
{
	e->name = names[!hardware];
	e->attr = (struct perf_event_attr){
		.size = sizeof(e->attr),
		.type = hardware ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
		.config = hardware ? (uint64_t)PERF_COUNT_HW_CPU_CYCLES
				   : (uint64_t)PERF_COUNT_SW_CPU_CLOCK,
		.read_format = PERF_READ_FORMAT,
		.freq = 1,
		.sample_freq = rate_hz,
	};
}

bool perf_has_no_such(int err)
{
	return err == -ENOENT || err == -EOPNOTSUPP || err == -ENODEV || err == -EINVAL ||
	       err == -EBUSY;
}

static int explain_nowhere(const struct perf_events *e)
{
	char *there = e->cpus ? cpus_text(e->cpus) : NULL;

	if (there)
		log_err(0, "%s is counted on CPUs %s, of which none is to be sampled", e->name,
			there);
	else
		log_err(0, "all CPUs that were to be sampled have gone offline");
	free(there);
	return -ENODEV;
}

static int explain_unsupported(const struct perf_events *e)
{
	if (!strcmp(e->name, names[0]))
		log_err(0, "this machine shows no hardware cycle counter (-e cpu-clock always "
			   "works)");
	else
		log_err(0,
			"this machine cannot sample %s (-e page-faults, -e context-switches and "
			"-e cpu-clock always work)",
			e->name);
	return -EOPNOTSUPP;
}

int perf_refused(int err, const char *what)
{
	if (err != -EACCES && err != -EPERM)
		return refusal_tell(err, "cannot %s", what);
	return log_err(err,
		       "may not %s (kernel.perf_event_paranoid is %ld; needs CAP_PERFMON, or root "
		       "where the distribution demands it; containers: seccomp must allow "
		       "perf_event_open)",
		       what, host_sysctl("kernel/perf_event_paranoid", 2));
}

int perf_events_explain(const struct perf_events *e, int err, uint32_t cpu)
{
	char what[128];

	if (err == -ENXIO)
		return explain_nowhere(e);
	if (perf_has_no_such(err) && e->attr.type != PERF_TYPE_SOFTWARE)
		return explain_unsupported(e);
	snprintf(what, sizeof(what), "open the %s event on CPU %u", e->name, cpu);
	return perf_refused(err, what);
}

/* Links came with cookies (5.15): the program asks for it, and knows which event it is. */
static int attach(const struct perf_events *e, struct perf_event *v)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .perf_event.bpf_cookie = e->cookie);

	if (!e->tell)
		return ioctl(v->fd, PERF_EVENT_IOC_SET_BPF, e->prog_fd) ? -errno : 0;
	v->link = bpf_link_create(e->prog_fd, v->fd, BPF_PERF_EVENT, &opts);
	return v->link < 0 ? -errno : 0;
}

bool perf_is_clock(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
						    attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

/* Does something to the event, and says when. */
static int set(const struct perf_event *v, unsigned long request, void *value,
	       struct due_moment *when)
{
	int err;

	when->from_ns = now_ns();
	err = ioctl(v->fd, request, value) ? -errno : 0;
	when->to_ns = now_ns();
	return err;
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The event of a CPU that left has been off since then: it was on for enabled_ns. */
static void add_due(struct perf_events *e, struct perf_event *v, struct due_moment end,
		    uint64_t count, uint64_t enabled_ns)
{
	uint64_t period = e->attr.freq ? 0 : e->attr.sample_period, late = 0;

	end.from_ns = lesser(end.from_ns, v->begin.from_ns + enabled_ns);
	end.to_ns = lesser(end.to_ns, v->begin.to_ns + enabled_ns + DUE_LATE_NS);
	due_turn(&e->due, &v->timer, end, 0);
	if (perf_is_clock(&e->attr))
		late = DUE_LATE_NS;
	else if (period > 1)
		late = period; /* the last one may be under way */
	due_count(&e->due, count, period, late);
}

static void end(struct perf_events *e, struct perf_event *v)
{
	struct due_moment when;
	uint64_t value[3];

	set(v, PERF_EVENT_IOC_DISABLE, NULL, &when);
	if (read(v->fd, value, sizeof(value)) == sizeof(value)) {
		e->times.enabled_ns += value[1];
		e->times.running_ns += value[2];
		add_due(e, v, when, value[0], value[1]);
	}
	if (v->link >= 0)
		close(v->link);
	close(v->fd);
}

bool perf_events_know_due(const struct perf_events *e)
{
	return !e->attr.freq || perf_is_clock(&e->attr);
}

/* Of other software events, and tracepoints, each one counts. */
static bool is_dithered(const struct perf_event_attr *attr)
{
	return attr->freq && (perf_is_clock(attr) || (attr->type != PERF_TYPE_SOFTWARE &&
						      attr->type != PERF_TYPE_TRACEPOINT));
}

/*
 * Of clocks the kernel knows a period only, of counters a rate to which it adapts. The weight of a
 * clock's samples stays what it was when the event was opened, so all weigh the same. What it
 * refuses stays as it is.
 */
static void set_period(struct perf_events *e, struct perf_event *v, uint64_t time_ns)
{
	uint64_t value = dither_draw(&e->dither, &v->dither, time_ns);
	struct due_moment when;

	if (!perf_is_clock(&e->attr))
		value = (1000000000 + value / 2) / value;
	if (!set(v, PERF_EVENT_IOC_PERIOD, &value, &when) && perf_is_clock(&e->attr))
		due_turn(&e->due, &v->timer, when, value);
}

uint64_t perf_events_dither(struct perf_events *e, const struct prof_counters *rows,
			    uint64_t time_ns)
{
	if (e->dither.rate_hz == 0 || time_ns < e->dither.end_ns)
		return e->dither.end_ns;
	for (size_t i = 0; i < e->nr; i++) {
		struct perf_event *v = &e->v[i];
		uint64_t recorded = rows[v->cpu].value[PROF_RECORDED];

		if (recorded == v->recorded)
			continue;
		v->recorded = recorded;
		set_period(e, v, now_ns());
	}
	dither_begin(&e->dither, time_ns);
	return e->dither.end_ns;
}

static void dither_start(struct perf_events *e, double rate_hz)
{
	uint64_t seed = 0, now = now_ns();

	if (!is_dithered(&e->attr))
		return;
	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		seed = now;
	dither_init(&e->dither, rate_hz, seed, now);
}

int perf_events_thin(struct perf_events *e, unsigned int halvings)
{
	if (e->dither.rate_hz == 0)
		return -1;
	dither_start(e, e->attr.sample_freq / (double)(1u << halvings));
	for (size_t i = 0; i < e->nr; i++) {
		e->v[i].dither = (struct dither_cpu){};
		set_period(e, &e->v[i], now_ns());
	}
	return perf_is_clock(&e->attr) ? (int)halvings : 0;
}

static int start(struct perf_events *e, uint32_t cpu)
{
	struct perf_event v = { .cpu = cpu, .link = -1 };
	int err;

	e->attr.use_clockid = e->records != NULL;
	e->attr.clockid = e->records ? CLOCK_MONOTONIC : 0;
	v.fd = perf_open(&e->attr, -1, cpu, -1);
	if (v.fd < 0)
		return v.fd;
	/* Where it is refused, what is throttled is not told. */
	if (e->records)
		ioctl(v.fd, PERF_EVENT_IOC_SET_OUTPUT, sideband_ring(e->records, cpu));
	err = attach(e, &v);
	if (!err && e->dither.rate_hz != 0)
		set_period(e, &v, now_ns());
	if (!v.timer.period_ns && e->attr.freq && perf_is_clock(&e->attr))
		v.timer.period_ns = 1000000000 / e->attr.sample_freq;
	if (!err)
		err = set(&v, PERF_EVENT_IOC_ENABLE, NULL, &v.begin);
	v.timer.begin = v.begin;
	if (err) {
		v.timer.period_ns = 0;
		end(e, &v);
		return err;
	}
	e->v = xgrow(e->v, e->nr, &e->cap, sizeof(*e->v));
	e->v[e->nr++] = v;
	return 0;
}

static bool wanted(const struct perf_events *e, uint32_t cpu)
{
	if ((e->cpus && !cpus_has(e->cpus, cpu)) || (e->used && !cpus_has(e->used, cpu)))
		return false;
	for (size_t i = 0; i < e->nr_only; i++)
		if (e->only[i] == cpu)
			return true;
	return !e->nr_only;
}

static bool is_online(uint32_t cpu)
{
	struct cpus online = {};
	bool found = cpus_online(&online) || cpus_has(&online, cpu);

	cpus_release(&online);
	return found;
}

/*
 * ENODEV: the CPU left since the list was read, which is no error, or it has no such counter. One
 * that is on its way out refuses events some time before the list says so, and one on its way in
 * some time after.
 */
static int start_unless_gone(struct perf_events *e, uint32_t cpu)
{
	int err;

	for (unsigned int i = 0; i < LEAVE_TRIES; i++) {
		if (i)
			usleep(LEAVE_STEP_US);
		err = start(e, cpu);
		if (err != -ENODEV)
			break;
		if (!is_online(cpu))
			return 0;
	}
	return err;
}

/* Opens on every wanted CPU. *cpu is the one that failed. */
static int start_all(struct perf_events *e, const struct cpus *online, uint32_t *cpu)
{
	int err = 0;

	for (size_t i = 0; i < online->nr && !err; i++) {
		*cpu = online->v[i];
		if (wanted(e, *cpu))
			err = start_unless_gone(e, *cpu);
	}
	return err;
}

int perf_events_start(struct perf_events *e, uint32_t *cpu)
{
	struct cpus online = {};
	int err = cpus_online(&online);

	*cpu = 0;
	if (err)
		return log_err(err, "cannot read which CPUs are online");
	dither_start(e, e->attr.sample_freq);
	err = start_all(e, &online, cpu);
	cpus_release(&online);
	return err || e->nr ? err : -ENXIO;
}

static void end_all(struct perf_events *e)
{
	while (e->nr)
		end(e, &e->v[--e->nr]);
}

int perf_events_open(struct perf_events *e, const char *force, uint32_t rate_hz)
{
	bool hardware = !force || !strcmp(force, names[0]);
	uint32_t cpu;
	int err;

	choose(e, hardware, rate_hz);
	err = perf_events_start(e, &cpu);
	if (err && hardware && !force && perf_has_no_such(err)) {
		log_info("this machine shows no hardware cycle counter: cpu-clock is used");
		end_all(e);
		choose(e, false, rate_hz);
		e->why = "this machine shows no hardware cycle counter";
		err = perf_events_start(e, &cpu);
	}
	return err ? perf_events_explain(e, err, cpu) : 0;
}

static bool is_open(const struct perf_events *e, uint32_t cpu)
{
	for (size_t i = 0; i < e->nr; i++)
		if (e->v[i].cpu == cpu)
			return true;
	return false;
}

/*
 * An event whose CPU left stays dead when the CPU returns, so it is closed now and opened anew
 * then.
 */
void perf_events_refresh(struct perf_events *e)
{
	struct cpus online = {};

	if (cpus_online(&online) || !online.nr)
		goto out;
	for (size_t i = 0; i < e->nr; i++) {
		if (cpus_has(&online, e->v[i].cpu) &&
		    !perf_is_dead(e->v[i].fd, &e->v[i].enabled_ns))
			continue;
		log_info("CPU %u went offline", e->v[i].cpu);
		end(e, &e->v[i]);
		e->v[i--] = e->v[--e->nr];
		e->gone++;
	}
	for (size_t i = 0; i < online.nr; i++) {
		if (!wanted(e, online.v[i]) || is_open(e, online.v[i]) || start(e, online.v[i]))
			continue;
		log_info("CPU %u is sampled from now on", online.v[i]);
		e->opened++;
	}
out:
	cpus_release(&online);
}

void perf_events_close(struct perf_events *e)
{
	end_all(e);
	free(e->v);
	e->v = NULL;
	e->cap = 0;
}
