/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of maps, and what is done with each row. */
#include "collect/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "event/refusal.h"
#include "bpfprof.skel.h"

#define MOST_ROWS 64

struct row {
	struct bpf_map *map;
	bool is_there;
	uint64_t nr;	 /* elements; 0 = as many as its .bpf.c says */
	const void **to; /* what points to it in our memory; NULL: it is not mapped */
	bool is_ours;	 /* we write to it */
};

static size_t nr_generations(const struct prof_config *c)
{
	return c->two_generations ? PROF_GENERATIONS : 1;
}

/* Not mapped; read in place; written by us as well. */
#define ROW(name, when, elements)                                                                  \
	{                                                                                          \
		skel->maps.name, when, elements, NULL, false                                       \
	}
#define READ(name, when, elements)                                                                 \
	{                                                                                          \
		skel->maps.name, when, elements, (void *)&at->name, false                          \
	}
#define WRITE(name, when, elements)                                                                \
	{                                                                                          \
		skel->maps.name, when, elements, (void *)&at->name, true                           \
	}

/* Fills in rows; returns how many. m may be NULL where they are only chosen. */
static size_t list(struct row rows[MOST_ROWS], const struct bpfprof_bpf *skel,
		   struct session_maps *m, const struct maps_choice *choice)
{
	static struct session_maps none;
	struct session_maps *at = m ? m : &none;
	const struct prof_config *c = choice->config;
	const uint64_t generations = nr_generations(c);
	const bool tables = c->call_graph != CALL_GRAPH_FP; /* all of them or none is read */
	const struct row all[] = {
		WRITE(stacks, true, generations * c->stack_slots),
		WRITE(counts, true, generations * c->count_slots),
		READ(wait_hists, c->wait_hists, c->count_slots), /* waits have one generation */
		WRITE(frames, true, generations * c->frame_words),
		READ(counters, true, c->nr_cpus),
		ROW(scratches, true, choice->nr_scratches),
		WRITE(pids, c->filter_pid, 0),
		WRITE(tids, c->filter_tid, 0),
		ROW(globs, c->filter_comm, 0),
		ROW(cgroups, c->filter_cgroup, 0),
		WRITE(ksyms, !c->no_kstacks, 0),
		WRITE(orc, c->orc, 0),
		ROW(orc_rules, c->orc, 0),
		ROW(accounts, false, 0), /* accounts.c */
		ROW(account_cpus, false, 0),
		ROW(segments, tables, 0),
		ROW(rules, tables, 0),
		WRITE(exes, tables, 0),
		WRITE(procs, tables, 0),
		WRITE(pythons, tables, 0),
		READ(deferred, tables, c->deferred_slots),
		ROW(threads, choice->waits, 0),
		ROW(walk_times, choice->waits && c->stacks, 0),
		ROW(skips, c->skip_slots, c->skip_slots),
		ROW(shapes, c->remember, c->shape_slots),
		READ(sleepers, choice->nr_sleepers, choice->nr_sleepers),
		READ(wakers, c->waker_slots, c->waker_slots),
		READ(locks, c->lock_slots, c->lock_slots),
		ROW(owners, c->lock_slots, 0),
		READ(disagreements, c->audit, 0),
		READ(moments, c->moment_slots, (uint64_t)c->nr_cpus * c->moment_slots),
		READ(moment_heads, c->moment_slots, c->nr_cpus),
		WRITE(hists, c->hist_rows, c->hist_rows),
		READ(timeline, choice->timeline.slots,
		     (uint64_t)c->nr_cpus * choice->timeline.slots),
		ROW(recents, c->outlier_ns, 0),
		READ(outliers, c->outlier_ns, 0),
		ROW(pmu_counters, c->nr_values, c->nr_cpus * PMU_MAX_EVENTS),
		ROW(value_states, c->nr_values, 0),
		WRITE(values, c->nr_values, generations * c->count_slots * c->nr_values),
		ROW(branch_records, c->branch_slots, 0),
		READ(branches, c->branch_slots, c->branch_slots),
		ROW(call_args, choice->nr_call_args, choice->nr_call_args),
		READ(call_values, choice->calls.value_slots, choice->calls.value_slots),
		READ(call_hists, choice->calls.hist_rows, choice->calls.hist_rows),
		ROW(open_calls, choice->calls.hist_rows && !choice->ops.buckets, 0),
		ROW(go_calls, choice->calls.goroutines, 0),
		ROW(polls, c->slow_poll_ns, 0),
		ROW(syscall_states, choice->calls.syscalls, 0),
		ROW(hits, choice->hits, 0),
		ROW(open_ops, choice->ops.buckets, choice->ops.buckets),
		ROW(fault_ranges, c->faults, 0),
		ROW(alloc_draws, choice->allocs, 0),
		ROW(alloc_threads, choice->allocs, 0),
		ROW(allocs_live, choice->alloc.live_slots, choice->alloc.live_slots),
	};

	_Static_assert(sizeof(all) / sizeof(*all) <= MOST_ROWS, "they fit");
	memcpy(rows, all, sizeof(all));
	return sizeof(all) / sizeof(*all);
}

#undef ROW
#undef READ
#undef WRITE

