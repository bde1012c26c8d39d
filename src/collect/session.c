/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Configuring, loading and mapping the BPF object. */
#include "collect/session_parts.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "collect/loading.h"
#include "collect/orc.h"
#include "event/kernel_counts.h"
#include "event/refusal.h"
#include "profile/kind.h"
#include "bpfprof.skel.h"

#ifdef __x86_64__
#define HAS_ORC 1
#else
#define HAS_ORC 0 /* the kernel follows frame records */
#endif
#define LOOK_ROWS 256	 /* that are read at once */
#define SETTLE_US 1000	 /* in which programs that run while they are detached end */
#define LONG_US	  200000 /* the same where the kernel, for want of memory, cannot wait */

static bool is_needed(const struct session_opts *o, enum probe_when when)
{
	return when == PROBE_HITS ? o->hits : when != PROBE_PERF || !o->only_hits;
}

static void choose_programs(struct session *s, const struct session_opts *o)
{
	const struct probe_program *programs = s->probe->programs;
	const struct prof_config *c = &s->config;

	for (size_t i = 0; i < PROBE_MAX_PROGRAMS && programs[i].name; i++)
		bpf_program__set_autoload(session_program(s, programs[i].name),
					  is_needed(o, programs[i].when));
	/* Without filters there is nothing to keep true. */
	if (!c->filter_pid && !c->filter_tid)
		bpf_program__set_autoload(s->skel->progs.filter_fork, false);
	bpf_program__set_autoload(s->skel->progs.ksyms_name, !c->no_kstacks);
	bpf_program__set_autoload(s->skel->progs.orc_read, c->orc);
}

static int fill_filters(struct session *s, const struct session_opts *o)
{
	uint32_t zero = 0;

	if (o->config.filter_comm &&
	    bpf_map_update_elem(bpf_map__fd(s->skel->maps.globs), &zero, o->glob, BPF_ANY))
		return refusal_tell(-errno, "cannot set the name filter");
	if (o->config.filter_cgroup &&
	    bpf_map_update_elem(bpf_map__fd(s->skel->maps.cgroups), &zero, &o->cgroup_fd, BPF_ANY))
		return refusal_tell(-errno, "cannot set the cgroup filter");
	return 0;
}

/*
 * Where something in it is replaced, the kernel waits as well: the only way to wait for programs
 * that every kernel has, on hosts with CPUs that no timer interrupts too.
 */
static int prepare_settling(struct session *s)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);

	s->inner_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "settle", sizeof(uint32_t),
				     sizeof(uint32_t), 1, NULL);
	if (s->inner_fd < 0)
		return -errno;
	opts.inner_map_fd = s->inner_fd;
	s->settle_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "settle", sizeof(uint32_t),
				      sizeof(uint32_t), 1, &opts);
	return s->settle_fd < 0 ? -errno : 0;
}

void session_settle(struct session *s)
{
	uint32_t zero = 0;

	if (bpf_map_update_elem(s->settle_fd, &zero, &s->inner_fd, BPF_ANY))
		usleep(LONG_US);
}

/* All that is created, and how large, for a host of that size. */
static void choose_all(struct session *s, const struct session_opts *o,
		       const struct sizes_host *host)
{
	struct sizes_wishes wishes = {
		.max_stacks = o->max_stacks,
		.for_long = o->for_long,
		.max_bytes = o->max_bytes,
		.scratch_bytes =
			bpf_map__value_size(s->skel->maps.scratches) * o->probe->nr_scratches,
	};
	bool waits = kind_of(o->probe->name)->waits;
	struct prof_config *c = &s->config;

	*c = o->config;
	c->orc = HAS_ORC && !c->no_kstacks && probe_program(o->probe, PROBE_PERF);
	sizes_choose(c, &wishes, host);
	s->choice = (struct maps_choice){
		.config = c, .nr_scratches = o->probe->nr_scratches, .waits = waits, .hits = o->hits
	};
	session_choose_calls(&s->choice, o, host->nr_cpus);
	if (o->timeline)
		s->choice.timeline = timeline_configure(o->timeline, host->nr_cpus);
	if (waits && c->stacks && !c->no_ustacks)
		s->choice.nr_sleepers = sizes_sleepers(host->nr_threads);
	maps_choose(s->skel, &s->choice);
}

