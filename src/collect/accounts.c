/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The user-space side of accounts: loads their programs alone, frees the rows of threads that are
 * gone, and makes processes and cgroups of threads.
 */
#include "collect/accounts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <uthash.h>

#include "base/log.h"
#include "base/mem.h"
#include "bpf/account.h"
#include "collect/loading.h"
#include "collect/memory_fit.h"
#include "event/refusal.h"
#include "bpfprof.skel.h"

#define MIN_ROWS  16u
#define LEAST	  8192u	     /* rows by default: 2.6 MB */
#define MOST	  (1u << 20) /* and at most */
#define MAX_ENDED (1u << 17) /* accounts of those that are gone; what is beyond is lost */
#define SETTLE_US 1000	     /* in which programs that run while they are detached end */

/* An account in a table, by what it is of. */
struct entry {
	struct account account;
	bool by_leader;
	UT_hash_handle hh;
};

struct accounts {
	struct bpfprof_bpf *skel;
	enum account_by by;
	size_t nr_events;
	struct bpf_link *links[2];
	struct prof_account *rows;
	struct prof_account_cpu *cpus;
	uint32_t nr_rows, nr_cpus;
	uint64_t seen_gone; /* threads whose rows were free when we last looked */
	struct entry *ended;
	struct account lost; /* of those that are gone, beyond MAX_ENDED */
};

/* Twice the threads that there are; what comes to it is freed as they go. */
static uint32_t default_rows(uint32_t nr)
{
	return nr < LEAST / 2 ? LEAST : nr > MOST / 2 ? MOST : nr * 2;
}

static uint32_t power_of_two(uint32_t n)
{
	uint32_t p = MIN_ROWS;

	while (p < n && p < MOST)
		p *= 2;
	return p;
}

static void choose_maps(struct accounts *a, uint32_t max_rows, const struct sizes_host *host)
{
	struct bpf_map *map;

	a->nr_cpus = host->nr_cpus;
	a->nr_rows = power_of_two(max_rows ? max_rows : default_rows(host->nr_threads));
	bpf_object__for_each_map (map, a->skel->obj)
		if (!bpf_map__is_internal(map))
			bpf_map__set_autocreate(map, false);
	bpf_map__set_autocreate(a->skel->maps.accounts, true);
	bpf_map__set_autocreate(a->skel->maps.account_cpus, true);
	bpf_map__set_autocreate(a->skel->maps.pmu_counters, true);
	bpf_map__set_max_entries(a->skel->maps.accounts, a->nr_rows);
	bpf_map__set_max_entries(a->skel->maps.account_cpus, a->nr_cpus);
	bpf_map__set_max_entries(a->skel->maps.pmu_counters, a->nr_cpus * PMU_MAX_EVENTS);
}

static void configure(struct accounts *a)
{
	struct prof_account_config c = { .rows = a->nr_rows,
					 .nr_events = a->nr_events,
					 .by_cgroup = a->by == ACCOUNT_BY_CGROUP };

	if (getrandom(&c.seed, sizeof(c.seed), 0) != sizeof(c.seed))
		c.seed = (uintptr_t)a;
	memcpy((void *)&a->skel->rodata->account_cfg, &c, sizeof(c));
	bpf_program__set_autoload(a->skel->progs.accounts_switch, true);
	bpf_program__set_autoload(a->skel->progs.accounts_fork, true);
	bpf_program__set_autoload(a->skel->progs.accounts_flush, true);
}

static size_t whole_pages(size_t len)
{
	size_t page = sysconf(_SC_PAGESIZE);

	return (len + page - 1) & ~(page - 1);
}

static void *map_memory(const struct bpf_map *map, size_t len)
{
	void *at = mmap(NULL, whole_pages(len), PROT_READ | PROT_WRITE, MAP_SHARED,
			bpf_map__fd(map), 0);

	return at == MAP_FAILED ? NULL : at;
}

static int load(struct accounts *a, uint32_t max_rows)
{
	struct sizes_host host = sizes_host_read();
	int err = memory_fit_bytes(0); /* to look at what is needed takes some, too */

	if (err)
		return err;
	a->skel = bpfprof_bpf__open();
	if (!a->skel)
		return log_err(-errno, "cannot open the BPF object");
	choose_maps(a, max_rows, &host);
	configure(a);
	err = memory_fit_bytes(accounts_plan_bytes(&host));
	if (err)
		return err;
	err = bpfprof_bpf__load(a->skel);
	if (err)
		return loading_explain(err);
	a->rows = map_memory(a->skel->maps.accounts, a->nr_rows * sizeof(*a->rows));
	a->cpus = map_memory(a->skel->maps.account_cpus, a->nr_cpus * sizeof(*a->cpus));
	return a->rows && a->cpus ? 0 : refusal_tell(-errno, "cannot map BPF memory");
}

struct accounts *accounts_open(const struct accounts_opts *o)
{
	struct accounts *a;
	int err;

