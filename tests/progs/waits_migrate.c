/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer -momit-leaf-frame-pointer -pthread */
/* LDLIBS: -lpthread */
/*
 * waits_migrate [SEED [SECONDS [stay]]]: sleeps of 1, 10 and 100 ms, a third of the time each, in
 * an order that the seed makes. Meanwhile another thread sends the sleeper to other CPUs, and after
 * every second sleep it goes to one itself. Ends with how often it woke on another CPU than it had
 * gone to sleep on ("migrated N"), how many of the 1 ms took more than LATE_NS ("late block_1ms US
 * NR") and of the shorter ones more than LONG_NS ("long FUNCTION US NR"), and its own life and CPU
 * time ("wall US", "cpu US").
 */
#include "waits.h"

#define SLOT_MS 100
#define LATE_NS 4500000	 /* below the 5 ms that tests ask for, less what counts as running */
#define LONG_NS 49500000 /* the same of 50 ms */

static struct truth ms1 = { .name = "block_1ms" };
static struct truth late = { .name = "block_1ms" };
static struct truth long1 = { .name = "block_1ms" }, long10 = { .name = "block_10ms" };
static struct truth ms10 = { .name = "block_10ms" };
static struct truth ms100 = { .name = "block_100ms" };
static atomic_bool done;
static pid_t sleeper;
static int nr_cpus;

/* Adds what was just added to all, if that was more than least. */
static void add_if_over(struct truth *to, const struct truth *all, unsigned long long before,
			unsigned long long least)
{
	if (all->ns - before <= least)
		return;
	to->ns += all->ns - before;
	to->count++;
}

static CHAIN void block_1ms(void)
{
	struct mark from = mark_now();
	unsigned long long before = ms1.ns;

	sleep_ns(1 * NS_PER_MS);
	truth_add(&ms1, from);
	add_if_over(&late, &ms1, before, LATE_NS);
	add_if_over(&long1, &ms1, before, LONG_NS);
}

static CHAIN void block_10ms(void)
{
	struct mark from = mark_now();
	unsigned long long before = ms10.ns;

	sleep_ns(10 * NS_PER_MS);
	truth_add(&ms10, from);
	add_if_over(&long10, &ms10, before, LONG_NS);
}

static CHAIN void block_100ms(void)
{
	struct mark from = mark_now();

	sleep_ns(100 * NS_PER_MS);
	truth_add(&ms100, from);
}

static CHAIN void *mover_main(void *arg)
{
	int i;

	name_thread("mover");
	for (i = 0; !done; i++) {
		pin(sleeper, cpu_of(i));
		sleep_ns(NS_PER_MS * 7 / 10);
	}
	return NULL;
}

/* Chosen so that all three get the same share of the time: 100, 10 and 1 of 111. */
static void block(unsigned int *seed)
{
	unsigned int draw;

	*seed = *seed * 1103515245 + 12345;
	draw = (*seed >> 8) % 111;
	if (draw < 100)
		block_1ms();
	else if (draw < 110)
		block_10ms();
	else
		block_100ms();
}

static void over_print(const char *what, const struct truth *t)
{
	printf("%s %s %llu %llu\n", what, t->name, t->ns / NS_PER_US, (unsigned long long)t->count);
}

int main(int argc, char **argv)
{
	unsigned int seed = (unsigned int)arg_nr(argc, argv, 1, 1) * 2654435761u;
	uint64_t start = wall_ns(), end = start + arg_ns(argc, argv, 2, 2);
	unsigned long i, migrated = 0;
	pthread_t mover;
	cpu_set_t set;
	int cpu;

	sched_getaffinity(0, sizeof(set), &set);
	nr_cpus = arg_is(argc, argv, 3, "stay") ? 1 : CPU_COUNT(&set);
	sleeper = thread_id();
	if (nr_cpus > 1)
		thread_start(&mover, mover_main, NULL);
	for (i = 0; wall_ns() < end; i++) {
		cpu = sched_getcpu();
		block(&seed);
		migrated += sched_getcpu() != cpu;
	}
	done = true;
	if (nr_cpus > 1)
		pthread_join(mover, NULL);
	truth_print(&ms1);
	truth_print(&ms10);
	truth_print(&ms100);
	over_print("late", &late);
	over_print("long", &long1);
	over_print("long", &long10);
	printf("migrated %lu\nwall %llu\ncpu %llu\n", migrated,
	       (unsigned long long)(wall_ns() - start) / NS_PER_US,
	       (unsigned long long)cpu_ns() / NS_PER_US);
	schedstat_print("waits_migrate");
	return 0;
}