void maps_choose(struct bpfprof_bpf *skel, const struct maps_choice *c)
{
	struct row rows[MOST_ROWS];
	size_t nr = list(rows, skel, NULL, c);

	for (size_t i = 0; i < nr; i++) {
		bpf_map__set_autocreate(rows[i].map, rows[i].is_there);
		if (rows[i].nr)
			bpf_map__set_max_entries(rows[i].map, rows[i].nr);
	}
}

static size_t bytes_of(const struct bpf_map *map)
{
	return (size_t)bpf_map__value_size(map) * bpf_map__max_entries(map);
}

/* In whole pages. */
static size_t mapped_bytes(const struct bpf_map *map)
{
	size_t page = sysconf(_SC_PAGESIZE);

	return (bytes_of(map) + page - 1) & ~(page - 1);
}

static int open_row(const struct row *r)
{
	void *at = mmap(NULL, mapped_bytes(r->map), PROT_READ | (r->is_ours ? PROT_WRITE : 0),
			MAP_SHARED, bpf_map__fd(r->map), 0);

	if (at == MAP_FAILED)
		return refusal_tell(-errno, "cannot map BPF memory");
	/* Copies of us that read files need none of it, and forking would take longer for it. */
	madvise(at, mapped_bytes(r->map), MADV_DONTFORK);
	*r->to = at;
	return 0;
}

/* How many elements there are of each, and the words of the programs that go with them. */
static void describe(struct session_maps *m, const struct bpfprof_bpf *skel,
		     const struct maps_choice *choice)
{
	const struct prof_config *c = choice->config;

	m->nr_generations = nr_generations(c);
	m->generation = &skel->bss->prof_generation;
	m->frame_cursors = skel->bss->prof_frame_cursor;
	m->counts_used = skel->bss->prof_counts_used;
	m->merging_ns = (const uint64_t *)&skel->bss->prof_merging_ns;
	m->nr_outliers = (const uint64_t *)skel->bss->prof_nr_outliers;
	m->deferred_taken = (uint64_t *)skel->bss->prof_defer_taken;
	m->table_epoch = &skel->bss->prof_table_epoch;
	m->nr_cpus = c->nr_cpus;
	m->nr_frame_words = c->frame_words;
	m->nr_counts = c->count_slots;
	m->nr_stack_slots = c->stack_slots;
	m->nr_values = c->nr_values;
	m->nr_branches = c->branch_slots;
	m->nr_hists = c->hist_rows;
	m->nr_call_values = choice->calls.value_slots;
	m->nr_call_hists = choice->calls.hist_rows;
	m->nr_sleepers = choice->nr_sleepers;
	m->nr_wakers = c->waker_slots;
	m->nr_locks = c->lock_slots;
	m->nr_disagreements = c->audit ? PROF_DISAGREEMENTS : 0;
	m->nr_moments = c->moment_slots;
	m->nr_timeline = choice->timeline.slots;
	m->nr_deferred = c->call_graph != CALL_GRAPH_FP ? c->deferred_slots : 0;
}

int maps_open(struct session_maps *m, const struct bpfprof_bpf *skel, const struct maps_choice *c)
{
	struct row rows[MOST_ROWS];
	size_t nr = list(rows, skel, m, c);
	int err = 0;

	describe(m, skel, c);
	for (size_t i = 0; i < nr && !err; i++)
		if (rows[i].is_there && rows[i].to)
			err = open_row(&rows[i]);
	return err;
}

void maps_release(struct session_maps *m, const struct bpfprof_bpf *skel,
		  const struct maps_choice *c)
{
	struct row rows[MOST_ROWS];
	size_t nr = list(rows, skel, m, c);

	for (size_t i = 0; i < nr; i++)
		if (rows[i].to && *rows[i].to)
			munmap((void *)*rows[i].to, mapped_bytes(rows[i].map));
	*m = (struct session_maps){};
}

/* libbpf closes each descriptor once, at the end: until then this one stands for something else. */
static void close_map(const struct bpf_map *map, int null)
{
	if (bpf_map__autocreate(map) && bpf_map__fd(map) >= 0)
		dup3(null, bpf_map__fd(map), O_CLOEXEC);
}

void maps_give_back(struct session_maps *m, struct bpfprof_bpf *skel, const struct maps_choice *c)
{
	int null = open("/", O_PATH | O_CLOEXEC);
	struct row rows[MOST_ROWS];
	size_t nr = list(rows, skel, m, c);

	for (size_t i = 0; i < nr && null >= 0; i++) {
		if (rows[i].map == skel->maps.ksyms || rows[i].map == skel->maps.counters)
			continue;
		if (rows[i].to && *rows[i].to) {
			munmap((void *)*rows[i].to, mapped_bytes(rows[i].map));
			*rows[i].to = NULL;
		}
		close_map(rows[i].map, null);
	}
	if (null >= 0)
		close(null);
}

uint64_t maps_bytes(const struct bpfprof_bpf *skel, size_t nr_cpus)
{
	const struct bpf_map *map;
	uint64_t bytes = 0;

	/* libbpf 1.4 and newer have a descriptor also for a map that is never created. */
	bpf_object__for_each_map (map, skel->obj) {
		if (!bpf_map__autocreate(map))
			continue;
		bytes += bytes_of(map) *
			 (bpf_map__type(map) == BPF_MAP_TYPE_PERCPU_ARRAY ? nr_cpus : 1);
	}
	return bytes;
}
