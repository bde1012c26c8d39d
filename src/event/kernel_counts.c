/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reading /proc/stat. */
#include "event/kernel_counts.h"

#include <inttypes.h>
#include <unistd.h>

#include "base/clock.h"

#define TICKS_MORE 2 /* of five times that are rounded down, twice */

static uint64_t tick_ns(void)
{
	return 1000000000ull / sysconf(_SC_CLK_TCK);
}

struct kernel_counts kernel_counts_parse(FILE *f)
{
	uint64_t user, nice, system, irq, softirq;
	struct kernel_counts c = {};
	char line[512]; /* longer ones, of interrupts, come in parts that begin with digits */

	while (fgets(line, sizeof(line), f)) {
		/* Not "cpu0": a blank in a format matches nothing, too. */
		if (line[0] == 'c' && line[3] == ' ' &&
		    sscanf(line + 3,
			   "%" SCNu64 " %" SCNu64 " %" SCNu64 " %*u %*u %" SCNu64 " %" SCNu64,
			   &user, &nice, &system, &irq, &softirq) == 5)
			c.ran_ns = (user + nice + system + irq + softirq) * tick_ns();
		sscanf(line, "ctxt %" SCNu64, &c.switches);
	}
	return c;
}

struct kernel_counts kernel_counts_read(void)
{
	struct kernel_counts c = {};
	FILE *f = fopen("/proc/stat", "re");

	if (f) {
		c = kernel_counts_parse(f);
		fclose(f);
	}
	c.time_ns = now_ns();
	return c;
}

uint64_t kernel_counts_away_ns(const struct kernel_counts *from, const struct kernel_counts *to,
			       uint64_t nr_cpus)
{
	uint64_t all = (to->time_ns - from->time_ns) * nr_cpus, ran = to->ran_ns - from->ran_ns;

	return (ran < all ? all - ran : 0) + TICKS_MORE * tick_ns();
}
