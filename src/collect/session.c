/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Configuring, loading and mapping the BPF object. */
#include "collect/session.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "profile/kind.h"
#include "bpfprof.skel.h"

#define BYTES_PER_THREAD 512	/* struct thread (bpf/threads.bpf.h) as the kernel allocates it */
#define SETTLE_US	 1000	/* in which programs that run while they are detached end */
#define LONG_US		 200000 /* the same where the kernel, for want of memory, cannot wait */

/* A segment that a thread is making. */
enum { SEGMENT_NONE, SEGMENT_MAKING, SEGMENT_READY, SEGMENT_MADE };
struct session_segment {
	struct session *session;
	uint32_t index;
	int fd;
	int state; /* or a negative errno */
	pthread_t thread;
};

struct session {
	struct bpfprof_bpf *skel;
	const struct probe *probe;
	struct bpf_link *links[PROBE_MAX_PROGRAMS]; /* by number of the program */
	struct session_maps maps;
	uint64_t *pids, *tids;	 /* bitmaps, NULL without the filter */
	struct prof_ksym *ksyms; /* a batch, NULL without kernel stacks */
	int segments_fd;	 /* the map of segments, 0 = none */
	int settle_fd, inner_fd; /* a map of maps, and what is in it; 0 = none */
	struct session_segment segments[TABLE_MAX_SEGMENTS];
	uint32_t nr_segments; /* of unwind tables, there now */
	uint32_t told_memory;
};

static int print_libbpf(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	if (log_verbosity < (level == LIBBPF_DEBUG ? 2 : 1))
		return 0;
	return vfprintf(stderr, fmt, ap);
}

/* Without the segments no table was ever read, and so on: all or nothing. */
static void choose_table_maps(struct session *s, const struct prof_config *c)
{
	struct bpf_map *maps[] = { s->skel->maps.segments, s->skel->maps.exes, s->skel->maps.procs,
				   s->skel->maps.rules, s->skel->maps.deferred };

	bpf_map__set_max_entries(s->skel->maps.deferred, c->deferred_slots);
	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
		bpf_map__set_autocreate(maps[i], c->call_graph != CALL_GRAPH_FP);
}

static bool has_sleepers(const struct session *s, const struct prof_config *c)
{
	return kind_of(s->probe->name)->waits && c->stacks && !c->no_ustacks;
}

static void choose_sched_maps(struct session *s, const struct prof_config *c, uint32_t nr_threads)
{
	bool waits = kind_of(s->probe->name)->waits;

	bpf_map__set_autocreate(s->skel->maps.threads, waits);
	bpf_map__set_autocreate(s->skel->maps.shapes, c->remember);
	bpf_map__set_max_entries(s->skel->maps.shapes, c->shape_slots);
	bpf_map__set_autocreate(s->skel->maps.walk_times, waits && c->stacks);
	bpf_map__set_autocreate(s->skel->maps.sleepers, has_sleepers(s, c));
	bpf_map__set_max_entries(s->skel->maps.sleepers, sizes_sleepers(nr_threads));
	bpf_map__set_autocreate(s->skel->maps.wakers, c->hops);
	bpf_map__set_autocreate(s->skel->maps.disagreements, c->audit);
	bpf_map__set_autocreate(s->skel->maps.hists, c->hist_rows);
	bpf_map__set_autocreate(s->skel->maps.recents, c->outlier_ns);
	bpf_map__set_autocreate(s->skel->maps.outliers, c->outlier_ns);
	bpf_map__set_max_entries(s->skel->maps.wakers, c->waker_slots);
	bpf_map__set_max_entries(s->skel->maps.hists, c->hist_rows);
}

static size_t nr_generations(const struct prof_config *c)
{
	return c->two_generations ? PROF_GENERATIONS : 1;
}

