/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where all that is selected is in one cgroup, sampling events rest on CPUs that it does not use:
 * see perf_events_rest(). Whoever leaves the cgroup wakes them, within half a second.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "collect/record_parts.h"
#include "collect/session.h"
#include "event/cgroup.h"
#include "profile/kind.h"

#define LOOK_NS	      100000000ull
#define LOOKS	      5	 /* of which one also asks where the processes are */
#define MOST_SELECTED 16 /* processes: for each question the kernel takes a lock that all share */

static bool has_bit(const uint64_t *bitmap, uint32_t id)
{
	return bitmap && id < PROF_PID_LIMIT && (bitmap[id / 64] >> (id & 63) & 1);
}

static bool is_selected(const struct record *r, uint32_t pid)
{
	const struct session_maps *maps = session_maps(r->session);

	return has_bit(maps->pids, pid) || has_bit(maps->tids, pid);
}

/* The group itself, or one below it. What has ended is nowhere. */
static bool is_within(uint32_t tid, const char *group)
{
	size_t len = strlen(group);
	char path[4096];

	if (cgroup_of(tid, path, sizeof(path)))
		return true;
	return !strncmp(path, group, len) && (!path[len] || path[len] == '/');
}

static bool all_within(const struct record *r)
{
	const struct opt_ids *tids = &r->opts->tids;
	const struct process *p;
	size_t nr = tids->nr;

	for (size_t i = 0; i < tids->nr && nr <= MOST_SELECTED; i++)
		if (!is_within(tids->v[i], r->rest_path))
			return false;
	for (p = r->procs.processes; p && nr <= MOST_SELECTED; p = p->hh.next)
		if (!p->exit_ns && is_selected(r, p->pid)) {
			nr++;
			if (!is_within(p->pid, r->rest_path))
				return false;
		}
	return nr <= MOST_SELECTED;
}

/* The process of a thread, 0 = it has ended. */
static uint32_t process_of(uint32_t tid)
{
	char path[64], line[256];
	unsigned int pid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/status", tid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f) && sscanf(line, "Tgid: %u", &pid) != 1)
		;
	if (f)
		fclose(f);
	return pid;
}

static uint32_t first_selected(const struct record *r)
{
	const struct record_opts *o = r->opts;

	if (o->tids.nr)
		return process_of(o->tids.v[0]);
	return o->pids.nr ? o->pids.v[0] : o->program && !o->all ? (uint32_t)r->target.pid : 0;
}

void record_begin_rest(struct record *r)
{
	const struct kind *kind = kind_of(r->opts->command);
	uint32_t pid = first_selected(r);
	char path[4096];
	int fd;

	if (!r->sampling.nr || kind->waits || kind->live || kind->calls)
		return;
	if (r->cgroup_fd > 0) {
		if (!faccessat(r->cgroup_fd, "cgroup.events", F_OK, 0))
			sampling_rest_in(&r->sampling, r->cgroup_fd);
		return;
	}
	if (!pid || cgroup_of(pid, path, sizeof(path)))
		return;
	fd = cgroup_open_of(pid, path);
	if (fd <= 0)
		return;
	r->rest_in = fd;
	r->rest_path = xstrdup(path);
	if (all_within(r))
		sampling_rest_in(&r->sampling, fd);
	else
		record_end_rest(r);
}

void record_turn_rest(struct record *r)
{
	uint64_t now = now_ns();

	if (now < r->rest_next_ns)
		return;
	r->rest_next_ns = now + LOOK_NS;
	if (r->rest_path && ++r->rest_looks % LOOKS == 0 && !all_within(r)) {
		log_info("not all that is profiled is in the cgroup %s: all CPUs are sampled",
			 r->rest_path);
		record_end_rest(r);
	}
	sampling_rest(&r->sampling, session_maps(r->session)->counters, now);
}

void record_end_rest(struct record *r)
{
	if (r->rest_path) {
		sampling_rest_in(&r->sampling, 0);
		close(r->rest_in);
	}
	free(r->rest_path);
	r->rest_path = NULL;
}
