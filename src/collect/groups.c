/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Pairs of counters on every CPU. */
#include "collect/groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "event/perf.h"
#include "event/refusal.h"

#define LOOK_AFTER_NS 300000000ull

static int open_term(struct groups *g, struct group_cpu *at, size_t i, int leader)
{
	struct perf_event_attr attr = {};

	event_attr(&g->columns[i / 2].terms[i % 2], &attr);
	attr.read_format = PERF_READ_FORMAT;
	attr.precise_ip = 0;
	at->fd[i] = perf_open(&attr, -1, at->cpu, leader);
	if (at->fd[i] < 0)
		return at->fd[i];
	return session_put_counter(g->session, at->cpu, i, at->fd[i]);
}

/* Both terms of a column, together unless alone. */
static int open_pair(struct groups *g, struct group_cpu *at, size_t column)
{
	size_t i = 2 * column;
	int err = open_term(g, at, i, -1);

	return err ? err : open_term(g, at, i + 1, g->alone[column] ? -1 : at->fd[i]);
}

static void close_pair(struct group_cpu *at, size_t column)
{
	for (size_t i = 2 * column + 2; i-- > 2 * column;) { /* a group's leader last */
		if (at->fd[i] >= 0)
			close(at->fd[i]);
		at->fd[i] = -1;
	}
}

static int explain(const struct groups *g, size_t column, uint32_t cpu, int err)
{
	const struct event *e = g->columns[column].terms;

	if (err == -ENOENT || err == -EOPNOTSUPP || err == -ENODEV || err == -EINVAL) {
		log_err(err, "-M: this machine cannot count %s by %s", e[0].name, e[1].name);
		return -EOPNOTSUPP;
	}
	return refusal_tell(err, "-M: cannot count %s by %s on CPU %u", e[0].name, e[1].name, cpu);
}

static int open_cpu(struct groups *g, uint32_t cpu)
{
	struct group_cpu *at;
	int err = 0;

	g->cpus = xgrow(g->cpus, g->nr_cpus, &g->cap_cpus, sizeof(*g->cpus));
	at = &g->cpus[g->nr_cpus++];
	at->cpu = cpu;
	for (size_t i = 0; i < PMU_MAX_EVENTS; i++)
		at->fd[i] = -1;
	for (size_t i = 0; i < g->nr && !err; i++) {
		err = open_pair(g, at, i);
		if (err)
			err = explain(g, i, cpu, err);
	}
	return err;
}

int groups_open(struct groups *g, const struct group_column *v, size_t nr,
		const struct opt_ids *only, struct session *s)
{
	struct cpus online = {};
	int err = cpus_online(&online);

	*g = (struct groups){ .columns = v, .nr = nr, .session = s };
	if (err)
		return log_err(err, "cannot read which CPUs are online");
	for (size_t i = 0; i < online.nr && !err; i++)
		if (!only->nr || opt_ids_has(only, online.v[i]))
			err = open_cpu(g, online.v[i]);
	cpus_release(&online);
	return err;
}

static bool ran(const struct group_cpu *at, size_t column)
{
	uint64_t value[3]; /* count, time enabled, time running */

	return read(at->fd[2 * column], value, sizeof(value)) != sizeof(value) || value[2];
}

/* The PMU may have no two counters free at a time, or none that take both events. */
static void take_apart(struct groups *g, size_t column)
{
	const struct event *e = g->columns[column].terms;

	g->alone[column] = true;
	log_warn("-M: %s and %s are never counted together here: each by itself, so their ratio is "
		 "of different times",
		 e[0].name, e[1].name);
	for (size_t i = 0; i < g->nr_cpus; i++) {
		close_pair(&g->cpus[i], column);
		if (open_pair(g, &g->cpus[i], column))
			close_pair(&g->cpus[i], column);
	}
}

void groups_look(struct groups *g, uint64_t now_ns)
{
	bool any;

	if (!g->opened_ns)
		g->opened_ns = now_ns;
	if (!g->nr || g->looked || now_ns - g->opened_ns < LOOK_AFTER_NS)
		return;
	g->looked = true;
	for (size_t column = 0; column < g->nr; column++) {
		any = false;
		for (size_t i = 0; i < g->nr_cpus && !any; i++)
			any = ran(&g->cpus[i], column);
		if (!any)
			take_apart(g, column);
	}
}

void groups_describe(const struct groups *g, struct profile *p)
{
	for (size_t i = 0; i < g->nr; i++) {
		struct value_column c = { .name = profile_string(p, g->columns[i].name),
					  .per = g->columns[i].per };

		if (g->alone[i])
			c.note = profile_string(p, "its two counters ran at different times");
		profile_add_column(p, &c);
	}
}

void groups_close(struct groups *g)
{
	for (size_t i = 0; i < g->nr_cpus; i++)
		for (size_t column = 0; column < g->nr; column++)
			close_pair(&g->cpus[i], column);
	free(g->cpus);
	g->cpus = NULL;
	g->nr_cpus = g->cap_cpus = 0;
}
