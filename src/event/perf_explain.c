/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Why a perf event did not open, in one sentence. */
#include "event/perf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "event/host.h"
#include "event/refusal.h"

bool perf_has_no_such(int err)
{
	return err == -ENOENT || err == -EOPNOTSUPP || err == -ENODEV || err == -EINVAL ||
	       err == -EBUSY;
}

static int explain_nowhere(const struct perf_events *e)
{
	char *there = e->cpus ? cpus_text(e->cpus) : NULL;

	if (there)
		log_err(0, "%s is counted on CPUs %s, of which none is to be sampled", e->name,
			there);
	else
		log_err(0, "all CPUs that were to be sampled have gone offline");
	free(there);
	return -ENODEV;
}

static int explain_unsupported(const struct perf_events *e)
{
	if (!strcmp(e->name, "cycles"))
		log_err(0, "this machine shows no hardware cycle counter (-e cpu-clock always "
			   "works)");
	else
		log_err(0,
			"this machine cannot sample %s (-e page-faults, -e context-switches and "
			"-e cpu-clock always work)",
			e->name);
	return -EOPNOTSUPP;
}

int perf_refused(int err, const char *what)
{
	if (err != -EACCES && err != -EPERM)
		return refusal_tell(err, "cannot %s", what);
	return log_err(err,
		       "may not %s (kernel.perf_event_paranoid is %ld; needs CAP_PERFMON, or root "
		       "where the distribution demands it; containers: seccomp must allow "
		       "perf_event_open)",
		       what, host_sysctl("kernel/perf_event_paranoid", 2));
}

int perf_events_explain(const struct perf_events *e, int err, uint32_t cpu)
{
	char what[128];

	if (err == -ENXIO)
		return explain_nowhere(e);
	if (perf_has_no_such(err) && e->attr.type != PERF_TYPE_SOFTWARE)
		return explain_unsupported(e);
	snprintf(what, sizeof(what), "open the %s event on CPU %u", e->name, cpu);
	return perf_refused(err, what);
}
