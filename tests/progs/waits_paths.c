/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer -momit-leaf-frame-pointer -pthread */
/* LDLIBS: -lpthread */
/*
 * waits_paths [SWITCHES [LEVELS [BITS]]]: a thread "paths" blocks always at the same place, with
 * the same stack pointer and as many frames, but each time called by others. On each level there
 * are two functions, at_N_a and at_N_b, with frames of the same size; BITS of the levels, evenly
 * spread and the innermost always, change as the bits of a counter do, the others stay at a: any
 * two paths differ in a few return addresses and in nothing else. A thread "partner" on the same
 * CPU wakes it.
 *
 * Every path has a line of truth, named by its letters from the outermost level on; the time is
 * what the call took by the clock. "blocks N" is how often the thread really went to sleep.
 */
#include <stddef.h>
#include <sys/resource.h>

#include "waits.h"

#ifdef ROOM /* bytes that each frame has more */
#define FRAME                                                                                      \
	volatile char room[ROOM];                                                                  \
	room[0] = 0
#else
#define FRAME
#endif

#define MAX_LEVELS 20
#define MAX_BITS   8

struct path {
	struct truth truth;
	char letters[MAX_LEVELS + 1];
	uint8_t turns[MAX_LEVELS + 1]; /* per level 0 = a, 1 = b */
};

static struct path paths[1 << MAX_BITS];
static unsigned long switches, nr_levels, nr_bits, blocks;
static int there[2], back[2];
static uintptr_t where;

/* Volatile: who calls whom is not for the optimizer to know. */
static void (*volatile levels[MAX_LEVELS + 1][2])(const uint8_t *turns);

#define LEVELS(X)                                                                                  \
	X(0)                                                                                       \
	X(1)                                                                                       \
	X(2)                                                                                       \
	X(3)                                                                                       \
	X(4)                                                                                       \
	X(5)                                                                                       \
	X(6)                                                                                       \
	X(7)                                                                                       \
	X(8)                                                                                       \
	X(9)                                                                                       \
	X(10)                                                                                      \
	X(11)                                                                                      \
	X(12)                                                                                      \
	X(13)                                                                                      \
	X(14)                                                                                      \
	X(15)                                                                                      \
	X(16)                                                                                      \
	X(17)                                                                                      \
	X(18)                                                                                      \
	X(19)

#define FUNCTIONS(n)                                                                               \
	static CHAIN void at_##n##_a(const uint8_t *turns)                                         \
	{                                                                                          \
		FRAME;                                                                             \
		levels[(n) + 1][turns[(n) + 1]](turns);                                            \
		__asm__ volatile("" : : "i"(2 * (n)));                                             \
	}                                                                                          \
	static CHAIN void at_##n##_b(const uint8_t *turns)                                         \
	{                                                                                          \
		FRAME;                                                                             \
		levels[(n) + 1][turns[(n) + 1]](turns);                                            \
		__asm__ volatile("" : : "i"(2 * (n) + 1));                                         \
	}
LEVELS(FUNCTIONS)

static CHAIN void block_here(const uint8_t *turns)
{
	struct path *path = (struct path *)(turns - offsetof(struct path, turns));
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	uint64_t from = wall_ns();
	char c;

	if (read(back[0], &c, 1) != 1)
		fatal("read");
	path->truth.ns += wall_ns() - from;
	path->truth.count++;
	if (where && where != here)
		exit(2);
	where = here;
}

#define ROW(n) { at_##n##_a, at_##n##_b },
static void (*volatile levels[MAX_LEVELS + 1][2])(const uint8_t *turns) = {
	LEVELS(ROW){ block_here, block_here },
};

static CHAIN void wait_for_paths(void)
{
	char c;

	if (read(there[0], &c, 1) != 1)
		fatal("read");
	__asm__ volatile("");
}

/* One that is woken must not run at once: the other is not asleep yet. */
static void stay_behind(const char *name)
{
	struct sched_param param = { 0 };

	name_thread(name);
	pin(0, cpu_of(0));
	sched_setscheduler(0, SCHED_BATCH, &param);
}

static CHAIN void *partner_main(void *arg)
{
	unsigned long i;

	stay_behind("partner");
	for (i = 0; i < switches; i++) {
		wait_for_paths();
		if (write(back[1], "x", 1) != 1)
			fatal("write");
	}
	return NULL;
}

static CHAIN void *paths_main(void *arg)
{
	unsigned long i, first = MAX_LEVELS - nr_levels;
	struct rusage before, after;
	struct path *path;

	stay_behind("paths");
	getrusage(RUSAGE_THREAD, &before);
	for (i = 0; i < switches; i++) {
		path = &paths[i & ((1ul << nr_bits) - 1)];
		if (write(there[1], "x", 1) != 1)
			fatal("write");
		levels[first][path->turns[first]](path->turns);
	}
	getrusage(RUSAGE_THREAD, &after);
	blocks = (unsigned long)(after.ru_nvcsw - before.ru_nvcsw);
	return NULL;
}

static void lay_out(void)
{
	unsigned long i, bit, level, first = MAX_LEVELS - nr_levels;
	struct path *path;

	for (i = 0; i < 1ul << nr_bits; i++) {
		path = &paths[i];
		path->truth.name = path->letters;
		memset(path->letters, 'a', nr_levels);
		for (bit = 0; bit < nr_bits; bit++) {
			if (!(i >> bit & 1))
				continue;
			level = (bit + 1) * nr_levels / nr_bits - 1;
			path->letters[level] = 'b';
			path->turns[first + level] = 1;
		}
	}
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	unsigned long i;

	switches = arg_nr(argc, argv, 1, 100000);
	nr_levels = arg_nr(argc, argv, 2, MAX_LEVELS);
	nr_bits = arg_nr(argc, argv, 3, 6);
	if (nr_levels > MAX_LEVELS || nr_bits > MAX_BITS || nr_bits > nr_levels)
		return 1;
	lay_out();
	if (pipe(there) || pipe(back))
		fatal("pipe");
	thread_start(&threads[0], partner_main, NULL);
	thread_start(&threads[1], paths_main, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	for (i = 0; i < 1ul << nr_bits; i++)
		truth_print(&paths[i].truth);
	printf("switches %lu\nblocks %lu\n", switches, blocks);
	return 0;
}