static void choose_pmu_maps(struct session *s, const struct prof_config *c)
{
	bpf_map__set_autocreate(s->skel->maps.pmu_counters, c->nr_values);
	bpf_map__set_autocreate(s->skel->maps.value_states, c->nr_values);
	bpf_map__set_autocreate(s->skel->maps.values, c->nr_values);
	bpf_map__set_autocreate(s->skel->maps.branch_records, c->branch_slots);
	bpf_map__set_autocreate(s->skel->maps.branches, c->branch_slots);
	bpf_map__set_max_entries(s->skel->maps.pmu_counters, c->nr_cpus * PMU_MAX_EVENTS);
	bpf_map__set_max_entries(s->skel->maps.values,
				 nr_generations(c) * c->count_slots * c->nr_values);
	bpf_map__set_max_entries(s->skel->maps.branches, c->branch_slots);
}

/* Maps of filters that are off are not created; the verifier drops the code that would use them. */
static void choose_maps(struct session *s, const struct prof_config *c, uint32_t nr_threads)
{
	bpf_map__set_max_entries(s->skel->maps.stacks, nr_generations(c) * c->stack_slots);
	bpf_map__set_max_entries(s->skel->maps.counts, nr_generations(c) * c->count_slots);
	bpf_map__set_max_entries(s->skel->maps.frames, nr_generations(c) * c->frame_words);
	bpf_map__set_max_entries(s->skel->maps.counters, c->nr_cpus);
	bpf_map__set_max_entries(s->skel->maps.scratches, s->probe->nr_scratches);
	bpf_map__set_autocreate(s->skel->maps.pids, c->filter_pid);
	bpf_map__set_autocreate(s->skel->maps.tids, c->filter_tid);
	bpf_map__set_autocreate(s->skel->maps.globs, c->filter_comm);
	bpf_map__set_autocreate(s->skel->maps.cgroups, c->filter_cgroup);
	bpf_map__set_autocreate(s->skel->maps.ksyms, !c->no_kstacks);
	bpf_map__set_autocreate(s->skel->maps.accounts, false); /* accounts.c */
	bpf_map__set_autocreate(s->skel->maps.account_cpus, false);
	choose_pmu_maps(s, c);
	choose_table_maps(s, c);
	choose_sched_maps(s, c, nr_threads);
}

static struct bpf_program *find_program(const struct session *s, const char *name)
{
	return bpf_object__find_program_by_name(s->skel->obj, name);
}

static void choose_programs(struct session *s, const struct prof_config *c)
{
	for (size_t i = 0; i < PROBE_MAX_PROGRAMS && s->probe->programs[i].name; i++)
		bpf_program__set_autoload(find_program(s, s->probe->programs[i].name), true);
	/* Without filters there is nothing to keep true. */
	if (!c->filter_pid && !c->filter_tid)
		bpf_program__set_autoload(s->skel->progs.filter_fork, false);
	bpf_program__set_autoload(s->skel->progs.ksyms_name, !c->no_kstacks);
}

static void *map_memory(const struct bpf_map *map, size_t len, bool writable)
{
	size_t page = sysconf(_SC_PAGESIZE);
	void *at = mmap(NULL, (len + page - 1) & ~(page - 1),
			PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED, bpf_map__fd(map), 0);

	return at == MAP_FAILED ? NULL : at;
}

static int map_sched(struct session *s, const struct prof_config *c)
{
	struct session_maps *m = &s->maps;

	if (c->hops) {
		m->nr_wakers = c->waker_slots;
		m->wakers =
			map_memory(s->skel->maps.wakers, m->nr_wakers * sizeof(*m->wakers), false);
	}
	if (c->hist_rows) {
		m->nr_hists = c->hist_rows;
		m->hists = map_memory(s->skel->maps.hists, m->nr_hists * sizeof(*m->hists), true);
	}
	if (c->audit) {
		m->nr_disagreements = PROF_DISAGREEMENTS;
		m->disagreements =
			map_memory(s->skel->maps.disagreements,
				   PROF_DISAGREEMENTS * sizeof(*m->disagreements), false);
	}
	if (c->outlier_ns) {
		m->nr_outliers = (const uint64_t *)s->skel->bss->prof_nr_outliers;
		m->outliers = map_memory(s->skel->maps.outliers,
					 PROF_OUTLIERS * sizeof(*m->outliers), false);
	}
	if (has_sleepers(s, c)) {
		m->nr_sleepers = bpf_map__max_entries(s->skel->maps.sleepers);
		m->sleepers = map_memory(s->skel->maps.sleepers,
					 m->nr_sleepers * sizeof(*m->sleepers), false);
	}
	if ((has_sleepers(s, c) && !m->sleepers) || (c->hops && !m->wakers) ||
	    (c->hist_rows && !m->hists) || (c->outlier_ns && !m->outliers) ||
	    (c->audit && !m->disagreements))
		return log_err(-errno, "cannot map BPF memory");
	return 0;
}

