/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verify [--pairs|--few]: loads the sampling program in every combination of rules (or few of them,
 * with every pair of rules), and all others with each way to walk stacks (--few: that only for two
 * commands, which have all that walks). Prints, per program, the most
 * instructions that the verifier had to look at: "NAME INSTRUCTIONS". With ONLY=COMMAND in the
 * environment those of one command, and why the kernel refuses them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/log.h"
#include "collect/accounts.h"
#include "collect/glob.h"
#include "collect/session.h"
#include "profile/kind.h"
#include "bpfprof.skel.h"

#define MAX_PROGRAMS 64

static struct {
	char name[BPF_OBJ_NAME_LEN];
	unsigned int most;
} programs[MAX_PROGRAMS];
static size_t nr_programs;
static __u32 older; /* ids up to here were there before us */
static struct bpfprof_bpf *ours;

static void note_program(const struct bpf_prog_info *info)
{
	size_t i = 0;

	if (!bpf_object__find_program_by_name(ours->obj, info->name))
		return; /* of somebody who loads programs beside us */
	while (i < nr_programs && strcmp(programs[i].name, info->name))
		i++;
	if (i == MAX_PROGRAMS)
		return;
	if (i == nr_programs)
		memcpy(programs[nr_programs++].name, info->name, sizeof(info->name));
	if (getenv("EACH"))
		printf("# %s %u\n", info->name, info->verified_insns);
	if (info->verified_insns > programs[i].most)
		programs[i].most = info->verified_insns;
}

static void note(void)
{
	__u32 id = older;

	while (!bpf_prog_get_next_id(id, &id)) {
		struct bpf_prog_info info = {};
		__u32 len = sizeof(info);
		int fd = bpf_prog_get_fd_by_id(id);

		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &len))
			note_program(&info);
		close(fd);
	}
}

/* Bit i of bits switches on rule i. */
static struct prof_config config(unsigned int bits, unsigned int depth)
{
	return (struct prof_config){
		.pc_mask = ~0ull >> 16,
		.own_pid = getpid(),
		.max_depth = depth,
		.filter_pid = bits & 1,
		.filter_tid = bits >> 1 & 1,
		.filter_comm = bits >> 2 & 1,
		.keep_idle = bits >> 3 & 1,
		.audit = bits >> 3 & 1,
		.no_kthreads = bits >> 4 & 1,
		.no_kstacks = bits >> 5 & 1,
		.no_ustacks = bits >> 6 & 1,
		.no_children = bits & 1,
	};
}

/* All that a command can ask for, or as little as it can. */
static void configure_waits(struct prof_config *c, const struct kind *kind, unsigned int bits)
{
	c->stacks = !kind->histograms;
	c->remember = c->stacks;
	c->hist_rows = !c->stacks;
	c->wait_hists = c->stacks;
	c->hist_by = bits & 1 ? PROF_HIST_BY_PROCESS : PROF_HIST_BY_CPU;
	c->running = kind->running;
	c->events = kind->samples;
	c->slow_poll_ns = kind->slow_polls ? 10000000 : 0;
	c->hops = kind->locks ? 1 : kind->wakers ? PROF_MAX_HOPS : 0;
	c->lock_slots = kind->locks;
	c->wakeups = bits & 1;
	c->audit = bits & 1;
	c->state_mask = bits & 1;
	c->min_ns = bits & 1;
	c->max_ns = bits & 1;
	c->outlier_ns = bits & 1;
	c->walk_ns = 1000;
	c->moment_slots = bits & 1 ? 16 : 0;
}

static void configure_samples(struct prof_config *c, unsigned int bits)
{
	c->events = bits & 1;
	c->nr_values = bits & 2 ? PMU_MAX_EVENTS : 0;
	c->branch_slots = bits & 4 ? 16 : 0;
	c->moment_slots = bits & 1 ? 16 : 0;
}

/* A function whose return a return probe sees. */
static const struct point point = { .kind = POINT_UPROBE, .where = "/bin/true", .by_probe = true };

/* Timed, with arguments, or only counted; bits & 8: at that function. */
static void configure_calls(struct session_opts *o, struct calls_opts *c, unsigned int bits)
{
	static const struct call_args some = { .nr_args = CALL_MAX_ARGS }, none;
	static const struct call_event event = { "called", "/bin/true" };

	*c = (struct calls_opts){ .events = &event,
				  .nr_events = 1,
				  .nr_args = 1,
				  .timed = bits & 1,
				  .by_process = bits & 2,
				  .every = bits & 1 ? 10 : 0 };
	c->args = bits & 1 ? &some : &none;
	c->points = &point;
	c->nr_points = bits >> 3 & 1;
	o->calls = c;
}

/* With those in use, or without. */
static void configure_allocs(struct session_opts *o, struct calls_opts *c, struct alloc_opts *a,
			     unsigned int bits)
{
	*a = (struct alloc_opts){ .every = 4096, .live = bits & 1, .max_live = 16 };
	*c = (struct calls_opts){ .timed = a->live, .points = &point, .nr_points = bits >> 3 & 1 };
	o->calls = c;
	o->alloc = a;
}

