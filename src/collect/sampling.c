/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From events by name to perf events that run the sampling program. */
#include "collect/sampling.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "bpf/prof.h"
#include "collect/hits.h"

#define LEAST_CLOCK_NS 10000 /* shorter periods the kernel makes that long, but tells as asked */
#define MAX_PRECISE    3     /* that the kernel knows of */

static bool is_software(const struct event *e)
{
	return e->type == PERF_TYPE_SOFTWARE || hits_is_tracepoint(e);
}

static bool is_clock(const struct event *e)
{
	return e->type == PERF_TYPE_SOFTWARE &&
	       (e->config == PERF_COUNT_SW_CPU_CLOCK || e->config == PERF_COUNT_SW_TASK_CLOCK);
}

/*
 * By default: 1 of what happens seldom enough to look at each (page-faults, context-switches …),
 * 0 of what is sampled by rate.
 */
static uint64_t default_period(const struct event *e)
{
	return is_software(e) && !is_clock(e);
}

static void set_rate(struct perf_event_attr *attr, const struct event *e,
		     const struct sampling_opts *o)
{
	uint64_t period = o->period ? o->period : o->by_rate ? 0 : default_period(e);

	attr->read_format = PERF_READ_FORMAT;
	attr->disabled = 1;
	attr->freq = !period;
	if (period)
		attr->sample_period = period;
	else
		attr->sample_freq = o->rate_hz;
}

static void add_branches(struct perf_event_attr *attr)
{
	attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
	attr->branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
	if (!attr->exclude_user)
		attr->branch_sample_type |= PERF_SAMPLE_BRANCH_USER;
	if (!attr->exclude_kernel)
		attr->branch_sample_type |= PERF_SAMPLE_BRANCH_KERNEL;
}

int sampling_try_branches(const struct event *e)
{
	struct perf_event_attr attr = {};
	struct cpus online = {};
	int fd;

	event_attr(e, &attr);
	attr.disabled = 1;
	attr.freq = 1;
	attr.sample_freq = 1;
	add_branches(&attr);
	if (e->cpus && e->cpus->nr)
		fd = perf_open(&attr, -1, e->cpus->v[0], -1);
	else if (!cpus_online(&online) && online.nr)
		fd = perf_open(&attr, -1, online.v[0], -1);
	else
		fd = -ENODEV;
	cpus_release(&online);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/*
 * Starts at the highest precision and goes down to what the PMU takes, but not below what was
 * asked for by name (:p). Where precision means nothing none is asked for. The kernel wants events
 * that have it to take call chains, since a program could not do it later: then the registers are
 * those of another moment.
 */
static int start(struct perf_events *p, const struct event *e, const struct sampling_opts *o,
		 uint32_t *cpu)
{
	uint32_t least = o->imprecise ? 0 : e->precise;
	bool most = o->precise && !o->imprecise && !is_software(e);
	uint64_t sample_type = p->attr.sample_type;
	int err;

	p->attr.precise_ip = most ? MAX_PRECISE : least;
	for (;;) {
		p->attr.sample_type =
			sample_type | (p->attr.precise_ip ? PERF_SAMPLE_CALLCHAIN : 0);
		err = perf_events_start(p, cpu);
		/* ENOENT: of AMD, where few events can be precise. */
		if ((err != -EOPNOTSUPP && err != -EINVAL && err != -ENOENT) ||
		    p->attr.precise_ip <= least)
			return err;
		perf_events_close(p);
		p->attr.precise_ip--;
	}
}

static int open_one(struct sampling *s, const struct sampling_opts *o, size_t i)
{
	const struct event *e = &o->events[i];
	struct perf_events *p = &s->v[s->nr++];
	uint32_t cpu;
	int err;

	*p = (struct perf_events){ .name = e->name,
				   .prog_fd = o->prog_fd,
				   .records = o->records,
				   .tell = o->nr > 1,
				   .cookie = PROF_WAIT_OF_EVENT(i),
				   .only = o->cpus->v,
				   .used = o->used,
				   .nr_only = o->cpus->nr,
				   .cpus = e->cpus };
	if (is_clock(e) && o->period && o->period < LEAST_CLOCK_NS) {
		log_err(0, "-c %llu: %s cannot be sampled more often than every %d ns",
			(unsigned long long)o->period, e->name, LEAST_CLOCK_NS);
		return -EINVAL;
	}
	event_attr(e, &p->attr);
	if (o->branches)
		add_branches(&p->attr);
	set_rate(&p->attr, e, o);
	err = start(p, e, o, &cpu);
	if (err == -ENOSPC || err == -EBUSY)
		return log_err(err, "no counter is left for %s on CPU %u (fewer events at a time)",
			       e->name, cpu);
	s->skids[i] = !is_software(e) && !p->attr.precise_ip;
	return err ? perf_events_explain(p, err, cpu) : 0;
}

static int open_tracepoint(struct sampling *s, const struct sampling_opts *o, size_t i)
{
	const struct event *e = &o->events[i];
	struct perf_events *p = &s->v[s->nr++];

	*p = (struct perf_events){ .name = e->name };
	s->has_tracepoints = true;
	set_rate(&p->attr, e, o);
	s->hits[i] = hits_open(e, o->hits_fd, PROF_WAIT_OF_EVENT(i), p->attr.sample_period);
	return s->hits[i] < 0 ? s->hits[i] : 0;
}

static int open_default(struct sampling *s, const struct sampling_opts *o)
{
	s->v[0] = (struct perf_events){ .prog_fd = o->prog_fd,
					.records = o->records,
					.tell = o->cookie != 0,
					.cookie = o->cookie,
					.only = o->cpus->v,
					.used = o->used,
					.nr_only = o->cpus->nr };
	s->nr = 1;
	return perf_events_open(&s->v[0], o->force, o->rate_hz);
}

int sampling_open(struct sampling *s, const struct sampling_opts *o)
{
	size_t nr = o->nr ? o->nr : 1;
	int err = 0;

	*s = (struct sampling){ .note = o->note,
				.v = xcalloc(nr, sizeof(*s->v)),
				.hits = xcalloc(nr, sizeof(*s->hits)),
				.skids = xcalloc(nr, sizeof(*s->skids)) };
	for (size_t i = 0; i < nr; i++)
		s->hits[i] = -1;
	if (!o->nr)
		return open_default(s, o);
	for (size_t i = 0; i < nr && !err; i++)
		err = hits_is_tracepoint(&o->events[i]) ? open_tracepoint(s, o, i)
							: open_one(s, o, i);
	return err;
}

void sampling_use_all(struct sampling *s)
{
	for (size_t i = 0; i < s->nr; i++)
		s->v[i].used = NULL;
}

void sampling_refresh(struct sampling *s)
{
	for (size_t i = 0; i < s->nr; i++)
		if (s->hits[i] < 0)
			perf_events_refresh(&s->v[i]);
}

uint64_t sampling_dither(struct sampling *s, const struct prof_counters *rows, uint64_t now_ns)
{
	uint64_t first = 0, next;

	for (size_t i = 0; i < s->nr; i++) {
		next = perf_events_dither(&s->v[i], rows, now_ns);
		if (next && (!first || next < first))
			first = next;
	}
	return first;
}

int sampling_thin(struct sampling *s, unsigned int halvings)
{
	return s->nr == 1 && s->hits[0] < 0 ? perf_events_thin(&s->v[0], halvings) : -1;
}

size_t sampling_cpus(const struct sampling *s)
{
	size_t most = 0;

	for (size_t i = 0; i < s->nr; i++)
		if (s->v[i].nr > most)
			most = s->v[i].nr;
	return most;
}

void sampling_stop(struct sampling *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		perf_events_close(&s->v[i]);
		if (s->hits[i] >= 0)
			close(s->hits[i]);
		s->hits[i] = -1;
	}
}