static int map_pmu(struct session *s, const struct prof_config *c)
{
	struct session_maps *m = &s->maps;

	m->nr_values = c->nr_values;
	m->nr_branches = c->branch_slots;
	if (m->nr_values)
		m->values = map_memory(
			s->skel->maps.values,
			nr_generations(c) * m->nr_counts * m->nr_values * sizeof(*m->values), true);
	if (m->nr_branches)
		m->branches = map_memory(s->skel->maps.branches,
					 m->nr_branches * sizeof(*m->branches), false);
	if ((m->nr_values && !m->values) || (m->nr_branches && !m->branches))
		return log_err(-errno, "cannot map BPF memory");
	return 0;
}

static void map_arena(struct session *s, const struct prof_config *c)
{
	struct session_maps *m = &s->maps;
	size_t nr = nr_generations(c);

	m->nr_generations = nr;
	m->generation = &s->skel->bss->prof_generation;
	m->frame_cursors = s->skel->bss->prof_frame_cursor;
	m->counts_used = s->skel->bss->prof_counts_used;
	m->nr_frame_words = c->frame_words;
	m->nr_counts = c->count_slots;
	m->nr_stack_slots = c->stack_slots;
	m->frames =
		map_memory(s->skel->maps.frames, nr * c->frame_words * sizeof(*m->frames), true);
	m->counts =
		map_memory(s->skel->maps.counts, nr * c->count_slots * sizeof(*m->counts), true);
	m->stacks =
		map_memory(s->skel->maps.stacks, nr * c->stack_slots * sizeof(*m->stacks), true);
}

static int map_all(struct session *s, const struct prof_config *c)
{
	struct session_maps *m = &s->maps;
	size_t bitmap = PROF_PID_LIMIT / 8;
	int err;

	m->nr_cpus = c->nr_cpus;
	m->merging_ns = (const uint64_t *)&s->skel->bss->prof_merging_ns;
	map_arena(s, c);
	m->counters = map_memory(s->skel->maps.counters, m->nr_cpus * sizeof(*m->counters), false);
	if (c->filter_pid)
		s->pids = map_memory(s->skel->maps.pids, bitmap, true);
	if (c->filter_tid)
		s->tids = map_memory(s->skel->maps.tids, bitmap, true);
	if (!c->no_kstacks)
		s->ksyms =
			map_memory(s->skel->maps.ksyms, PROF_KSYM_BATCH * sizeof(*s->ksyms), true);
	if (c->call_graph != CALL_GRAPH_FP) {
		m->nr_deferred = c->deferred_slots;
		m->deferred_taken = (uint64_t *)s->skel->bss->prof_defer_taken;
		m->deferred = map_memory(s->skel->maps.deferred,
					 m->nr_deferred * sizeof(*m->deferred), false);
		m->exes = map_memory(s->skel->maps.exes, TABLE_MAX_EXES * sizeof(*m->exes), true);
		m->procs =
			map_memory(s->skel->maps.procs, TABLE_PROC_ROWS * sizeof(*m->procs), true);
		m->table_epoch = &s->skel->bss->prof_table_epoch;
		if (!m->deferred || !m->exes || !m->procs)
			return log_err(-errno, "cannot map BPF memory");
	}
	if (!m->frames || !m->counts || !m->stacks || !m->counters || (c->filter_pid && !s->pids) ||
	    (c->filter_tid && !s->tids) || (!c->no_kstacks && !s->ksyms))
		return log_err(-errno, "cannot map BPF memory");
	err = map_pmu(s, c);
	return err ? err : map_sched(s, c);
}

