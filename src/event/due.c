/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The arithmetic of samples that are due. */
#include "event/due.h"

static uint64_t minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

void due_turn(struct due *d, struct due_timer *t, struct due_moment end, uint64_t period_ns)
{
	uint64_t least = minus(end.from_ns, t->begin.to_ns);

	if (t->period_ns) {
		d->least += minus(least, DUE_LATE_NS) / t->period_ns;
		d->most += minus(end.to_ns, t->begin.from_ns) / t->period_ns;
	}
	*t = (struct due_timer){ end, period_ns };
}

void due_count(struct due *d, uint64_t count, uint64_t period, uint64_t late)
{
	if (!period)
		return;
	d->least += minus(count, late) / period;
	d->most += count / period;
}

void due_may_lack(struct due *d, uint64_t part, uint64_t all)
{
	uint64_t nr;

	if (!part || !all)
		return;
	nr = d->most * ((double)part / all) + 1;
	d->least = minus(d->least, nr);
}