/* What this kernel has, with rows of locks or without. */
static void configure_ops(struct session_opts *o, struct calls_opts *c, struct ops_opts *ops,
			  unsigned int bits)
{
	const struct kind *kind = kind_of(o->probe->name);

	*c = (struct calls_opts){ .timed = true, .min_ns = bits & 1 };
	*ops = (struct ops_opts){ .max_open = 16 };
	if (!kind->klocks)
		ops_choose_io(ops, c, NULL);
	else if (ops_choose_locks(c))
		return;
	o->calls = c;
	o->ops = ops;
}

static int load(const struct probe *probe, enum prof_call_graph how, const struct prof_glob *glob,
		unsigned int bits, bool counters)
{
	struct session_opts o = {
		.probe = probe,
		.config = config(bits, bits & 1 ? PROF_MAX_FRAMES : 127),
		.glob = glob,
		.cgroup_fd = -1,
		.max_stacks = 16,
		.max_bytes = 1 << 20,
	};
	const struct kind *kind = kind_of(probe->name);
	struct calls_opts calls;
	struct alloc_opts alloc;
	struct ops_opts ops;
	struct timeline_opts timeline = { .ring_bytes = 1 << 16, .outlier_us = bits & 1 };
	struct session *s;

	o.config.call_graph = how;
	o.config.faults = kind->faults;
	o.hits = probe_program(probe, PROBE_HITS);
	if (kind->waits)
		configure_waits(&o.config, kind, bits);
	else if (counters && probe_program(probe, PROBE_PERF))
		configure_samples(&o.config, bits);
	else if (kind->operation)
		configure_ops(&o, &calls, &ops, bits);
	else if (kind->calls)
		configure_calls(&o, &calls, bits);
	else if (kind->memory)
		configure_allocs(&o, &calls, &alloc, bits);
	if (kind->slow_polls) /* which are timed */
		configure_calls(&o, &calls, 1);
	if (kind->timeline)
		o.timeline = &timeline;
	if (kind->operation && !o.ops) /* this kernel shows none */
		return 0;
	if (getenv("EACH"))
		printf("# -- %s %d %u\n", probe->name, how, bits);
	s = session_open(&o);
	if (!s)
		return 1;
	note();
	session_close(s);
	return 0;
}

/* The smallest set of counters, and the largest. */
static int load_accounts(enum account_by by, size_t nr_events)
{
	struct accounts_opts o = { .by = by, .nr_events = nr_events, .max_rows = 16 };
	struct accounts *a = accounts_open(&o);

	if (!a)
		return 1;
	note();
	accounts_close(a);
	return 0;
}

/*
 * Eight rows in which any two of seven rules meet as off/off, on/off, off/on and on/on: rule k of
 * row i is on when i and k + 1 have an odd number of bits in common.
 */
static unsigned int pair_row(unsigned int i)
{
	unsigned int bits = 0;

	for (unsigned int k = 0; k < 7; k++)
		bits |= (__builtin_popcount(i & (k + 1)) & 1) << k;
	return bits;
}

int main(int argc, char **argv)
{
	bool few = argc > 1 && !strcmp(argv[1], "--few"), all_ways;
	bool pairs = few || (argc > 1 && !strcmp(argv[1], "--pairs"));
	const struct probe *oncpu = probe_get("oncpu"), *probe;
	struct prof_glob glob;
	int bad = 0;

	log_verbosity = getenv("ONLY") != NULL;
	ours = bpfprof_bpf__open();
	if (!ours)
		return 1;
	while (!bpf_prog_get_next_id(older, &older))
		;
	glob_compile(&glob, "worker-*");
	for (unsigned int i = 0; i < (getenv("ONLY") ? 0 : pairs ? 8 : 128); i++)
		bad |= load(oncpu, CALL_GRAPH_AUTO, &glob, pairs ? pair_row(i) : i, false);
	bad |= load(oncpu, CALL_GRAPH_AUTO, &glob, 127, false);
	for (size_t i = 0; (probe = probe_at(i)); i++) {
		/* The programs of uprobe, and those of timeline. */
		if (!strcmp(probe->name, "kprobe") || !strcmp(probe->name, "sched"))
			continue;
		if (getenv("ONLY") && strcmp(probe->name, getenv("ONLY")))
			continue;
		all_ways = !few || !strcmp(probe->name, "oncpu") || !strcmp(probe->name, "offcpu");
		for (enum prof_call_graph how = CALL_GRAPH_AUTO;
		     how <= (all_ways ? CALL_GRAPH_DWARF : CALL_GRAPH_AUTO); how++)
			bad |= load(probe, how, &glob, 0, true) | load(probe, how, &glob, 7, true);
		if (probe_program(probe, PROBE_CALLS))
			bad |= load(probe, CALL_GRAPH_AUTO, &glob, 15, true);
	}
	bad |= load_accounts(ACCOUNT_BY_THREAD, 1);
	bad |= load_accounts(ACCOUNT_BY_CGROUP, PMU_MAX_EVENTS);
	for (size_t i = 0; i < nr_programs; i++)
		printf("%s %u\n", programs[i].name, programs[i].most);
	return bad;
}