static int fill_filters(struct session *s, const struct session_opts *o)
{
	uint32_t zero = 0;

	if (o->config.filter_comm &&
	    bpf_map_update_elem(bpf_map__fd(s->skel->maps.globs), &zero, o->glob, BPF_ANY))
		return log_err(-errno, "cannot set the name filter");
	if (o->config.filter_cgroup &&
	    bpf_map_update_elem(bpf_map__fd(s->skel->maps.cgroups), &zero, &o->cgroup_fd, BPF_ANY))
		return log_err(-errno, "cannot set the cgroup filter");
	return 0;
}

static int explain_load(int err)
{
	if (err == -EPERM)
		return log_err(
			err,
			"the kernel refused to load the BPF programs (needs CAP_BPF and "
			"CAP_PERFMON or root; "
			"lockdown=confidentiality and container seccomp profiles forbid it too)");
	if (err == -ENOMEM)
		return log_err(err, "no memory for the BPF maps (lower --max-mem, or raise the "
				    "cgroup's memory limit)");
	log_err(err, "the kernel refused to load the BPF programs (-v shows why)");
	return -EIO;
}

/*
 * The kernel waits until all programs that run now have ended before a changed map of maps is
 * believed to be so: some ten milliseconds, which we spend better.
 */
static void *insert_segment(void *arg)
{
	struct session_segment *g = arg;
	int err = 0;

	if (bpf_map_update_elem(g->session->segments_fd, &g->index, &g->fd, BPF_ANY))
		err = -errno;
	__atomic_store_n(&g->state, err ? err : SEGMENT_READY, __ATOMIC_RELEASE);
	return NULL;
}

static int segment_create(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "segment", sizeof(uint32_t),
				TABLE_SEGMENT_BYTES, 1, &opts);

	return fd < 0 ? -errno : fd;
}

static int segment_insert(struct session *s, uint32_t index, int fd)
{
	struct session_segment *g = &s->segments[index];
	int err;

	*g = (struct session_segment){ s, index, fd, SEGMENT_MAKING, 0 };
	err = pthread_create(&g->thread, NULL, insert_segment, g);
	if (!err)
		return 0;
	close(fd);
	g->state = SEGMENT_NONE;
	return log_err(-err, "cannot start a thread");
}

/*
 * The first segment is on its way while the programs are still being verified. It also is what the
 * map of segments is told that all of them will look like.
 */
static int prepare_segments(struct session *s)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);
	struct bpf_map *map = s->skel->maps.segments;
	int fd = segment_create(), err;

	if (fd < 0)
		return fd;
	opts.inner_map_fd = fd;
	s->segments_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "segments", sizeof(uint32_t),
					sizeof(uint32_t), TABLE_MAX_SEGMENTS, &opts);
	err = s->segments_fd < 0 ? -errno : bpf_map__reuse_fd(map, s->segments_fd);
	if (!err)
		return segment_insert(s, 0, fd);
	close(fd);
	return err;
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

static int segment_map(const struct session_segment *g, void *at)
{
	if (mmap(at, TABLE_SEGMENT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, g->fd,
		 0) != MAP_FAILED)
		return 0;
	return log_err(-errno, "cannot map memory for unwind tables");
}

/* All that is created, and how large, for a host of that size. */
static struct prof_config choose_all(struct session *s, const struct session_opts *o,
				     const struct sizes_host *host)
{
	struct sizes_wishes wishes = {
		.max_stacks = o->max_stacks,
		.max_bytes = o->max_bytes,
		.scratch_bytes =
			bpf_map__value_size(s->skel->maps.scratches) * o->probe->nr_scratches,
	};
	struct prof_config c = o->config;

	sizes_choose(&c, &wishes, host);
	choose_maps(s, &c, host->nr_threads);
	return c;
}

static int load(struct session *s, const struct session_opts *o)
{
	struct sizes_host host = sizes_host_read();
	struct prof_config c = choose_all(s, o, &host);
	int err;

	if (getrandom(&c.seed, sizeof(c.seed), 0) != sizeof(c.seed))
		c.seed = (uintptr_t)s;
	memcpy((void *)&s->skel->rodata->prof_cfg, &c, sizeof(c));
	choose_programs(s, &c);
	err = c.call_graph != CALL_GRAPH_FP ? prepare_segments(s) : 0;
	if (!err && c.two_generations)
		err = prepare_settling(s);
	if (!err)
		err = bpfprof_bpf__load(s->skel);
	if (err)
		return explain_load(err);
	err = map_all(s, &c);
	return err ? err : fill_filters(s, o);
}

