/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Trying probes out. */
#include "collect/calls_trial.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <linux/bpf.h>

#include "base/clock.h"
#include "base/mem.h"
#include "uprobe/price.h"

#define TRIAL_NS  100000000
#define NR_PRICED 100
#define NR_ROUNDS 20 /* of which the shortest counts */
#define MAX_TRIED 16 /* processes */
/* Of processes that use less than that part of a CPU, a large part of little hurts nobody. */
#define LEAST_PART 10

/* A program that adds one to the only element of a map, and its links. */
struct counter {
	int map, program;
	int *links;
	size_t nr, cap;
};

static int load_counter(struct counter *c)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = LINKS_MANY);

	c->map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "trial", 4, 8, 1, NULL);
	if (c->map < 0)
		return -errno;
	const struct bpf_insn insns[] = {
		{ .code = BPF_LD | BPF_DW | BPF_IMM,
		  .dst_reg = 1,
		  .src_reg = BPF_PSEUDO_MAP_VALUE,
		  .imm = c->map },
		{ .imm = 0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 2, .imm = 1 },
		{ .code = BPF_STX | BPF_DW | BPF_ATOMIC,
		  .dst_reg = 1,
		  .src_reg = 2,
		  .imm = BPF_ADD },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	c->program = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "trial", "GPL", insns,
				   sizeof(insns) / sizeof(*insns), &opts);
	return c->program < 0 ? -errno : 0;
}

static uint64_t count(const struct counter *c)
{
	uint32_t zero = 0;
	uint64_t value = 0;

	bpf_map_lookup_elem(c->map, &zero, &value);
	return value;
}

static void release(struct counter *c)
{
	for (size_t i = 0; i < c->nr; i++)
		close(c->links[i]);
	free(c->links);
	if (c->program >= 0)
		close(c->program);
	if (c->map >= 0)
		close(c->map);
}

static int attach(struct counter *c, const char *path, const uint64_t *offsets, size_t nr,
		  uint32_t pid)
{
	int fd = links_create_many(c->program, path, offsets, nr, pid);

	if (fd < 0)
		return fd;
	c->links = xgrow(c->links, c->nr, &c->cap, sizeof(*c->links));
	c->links[c->nr++] = fd;
	return 0;
}

/* Hits that cost the same are counted together. */
enum sort { ENTRY, DEAR_ENTRY, BACK, WAY_OUT, DEAR_WAY_OUT, NR_SORTS };

/* A session leads only sampled calls back through the kernel: those few are not counted. */
static bool is_of_sort(const struct point *p, enum sort sort, bool sessions)
{
	if (sort == BACK)
		return p->by_probe && !sessions;
	if (p->is_return)
		return sort == (p->is_dear ? DEAR_WAY_OUT : WAY_OUT);
	return sort == (p->is_dear ? DEAR_ENTRY : ENTRY);
}

/* The points of a file stand one behind the other. */
static int attach_all(struct counter *c, const struct calls_opts *o, enum sort sort, uint32_t pid)
{
	uint64_t *offsets = xcalloc(o->nr_points, sizeof(*offsets));
	bool sessions = links_have_sessions();
	size_t nr = 0;
	int err = 0;

	for (size_t i = 0; i < o->nr_points && !err; i++) {
		const struct point *p = &o->points[i];
		bool last = i + 1 == o->nr_points || strcmp(p[1].where, p->where);

		if (is_of_sort(p, sort, sessions))
			offsets[nr++] = p->offset;
		if (last && nr)
			err = attach(c, p->file->at, offsets, nr, pid);
		nr = last ? 0 : nr;
	}
	free(offsets);
	return err;
}

static uint64_t cpu_ns(const struct opt_ids *pids)
{
	struct timespec t;
	clockid_t clock;
	uint64_t ns = 0;

	for (size_t i = 0; i < pids->nr && i < MAX_TRIED; i++)
		if (!clock_getcpuclockid(pids->v[i], &clock) && !clock_gettime(clock, &t))
			ns += t.tv_sec * 1000000000ull + t.tv_nsec;
	return ns;
}

/* Where a probe is cheap on each architecture that emulates a nop; else at the usual price. */
static __attribute__((noinline, noclone)) void priced(void)
{
	__asm__ volatile(".globl bpfprof_priced\nbpfprof_priced: nop" ::: "memory");
}
extern const char bpfprof_priced[];