	if (!o->nr_events || o->nr_events > PMU_MAX_EVENTS) {
		errno = EINVAL;
		log_err(-EINVAL, "%zu events per thread, but there can be 1 to %d", o->nr_events,
			PMU_MAX_EVENTS);
		return NULL;
	}
	loading_begin();
	a = xcalloc(1, sizeof(*a));
	a->by = o->by;
	a->nr_events = o->nr_events;
	err = load(a, o->max_rows);
	if (!err)
		return a;
	accounts_close(a);
	errno = -err;
	return NULL;
}

uint64_t accounts_plan_bytes(const struct sizes_host *host)
{
	struct accounts a = { .skel = bpfprof_bpf__open() };
	uint64_t bytes = 0;
	struct bpf_map *map;

	if (!a.skel)
		return 0;
	choose_maps(&a, 0, host);
	bpf_object__for_each_map (map, a.skel->obj)
		if (bpf_map__autocreate(map))
			bytes += (uint64_t)bpf_map__value_size(map) * bpf_map__max_entries(map);
	bpfprof_bpf__destroy(a.skel);
	return bytes;
}

/* A CPU that is away has nobody to account for: no error. */
static int flush_cpu(struct accounts *a, uint32_t cpu)
{
	LIBBPF_OPTS(bpf_test_run_opts, run, .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = cpu);
	int err = bpf_prog_test_run_opts(bpf_program__fd(a->skel->progs.accounts_flush), &run);

	return err == -ENXIO ? 0 : err;
}

int accounts_add(struct accounts *a, uint32_t cpu, size_t event, int fd)
{
	int map = bpf_map__fd(a->skel->maps.pmu_counters), err = 0;
	uint32_t index = cpu * PMU_MAX_EVENTS + event;

	if (cpu >= a->nr_cpus || event >= a->nr_events)
		return log_err(-EINVAL, "no room for event %zu of CPU %u", event, cpu);
	/* What is not there cannot be read, and what was not read begins anew. */
	bpf_map_delete_elem(map, &index);
	if (a->cpus[cpu].counters)
		err = flush_cpu(a, cpu);
	if (!err && fd >= 0 && bpf_map_update_elem(map, &index, &fd, BPF_ANY))
		err = -errno;
	if (!err && fd >= 0) {
		__atomic_store_n(&a->cpus[cpu].counters, 1, __ATOMIC_RELEASE);
		err = a->links[0] ? flush_cpu(a, cpu) : 0;
	}
	return err ? refusal_tell(err, "cannot count per thread on CPU %u", cpu) : 0;
}

int accounts_flush(struct accounts *a)
{
	int err = 0;

	for (uint32_t cpu = 0; cpu < a->nr_cpus && !err; cpu++)
		if (a->cpus[cpu].counters)
			err = flush_cpu(a, cpu);
	accounts_collect(a);
	return err ? refusal_tell(err, "cannot read the counters of all CPUs") : 0;
}

int accounts_start(struct accounts *a)
{
	struct bpf_program *programs[] = { a->skel->progs.accounts_fork,
					   a->skel->progs.accounts_switch };

	for (uint32_t cpu = 0; cpu < a->nr_cpus; cpu++) {
		a->cpus[cpu].base.known = 0;
		a->cpus[cpu].next = 0;
	}
	for (size_t i = 0; i < 2; i++) {
		a->links[i] = bpf_program__attach(programs[i]);
		if (!a->links[i])
			return refusal_tell(-errno, "cannot attach %s",
					    bpf_program__name(programs[i]));
	}
	return accounts_flush(a);
}

int accounts_stop(struct accounts *a)
{
	int err = a->links[0] ? accounts_flush(a) : 0;

	for (size_t i = 0; i < 2; i++) {
		bpf_link__destroy(a->links[i]);
		a->links[i] = NULL;
	}
	usleep(SETTLE_US);
	return err;
}

static void add_counts(struct account *to, const struct prof_account *row)
{
	to->switches += row->switches;
	to->running_ns += row->running_ns;
	for (size_t i = 0; i < PMU_MAX_EVENTS; i++) {
		to->event[i].value += row->event[i].value;
		to->event[i].enabled_ns += row->event[i].enabled_ns;
		to->event[i].running_ns += row->event[i].running_ns;
	}
}

static uint64_t key_of(const struct accounts *a, const struct prof_account *row)
{
	switch (a->by) {
	case ACCOUNT_BY_PROCESS:
		return row->process;
	case ACCOUNT_BY_CGROUP:
		return row->cgroup;
	default:
		return row->hash;
	}
}

/* A process is called what its first thread is, as long as that one is known. */
static void name(const struct accounts *a, struct entry *e, const struct prof_account *row)
{
	bool leader = row->tid == row->pid;

	if (e->by_leader && !leader)
		return;
	e->by_leader = leader;
	e->account.cgroup = row->cgroup;
	if (a->by == ACCOUNT_BY_CGROUP)
		return;
	e->account.pid = row->pid;
	e->account.tid = a->by == ACCOUNT_BY_THREAD ? row->tid : 0;
	e->account.parent = row->parent;
	memcpy(e->account.comm, row->comm, PROF_COMM_LEN - 1);
}

