/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The thread looks at the clock all the time. An interrupt is a gap between two looks, so the
 * median of some of them is what one takes; where the thread was preempted, the gap is far longer,
 * and those are few.
 */
#include "event/interrupt.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "event/perf.h"

#define PERIOD_NS 50000u
#define NR_LOOKS  1000u /* to see what a look takes */
#define NR_GAPS	  64u
#define MOST_NS	  20000000u
#define LEAST_GAP 300u /* ns more than a look takes */

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t median(uint64_t *v, size_t nr)
{
	qsort(v, nr, sizeof(*v), ascending);
	return v[nr / 2];
}

static uint64_t look_ns(void)
{
	uint64_t took[NR_LOOKS], before = now_ns(), now;

	for (size_t i = 0; i < NR_LOOKS; i++, before = now) {
		now = now_ns();
		took[i] = now - before;
	}
	return median(took, NR_LOOKS);
}

/* How many gaps were seen. */
static size_t watch(uint64_t gaps[NR_GAPS], uint64_t least)
{
	uint64_t begin = now_ns(), before = begin, now;
	size_t nr = 0;

	while (nr < NR_GAPS && before - begin < MOST_NS) {
		now = now_ns();
		if (now - before >= least)
			gaps[nr++] = now - before;
		before = now;
	}
	return nr;
}

uint64_t interrupt_price_ns(void)
{
	struct perf_event_attr attr = { .size = sizeof(attr),
					.type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_CPU_CLOCK,
					.disabled = 1,
					.sample_period = PERIOD_NS };
	int fd = perf_open(&attr, 0, -1, -1);
	uint64_t gaps[NR_GAPS], look = look_ns();
	size_t nr;

	if (fd < 0)
		return 0;
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	nr = watch(gaps, look + LEAST_GAP);
	close(fd);
	return nr ? median(gaps, nr) - look : 0;
}
