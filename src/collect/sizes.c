/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A budget, and how it is split. */
#include "collect/sizes.h"

#include <stdbool.h>
#include <stdio.h>

#include "event/cpus.h"

#define MB		   (1ull << 20)
#define DEFAULT_MB	   32
#define DEFAULT_MB_CPUS	   16		  /* up to so many CPUs */
#define MORE_BYTES_PER_CPU (93 * 1024ull) /* 48 MB at 192 CPUs */
#define SLOTS_PER_CPU	   4096u	  /* by default, within these bounds */
#define MIN_SLOTS	   65536u
#define MAX_SLOTS	   262144u
#define DEFERRED_PER_CPU   8 /* slots of 16 KB, within these bounds */
#define MIN_DEFERRED	   512u
#define MAX_DEFERRED	   ((uint32_t)PROF_MAX_DEFERRED)
#define MORE_SLEEPERS	   1024u   /* rows of 64 bytes beyond the threads that there are */
#define MAX_SLEEPERS	   131072u /* 8 MB */
#define HIST_ROWS	   4096u   /* of processes or threads */
#define VALUE_ROWS	   4096u   /* of arguments of calls, 192 bytes each */
#define MAX_CALL_HISTS	   32768u  /* 42 MB */
#define VALUES_PER_EVENT   16u	   /* that are timed on each CPU, about */
#define LEAST_SLOTS	   16u
#define LEAST_MOMENTS	   1024	 /* of a CPU */
#define MAX_OPEN	   8192u /* operations by default */
#define COUNTS_PER_THREAD  8ull	 /* twice what most have */
#define STACKS_PER_SHAPE   16	 /* threads that wait alike share one */
#define MAX_SHAPES	   8192u
#define STACKS_PER_LOCK	   4	 /* stacks of waiters and holders; a power of two */
#define WORDS_PER_STACK	   32ull /* room that the frame log gets per slot, if memory allows, */
#define WORDS_FOR_LONG	   8ull	 /* and where threads come and go: beside compilers 5 are used */
#define MIN_FRAME_WORDS	   (PROF_MAX_FRAMES + PROF_MAX_KFRAMES + 2 * PROF_STACK_WORDS)

struct sizes_host sizes_host_read(void)
{
	struct sizes_host host = { .nr_cpus = cpus_possible() };
	FILE *f = fopen("/proc/loadavg", "re");

	if (!f || fscanf(f, "%*f %*f %*f %*u/%u", &host.nr_threads) != 1)
		host.nr_threads = MAX_SLEEPERS;
	if (f)
		fclose(f);
	return host;
}

static uint32_t power_of_two(uint32_t n)
{
	uint32_t p = LEAST_SLOTS;

	while (p < n)
		p *= 2;
	return p;
}

/* All threads of the host, and some more: they may be born before they are looked at. */
uint32_t sizes_sleepers(uint32_t nr_threads)
{
	uint64_t nr = nr_threads + nr_threads / 8ull + MORE_SLEEPERS;

	return nr < MAX_SLEEPERS ? nr : MAX_SLEEPERS;
}

/* Where threads come and go for long twice as many: full tables cost another recording. */
static uint32_t default_slots(uint32_t nr_cpus, bool for_long)
{
	uint64_t slots = (uint64_t)nr_cpus * SLOTS_PER_CPU;

	slots = (slots < MIN_SLOTS ? MIN_SLOTS : slots) << for_long;
	return slots > MAX_SLOTS ? MAX_SLOTS : slots;
}

/* 2.6 KB each. */
static uint32_t default_rows(uint32_t asked)
{
	return power_of_two(asked ? asked : HIST_ROWS);
}

static uint64_t default_bytes(uint32_t nr_cpus)
{
	uint32_t more = nr_cpus > DEFAULT_MB_CPUS ? nr_cpus - DEFAULT_MB_CPUS : 0;

	return DEFAULT_MB * MB + more * MORE_BYTES_PER_CPU;
}

/*
 * What goes on for long has learned its host: beside compilers on two CPUs half of the least was
 * full for 2 stacks of 2,422.
 */
static uint32_t deferred_slots(uint32_t nr_cpus, bool for_long)
{
	uint32_t nr = power_of_two(nr_cpus * DEFERRED_PER_CPU), least = MIN_DEFERRED >> for_long;

	return nr < least ? least : nr > MAX_DEFERRED ? MAX_DEFERRED : nr;
}

/* Of a slot of each table that has as many as there are stacks. */
static uint64_t slot_bytes(const struct prof_config *c)
{
	return sizeof(uint64_t) + sizeof(struct prof_count) +
	       c->nr_values * sizeof(struct prof_event_count) +
	       (c->wait_hists ? sizeof(union prof_wait_hist) : 0) +
	       (c->lock_slots ? sizeof(struct prof_lock) / STACKS_PER_LOCK
		: c->hops     ? sizeof(struct prof_waker)
			      : 0);
}

static bool has_stacks(const struct prof_config *c)
{
	return !c->no_ustacks || !c->no_kstacks;
}