struct session *session_open(const struct session_opts *o)
{
	struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	struct session *s = xcalloc(1, sizeof(*s));
	int err = 0;

	libbpf_set_print(print_libbpf);
	setrlimit(RLIMIT_MEMLOCK,
		  &unlimited); /* kernel < 5.11 counts maps there; failing is fine elsewhere */
	s->probe = o->probe;
	s->skel = bpfprof_bpf__open();
	if (!s->skel)
		err = log_err(-errno, "cannot open the BPF object");
	if (!err)
		err = load(s, o);
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
		struct bpf_program *program = find_program(s, s->probe->programs[i].name);

		if (s->probe->programs[i].when != when || !bpf_program__autoload(program))
			continue;
		s->links[i] = bpf_program__attach(program);
		if (!s->links[i])
			return log_err(-errno, "cannot attach %s", bpf_program__name(program));
	}
	return 0;
}

int session_attach(struct session *s)
{
	return attach(s, PROBE_BIRTHS);
}

static int attach_uprobe(struct session *s, const char *file, const char *function)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .func_name = function);
	struct bpf_program *program = find_program(s, probe_program(s->probe, PROBE_UPROBE));

	s->links[0] = bpf_program__attach_uprobe_opts(program, -1, file, 0, &opts);
	return s->links[0] ? 0 : log_err(-errno, "cannot probe %s in %s", function, file);
}

/* Runs the program once for each task. It prints nothing: it is run by reading. */
static int run_tasks(struct session *s)
{
	struct bpf_program *program = find_program(s, probe_program(s->probe, PROBE_TASKS));
	struct bpf_link *link = bpf_program__attach(program);
	int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -1, err = 0;
	char byte;
	ssize_t got;

	if (fd < 0) {
		err = log_err(-errno, "cannot look at the threads there are");
		bpf_link__destroy(link);
		return err;
	}
	do
		got = read(fd, &byte, 1);
	while (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)));
	if (got < 0)
		err = log_err(-errno, "cannot look at the threads there are");
	close(fd);
	bpf_link__destroy(link);
	return err;
}

int session_start(struct session *s, const char *file, const char *function)
{
	int err = 0;

	if (probe_program(s->probe, PROBE_UPROBE))
		return attach_uprobe(s, file, function);
	if (!probe_program(s->probe, PROBE_TASKS))
		return 0;
	s->skel->bss->prof_sched_start = now_ns();
	err = attach(s, PROBE_EVENTS);
	if (!err)
		err = run_tasks(s);
	if (!err && !s->skel->bss->prof_sched_counts)
		err = attach(s, PROBE_WAKEUPS);
	s->skel->bss->prof_sched_known = 1;
	return err;
}

static void detach(struct session *s, enum probe_when when)
{
	for (size_t i = 0; i < PROBE_MAX_PROGRAMS && s->probe->programs[i].name; i++) {
		if (s->probe->programs[i].when != when)
			continue;
		bpf_link__destroy(s->links[i]);
		s->links[i] = NULL;
	}
}

int session_stop(struct session *s)
{
	bool waits = kind_of(s->probe->name)->waits && s->skel->bss->prof_sched_known &&
		     !s->skel->bss->prof_sched_end;

	detach(s, PROBE_UPROBE);
	detach(s, PROBE_EVENTS);
	detach(s, PROBE_WAKEUPS);
	if (!waits)
		return 0;
	s->skel->bss->prof_sched_end = now_ns();
	usleep(SETTLE_US);
	return run_tasks(s);
}

uint64_t session_began(const struct session *s)
{
	return s->skel->bss->prof_sched_start;
}

uint64_t session_ended(const struct session *s)
{
	return s->skel->bss->prof_sched_end;
}

static void set_bit(uint64_t *bitmap, uint32_t id)
{
	if (bitmap && id < PROF_PID_LIMIT)
		__atomic_fetch_or(&bitmap[id / 64], 1ull << (id & 63), __ATOMIC_SEQ_CST);
}

