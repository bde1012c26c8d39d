/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The probe table. */
#include "event/probe.h"

#include <stdlib.h>
#include <string.h>

static const struct probe probes[] = {
	{ "oncpu", { "oncpu_sample" }, PROBE_PERF, 1 },
	{ "switches", { "events_switch" }, PROBE_SWITCHES, 2 },
	{ "uprobe", { "events_uprobe" }, PROBE_UPROBE, 6 },
};

const struct probe *probe_get(const char *name)
{
	for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++)
		if (!strcmp(probes[i].name, name))
			return &probes[i];
	abort();
}
