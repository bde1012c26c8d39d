/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A second process that samples, and what it found. */
#include "collect/hotspots.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "collect/record.h"
#include "profile/save.h"
#include "profile/top.h"
#include "profile/tree.h"

#define MAX_HOTSPOTS 5
#define MAX_DEPTH    1000

static int record_to(const struct stat_opts *o, pid_t held, int ready, int file)
{
	uint32_t pid = held;
	struct record_opts opts = {
		.command = "oncpu",
		.sampling.event = "cpu-clock", /* takes no counter away from what is counted */
		.pids = held ? (struct opt_ids){ &pid, 1, 1 } : o->pids,
		.tids = o->tids,
		.cpus = o->cpus,
		.cgroup = o->cgroup,
		.no_children = o->no_children,
		.max_depth = MAX_DEPTH,
	};
	struct record *r = record_open(&opts);
	struct profile *p;
	FILE *out;

	if (!r)
		return 1;
	if (write(ready, "", 1) != 1 || record_run(r))
		return 1;
	p = record_take(r);
	record_close(r);
	out = fdopen(file, "w");
	if (!out)
		return 1;
	profile_save(p, out);
	profile_free(p);
	return fclose(out) ? 1 : 0;
}

void hotspots_start(struct hotspots *h, const struct stat_opts *o, pid_t held)
{
	int ready[2];
	char byte;

	h->pid = 0;
	h->file = memfd_create("hotspots", MFD_CLOEXEC);
	if (h->file < 0 || pipe2(ready, O_CLOEXEC))
		return;
	h->pid = fork();
	if (!h->pid) {
		close(ready[0]);
		log_progress_off();
		_exit(record_to(o, held, ready[1], h->file));
	}
	close(ready[1]);
	if (h->pid > 0 && read(ready[0], &byte, 1) < 0)
		log_info("hotspots: %m");
	close(ready[0]);
}

static void add(struct stat_report *r, const struct tree *t, const struct profile *p,
		const struct top_row *row)
{
	struct stat_hotspot *to = &r->hotspots[r->nr_hotspots++];
	const char *path = row->module ? profile_str(p, p->modules[row->module].path) : "";

	to->symbol = xstrdup(t->names.bytes + row->name);
	to->module = xstrdup(path);
	to->self_pct = t->nodes[0].total ? 100.0 * row->self / t->nodes[0].total : 0;
	/* All samples have the same weight: the clock's. */
	to->samples = (uint64_t)(to->self_pct / 100 * r->nr_samples + 0.5);
}

static void take(struct stat_report *r, const struct profile *p)
{
	struct view view = {};
	struct tree *t = tree_new(p, &view);
	size_t nr;
	struct top_row *rows = top_rows(t, &nr);

	for (size_t i = 0; i < p->nr_samples; i++)
		r->nr_samples += p->samples[i].count;
	r->hotspots = xcalloc(MAX_HOTSPOTS, sizeof(*r->hotspots));
	for (size_t i = 0; i < nr && i < MAX_HOTSPOTS && rows[i].self; i++)
		add(r, t, p, &rows[i]);
	r->hotspots_event = xstrdup(r->nr_hotspots ? profile_str(p, p->meta.event)
						   : "nothing ran long enough to be sampled");
	free(rows);
	tree_free(t);
}

/* Its exit status; 0 = it left a profile. */
static int end(struct hotspots *h)
{
	int status = -1;

	if (h->pid > 0) {
		kill(h->pid, SIGINT);
		waitpid(h->pid, &status, 0);
		h->pid = 0;
	}
	return status;
}

void hotspots_abort(struct hotspots *h)
{
	if (h->pid <= 0)
		return;
	end(h);
	close(h->file);
}

void hotspots_finish(struct hotspots *h, struct stat_report *r)
{
	struct profile *p = NULL;
	char path[64];

	if (!h->pid) {
		r->hotspots_event = xstrdup("no run was sampled");
		return;
	}
	if (!end(h)) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", h->file);
		p = profile_load(path);
	}
	if (p)
		take(r, p);
	else
		r->hotspots_event = xstrdup("not sampled: the recording failed");
	profile_free(p);
	if (h->file > 0)
		close(h->file);
}
