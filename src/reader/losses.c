/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Time that was lost, and heals. */
#include "reader/losses.h"

#include "base/clock.h"

#define HEALS	20
#define ONE_NS	1000000000ull /* a question may have had longer than all others */
#define MANY_NS 500000000ull
#define MOST_NS 1500000000ull

static uint64_t heal(struct losses *l)
{
	uint64_t now = now_ns(), healed = (now - l->at_ns) / HEALS;

	l->ns -= healed < l->ns ? healed : l->ns;
	l->at_ns = now;
	return l->ns;
}

void losses_add(struct losses *l, uint64_t since_ns)
{
	uint64_t ns = now_ns() - since_ns;

	l->ns = heal(l) + (ns < ONE_NS ? ns : ONE_NS);
}

bool losses_are_many(struct losses *l)
{
	return heal(l) > MANY_NS;
}

bool losses_are_too_many(struct losses *l)
{
	return heal(l) > MOST_NS;
}
