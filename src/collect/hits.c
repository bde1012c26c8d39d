/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Attaching the program that samples tracepoints. */
#include "collect/hits.h"

#include <errno.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "bpf/prof.h"
#include "event/perf.h"
#include "event/refusal.h"

bool hits_is_tracepoint(const struct event *e)
{
	return e->type == PERF_TYPE_TRACEPOINT;
}

/* One event stands for all CPUs. It stays off: that the kernel knows it is enough. */
static int open_event(const struct event *e)
{
	struct perf_event_attr attr = { .sample_period = 1, .disabled = 1 };
	struct cpus online = {};
	int fd;

	event_attr(e, &attr);
	if (cpus_online(&online) || !online.nr)
		return -ENODEV;
	fd = perf_open(&attr, -1, online.v[0], -1);
	cpus_release(&online);
	return fd;
}

int hits_open(const struct event *e, int program, uint32_t wait, uint64_t period)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts,
		    .perf_event.bpf_cookie = PROF_HITS_COOKIE(wait, period));
	int fd = open_event(e), link;

	if (fd < 0)
		return refusal_tell(fd, "cannot open the tracepoint %s", e->name);
	link = bpf_link_create(program, fd, BPF_PERF_EVENT, &opts);
	if (link < 0)
		link = refusal_tell(-errno, "cannot attach to the tracepoint %s", e->name);
	close(fd);
	return link;
}