static struct entry *account_get(const struct accounts *a, struct entry **table,
				 const struct prof_account *row)
{
	uint64_t key = key_of(a, row);
	struct entry *e;

	HASH_FIND(hh, *table, &key, sizeof(key), e);
	if (e)
		return e;
	e = xcalloc(1, sizeof(*e));
	e->account.key = key;
	HASH_ADD(hh, *table, account.key, sizeof(key), e);
	return e;
}

static void add_row(const struct accounts *a, struct entry **table, const struct prof_account *row)
{
	struct entry *e = account_get(a, table, row);

	name(a, e, row);
	add_counts(&e->account, row);
}

/* Where something is counted; there are rows from birth on. */
static bool has_run(const struct prof_account *row)
{
	return row->switches || row->running_ns;
}

/* From here on the kernel does not touch the row, until it is free. */
static bool take_row(struct prof_account *row)
{
	__u64 gone = PROF_ACCOUNT_GONE;

	return row->hash && __atomic_load_n(&row->gone, __ATOMIC_ACQUIRE) == gone &&
	       __atomic_compare_exchange_n(&row->gone, &gone, PROF_ACCOUNT_TAKEN, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/* Whoever claims it next finds all else empty. */
static void free_row(struct prof_account *row)
{
	const struct prof_account empty = { .hash = row->hash, .gone = row->gone };

	*row = empty;
	__atomic_store_n(&row->hash, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&row->gone, 0, __ATOMIC_RELEASE);
}

static void collect(struct accounts *a)
{
	for (uint32_t i = 0; i < a->nr_rows; i++) {
		struct prof_account *row = &a->rows[i];

		if (!take_row(row))
			continue;
		if (has_run(row) && HASH_COUNT(a->ended) < MAX_ENDED)
			add_row(a, &a->ended, row);
		else
			add_counts(&a->lost, row);
		free_row(row);
	}
}

/* Looks at the rows only when it is worth it: an eighth of them are of threads that are gone. */
void accounts_collect(struct accounts *a)
{
	uint64_t gone = 0;

	for (uint32_t cpu = 0; cpu < a->nr_cpus; cpu++)
		gone += a->cpus[cpu].gone;
	if (gone - a->seen_gone < a->nr_rows / 8)
		return;
	a->seen_gone = gone;
	collect(a);
}

static void read_cpus(struct accounts *a, struct accounts_report *r)
{
	for (uint32_t i = 0; i < a->nr_cpus; i++) {
		const struct prof_account_cpu *c = &a->cpus[i];

		add_counts(&r->idle, &c->idle);
		add_counts(&r->lost, &c->lost);
		r->unread += c->unread;
		r->unseen += c->unseen;
	}
}

static uint64_t missed(const struct accounts *a)
{
	struct bpf_prog_info info = {};
	uint32_t len = sizeof(info);

	if (bpf_obj_get_info_by_fd(bpf_program__fd(a->skel->progs.accounts_switch), &info, &len))
		return 0;
	return info.recursion_misses;
}

void accounts_read(struct accounts *a, struct accounts_report *r)
{
	struct entry *table = NULL, *e, *next;

	*r = (struct accounts_report){ .lost = a->lost, .missed = missed(a) };
	read_cpus(a, r);
	HASH_ITER (hh, a->ended, e, next) {
		struct entry *copy = xcalloc(1, sizeof(*copy));

		copy->account = e->account;
		copy->by_leader = e->by_leader;
		HASH_ADD(hh, table, account.key, sizeof(copy->account.key), copy);
	}
	for (uint32_t i = 0; i < a->nr_rows; i++)
		if (a->rows[i].hash && has_run(&a->rows[i]))
			add_row(a, &table, &a->rows[i]);
	r->v = xcalloc(HASH_COUNT(table) + 1, sizeof(*r->v));
	HASH_ITER (hh, table, e, next) {
		r->v[r->nr++] = e->account;
		HASH_DEL(table, e);
		free(e);
	}
}

void accounts_report_release(struct accounts_report *r)
{
	free(r->v);
	*r = (struct accounts_report){};
}

void accounts_close(struct accounts *a)
{
	struct entry *e, *next;

	if (!a)
		return;
	for (size_t i = 0; i < 2; i++)
		bpf_link__destroy(a->links[i]);
	if (a->rows)
		munmap(a->rows, whole_pages(a->nr_rows * sizeof(*a->rows)));
	if (a->cpus)
		munmap(a->cpus, whole_pages(a->nr_cpus * sizeof(*a->cpus)));
	bpfprof_bpf__destroy(a->skel);
	HASH_ITER (hh, a->ended, e, next) {
		HASH_DEL(a->ended, e);
		free(e);
	}
	free(a);
}