void session_add_pid(struct session *s, uint32_t pid)
{
	set_bit(s->pids, pid);
}

void session_add_tid(struct session *s, uint32_t tid)
{
	set_bit(s->tids, tid);
}

int session_perf_program(const struct session *s)
{
	return bpf_program__fd(find_program(s, probe_program(s->probe, PROBE_PERF)));
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

void session_counters(const struct session *s, uint64_t sum[PROF_NR_COUNTERS])
{
	memset(sum, 0, PROF_NR_COUNTERS * sizeof(*sum));
	for (size_t cpu = 0; cpu < s->maps.nr_cpus; cpu++)
		for (size_t i = 0; i < PROF_NR_COUNTERS; i++)
			sum[i] += s->maps.counters[cpu].value[i];
}

int session_ask_kernel(struct session *s, struct prof_ksym *questions, size_t nr)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);
	int err;

	if (!s->ksyms)
		return -ENOTSUP;
	memset(s->ksyms, 0, PROF_KSYM_BATCH * sizeof(*s->ksyms));
	memcpy(s->ksyms, questions, nr * sizeof(*questions));
	err = bpf_prog_test_run_opts(bpf_program__fd(s->skel->progs.ksyms_name), &run);
	memcpy(questions, s->ksyms, nr * sizeof(*questions));
	return err;
}

int session_segment_make(void *session, uint32_t index, void *at)
{
	struct session *s = session;
	struct session_segment *g = &s->segments[index];
	int state = __atomic_load_n(&g->state, __ATOMIC_ACQUIRE), err;

	if (state == SEGMENT_NONE) {
		err = segment_create();
		if (err >= 0)
			err = segment_insert(s, index, err);
		else if (!s->told_memory++) /* it is asked for again and again */
			log_warn(
				"no memory for more unwind tables (%s): some stacks will end early",
				strerror(-err));
		return err ? err : -EINPROGRESS;
	}
	if (state == SEGMENT_MAKING)
		return -EINPROGRESS;
	pthread_join(g->thread, NULL);
	err = state == SEGMENT_READY ? segment_map(g, at)
				     : log_err(state, "no memory for unwind tables");
	if (!err) {
		g->state = SEGMENT_MADE;
		s->nr_segments++;
		return 0;
	}
	close(g->fd);
	g->state = SEGMENT_NONE;
	return err;
}

void session_segment_drop(void *session, uint32_t index, void *at)
{
	struct session *s = session;

	bpf_map_delete_elem(s->segments_fd, &index);
	mmap(at, TABLE_SEGMENT_BYTES, PROT_NONE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	close(s->segments[index].fd);
	s->segments[index].state = SEGMENT_NONE;
	s->nr_segments--;
}

static void close_segments(struct session *s)
{
	for (size_t i = 0; i < TABLE_MAX_SEGMENTS; i++) {
		if (s->segments[i].state == SEGMENT_NONE)
			continue;
		if (s->segments[i].state != SEGMENT_MADE)
			pthread_join(s->segments[i].thread, NULL);
		close(s->segments[i].fd);
	}
}

uint64_t session_missed(const struct session *s)
{
	struct bpf_prog_info info = {};
	uint32_t len = sizeof(info);
	uint64_t missed = 0;

	for (size_t i = 0; i < PROBE_MAX_PROGRAMS && s->probe->programs[i].name; i++) {
		int fd = bpf_program__fd(find_program(s, s->probe->programs[i].name));

		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &len))
			missed += info.recursion_misses;
	}
	return missed;
}

/* What fdinfo says is no measure: which overhead it counts differs from kernel to kernel. */
static uint64_t map_bytes(const struct bpf_map *map, size_t nr_cpus)
{
	uint64_t bytes = (uint64_t)bpf_map__value_size(map) * bpf_map__max_entries(map);

	return bpf_map__type(map) == BPF_MAP_TYPE_PERCPU_ARRAY ? bytes * nr_cpus : bytes;
}

