/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The thread looks at the clock all the time. An interrupt is a gap between two looks, so the
 * median of some of them is what one takes; where the thread was preempted, the gap is far longer,
 * and those are few. On a host that stalls they may be all that a round sees, so the least of
 * several rounds counts.
 */
#include "event/interrupt.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "event/perf.h"

#define PERIOD_NS     50000u
#define NR_LOOKS      1000u /* to see what a look takes */
#define NR_GAPS	      24u
#define MOST_NS	      5000000u /* of a round */
#define NR_ROUNDS     3
#define MOST_ROUNDS   8
#define IMPOSSIBLE_NS 1000000u
#define LEAST_GAP     300u /* ns more than a look takes */

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

struct watched {
	uint64_t look_ns;
};

static uint64_t round_ns(void *arg)
{
	const struct watched *w = arg;
	uint64_t gaps[NR_GAPS];
	size_t nr = watch(gaps, w->look_ns + LEAST_GAP);

	return nr ? median(gaps, nr) - w->look_ns : 0;
}

uint64_t interrupt_least_ns(uint64_t (*round)(void *arg), void *arg)
{
	uint64_t least = 0, ns;
	int nr_good = 0;

	for (int i = 0; i < MOST_ROUNDS && nr_good < NR_ROUNDS; i++) {
		ns = round(arg);
		if (!ns || ns > IMPOSSIBLE_NS)
			continue;
		least = nr_good++ && least < ns ? least : ns;
	}
	return least;
}

uint64_t interrupt_price_ns(void)
{
	struct perf_event_attr attr = { .size = sizeof(attr),
					.type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_CPU_CLOCK,
					.disabled = 1,
					.sample_period = PERIOD_NS };
	int fd = perf_open(&attr, 0, -1, -1);
	struct watched w = { look_ns() };
	uint64_t ns;

	if (fd < 0)
		return 0;
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	ns = interrupt_least_ns(round_ns, &w);
	close(fd);
	return ns;
}
