/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From options to the configuration that the BPF programs go by. */
#include <string.h>
#include <unistd.h>

#include "collect/long_waits.h"
#include "collect/record.h"
#include "profile/kind.h"

#define BRANCH_SLOTS 16384
#define SKIP_SLOTS   16384 /* of 8 bytes: threads whose numbers differ by less do not share one */
/* Entries of a CPU between two turns, a tenth of a second or more: samples, and waits. */
#define SAMPLE_MOMENTS 8192
#define WAIT_MOMENTS   16384

const char *record_row(const struct record_opts *o)
{
	return o->waits.gap_ns && !strcmp(o->command, "offcpu") ? "offcpu --gaps" : o->command;
}

/*
 * Whether a filter by length or state keeps it is not known of a switch that was not looked at, nor
 * when its thread was woken, which --wakeups asks for.
 */
static bool may_skip(const struct prof_config *c, const struct record_opts *o)
{
	if (!c->stacks || c->hist_rows || c->hops || c->slow_poll_ns || o->waits.wakeups)
		return false;
	return !o->audit && !o->cgroup && !c->state_mask && !c->min_ns && !c->max_ns &&
	       (!o->waits.gap_ns || c->long_wait_ns);
}

static void configure_waits(struct prof_config *c, const struct record_opts *o)
{
	const struct kind *kind = kind_of(o->command);
	bool rows = kind->histograms;

	c->per_thread = o->per_thread || kind->locks || o->waits.gap_ns;
	c->stacks = !o->waits.no_stacks && !rows;
	c->remember = c->stacks;
	c->running = kind->running;
	c->events = kind_of(record_row(o))->samples;
	c->wakeups = o->waits.wakeups || rows || c->running;
	c->hops = kind->locks ? 1 : o->waits.hops;
	c->lock_slots = kind->locks;
	c->state_mask = o->waits.state_mask;
	c->min_ns = o->waits.min_ns;
	c->max_ns = o->waits.max_ns;
	c->walk_ns = 1000000000u / (o->waits.walks ? o->waits.walks : WALKS_PER_SECOND);
	c->hist_rows = rows || kind->live;
	c->hist_by = o->runqlat.by;
	c->wait_hists = !rows && (!kind->live || o->waits.lengths) && !kind->slow_polls;
	if (!o->moments && !c->running && !c->hops && !c->lock_slots)
		c->long_wait_ns = o->waits.gap_ns / LONG_WAITS;
	c->slow_poll_ns = kind->slow_polls ? o->calls.slow_ns : 0;
	c->skip_slots = may_skip(c, o) ? SKIP_SLOTS : 0;
	c->outlier_ns = o->runqlat.outlier_us * 1000;
	if (c->stacks)
		return;
	c->no_kstacks = 1;
	c->no_ustacks = 1;
	c->call_graph = CALL_GRAPH_FP;
}

struct prof_config record_config(const struct record_opts *o)
{
	struct prof_config c = {
		.pc_mask = (1ull << 48) -
			   1, /* user code lies below; above are pointer authentication and tags */
		.own_pid = getpid(),
		.max_depth = o->max_depth,
		.filter_pid = o->pids.nr || (o->program && !o->all),
		.filter_tid = o->tids.nr != 0,
		.filter_comm = o->comm != NULL,
		.filter_cgroup = o->cgroup != NULL,
		.keep_idle = o->idle,
		.no_kthreads = o->user_threads,
		.no_uthreads = o->kernel_threads,
		.no_kstacks = o->user_stacks,
		.no_ustacks = o->kernel_stacks,
		.no_children = o->no_children,
		.audit = o->audit,
		.call_graph = o->kernel_stacks ? CALL_GRAPH_FP : o->call_graph,
	};

	if (kind_of(o->command)->waits)
		configure_waits(&c, o);
	if (kind_of(o->command)->timeline) {
		c.no_kstacks = c.no_ustacks = 1;
		c.call_graph = CALL_GRAPH_FP;
	}
	if (o->calls.nr_events) {
		c.per_thread = 1;
		if (!o->calls.stacks && !c.slow_poll_ns) {
			c.no_kstacks = c.no_ustacks = 1;
			c.call_graph = CALL_GRAPH_FP;
		}
	}
	if (o->sampling.nr_events > 1) {
		c.events = 1;
		c.per_thread = 1; /* their counts are not merged, as those of waits are */
	}
	c.faults = kind_of(o->command)->faults;
	c.grows = kind_of(o->command)->grows;
	c.per_thread |= c.faults; /* the memory is not merged */
	c.nr_values = 2 * o->sampling.nr_columns;
	c.branch_slots = o->sampling.branches ? BRANCH_SLOTS : 0;
	if (o->moments || o->waits.gap_ns)
		c.moment_slots = kind_of(o->command)->waits ? WAIT_MOMENTS : SAMPLE_MOMENTS;
	/* Waits, operations, branches, allocations in use, audits refer to slots taken long ago. */
	c.two_generations = !kind_of(o->command)->waits && !kind_of(o->command)->timeline &&
			    !kind_of(o->command)->operation && !o->sampling.branches &&
			    !o->alloc.live && !o->audit;
	return c;
}