/* At most half of bytes. */
static uint32_t count_slots(const struct prof_config *c, const struct sizes_wishes *w,
			    uint64_t bytes)
{
	uint32_t slots;

	if (c->hist_rows && !c->running) /* waits go there instead */
		return LEAST_SLOTS;
	slots = power_of_two(w->max_stacks ? w->max_stacks
					   : default_slots(c->nr_cpus, w->for_long));
	while (slots > LEAST_SLOTS && slots * slot_bytes(c) > bytes / 2)
		slots /= 2;
	return slots;
}

/* With some counts of each thread the table stays half empty, so threads are not merged. */
static void add_counts(struct prof_config *c, const struct sizes_wishes *w, uint32_t nr_threads,
		       uint64_t bytes)
{
	uint64_t wanted = nr_threads * COUNTS_PER_THREAD;

	if (!c->running || w->max_stacks)
		return;
	while (c->count_slots < wanted && c->count_slots < MAX_SLOTS &&
	       2 * c->count_slots * slot_bytes(c) <= bytes / 2)
		c->count_slots *= 2;
}

/* A stack takes ten words or so; what fills the log first begins another recording. */
static uint64_t frame_words(const struct prof_config *c, const struct sizes_wishes *w,
			    uint64_t bytes)
{
	uint64_t most = c->stack_slots * (w->for_long ? WORDS_FOR_LONG : WORDS_PER_STACK);
	uint64_t words = bytes / sizeof(uint64_t);

	words = words < most ? words : most;
	return words < MIN_FRAME_WORDS ? MIN_FRAME_WORDS : words;
}

static uint32_t shape_slots(uint32_t stack_slots)
{
	uint32_t slots = power_of_two(stack_slots / STACKS_PER_SHAPE);

	return slots < MAX_SHAPES ? slots : MAX_SHAPES;
}

/* Of heat maps: at most a quarter of bytes; with fewer, more may be lost. */
static uint32_t moment_slots(const struct prof_config *c, uint64_t bytes)
{
	uint32_t slots = c->moment_slots;

	while (slots > LEAST_MOMENTS &&
	       (uint64_t)c->nr_cpus * slots * sizeof(struct prof_moment) > bytes / 4)
		slots /= 2;
	return slots;
}

/*
 * Splits the budget: what every CPU needs, slots of the tables, at most half of the rest, then the
 * frame log.
 */
void sizes_choose(struct prof_config *c, const struct sizes_wishes *w,
		  const struct sizes_host *host)
{
	uint64_t bytes = w->max_bytes ? w->max_bytes : default_bytes(host->nr_cpus);
	uint64_t nr_generations = c->two_generations ? PROF_GENERATIONS : 1;
	uint64_t per_cpu = host->nr_cpus * (w->scratch_bytes + sizeof(struct prof_counters));
	uint64_t moments;

	c->nr_cpus = host->nr_cpus;
	c->deferred_slots = deferred_slots(c->nr_cpus, w->for_long);
	bytes = bytes > 2 * per_cpu ? bytes - per_cpu : bytes / 2;
	c->moment_slots = moment_slots(c, bytes);
	moments = (uint64_t)c->nr_cpus * c->moment_slots * sizeof(struct prof_moment);
	bytes = bytes > 2 * moments ? bytes - moments : bytes / 2;
	c->count_slots = count_slots(c, w, bytes);
	if (c->two_generations)
		c->count_slots /= PROF_GENERATIONS;
	c->stack_slots = has_stacks(c) ? c->count_slots : LEAST_SLOTS;
	add_counts(c, w, host->nr_threads, bytes);
	c->waker_slots = c->hops && !c->lock_slots ? c->stack_slots : 0;
	if (c->lock_slots)
		c->lock_slots = c->stack_slots / STACKS_PER_LOCK;
	c->shape_slots = !c->remember  ? 0
			 : w->for_long ? shape_slots(c->count_slots)
				       : shape_slots(c->stack_slots);
	if (c->hist_rows)
		c->hist_rows = c->hist_by == PROF_HIST_BY_CPU ? power_of_two(c->nr_cpus)
							      : default_rows(w->max_stacks);
	bytes -= nr_generations * c->count_slots * slot_bytes(c);
	c->frame_words = frame_words(c, w, bytes / nr_generations);
}

void sizes_choose_calls(struct call_config *c, const struct sizes_calls *w)
{
	uint64_t rows = 2ull * w->nr_events * w->nr_cpus * (w->values ? VALUES_PER_EVENT : 1);

	if (rows > MAX_CALL_HISTS)
		rows = MAX_CALL_HISTS;
	c->value_slots = w->values ? power_of_two(w->max_rows ? w->max_rows : VALUE_ROWS) : 0;
	c->hist_rows = w->timed ? power_of_two(w->max_rows ? w->max_rows : rows) : 0;
	if (w->may_lack) {
		rows = (2ull * w->nr_events + c->value_slots) * w->nr_cpus;
		c->hist_rows = power_of_two(rows < MAX_CALL_HISTS / 2 ? 2 * rows : MAX_CALL_HISTS);
	}
}

/*
 * With so many open, buckets hold 2 of 8 on average: one in a thousand is full, and one operation
 * in a million finds both of its buckets so.
 */
uint32_t sizes_ops_buckets(uint32_t max_open)
{
	return power_of_two(4 * (max_open ? max_open : MAX_OPEN) / OPS_WAYS);
}