static int load(struct session *s, const struct session_opts *o)
{
	struct sizes_host host = sizes_host_read();
	struct prof_config *c = &s->config;
	int err = 0;

	choose_all(s, o, &host);
	if (getrandom(&c->seed, sizeof(c->seed), 0) != sizeof(c->seed))
		c->seed = (uintptr_t)s;
	memcpy((void *)&s->skel->rodata->prof_cfg, c, sizeof(*c));
	memcpy((void *)&s->skel->rodata->call_cfg, &s->choice.calls, sizeof(s->choice.calls));
	memcpy((void *)&s->skel->rodata->alloc_cfg, &s->choice.alloc, sizeof(s->choice.alloc));
	memcpy((void *)&s->skel->rodata->ops_cfg, &s->choice.ops, sizeof(s->choice.ops));
	memcpy((void *)&s->skel->rodata->timeline_cfg, &s->choice.timeline,
	       sizeof(s->choice.timeline));
	choose_programs(s, o);
	if (c->call_graph != CALL_GRAPH_FP)
		err = kernel_segments_open(&s->segments, s->skel->maps.segments);
	if (!err && c->two_generations)
		err = prepare_settling(s);
	s->points = session_prepare_calls(s->skel, o);
	if (!err)
		err = bpfprof_bpf__load(s->skel);
	/* libbpf goes on without what is mapped where its trial was refused. */
	if (!err && !s->skel->bss)
		err = -ENOTSUP;
	if (err)
		return s->segments.no_thread ? err : loading_explain(err);
	err = maps_open(&s->maps, s->skel, &s->choice);
	if (!err)
		err = session_fill_calls(s->skel, o);
	return err ? err : fill_filters(s, o);
}

static bool read_orc(void *session)
{
	struct session *s = session;
	LIBBPF_OPTS(bpf_test_run_opts, run);

	return !bpf_prog_test_run_opts(bpf_program__fd(s->skel->progs.orc_read), &run) &&
	       !run.retval;
}

struct session *session_open(const struct session_opts *o)
{
	struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	struct session *s = xcalloc(1, sizeof(*s));
	int err = 0;

	loading_begin();
	setrlimit(RLIMIT_MEMLOCK,
		  &unlimited); /* kernel < 5.11 counts maps there; failing is fine elsewhere */
	s->probe = o->probe;
	s->skel = bpfprof_bpf__open();
	if (!s->skel)
		err = log_err(-errno, "cannot open the BPF object");
	if (!err)
		err = load(s, o);
	if (!err && s->maps.orc && !orc_fill(s->maps.orc, read_orc, s))
		log_info("this kernel does not show its unwind tables: it walks its stacks itself");
	if (!err)
		return s;
	session_close(s);
	errno = -err;
	return NULL;
}

/* All of the probe's programs of a kind. */
static int attach(struct session *s, enum probe_when when)
{
	for (size_t i = 0; i < PROBE_MAX_PROGRAMS && s->probe->programs[i].name; i++) {
		struct bpf_program *program = session_program(s, s->probe->programs[i].name);

		if (s->probe->programs[i].when != when || !bpf_program__autoload(program))
			continue;
		s->links[i] = bpf_program__attach(program);
		if (!s->links[i])
			return refusal_tell(-errno, "cannot attach %s", bpf_program__name(program));
	}
	return 0;
}

int session_attach(struct session *s)
{
	return attach(s, PROBE_BIRTHS);
}

/* All that it prints, in whole rows. 0 or negative errno. */
static int read_rows(int fd, void (*fn)(void *arg, const struct prof_look *row), void *arg)
{
	struct prof_look rows[LOOK_ROWS];
	size_t have = 0;
	ssize_t got;

	for (;;) {
		got = read(fd, (char *)rows + have, sizeof(rows) - have);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (got <= 0)
			return got < 0 ? -errno : 0;
		have += got;
		for (size_t i = 0; fn && i < have / sizeof(*rows); i++)
			fn(arg, &rows[i]);
		memmove(rows, rows + have / sizeof(*rows), have % sizeof(*rows));
		have %= sizeof(*rows);
	}
}

/* Runs the program once for each task: it is run by reading what it prints. */
static int run_tasks(struct session *s, enum probe_when which,
		     void (*fn)(void *arg, const struct prof_look *row), void *arg)
{
	struct bpf_program *program = session_program(s, probe_program(s->probe, which));
	struct bpf_link *link = bpf_program__attach(program);
	int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -1, err = fd < 0 ? -errno : 0;

	if (!err)
		err = read_rows(fd, fn, arg);
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
	return err ? refusal_tell(err, "cannot look at the threads there are") : 0;
}

int session_look(struct session *s, void (*fn)(void *arg, const struct prof_look *row), void *arg)
{
	return run_tasks(s, PROBE_LOOK, fn, arg);
}

int session_probe(struct session *s, uint32_t pid)
{
	return links_attach(s->points, pid);
}

void session_unprobe(struct session *s)
{
	links_detach(s->points);
}

void session_thin(struct session *s, uint32_t stacks, uint32_t skips, uint32_t samples)
{
	s->skel->bss->prof_thin.used |= stacks != 0;
	*(volatile uint32_t *)&s->skel->bss->prof_thin.stacks = stacks;
	*(volatile uint32_t *)&s->skel->bss->prof_thin.skips = skips;
	*(volatile uint32_t *)&s->skel->bss->prof_thin.samples = samples;
}