/* As the kernel wants it: where in which of our files that instruction is. */
static int find_priced(uint64_t *offset)
{
	uint64_t at = (uintptr_t)bpfprof_priced, start, end, from;
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512];
	int err = -ENOENT;

	while (f && err && fgets(line, sizeof(line), f))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &start, &end, &from) ==
			    3 &&
		    at >= start && at < end) {
			*offset = at - start + from;
			err = 0;
		}
	if (f)
		fclose(f);
	return err;
}

/* Of a hit at a cheap place. */
static int measure_price(double *price_ns)
{
	struct counter c = { .map = -1, .program = -1 };
	uint64_t offset, start, ns, least = UINT64_MAX;
	int err = find_priced(&offset);

	err = err ? err : load_counter(&c);
	err = err ? err : attach(&c, "/proc/self/exe", &offset, 1, getpid());
	for (int round = 0; round < NR_ROUNDS && !err; round++) {
		start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		for (int i = 0; i < NR_PRICED; i++)
			priced();
		ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
		least = ns < least ? ns : least;
	}
	*price_ns = (double)least / NR_PRICED;
	if (!err && count(&c) != NR_PRICED * NR_ROUNDS)
		err = -ENODATA;
	release(&c);
	return err;
}

static int attach_sorts(struct counter counters[NR_SORTS], const struct calls_opts *o,
			const struct opt_ids *pids)
{
	int err = 0;

	for (int sort = 0; sort < NR_SORTS && !err; sort++) {
		err = load_counter(&counters[sort]);
		for (size_t i = 0; i < pids->nr && i < MAX_TRIED && !err; i++)
			err = attach_all(&counters[sort], o, sort, pids->v[i]);
	}
	return err;
}

static double cost_of(const uint64_t hits[NR_SORTS], double cheap_ns)
{
	struct price price = price_measure();
	double dear_ns = cheap_ns, sum = 0;

	if (price.stepped_ns > price.emulated_ns)
		dear_ns += price.stepped_ns - price.emulated_ns;
	for (int sort = 0; sort < NR_SORTS; sort++)
		sum += hits[sort] *
		       (sort == DEAR_ENTRY || sort == DEAR_WAY_OUT ? dear_ns : cheap_ns);
	return sum;
}

/* cpu: what the processes used in that time, the cost included. */
static void conclude(struct calls_trial *t, double calls, double cost, double cpu, double wall)
{
	double without = cpu - cost;

	t->calls_per_s = calls * 1e9 / wall;
	t->price_ns = calls ? cost / calls : 0;
	if (without < wall / LEAST_PART && cost < wall / LEAST_PART)
		without = wall / LEAST_PART;
	/* The difference of two large numbers: how much more than that is not known. */
	t->more_cpu = without > cost / CALLS_TRIAL_MOST ? cost / without : CALLS_TRIAL_MOST;
}

static int measure_hits(struct calls_trial *t, const struct calls_opts *o,
			const struct opt_ids *pids, double cheap_ns)
{
	struct counter counters[NR_SORTS];
	uint64_t start = now_ns(), cpu = cpu_ns(pids);
	uint64_t hits[NR_SORTS];
	double wall = 0, used = 0;
	int err;

	for (int i = 0; i < NR_SORTS; i++)
		counters[i] = (struct counter){ .map = -1, .program = -1 };
	err = attach_sorts(counters, o, pids);
	if (!err) {
		nanosleep(&(struct timespec){ .tv_nsec = TRIAL_NS }, NULL);
		wall = now_ns() - start;
		used = cpu_ns(pids) - cpu;
	}
	for (int i = 0; i < NR_SORTS; i++) {
		hits[i] = err ? 0 : count(&counters[i]);
		release(&counters[i]);
	}
	if (!err)
		conclude(t, hits[ENTRY] + hits[DEAR_ENTRY], cost_of(hits, cheap_ns), used, wall);
	return err;
}

int calls_trial_run(struct calls_trial *t, const struct calls_opts *o, const struct opt_ids *pids)
{
	double cheap_ns;
	int err;

	*t = (struct calls_trial){};
	if (!links_have_many())
		return -ENOTSUP;
	err = measure_price(&cheap_ns);
	return err ? err : measure_hits(t, o, pids, cheap_ns);
}
