/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Opening, following and closing the sampling events. */
#include "event/perf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "event/host.h"

#define LEAVE_TRIES   20 /* a CPU leaves or comes within 200 ms */
#define LEAVE_STEP_US 10000

int perf_open(struct perf_event_attr *attr, int pid, int cpu, int group)
{
	int fd = syscall(SYS_perf_event_open, attr, pid, cpu, group, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

bool perf_is_dead(int fd, uint64_t *enabled_ns)
{
	uint64_t value[2]; /* count, time enabled */

	if (read(fd, value, sizeof(value)) != sizeof(value) || value[1] == *enabled_ns)
		return true;
	*enabled_ns = value[1];
	return false;
}

static void choose(struct perf_events *e, bool hardware, uint32_t rate_hz)
{
	e->name = hardware ? "cycles" : "cpu-clock";
	e->attr = (struct perf_event_attr){
		.size = sizeof(e->attr),
		.type = hardware ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
		.config = hardware ? (uint64_t)PERF_COUNT_HW_CPU_CYCLES
				   : (uint64_t)PERF_COUNT_SW_CPU_CLOCK,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED,
		.freq = 1,
		.sample_freq = rate_hz,
	};
}

/* Errors that mean "this machine cannot count cycles", as opposed to "you may not". */
static bool means_no_pmu(int err)
{
	return err == -ENOENT || err == -EOPNOTSUPP || err == -ENODEV || err == -EINVAL ||
	       err == -EBUSY;
}

static int explain(int err, uint32_t cpu, const char *name)
{
	if (err == -EACCES || err == -EPERM)
		return log_err(
			err,
			"may not open the %s event (kernel.perf_event_paranoid is %ld; needs "
			"CAP_PERFMON, or root where the distribution demands it; "
			"containers: seccomp must allow perf_event_open)",
			name, host_sysctl("kernel/perf_event_paranoid", 2));
	if (means_no_pmu(err) && !strcmp(name, "cycles")) {
		log_err(err,
			"this machine shows no hardware cycle counter (-e cpu-clock always works)");
		return -EOPNOTSUPP;
	}
	if (err == -EMFILE)
		return log_err(err,
			       "cannot open the %s event on CPU %u (raise the limit of open files)",
			       name, cpu);
	return log_err(err, "cannot open the %s event on CPU %u", name, cpu);
}

static int start(struct perf_events *e, uint32_t cpu)
{
	int fd = perf_open(&e->attr, -1, cpu, -1), err;

	if (fd < 0)
		return fd;
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, e->prog_fd) || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0)) {
		err = -errno;
		close(fd);
		return err;
	}
	e->v = xgrow(e->v, e->nr, &e->cap, sizeof(*e->v));
	e->v[e->nr++] = (struct perf_event){ cpu, fd, 0 };
	return 0;
}

static bool wanted(const struct perf_events *e, uint32_t cpu)
{
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

int perf_events_open(struct perf_events *e, const char *force, uint32_t rate_hz)
{
	bool hardware = !force || !strcmp(force, "cycles");
	struct cpus online = {};
	uint32_t cpu = 0;
	int err;

	err = cpus_online(&online);
	if (err)
		return log_err(err, "cannot read which CPUs are online");
	choose(e, hardware, rate_hz);
	err = start_all(e, &online, &cpu);
	if (err && hardware && !force && means_no_pmu(err)) {
		log_info("no hardware cycles (%s): falling back to cpu-clock", strerror(-err));
		while (e->nr)
			close(e->v[--e->nr].fd);
		choose(e, false, rate_hz);
		e->why = "this machine shows no hardware cycle counter";
		err = start_all(e, &online, &cpu);
	}
	cpus_release(&online);
	if (err)
		return explain(err, cpu, e->name);
	if (!e->nr) {
		log_err(0, "all CPUs that were to be sampled have gone offline");
		return -ENODEV;
	}
	return 0;
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
		close(e->v[i].fd);
		e->v[i--] = e->v[--e->nr];
		e->gone++;
	}
	for (size_t i = 0; i < online.nr; i++) {
		if (!wanted(e, online.v[i]) || is_open(e, online.v[i]) || start(e, online.v[i]))
			continue;
		log_info("CPU %u came online", online.v[i]);
		e->opened++;
	}
out:
	cpus_release(&online);
}

void perf_events_close(struct perf_events *e)
{
	for (size_t i = 0; i < e->nr; i++)
		close(e->v[i].fd);
	free(e->v);
	e->v = NULL;
	e->nr = e->cap = 0;
}
