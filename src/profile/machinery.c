/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* By names, since how much of it is a frame depends on the kernel's version and compiler. */
#include "profile/machinery.h"

#include <string.h>

#define NR(table) (sizeof(table) / sizeof((table)[0]))

/* What their names begin with. */
static const char *const begins[] = {
	"__traceiter_",	  "perf_trace_",  "__bpf_trace_",	"bpf_trace_run",
	"trace_event_",	  "__probestub_", "__SCT__tp_func_",	"bpf_prog_",
	"trace_call_bpf", "perf_tp_",	  "perf_syscall_enter", "perf_syscall_exit",
};

/* "sched:sched_switch", but not "cycles:k". */
static bool is_tracepoint(const char *event)
{
	const char *name = strchr(event, ':');

	return name && name[1] != ':' && name[1 + strspn(name + 1, "ukhGHIpPDSWeb")];
}

static bool is_machinery(const char *name)
{
	for (size_t i = 0; i < NR(begins); i++)
		if (!strncmp(name, begins[i], strlen(begins[i])))
			return true;
	return false;
}

uint32_t machinery_frames(const struct profile *p, const struct sample *s)
{
	uint32_t event = PROF_WAIT_EVENT(s->wait), nr, i = 0;
	const uint32_t *frames;

	if (!s->kstack || !is_tracepoint(profile_str(p, event < p->nr_events ? p->events[event].name
									     : p->meta.event)))
		return 0;
	frames = profile_stack_frames(p, s->kstack, &nr);
	/* A stack of nothing else would be empty. */
	while (i + 1 < nr && is_machinery(profile_frame_name(p, frames[i])))
		i++;
	return i;
}
