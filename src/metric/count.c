/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From what the kernel returns to a count with a state. */
#include "metric/count.h"

#include <errno.h>
#include <stdlib.h>

static const struct {
	const char *key, *text;
} states[COUNT_NR_STATES] = {
#define X(name, key, text) [COUNT_##name] = { key, text },
	COUNT_STATES(X)
#undef X
};

/*
 * Arm's driver opens events that the PMU does not have, and they count 0 all the time. Only where
 * the kernel lists the event, 0 is a number; more than 0 always is one.
 */
struct count count_make(uint64_t raw, uint64_t enabled_ns, uint64_t running_ns, bool advertised)
{
	struct count c = { .raw = raw, .enabled_ns = enabled_ns, .running_ns = running_ns };

	if (!enabled_ns || !running_ns) {
		c.state = COUNT_NOT_COUNTED;
	} else if (!raw && !advertised) {
		c.state = COUNT_NOT_ADVERTISED;
	} else if (running_ns < enabled_ns) {
		c.state = COUNT_SCALED;
		c.value = (double)raw * enabled_ns / running_ns;
	} else {
		c.state = COUNT_COUNTED;
		c.value = raw;
	}
	return c;
}

struct count count_missing(int err)
{
	struct count c = { .state = COUNT_NOT_COUNTED };

	switch (abs(err)) {
	case 0:
		c.state = COUNT_LOST;
		break;
	case ENOENT:
	case EINVAL:
	case ENOSYS:
	case ENXIO:
	case ENODEV:
	case EOPNOTSUPP:
		c.state = COUNT_NOT_SUPPORTED;
		break;
	case EACCES:
	case EPERM:
		c.state = COUNT_NO_PERMISSION;
		break;
	}
	return c;
}

bool count_is_there(const struct count *c)
{
	return c->state == COUNT_COUNTED || c->state == COUNT_SCALED;
}

double count_duty_pct(const struct count *c)
{
	if (!c->enabled_ns)
		return 0;
	if (c->running_ns >= c->enabled_ns)
		return 100;
	return 100.0 * c->running_ns / c->enabled_ns;
}

const char *count_state_key(enum count_state state)
{
	return states[state].key;
}

const char *count_state_text(enum count_state state)
{
	return states[state].text;
}
