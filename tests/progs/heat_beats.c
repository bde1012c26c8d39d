/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * heat_beats SECONDS: a heat map with a known answer. One thread runs in long_beat() for the first
 * 200 ms of each second, counted from its start; another one in short_beat() for the first 20 ms of
 * each tenth of a second. Prints "NAME BEGIN END CPU" for each time: when it ran, in ns of
 * CLOCK_REALTIME, and how much of a CPU it had meanwhile.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "burn.h"

#define MS 1000000ull

static uint64_t start_ns, seconds;

static KEEP void long_beat(uint64_t until)
{
	burn_until(CLOCK_REALTIME, until);
	__asm__ volatile("" : : "i"('l'));
}

static KEEP void short_beat(uint64_t until)
{
	burn_until(CLOCK_REALTIME, until);
	__asm__ volatile("" : : "i"('s'));
}

static const struct beat {
	const char *name;
	void (*run)(uint64_t until);
	uint64_t every_ns, for_ns;
} beats[] = {
	{ "long_beat", long_beat, 1000 * MS, 200 * MS },
	{ "short_beat", short_beat, 100 * MS, 20 * MS },
};

static void sleep_until(uint64_t ns)
{
	const struct timespec t = { ns / (1000 * MS), ns % (1000 * MS) };

	clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &t, NULL);
}

static void *beat(void *arg)
{
	const struct beat *b = arg;
	uint64_t nr = seconds * 1000 * MS / b->every_ns, begin, cpu;

	for (uint64_t i = 0; i < nr; i++) {
		sleep_until(start_ns + i * b->every_ns);
		begin = clock_ns(CLOCK_REALTIME);
		cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		b->run(start_ns + i * b->every_ns + b->for_ns);
		cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
		printf("%s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", b->name, begin,
		       clock_ns(CLOCK_REALTIME), cpu);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	seconds = argc > 1 ? strtoul(argv[1], NULL, 10) : 5;
	start_ns = clock_ns(CLOCK_REALTIME) + 200 * MS;
	pthread_create(&thread, NULL, beat, (void *)&beats[1]);
	beat((void *)&beats[0]);
	pthread_join(thread, NULL);
	sleep_until(start_ns + seconds * 1000 * MS);
	return 0;
}
