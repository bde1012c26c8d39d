/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The probe table. */
#include "collect/probe.h"

#include <stdlib.h>
#include <string.h>

#define SCHEDULER                                                                                  \
	{ "sched_switch", PROBE_EVENTS }, { "sched_fork", PROBE_BIRTHS },                          \
		{ "sched_rename", PROBE_BIRTHS }, { "sched_wakeup", PROBE_WAKEUPS },               \
	{                                                                                          \
		"sched_tasks", PROBE_TASKS                                                         \
	}

#define LIVE                                                                                       \
	SCHEDULER, { "oncpu_sample", PROBE_PERF },                                                 \
	{                                                                                          \
		"look_tasks", PROBE_LOOK                                                           \
	}

#define TIMELINE                                                                                   \
	{ "timeline_switch", PROBE_EVENTS }, { "timeline_waking", PROBE_EVENTS },                  \
		{ "timeline_born", PROBE_EVENTS },                                                 \
	{                                                                                          \
		"filter_fork", PROBE_BIRTHS                                                        \
	}

#define CALLS                                                                                      \
	{ "calls_entry", PROBE_CALLS }, { "calls_return", PROBE_CALLS },                           \
		{ "calls_session", PROBE_CALLS }, { "calls_leave", PROBE_CALLS },                  \
	{                                                                                          \
		"filter_fork", PROBE_BIRTHS                                                        \
	}

static const struct probe probes[] = {
	{ "oncpu", 1, { { "oncpu_sample", PROBE_PERF }, { "filter_fork", PROBE_BIRTHS } } },
	{ "pmu",
	  1,
	  { { "oncpu_sample", PROBE_PERF },
	    { "hits_sample", PROBE_HITS },
	    { "filter_fork", PROBE_BIRTHS } } },
	{ "offcpu", 3, { SCHEDULER } },
	{ "offcpu --gaps", 3, { SCHEDULER, { "oncpu_sample", PROBE_PERF } } },
	{ "runqlat", 3, { SCHEDULER } },
	{ "wakeup", 3, { { "sched_waking", PROBE_EVENTS }, SCHEDULER } },
	{ "lock", 3, { { "sched_waking", PROBE_EVENTS }, SCHEDULER } },
	{ "wall", 3, { SCHEDULER, { "oncpu_sample", PROBE_PERF } } },
	{ "top", 3, { LIVE } },
	{ "agent", 3, { LIVE } },
	{ "timeline", 1, { TIMELINE } },
	{ "sched", 1, { TIMELINE } },
	{ "uprobe", 7, { CALLS } },
	{ "kprobe", 7, { CALLS } },
	{ "polls", 7, { CALLS } },
	{ "polls --runs", 7, { CALLS } },
	{ "polls --slower-polls",
	  7,
	  { SCHEDULER,
	    { "oncpu_sample", PROBE_PERF },
	    { "calls_entry", PROBE_CALLS },
	    { "calls_return", PROBE_CALLS },
	    { "calls_session", PROBE_CALLS },
	    { "calls_leave", PROBE_CALLS } } },
	{ "syscalls",
	  7,
	  { { "calls_sysexit", PROBE_EVENTS },
	    { "calls_sysenter", PROBE_EVENTS },
	    { "calls_event", PROBE_CALLS },
	    { "calls_until", PROBE_CALLS },
	    { "filter_fork", PROBE_BIRTHS } } },
	{ "tracepoint",
	  7,
	  { { "calls_event", PROBE_CALLS },
	    { "calls_until", PROBE_CALLS },
	    { "filter_fork", PROBE_BIRTHS } } },
	{ "faults", 1, { { "oncpu_sample", PROBE_PERF }, { "filter_fork", PROBE_BIRTHS } } },
	{ "growth", 1, { { "oncpu_sample", PROBE_PERF }, { "filter_fork", PROBE_BIRTHS } } },
	{ "io",
	  7,
	  { { "io_biodone", PROBE_EVENTS },
	    { "io_rqdone", PROBE_EVENTS },
	    { "io_sockdone", PROBE_EVENTS },
	    { "io_completed", PROBE_EVENTS },
	    { "io_polled", PROBE_EVENTS },
	    { "io_punted", PROBE_EVENTS },
	    { "io_bioqueue", PROBE_EVENTS },
	    { "io_request", PROBE_EVENTS },
	    { "io_sqe", PROBE_EVENTS },
	    { "io_sockstate", PROBE_EVENTS },
	    { "filter_fork", PROBE_BIRTHS } } },
	{ "lock --kernel",
	  7,
	  { { "klocks_end", PROBE_EVENTS },
	    { "klocks_begin", PROBE_EVENTS },
	    { "filter_fork", PROBE_BIRTHS } } },
	{ "alloc",
	  7,
	  { { "alloc_entry", PROBE_CALLS },
	    { "alloc_return", PROBE_CALLS },
	    { "alloc_session", PROBE_CALLS },
	    { "alloc_leave", PROBE_CALLS },
	    { "filter_fork", PROBE_BIRTHS } } },
};

const struct probe *probe_get(const char *name)
{
	for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++)
		if (!strcmp(probes[i].name, name))
			return &probes[i];
	abort();
}

const struct probe *probe_at(size_t i)
{
	return i < sizeof(probes) / sizeof(probes[0]) ? &probes[i] : NULL;
}

const char *probe_program(const struct probe *p, enum probe_when when)
{
	for (size_t i = 0; i < PROBE_MAX_PROGRAMS; i++)
		if (p->programs[i].name && p->programs[i].when == when)
			return p->programs[i].name;
	return NULL;
}