/* "why; skid possible: …" */
static uint32_t note_of(const struct sampling *s, size_t i, struct profile *p)
{
	static const char skid[] = "skid possible: a sample may lie some instructions behind what "
				   "caused it";
	const char *why = s->v[i].why ? s->v[i].why : s->note;
	bool skids = s->skids[i] && p->meta.by_weight;
	char *text =
		xasprintf("%s%s%s", why ? why : "", why && skids ? "; " : "", skids ? skid : "");
	uint32_t id = *text ? profile_string(p, text) : 0;

	free(text);
	return id;
}

static void describe_one(const struct sampling *s, size_t i, struct profile *p)
{
	const struct perf_events *e = &s->v[i];
	struct sampled_event d = { .name = profile_string(p, e->name),
				   .note = note_of(s, i, p),
				   .period = e->attr.freq ? 0 : e->attr.sample_period,
				   .rate_hz = e->attr.freq ? e->attr.sample_freq : 0,
				   .enabled_ns = e->times.enabled_ns,
				   .running_ns = e->times.running_ns };

	profile_add_event(p, &d);
}

void sampling_describe(const struct sampling *s, struct profile *p)
{
	size_t first = p->nr_events; /* there may be calls */

	for (size_t i = 0; i < s->nr; i++)
		describe_one(s, i, p);
	if (p->nr_events == first)
		return;
	p->meta.event = p->events[first].name;
	p->meta.event_note = p->events[first].note;
	p->meta.rate_hz = p->events[first].rate_hz;
}

bool sampling_due(const struct sampling *s, struct due *d)
{
	for (size_t i = 0; i < s->nr; i++) {
		if (!perf_events_know_due(&s->v[i]))
			return false;
		d->least += s->v[i].due.least;
		d->most += s->v[i].due.most;
	}
	return !s->has_tracepoints;
}

bool sampling_has_clock(const struct sampling *s)
{
	for (size_t i = 0; i < s->nr; i++)
		if (perf_is_clock(&s->v[i].attr))
			return true;
	return false;
}

void sampling_release(struct sampling *s)
{
	sampling_stop(s);
	free(s->v);
	free(s->hits);
	free(s->skids);
	*s = (struct sampling){};
}
