/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Turns in which the thread counts, without and with interrupts. The best of each kind are
 * compared, those that nobody else disturbed: by the wall's clock, since the kernel may leave
 * interrupts out of what it says a thread has run.
 */
#include "event/interrupt.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "event/perf.h"

#define TURNS	  5
#define TURN_NS	  1000000u
#define PERIOD_NS 50000u
#define BLOCK	  500 /* counted between two looks at the clock */

/* How much the thread gets done in a turn, per ns; or best, if that is more. */
static double faster(double best)
{
	uint64_t begin = now_ns(), now;
	volatile uint64_t done = 0;
	double speed;

	do {
		for (int i = 0; i < BLOCK; i++)
			done++;
		now = now_ns();
	} while (now - begin < TURN_NS);
	speed = (double)done / (now - begin);
	return speed > best ? speed : best;
}

uint64_t interrupt_price_ns(void)
{
	struct perf_event_attr attr = { .size = sizeof(attr),
					.type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_CPU_CLOCK,
					.disabled = 1,
					.sample_period = PERIOD_NS };
	int fd = perf_open(&attr, 0, -1, -1);
	double without = 0, with = 0;

	if (fd < 0)
		return 0;
	for (int i = 0; i < TURNS; i++) {
		without = faster(without);
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		with = faster(with);
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	}
	close(fd);
	return with < without ? (uint64_t)((1 - with / without) * PERIOD_NS) : 0;
}