/* Of the threads that live: the kernel keeps their state with the task. */
static uint64_t thread_bytes(const struct session *s)
{
	uint64_t sum[PROF_NR_COUNTERS];

	session_counters(s, sum);
	return sum[PROF_THREADS] > sum[PROF_THREADS_GONE]
		       ? (sum[PROF_THREADS] - sum[PROF_THREADS_GONE]) * BYTES_PER_THREAD
		       : 0;
}

static uint64_t maps_bytes(const struct session *s, size_t nr_cpus)
{
	uint64_t bytes = s->settle_fd > 0 ? 2 * sizeof(uint32_t) : 0;
	struct bpf_map *map;

	/* libbpf 1.4 and newer have a descriptor also for a map that is never created. */
	bpf_object__for_each_map (map, s->skel->obj)
		if (bpf_map__autocreate(map))
			bytes += map_bytes(map, nr_cpus);
	return bytes;
}

uint64_t session_map_bytes(const struct session *s)
{
	return maps_bytes(s, s->maps.nr_cpus) + thread_bytes(s) +
	       (uint64_t)s->nr_segments * TABLE_SEGMENT_BYTES;
}

uint64_t session_plan_bytes(const struct session_opts *o, const struct sizes_host *host)
{
	struct session s = { .probe = o->probe, .skel = bpfprof_bpf__open() };
	uint64_t bytes = 0;

	if (!s.skel)
		return 0;
	choose_all(&s, o, host);
	bytes = maps_bytes(&s, host->nr_cpus);
	if (probe_program(s.probe, PROBE_TASKS))
		bytes += host->nr_threads * (uint64_t)BYTES_PER_THREAD;
	bpfprof_bpf__destroy(s.skel);
	return bytes;
}

static void unmap(const void *at, size_t len)
{
	size_t page = sysconf(_SC_PAGESIZE);

	if (at)
		munmap((void *)at, (len + page - 1) & ~(page - 1));
}

void session_close(struct session *s)
{
	size_t nr;

	if (!s)
		return;
	nr = s->maps.nr_generations;
	close_segments(s);
	for (size_t i = 0; i < PROBE_MAX_PROGRAMS; i++)
		bpf_link__destroy(s->links[i]);
	unmap(s->maps.wakers, s->maps.nr_wakers * sizeof(*s->maps.wakers));
	unmap(s->maps.hists, s->maps.nr_hists * sizeof(*s->maps.hists));
	unmap(s->maps.disagreements, s->maps.nr_disagreements * sizeof(*s->maps.disagreements));
	unmap(s->maps.outliers, PROF_OUTLIERS * sizeof(*s->maps.outliers));
	unmap(s->maps.frames, nr * s->maps.nr_frame_words * sizeof(*s->maps.frames));
	unmap(s->maps.counts, nr * s->maps.nr_counts * sizeof(*s->maps.counts));
	unmap(s->maps.stacks, nr * s->maps.nr_stack_slots * sizeof(*s->maps.stacks));
	unmap(s->maps.counters, s->maps.nr_cpus * sizeof(*s->maps.counters));
	unmap(s->maps.sleepers, s->maps.nr_sleepers * sizeof(*s->maps.sleepers));
	unmap(s->maps.deferred, s->maps.nr_deferred * sizeof(*s->maps.deferred));
	unmap(s->maps.exes, TABLE_MAX_EXES * sizeof(*s->maps.exes));
	unmap(s->maps.procs, TABLE_PROC_ROWS * sizeof(*s->maps.procs));
	unmap(s->maps.values, nr * s->maps.nr_counts * s->maps.nr_values * sizeof(*s->maps.values));
	unmap(s->maps.branches, s->maps.nr_branches * sizeof(*s->maps.branches));
	unmap(s->pids, PROF_PID_LIMIT / 8);
	unmap(s->tids, PROF_PID_LIMIT / 8);
	unmap(s->ksyms, PROF_KSYM_BATCH * sizeof(*s->ksyms));
	bpfprof_bpf__destroy(s->skel);
	if (s->segments_fd > 0)
		close(s->segments_fd);
	if (s->settle_fd > 0)
		close(s->settle_fd);
	if (s->inner_fd > 0)
		close(s->inner_fd);
	free(s);
}
