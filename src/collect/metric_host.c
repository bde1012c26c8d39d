/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The host that metrics are planned for. */
#include "collect/metric_host.h"

#include <stdio.h>

/* Shared PMUs (memory controllers …) count for nobody in particular. */
static bool has(void *arg, const char *event)
{
	const struct metric_catalog *c = arg;
	struct event *found = NULL;
	size_t nr = 0;
	bool is;

	if (!catalog_has(c->catalog, event))
		return false;
	if (!c->per_task)
		return true;
	is = !catalog_find(c->catalog, event, &found, &nr) && nr && found[0].per_task;
	events_free(found, nr);
	return is;
}

static bool read_smt(void)
{
	FILE *f = fopen("/sys/devices/system/cpu/smt/active", "r");
	int c = f ? fgetc(f) : '0';

	if (f)
		fclose(f);
	return c == '1';
}

struct metric_host metric_host(struct metric_catalog *c)
{
	return (struct metric_host){ .core = catalog_core(c->catalog),
				     .has = has,
				     .arg = c,
				     .smt = read_smt(),
				     .per_task = c->per_task };
}
