/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which CPUs are sampled for what is selected. An event of a CPU wakes it, also where only others
 * run. Where the cgroups of all that is selected have CPUs of their own (cpusets), the others have
 * no events: the kernel lets nobody of them run there, and their children are born in the same
 * cgroup. Those that were given are looked at again twice a second: somebody may allow them more.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "collect/record_parts.h"
#include "event/cgroup.h"
#include "profile/kind.h"

#define MOST_LOOKED_AT 64 /* processes; of each some 50 us */

/* The switches that wall looks at are those of all CPUs, and so is its budget. */
static bool may_be_confined(const struct record_opts *o)
{
	for (size_t i = 0; i < o->sampling.nr_events; i++)
		if (o->sampling.events[i].cpus)
			return false;
	return (o->pids.nr || o->tids.nr) && !o->all && !o->idle && !o->cpus.nr &&
	       !kind_of(record_row(o))->samples;
}

/* False: it may run anywhere, as far as we know. Whoever is gone uses no CPU. */
static bool add_cpus_of(uint32_t id, struct cpus *all)
{
	struct cpus own = {};
	int err = cgroup_cpus(id, &own);

	if (!err)
		cpus_add(all, &own);
	cpus_release(&own);
	return !err || err == -ESRCH;
}

static bool look_at(const struct opt_ids *ids, struct cpus *all)
{
	for (size_t i = 0; i < ids->nr; i++)
		if (!add_cpus_of(ids->v[i], all))
			return false;
	return ids->nr <= MOST_LOOKED_AT;
}

/* Of those that were given. */
static bool look(const struct record *r, struct cpus *all)
{
	return look_at(&r->opts->pids, all) && look_at(&r->opts->tids, all);
}

static bool look_at_children(const struct record *r, struct cpus *all)
{
	const struct process *p, *next;
	size_t nr = 0;

	if (r->procs.track_all) /* threads were given, whose processes are known */
		return true;
	HASH_ITER (hh, r->procs.processes, p, next)
		if (++nr > MOST_LOOKED_AT || !add_cpus_of(p->pid, all))
			return false;
	return true;
}

static bool covers_all(const struct cpus *c)
{
	struct cpus online = {};
	bool all = true;

	if (!cpus_online(&online))
		for (size_t i = 0; i < online.nr; i++)
			all = all && cpus_has(c, online.v[i]);
	cpus_release(&online);
	return all;
}

const struct cpus *record_confine(struct record *r)
{
	char *text;

	r->is_confined = may_be_confined(r->opts) && look(r, &r->confined) &&
			 look_at_children(r, &r->confined) && r->confined.nr &&
			 !covers_all(&r->confined);
	if (!r->is_confined)
		return NULL;
	text = cpus_text(&r->confined);
	log_info("only CPUs %s are sampled: no other one is for the cgroup of what is selected",
		 text);
	free(text);
	return &r->confined;
}

void record_refresh_events(struct record *r)
{
	if (r->is_confined && !look(r, &r->confined)) {
		log_info("all CPUs are sampled from now on: what is selected may run anywhere");
		r->is_confined = false;
		sampling_use_all(&r->sampling);
	}
	sampling_refresh(&r->sampling);
}