void session_pause_allocs(struct session *s, bool paused)
{
	s->skel->bss->alloc_paused = paused;
}

int session_start(struct session *s)
{
	bool waits = probe_program(s->probe, PROBE_TASKS) != NULL;
	int err;

	if (waits)
		s->skel->bss->prof_sched_start = now_ns();
	s->attached.before = kernel_counts_read().switches;
	err = attach(s, PROBE_EVENTS);
	s->attached.after = kernel_counts_read().switches;
	if (err || !waits)
		return err;
	err = run_tasks(s, PROBE_TASKS, NULL, NULL);
	if (!err && !s->skel->bss->prof_sched_counts)
		err = attach(s, PROBE_WAKEUPS);
	s->skel->bss->prof_sched_known = 1;
	return err;
}

/* The last one first: what is seen to begin is seen to end, as while they were attached. */
static void detach(struct session *s, enum probe_when when)
{
	for (size_t i = PROBE_MAX_PROGRAMS; i-- > 0;) {
		if (!s->probe->programs[i].name || s->probe->programs[i].when != when)
			continue;
		bpf_link__destroy(s->links[i]);
		s->links[i] = NULL;
	}
}

void session_freeze(struct session *s)
{
	if (s->config.slow_poll_ns && !s->frozen)
		s->skel->bss->prof_sched_end = now_ns();
	s->frozen |= s->config.slow_poll_ns != 0;
}

int session_stop(struct session *s)
{
	bool waits =
		kind_of(s->probe->name)->waits && s->skel->bss->prof_sched_known && !s->flushed;

	session_freeze(s);
	links_detach(s->points);
	s->detached.before = kernel_counts_read().switches;
	detach(s, PROBE_EVENTS);
	s->detached.after = kernel_counts_read().switches;
	detach(s, PROBE_WAKEUPS);
	if (kind_of(s->probe->name)->timeline)
		usleep(SETTLE_US);
	if (!waits)
		return 0;
	if (!s->frozen)
		s->skel->bss->prof_sched_end = now_ns();
	s->flushed = true;
	usleep(SETTLE_US);
	return run_tasks(s, PROBE_TASKS, NULL, NULL);
}

static void set_bit(uint64_t *bitmap, uint32_t id)
{
	if (bitmap && id < PROF_PID_LIMIT)
		__atomic_fetch_or(&bitmap[id / 64], 1ull << (id & 63), __ATOMIC_SEQ_CST);
}

void session_add_pid(struct session *s, uint32_t pid)
{
	set_bit(s->maps.pids, pid);
}

void session_add_tid(struct session *s, uint32_t tid)
{
	set_bit(s->maps.tids, tid);
}

int session_perf_program(const struct session *s)
{
	return bpf_program__fd(session_program(s, probe_program(s->probe, PROBE_PERF)));
}

int session_hits_program(const struct session *s)
{
	return bpf_program__fd(session_program(s, probe_program(s->probe, PROBE_HITS)));
}

void session_leave_out_cpu(struct session *s, uint32_t cpu)
{
	set_bit((uint64_t *)s->skel->bss->prof_hits_cpus_out,
		cpu < PROF_HITS_CPUS ? cpu : PROF_PID_LIMIT);
}

int session_put_counter(struct session *s, uint32_t cpu, uint32_t i, int fd)
{
	uint32_t at = cpu * PMU_MAX_EVENTS + i;

	if (bpf_map_update_elem(bpf_map__fd(s->skel->maps.pmu_counters), &at, &fd, BPF_ANY))
		return -errno;
	return 0;
}

const struct session_maps *session_maps(const struct session *s)
{
	return &s->maps;
}

struct kernel_segments *session_segments(struct session *s)
{
	return &s->segments;
}

uint64_t session_plan_bytes(const struct session_opts *o, const struct sizes_host *host)
{
	struct session s = { .probe = o->probe, .skel = bpfprof_bpf__open() };
	uint64_t bytes = 0;

	if (!s.skel)
		return 0;
	choose_all(&s, o, host);
	bytes = maps_bytes(s.skel, host->nr_cpus);
	if (s.choice.waits)
		bytes += host->nr_threads * (uint64_t)SESSION_THREAD_BYTES;
	bpfprof_bpf__destroy(s.skel);
	return bytes;
}

void session_close(struct session *s)
{
	if (!s)
		return;
	kernel_segments_close(&s->segments);
	links_free(s->points);
	for (size_t i = 0; i < PROBE_MAX_PROGRAMS; i++)
		bpf_link__destroy(s->links[i]);
	if (s->choice.config)
		maps_release(&s->maps, s->skel, &s->choice);
	bpfprof_bpf__destroy(s->skel);
	if (s->settle_fd > 0)
		close(s->settle_fd);
	if (s->inner_fd > 0)
		close(s->inner_fd);
	free(s);
}
